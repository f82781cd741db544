"""The picture of a run: who waits, who is in progress, and what became of them, at the right times."""

import json
from dataclasses import replace

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import as_text
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import document_from, merge_documents
from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page
from ansible_collections.slb.fleet.plugins.plugin_utils._report.timeline import timeline
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told


def rollout() -> told.RecordedRun:
    """Return a run of 100 s: edge-1 is healthy; edge-2 is deployed, then edge-3, which fails."""
    run = told.RecordedRun().play("check", "edge-1", "edge-2", "edge-3")
    run.plan("edge-1", told.HEALTHY, seconds=10)
    run.plan("edge-2", told.ABSENT, seconds=10)
    run.plan("edge-3", told.ABSENT, seconds=20)
    run.play("deploy", "edge-2", "edge-3", batch=("edge-2",))
    run.plan("edge-2", told.HEALTHY, seconds=30)
    run.play("deploy", "edge-2", "edge-3", batch=("edge-3",))
    run.fail("edge-3", told.RUNNING)
    run.now = 100
    return run


def drawn(document: Document) -> dict[str, str]:
    picture = timeline(document)
    assert picture
    return {layer.words: layer.outline for layer in picture.layers}


def test_timeline_shows_each_state_from_its_time_on():
    document = document_from(as_text(rollout().ended()))
    assert drawn(document) == {
        "waiting": "M0 3H0V0H1000V3Z",
        "in progress": "M0 3H0V2H400V1H700V0H1000V3Z",
        "healthy": "M100 3H100V2H700V1H710V0H1000V3Z",
        "failed": "M710 3H710V2H1000V3Z",
    }


def test_timeline_shows_the_batches_and_the_time():
    picture = timeline(rollout().ended())
    assert picture
    bands = [(band.batch.play, band.start, band.width, band.batch.failed) for band in picture.bands]
    assert bands == [("check", 0, 40, 0), ("deploy", 40, 30, 0), ("deploy", 70, 30, 1)]
    assert picture.ticks == ("12:00:00Z", "12:00:50Z", "12:01:40Z")


def test_hosts_without_a_result_stay_in_progress_or_wait():
    run = told.RecordedRun().play("check", "edge-1", "edge-2", "edge-3")
    for name in ("edge-1", "edge-2", "edge-3"):
        run.plan(name, told.ABSENT, seconds=10)
    run.play("deploy", "edge-1", "edge-2", "edge-3", batch=("edge-1",))
    run.start("edge-1")
    run.now = 100
    assert drawn(run.ended("interrupted")) == {"waiting": "M0 3H0V0H1000V3Z", "in progress": "M300 3H300V2H1000V3Z"}


def test_hosts_that_nothing_verifies_are_done_with_their_batch():
    run = told.RecordedRun("slb.fleet.adopt_interfaces").play("adopt", "edge-1")
    run.task("edge-1", "slb.fleet.interface", {"changed": True}, seconds=50)
    run.play("after", "edge-2")
    run.task("edge-2", "slb.fleet.interface", {"changed": True}, seconds=50)
    assert drawn(run.ended()) == {
        "waiting": "M0 2H0V0H1000V2Z",
        "in progress": "M0 2H0V1H500V0H1000V2Z",
        "done": "M500 2H500V1H1000V0H1000V2Z",
    }


def test_timeline_of_merged_runs_has_their_common_time():
    first, second = told.RecordedRun(), told.RecordedRun()
    for run, name, begin in ((first, "edge-1", 0), (second, "edge-2", 60)):
        run.now = begin
        run.play("check", name)
        run.plan(name, told.HEALTHY, seconds=40)
    late = replace(second.ended(), run=replace(second.ended().run, began="2026-11-20T12:01:00Z"))
    whole = merge_documents([late, first.ended()], "")
    assert drawn(whole)["healthy"] == "M400 2H400V1H1000V0H1000V2Z"
    assert drawn(whole)["in progress"] == "M0 2H0V1H600V0H1000V2Z"


@pytest.mark.parametrize(("hosts", "seconds"), [(1, 0), (1, 4), (0, 100)])
def test_run_that_is_too_short_or_empty_has_no_timeline(hosts, seconds):
    run = told.RecordedRun()
    run.now = 0 if hosts else seconds
    if hosts:
        run.play("check", "edge-1")
        run.plan("edge-1", told.HEALTHY, seconds=seconds)
    assert timeline(run.ended()) is None
    assert "<svg" not in page(run.ended())


def test_times_of_another_report_outside_of_its_run_stay_in_it():
    values = rollout().ended().as_json()
    values["run"]["batches"][2] |= {"began": "2030-01-01T00:00:00Z", "ended": "2001-01-01T00:00:00Z"}
    values["hosts"][0]["settled"] = "2001-01-01T00:00:00Z"
    picture = timeline(document_from(json.dumps(values)))
    assert picture
    assert (picture.bands[2].start, picture.bands[2].width) == (99.8, 0.2)
