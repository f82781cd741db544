"""The page as a person meets it: by its text, by what a screen reader reads, by clicks and keys, on paper."""

import re
from collections.abc import Callable

import pytest
from browser import Browser
from test_renderings import healthy, hostile
from told_runs import troubled

from ansible_collections.slb.fleet.plugins.plugin_utils.report.page import page as rendered

Show = Callable[..., Browser]
SHOWN = """
Array.from(document.querySelectorAll('#hosts tbody tr'))
  .filter(row => row.offsetHeight).map(row => row.cells[0].innerText)
"""
OF_THE_FLEET = ["edge-1", "edge-2", "edge-3", "edge-4", "edge-5"]


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a document."""

    def opened(document, *, scripts=True):
        path = tmp_path / "report.html"
        path.write_text(rendered(document), encoding="utf-8")
        browser.prefer()
        browser.requests.clear()
        browser.open(path, scripts=scripts)
        return browser

    return opened


def test_it_says_first_how_the_fleet_stands_then_what_is_wrong_then_each_host(show):
    text = show(troubled()).text
    parts = [
        "slb.fleet.rollout",
        "1 healthy, ",
        "Needs attention",
        "Batches",
        "Hosts",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "The container slb runs, and nothing verifies it." in text


@pytest.mark.parametrize("scripts", [True, False])
def test_every_host_and_its_reason_is_there_with_scripts_and_without(show, scripts):
    page = show(troubled(), scripts=scripts)
    for host in OF_THE_FLEET:
        assert host in page.names("rowheader")
    assert "Connection timed out" in page.text
    assert "ansible-playbook -i inventory.yml slb.fleet.rollout --limit edge-2,edge-3,edge-4,edge-5" in page.text
    assert ("Search" in page.text) == scripts, "what needs a script is shown only where there is one"


def test_a_screen_reader_is_told_the_structure(show):
    page = show(troubled())
    assert page.names("heading")[:2] == ["slb.fleet.rollout", "Overview"]
    assert page.names("table") == ["In the order of the run", "Each host"]
    assert {"Overview", "Needs attention", "Batches", "Hosts"} <= set(page.names("region"))
    assert page.names("searchbox") == ["Search"]
    assert page.names("combobox") == ["Show"]
    assert page.value("document.documentElement.lang") == "en"


def test_hosts_are_found_by_words_and_by_verdict(show):
    page = show(troubled())
    page.click("searchbox", "Search")
    page.type("timed OUT")
    assert page.value(SHOWN) == ["edge-3"]
    assert "1 of 5 hosts are shown" in page.text
    page.type(" nothing-has-this")
    assert page.value(SHOWN) == []


def test_hosts_are_sorted_by_a_click_and_the_other_way_by_another(show):
    page = show(healthy(12))
    by_number = [f"edge-{number}" for number in range(12)]
    page.click("button", "Host")
    assert page.value(SHOWN) == by_number
    page.click("button", "Host")
    assert page.value(SHOWN) == by_number[::-1]
    assert page.value("document.querySelector('#hosts th').getAttribute('aria-sort')") == "descending"


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_it_can_be_read_in_light_and_in_dark(show, colours):
    page = show(troubled())
    page.prefer(colours=colours)
    ground = luminance(page.value("getComputedStyle(document.body).backgroundColor"))
    assert (ground > 0.5) == (colours == "light")
    for where in ("body", "td.healthy", "td.failed", "td.unreachable", "td.not_started", "caption", "dt"):
        ink = luminance(page.value(f"getComputedStyle(document.querySelector('{where}')).color"))
        lighter, darker = max(ink, ground), min(ink, ground)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{where} is hard to read in {colours}"


def luminance(colour):
    """As WCAG 2 has it."""
    parts = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_on_paper_the_stories_are_open_and_there_is_nothing_to_click(show):
    page = show(troubled())
    page.prefer(medium="print")
    assert page.value("document.getElementById('find').offsetHeight") == 0
    assert page.paper().startswith(b"%PDF")
    assert page.value("Array.from(document.querySelectorAll('#hosts details')).every(each => each.open)")


def test_others_words_stay_words(show):
    page = show(hostile())
    assert page.dialogs == []
    assert page.value("document.scripts.length") == 1
    assert "</script><script>alert(1)</script>" in page.text
    assert page.value(SHOWN) == ["edge-1", "edge-2"]


def test_nothing_comes_from_elsewhere(show):
    page = show(troubled())
    assert [address for address in page.requests if not address.startswith("file://")] == []
