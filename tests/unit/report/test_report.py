"""The line that an operator reads about each host."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report import Report

PROVEN = {
    "action": "nothing",
    "verified_by": "console",
    "evidence": ["container slb: running for 70 s", "record: confirmed", "console's list: running"],
}
ABSENT = {"action": "add", "verified_by": None, "evidence": ["container slb: absent", "record: none"]}


def test_each_host_has_one_line_whatever_became_of_it() -> None:
    report = Report()
    report.expect("rollout", ["edge-1", "edge-20", "edge-3", "edge-4"])
    report.begin("edge-1", 10.0)
    report.end("edge-1", "Look at the host", {"fate": PROVEN}, 11.0)
    report.begin("edge-1", 11.0)
    report.end("edge-1", "Ask the management node to install the engine", {"changed": True}, 13.4)
    report.begin("edge-20", 10.0)
    report.fail("edge-20", "failed", "The container slb\nis running: it could be live.", 12.0)
    report.begin("edge-3", 10.0)
    report.fail("edge-3", "unreachable", "Connection timed out", 40.0)
    assert list(report.lines()) == [
        "edge-1   verified by console     3 s  container slb: running for 70 s; record: confirmed"
        " | ask the management node to install the engine",
        "edge-20  failed                  2 s  failed: The container slb is running: it could be live.",
        "edge-3   unreachable            30 s  unreachable: Connection timed out",
        "edge-4   not attempted",
    ]


def test_the_last_decision_counts() -> None:
    report = Report()
    report.begin("edge-1", 0.0)
    report.end("edge-1", "Look", {"fate": ABSENT}, 1.0)
    (line,) = report.lines()
    assert "not proven" in line
    report.end("edge-1", "Look again", {"fate": PROVEN}, 2.0)
    (line,) = report.lines()
    assert "verified by console" in line


def test_a_host_that_its_last_play_never_came_to_was_not_attempted() -> None:
    report = Report()
    report.expect("look", ["edge-1", "edge-2"])
    for host in ("edge-1", "edge-2"):
        report.begin(host, 0.0)
        report.end(host, "Look", {"fate": PROVEN}, 1.0)
    report.expect("deploy", ["edge-1", "edge-2"])
    report.begin("edge-1", 100.0)
    report.fail("edge-1", "failed", "It is the canary.", 103.0)
    report.expect("deploy", ["edge-1", "edge-2"])
    failed, left = report.lines()
    assert failed.split()[:4] == ["edge-1", "failed", "4", "s"], "not the time in which it waited for its turn"
    assert left.startswith("edge-2  not attempted     1 s  container slb: running for 70 s")


def test_a_look_without_a_decision_claims_nothing() -> None:
    report = Report()
    report.begin("edge-1", 0.0)
    report.end("edge-1", "Look", {"slb_host": {"interfaces": []}}, 1.0)
    (line,) = report.lines()
    assert line.startswith("edge-1  looked at")


def test_a_run_without_hosts_has_no_lines() -> None:
    assert list(Report().lines()) == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
of_a_fate = st.fixed_dictionaries(
    {}, optional={name: anything | st.sampled_from([PROVEN[name]]) for name in ("action", "verified_by", "evidence")}
)


@settings(max_examples=200, deadline=None)
@given(fate=of_a_fate | anything, words=st.text(), name=st.text())
def test_no_value_takes_the_report_away(fate: Any, words: str, name: str) -> None:
    """A host's lie is told in its own line, and the other hosts' lines are what they would be."""
    report = Report()
    report.expect("play", ["edge-1", "edge-2", "edge-3"])
    for host in ("edge-1", "edge-2"):
        report.begin(host, 0.0)
    report.end("edge-1", name, {"fate": fate, "changed": fate, "slb_host": fate}, 1.0)
    report.end("edge-2", "Look", {"fate": PROVEN}, 1.0)
    report.fail("edge-3", "failed", words, 1.0)
    lines = list(report.lines())
    assert [line.split()[0] for line in lines] == ["edge-1", "edge-2", "edge-3"]
    assert all(visible(line) == line for line in lines)
    assert lines[1].split(maxsplit=1)[1].startswith("verified by console")


def test_what_is_long_is_cut() -> None:
    report = Report()
    report.fail("edge-1", "failed", "x" * 1_000_000, 1.0)
    (line,) = report.lines()
    assert len(line) < 3000
