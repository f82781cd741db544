"""The summary for AWX."""

import json

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import summary
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report.told_runs import RecordedRun


def test_the_summary_stays_small_however_many_hosts_have_trouble():
    run = RecordedRun()
    names = [f"edge-{number}.{'site' * 60}" for number in range(5000)]
    run.play("check", *names)
    for number, name in enumerate(names):
        run.fail(name, {"action": "fail", "code": f"code-{number % 40}", "summary": "word " * 500})
    told = summary(run.ended())
    assert len(json.dumps(told)) < 100_000
    assert told["counts"]["failed"] == 5000
    assert told["again"] is None


@pytest.mark.parametrize(
    ("fixes", "fix"),
    [
        (["Start it.", "Start it."], "Start it."),
        (["Start edge-0.", "Start edge-1."], "1 of 2 hosts: Start edge-0."),
        (["Start edge-0.", "Check it.", "Check it."], "2 of 3 hosts: Check it."),
        (["", "", "Check it."], "1 of 3 hosts: Check it."),
        (["", ""], ""),
    ],
)
def test_summary_of_different_fixes_has_the_most_common(fixes, fix):
    run = RecordedRun().play("check", *(f"edge-{number}" for number, _fix in enumerate(fixes)))
    for number, text in enumerate(fixes):
        run.fail(f"edge-{number}", {"action": "fail", "code": "engine_stopped", "summary": "It stopped.", "fix": text})
    (group,) = summary(run.ended())["groups"]
    assert group["fix"] == fix
