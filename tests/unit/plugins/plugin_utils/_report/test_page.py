"""The page of a report."""

import re
from xml.etree import ElementTree

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told

SVG = "{http://www.w3.org/2000/svg}"


def deployment(number: int, play: str = "deploy") -> told.RecordedRun:
    run = told.RecordedRun(folder="/reports")
    names = [f"edge-{each}.site.example" for each in range(number)]
    run.play("check", *names)
    for at in range(0, number, 10):
        run.play(play, *names, batch=tuple(names[at : at + 10]))
        for name in names[at : at + 9]:
            run.plan(name, told.HEALTHY, seconds=7)
        run.fail(names[at + 9], told.RUNNING)
    return run


def picture(text: str) -> ElementTree.Element:
    """Return the picture of a page, read as XML."""
    found = re.findall(r"<figure>.*?(<svg.*</svg>)", text, re.DOTALL)
    assert len(found) == 1
    return ElementTree.fromstring(found[0].replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))


def test_page_of_a_failed_fleet_is_small_and_self_contained():
    words = "it could be live, and what to do about it takes many words. " * 5
    run = told.RecordedRun(folder="/reports")
    names = [f"edge-{number}.site.example" for number in range(5000)]
    run.play("check", *names)
    for name in names:
        run.fail(name, {**told.RUNNING, "summary": words, "seen": told.HEALTHY["seen"]})
    text = page(run.ended())
    assert len(text.encode()) < 5_000_000
    assert re.search("--limit @/reports/retry-[0-9a-f]{8}<", text)
    assert not re.findall(r"<(?!a href=)[^>]*\b(?:src|href|action|srcset)=|url\(|@import", text)


def test_page_of_1000_hosts_in_batches_is_smaller_than_1_mb():
    text = page(deployment(1000).ended())
    assert len(text.encode()) < 1_000_000
    assert len(picture(text).findall(f"{SVG}g")) == 100


def test_picture_is_described_and_refers_to_nothing():
    root = picture(page(deployment(20).ended()))
    labels = {each.get("id"): each.text for each in root if each.tag in (f"{SVG}title", f"{SVG}desc")}
    assert root.get("role") == "img"
    assert [labels[name] for name in str(root.get("aria-labelledby")).split()] == [
        "Hosts over time",
        "2026-11-20T12:00:00Z to 2026-11-20T12:02:10Z, 20 hosts in 2 batches. At the end: 18 healthy, 2 failed.",
    ]
    elements = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert elements == {"svg", "title", "desc", "text", "path", "g", "rect"}
    assert not {name for each in root.iter() for name in each.attrib if "href" in name or name.startswith("on")}


def test_names_in_the_picture_are_text():
    root = picture(page(deployment(20, told.HOSTILE).ended()))
    assert "\\x1b" in str(root.findtext(f"{SVG}g[1]/{SVG}title"))
    assert "</script><script>alert(1)</script>" in str(root.findtext(f"{SVG}g[1]/{SVG}title"))


@pytest.mark.parametrize(
    ("playbook", "hosts", "has", "lacks"),
    [
        ("rollout", 3, ["<title>FAILED: ", '<span class="failed">FAILED</span>', "1 healthy, 2 failed, 42 s"], []),
        ("rollout", 3, ["<li>edge-1: It is not mine.</li>", "<li>edge-2: It is not edge-2.</li>"], []),
        ("rollout", 3, ['reference/messages.md#unverified_container" rel', "<dd>1 engine installed</dd>"], ["Batches"]),
        ("rollout", 3, ["<svg"], []),
        ("rollout", 2, ["<b>2</b> hosts"], ["<svg"]),
        ("rollout", 1, ["<title>OK: ", '"healthy">OK</span>', "<b>1</b> host<"], ["<svg", "Needs attention"]),
        ("audit", 3, [], ["<svg", "\x1b"]),
    ],
)
def test_page_has_result_causes_and_changes(playbook, hosts, has, lacks):
    run = told.RecordedRun(f"slb.fleet.{playbook}").play("check", *(f"edge-{at}" for at in range(hosts)))
    run.task("edge-0", "slb.fleet.engine_install", {"changed": True, "outcome": "requested"}, seconds=40)
    run.plan("edge-0", told.HEALTHY, requests=1)
    for at, name in enumerate(["mine", "edge-2"][: hosts - 1], start=1):
        run.plan(f"edge-{at}", {**told.RUNNING, "summary": f"It is not {name}."}, seconds=0.5)
    text = page(run.ended())
    assert ([each for each in has if each not in text], [each for each in lacks if each in text]) == ([], [])
