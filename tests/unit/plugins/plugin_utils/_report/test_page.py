"""The page of a report."""

from __future__ import annotations

import re

from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report.told_runs import (
    HEALTHY,
    RUNNING,
    RecordedRun,
)


def test_page_of_a_failed_fleet_is_small_and_self_contained():
    words = "it could be live, and what to do about it takes many words. " * 5
    run = RecordedRun(folder="/reports")
    names = [f"edge-{number}.site.example" for number in range(5000)]
    run.play("check", *names)
    for name in names:
        run.fail(name, {**RUNNING, "summary": words, "seen": HEALTHY["seen"]})
    text = page(run.ended())
    assert len(text.encode()) < 5_000_000
    assert "--limit @/reports/retry" in text
    assert not re.findall(r"<[^>]*\b(?:src|href|action|srcset)=|url\(|@import", text)
