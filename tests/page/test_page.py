"""The page of a report in a real browser: its text, search and order, with and without scripts, in light and dark."""

import html
import json
import re
import subprocess
from pathlib import Path

import pytest
from told_runs import healthy, hostile, troubled

from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page

HOSTS = ["edge-1", "edge-2", "edge-3", "edge-4", "edge-5"]
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"]
OFFLINE = ["--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"]
# The page forbids scripts other than its own, so that of the test is outside of it.
FRAME = """<!DOCTYPE html>
<iframe src="report.html" sandbox="allow-same-origin {sandbox}" width="{width}" height="900"></iframe>
<pre id="result"></pre>
<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {{
  const page = frame.contentDocument;
  const shown = () => [...page.querySelectorAll("#hosts tbody tr")]
    .filter(row => row.offsetHeight).map(row => row.cells[0].innerText);
  const color = (selector, name) => getComputedStyle(page.querySelector(selector))[name];
  const search = text => {{
    page.getElementById("words").value = text;
    page.getElementById("words").dispatchEvent(new Event("input"));
  }};
  document.getElementById("result").textContent = JSON.stringify((() => {{ {script} }})());
}});
</script>"""


@pytest.fixture(scope="session")
def chromium():
    tool = Path(__file__).resolve().parents[1] / "tools" / "chromium"
    return subprocess.run([tool], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.fixture
def look(chromium, tmp_path):
    """Open the page of a document, run a script, and return the result."""

    def run_script(document, script, *options, sandbox="allow-scripts allow-modals", width=1200):
        (tmp_path / "report.html").write_text(page(document), encoding="utf-8")
        frame = tmp_path / "frame.html"
        frame.write_text(FRAME.format(script=script, sandbox=sandbox, width=width), encoding="utf-8")
        command = [chromium, *OPTIONS, *OFFLINE, f"--user-data-dir={tmp_path}/profile", *options]
        command += ["--virtual-time-budget=20000", "--dump-dom", frame.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stdout + done.stderr
        return json.loads(html.unescape(found[1]))

    return run_script


@pytest.mark.parametrize("sandbox", ["allow-scripts", ""], ids=["scripts", "no scripts"])
def test_page_has_the_summary_the_reasons_and_each_host(look, sandbox):
    text, hosts = look(troubled(), "return [page.body.innerText, shown()]", sandbox=sandbox)
    parts = ["slb.fleet.rollout", "1 healthy, ", "Needs attention", "Hosts over time", "Each host"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert hosts == HOSTS
    assert "The container slb runs, and nothing verifies it." in text
    assert "Connection timed out" in text
    assert "ansible-playbook -i inventory.yml slb.fleet.rollout --limit edge-2,edge-3,edge-4,edge-5" in text
    assert ("Search" in text) == bool(sandbox), "a control that needs scripts is shown only with scripts"


def test_search_shows_hosts_with_all_words(look):
    found, text, none = look(
        troubled(),
        """search("timed OUT"); const found = shown(), text = page.getElementById("shown").innerText;
           search("timed OUT nothing-has-this"); return [found, text, shown()]""",
    )
    assert (found, text, none) == (["edge-3"], "1 of 5 hosts are shown", [])


def test_click_sorts_and_reverses_the_hosts(look):
    first, second, order = look(
        healthy(12),
        """const head = page.querySelector("#hosts th"), button = head.querySelector("button");
           button.click(); const first = shown(); button.click();
           return [first, shown(), head.getAttribute("aria-sort")]""",
    )
    names = [f"edge-{number}" for number in range(12)]
    assert (first, second, order) == (names, names[::-1], "descending")


@pytest.mark.parametrize("width", [400, 1200])
def test_picture_fits_the_window_and_shows_one_failed_host(look, width):
    script = """const root = page.documentElement, box = page.querySelector("figure svg").getBoundingClientRect();
                const stroke = color("path.failed", "strokeWidth");
                return [root.scrollWidth - root.clientWidth, box.width, box.height, stroke]"""
    beyond, across, height, stroke = look(troubled(), script, width=width)
    assert (beyond, height, stroke) == (0, 256, "2px")
    assert width - 60 < across < width


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_contrast_is_sufficient(look, scheme):
    selectors = ["body", "td.healthy", "td.failed", "td.unreachable", "td.not_started", "caption", "dt"]
    script = f"return [color('body', 'backgroundColor'), ...{selectors}.map(each => color(each, 'color'))]"
    number = ["dark", "light"].index(scheme)
    ground, *inks = map(luminance, look(troubled(), script, f"--blink-settings=preferredColorScheme={number}"))
    assert (ground > 0.5) == (scheme == "light")
    for selector, ink in zip(selectors, inks, strict=True):
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, selector


def luminance(color):
    """Return the relative luminance as WCAG 2 defines it."""
    parts = [int(number) / 255 for number in re.findall(r"\d+", color)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_print_opens_the_details_of_each_host(look):
    script = """frame.contentWindow.dispatchEvent(new Event("beforeprint"));
                return [...page.querySelectorAll("#hosts details")].every(each => each.open)"""
    assert look(troubled(), script)


def test_text_of_others_stays_text(look):
    """An alert would stop the browser until the timeout of the test."""
    scripts, text, hosts = look(hostile(), "return [page.scripts.length, page.body.innerText, shown()]")
    assert (scripts, hosts) == (1, HOSTS[:2])
    assert "</script><script>alert(1)</script>" in text
