"""The documents of several runs become one, and files of others cannot harm the result."""

import json
import re
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    Batch,
    Document,
    Plan,
    Run,
    UnknownEngine,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import as_text, retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import (
    document_from,
    merge_documents,
    read_document,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import summary
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import host_lines
from ansible_collections.slb.fleet.tests.unit.errors import code_of
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told

SCHEMA = json.loads((Path(__file__).resolve().parents[5] / "docs" / "report.schema.json").read_text())
BEGAN = "2026-11-20T12:00:00Z"


def filled(hint: Any) -> Any:
    """Return a value of this type of the document, in which no field is empty."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return BEGAN if any(isinstance(each, re.Pattern) for each in hint.__metadata__) else filled(parts[0])
    if origin in (Union, UnionType):
        return filled(parts[0])
    if origin is tuple:
        return (filled(parts[0]),)
    if is_dataclass(hint):
        return hint(**{name: filled(part) for name, part in get_type_hints(hint, include_extras=True).items()})
    simple = {str: "text", bool: True, int: 1, float: 1.5, Mapping: {"name": "text"}}
    return parts[-1] if origin is Literal else simple[origin or hint]


FULL = replace(
    filled(Document),
    run=replace(filled(Run), playbook="slb.fleet.rollout", batches=(filled(Batch), filled(Batch))),
    plan=Plan.of({"edge-2": "install: edge-2"}),
)


def run(good: tuple[str, ...], bad: tuple[str, ...] = (), after: float = 0, **facts: Any) -> Document:
    recorded = told.RecordedRun(**facts)
    recorded.now = after
    recorded.play("check", *good, *bad)
    for host in good:
        recorded.plan(host, told.HEALTHY)
    for host in bad:
        recorded.fail(host, told.RUNNING)
    return recorded.ended()


@pytest.mark.parametrize(
    "document", [FULL, told.troubled(), told.healthy(3), told.hostile(), told.RecordedRun().ended()]
)
def test_document_that_is_read_again_is_the_same(document):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(as_text(document)), SCHEMA)
    assert document_from(as_text(document)) == document


def test_slices_become_one_document_with_one_retry_file():
    whole = merge_documents([run(("edge-1", "edge-2"), ("edge-3",)), run(("edge-4",), ("edge-5",))], "whole")
    jsonschema.validate(whole.as_json(), SCHEMA)
    assert (whole.counts["hosts"], whole.counts["healthy"], whole.counts["failed"]) == (5, 3, 2)
    assert [group.hosts for group in whole.groups()] == [("edge-3", "edge-5")]
    assert whole.run.next == "ansible-playbook -i INVENTORY slb.fleet.rollout --limit edge-3,edge-5"
    assert [batch.hosts for batch in whole.run.batches] == [3, 2]
    assert [host.batch for host in whole.hosts] == [0, 0, 0, 1, 1]


def test_latest_run_of_a_host_counts():
    first, second = run(("edge-1",), ("edge-2",)), run(("edge-2",), after=600)
    for order in ([first, second], [second, first]):
        assert merge_documents(order, "").counts["healthy"] == 2


def test_whole_is_running_while_one_run_is():
    running = told.RecordedRun()
    running.play("check", "edge-9")
    whole = merge_documents([run(("edge-1",)), running.so_far()], "")
    assert (whole.run.status, whole.run.ended) == ("running", None)


@pytest.mark.parametrize(("hosts", "status"), [(["edge-1"], "finished"), ([], "running")])
def test_run_whose_hosts_are_in_later_ones_is_over(hosts, status):
    """Not one that ended before it had any."""
    killed = told.RecordedRun()
    killed.play("check", *hosts)
    whole = merge_documents([killed.so_far(), run(("edge-1", "edge-2"), after=600)], "")
    assert (whole.run.status, bool(whole.run.ended), whole.counts["healthy"]) == (status, hosts != [], 2)


def test_engine_of_another_slice_is_not_unknown():
    def of(node, *engines):
        document = run(("edge-1",))
        unknown = tuple(UnknownEngine(each, node) for each in engines)
        return replace(document, run=replace(document.run, management_nodes=(node,)), unknown_engines=unknown)

    merged = merge_documents([of("north", "edge-2", "ghost"), of("north", "edge-1", "ghost"), of("south", "old")], "")
    assert merged.unknown_engines == (UnknownEngine("ghost", "north"), UnknownEngine("old", "south"))


@pytest.mark.parametrize("documents", [[], [run(("edge-1",)), run(("edge-2",), check=True)]])
def test_runs_of_different_kinds_are_refused(documents):
    assert code_of(merge_documents, documents, "") == "report_invalid"


def test_text_of_another_run_forges_no_line_and_is_no_limit():
    values = run((), ("edge-1", "edge-2")).as_json()
    values["hosts"][0] |= {"name": "all", "summary": "live\nedge-2  verified in the engine list\x1b[2K"}
    whole = merge_documents([document_from(json.dumps(values)), run(("edge-3",))], "whole")
    assert retry(whole) == "edge-2\n"
    assert whole.run.next == "ansible-playbook -i INVENTORY slb.fleet.rollout --limit edge-2"
    assert summary(whole)["again"] == "edge-2"
    assert all(line.isprintable() for line in host_lines(whole))


def test_text_of_another_run_is_no_option_of_next():
    evil = ("-e", "@evil.yml")
    values = run((), ("edge-1",), inventory=("-i", "x.yml", *evil), options=evil, extra_vars=evil[1:]).as_json()
    whole = merge_documents([document_from(json.dumps(values))], "whole")
    words = "ansible-playbook -i INVENTORY slb.fleet.rollout --limit edge-1 -e ..."
    assert whole.run.next == words
    for playbook in ("evil.yml", "slb.fleet.rollout -e x", "/tmp/slb.fleet.rollout"):
        values["run"]["playbook"] = playbook
        with pytest.raises(ValueError, match="playbook"):
            document_from(json.dumps(values))


ODD = ["", "[]", "null", '{"format": "another"}', '{"format": "slb.fleet.report", "version": 1}', "[" * 100_000]
VALUES = [
    *(("hosts", key, [7]) for key in ("status", "name", "changes", "seconds", "batch")),
    *(("run", "began", moment) for moment in ("yesterday", "2026-99-99T00:00:00Z", "2026-11-22T00:00:00+05:00", 5)),
    ("run", "awx_job_id", 1.5),
    ("run", "batches", 3),
    *(("hosts", "batch", number) for number in (-1, 9)),
    ("hosts", "settled", "yesterday"),
    ("run", "batches", [{"play": "check", "hosts": 1, "began": "yesterday", "ended": None, "failed": 0}]),
    *(("hosts", "plan", plan) for plan in (7, [], {})),
    ("hosts", "changes", [{"code": 1, "text": ""}]),
]


def test_file_that_is_no_report_is_refused(tmp_path):
    texts = list(ODD)
    for part, key, value in VALUES:
        values = run((), ("edge-1",)).as_json()
        (values[part][0] if part == "hosts" else values[part])[key] = value
        texts.append(json.dumps(values))
    for text in texts:
        (tmp_path / "report.json").write_text(text)
        assert code_of(read_document, tmp_path) == "report_invalid"


def test_report_of_a_later_version_is_read():
    values = FULL.as_json()
    for part in (values, values["run"], values["hosts"][0], values["hosts"][0]["plan"]):
        part["later"] = {"any": 1}
    read = document_from(json.dumps(values))
    assert (read.run, read.hosts[0].plan.code) == (FULL.run, "text")
