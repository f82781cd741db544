"""Metrics count what the document counts."""

import re
from types import ModuleType

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END
from ansible_collections.slb.fleet.plugins.plugin_utils._report.metrics import metrics
from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told

READERS = pytest.mark.parametrize("read", [openmetrics_parser, parser], ids=["OpenMetrics", "the textfile collector's"])


def samples(text: str, reader: ModuleType = openmetrics_parser) -> dict[tuple[str, str], float]:
    """By a metric's name and what one of its samples is about, as Prometheus' own library reads it."""
    found: dict[tuple[str, str], float] = {}
    for family in reader.text_string_to_metric_families(text):
        assert family.type == "gauge"
        for sample in family.samples:
            about = [value for label, value in sample.labels.items() if label not in ("playbook", "check")]
            key = sample.name.removeprefix("slb_fleet_"), " ".join(about)
            assert key not in found
            found[key] = sample.value
    return found


@READERS
def test_metrics_count_what_the_document_counts(read):
    found = samples(metrics(told.troubled()), read)
    assert found["hosts", "not_started"] == 1
    assert found["troubled_hosts", "failed unverified_container"] == 1
    assert [found["host_healthy", host] for host in ("edge-1", "edge-2", "edge-4")] == [1, 0, 0]
    assert found["run_complete", ""] == 1


@READERS
def test_metrics_can_be_read_whatever_hosts_are_called(read):
    run = told.RecordedRun('a playbook \\ of "others"\n')
    names = ['edge"1', "edge\\2", "edge\n3", "edge{4}", "örtlich,5=", "edge 6 # EOF"]
    run.play("check", *names)
    found = samples(metrics(run.ended()), read)
    assert {host for name, host in found if name == "host_healthy"} == set(names)


def test_others_words_break_out_of_no_rendering():
    document = told.hostile()
    for render in AT_THE_END.values():
        assert "\x1b" not in render(document)
        assert "\u202e" not in render(document)
    samples(metrics(document))
    assert "<script>alert" not in page(document)
    assert "49" not in re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z|sha256-\S+", "", page(document).partition("<body>")[2])
    assert all("\n" not in each for each in lines(document))
