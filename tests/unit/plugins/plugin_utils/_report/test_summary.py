"""The summary for AWX."""

from __future__ import annotations

import json

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
