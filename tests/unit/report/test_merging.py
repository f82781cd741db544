"""The documents of several runs become one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    Batch,
    Change,
    Document,
    HostEntry,
    Reason,
    RunEntry,
    Verified,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import as_text, retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import NotMergeableError, merged
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import plan_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report.reading import _UNREADABLE, document_from
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import summary
from ansible_collections.slb.fleet.tests.unit.report.told_runs import ABSENT, HEALTHY, LIVE, Happenings, untold

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())


def run(good: tuple[str, ...], bad: tuple[str, ...] = (), after: float = 0, **facts: Any) -> Document:
    told = Happenings(**facts)
    told.now = after
    told.play("Look at all engine hosts, changing nothing", *good, *bad)
    for host in good:
        told.look(host, HEALTHY)
    for host in bad:
        told.fail(host, LIVE)
    return told.ended()


def test_what_is_written_is_read_as_it_was() -> None:
    told = Happenings()
    told.play("Look", "edge-1", "edge-2", "edge-3", "edge-4")
    told.look("edge-1", HEALTHY)
    told.look("edge-2", ABSENT)
    told.fail("edge-3", LIVE)
    document = told.ended()
    again = document_from(as_text(document))
    assert replace(again.run, next="") == replace(document.run, next="")
    assert [replace(host, seconds={}) for host in again.hosts] == [replace(host, seconds={}) for host in document.hosts]
    assert again.plan == document.plan


BEGAN, UPDATED, ENDED = (f"2026-11-20T12:00:0{second}Z" for second in range(3))
FULL_HOST = HostEntry(
    name="edge-1",
    status="healthy",
    action="none",
    reason=Reason("healthy", "It runs.", "Nothing to do."),
    evidence=("container slb: running", "record: verified"),
    verified=Verified("engine_list", UPDATED),
    done=(Change("install_requested", "requested the installation"),),
    would_do=(Change("motd_aside", "move the message of the day aside"),),
    seconds={"look": 1.5, "wait": 60.0},
    batch=1,
    next="ansible-playbook slb.fleet.rollout --limit edge-1",
    steps=("install",),
    console="not_listed",
    since="corrected",
)
FULL_RUN = RunEntry(
    playbook="slb.fleet.rollout",
    check=True,
    status="interrupted",
    began=BEGAN,
    updated=UPDATED,
    ended=ENDED,
    seconds=2.5,
    limit="edge-*",
    awx_job_id=77,
    versions={"slb.fleet": "1.0.0"},
    management_nodes=("https://console.example",),
    batches=(Batch("Roll out", 3, BEGAN, ENDED, 1),),
    next="ansible-playbook slb.fleet.rollout",
)
FULL = Document(FULL_RUN, (FULL_HOST,), plan_of({"edge-2": "add: edge-2"}), ("edge-9",))


def test_no_field_is_lost_when_a_document_is_read_again() -> None:
    parts = (FULL, FULL_RUN, FULL_HOST, FULL.plan, *FULL_RUN.batches, *FULL_HOST.done, *FULL_HOST.would_do)
    for part in (*parts, FULL_HOST.reason, FULL_HOST.verified):
        assert untold([part]) == [], f"give it a value of its own in the {type(part).__name__} of this test"
    values = FULL.as_json()
    jsonschema.validate(values, SCHEMA)
    assert document_from(json.dumps(values)) == FULL


def test_slices_become_one_with_one_retry_list() -> None:
    one, two = run(("edge-1", "edge-2"), ("edge-3",)), run(("edge-4",), ("edge-5",))
    whole = merged([one, two], NextStep(folder="/whole"))
    jsonschema.validate(whole.as_json(), SCHEMA)
    assert (whole.counts["hosts"], whole.counts["healthy"], whole.counts["failed"]) == (5, 3, 2)
    assert [group.hosts for group in whole.groups()] == [("edge-3", "edge-5")]
    assert whole.run.next == "ansible-playbook -i inventory.yml slb.fleet.rollout --limit @/whole/retry"
    assert [batch.hosts for batch in whole.run.batches] == [3, 2]
    assert {host.name: host.batch for host in whole.hosts} == {
        **dict.fromkeys(("edge-1", "edge-2", "edge-3"), 0),
        **dict.fromkeys(("edge-4", "edge-5"), 1),
    }


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (("-i", "a b.yml", "-i", "c"), ("-i", "a b.yml", "-i", "c"), "-i 'a b.yml' -i c "),
        (("-i", "a"), ("-i", "b"), ""),
        (("-i", "a"), (), ""),
        (("-i", "a"), ("-i", "b" * 3000), ""),
        ((), (), ""),
    ],
)
def test_the_next_command_of_all_has_the_inventory_on_which_theirs_agree(
    first: tuple[str, ...], second: tuple[str, ...], kept: str
) -> None:
    runs = [
        run((), ("edge-1",), inventory=first),
        run((), ("edge-2",), inventory=second),
        run(("edge-3",), inventory=("-i", "x")),
    ]
    read = [document_from(as_text(each)) for each in runs]
    whole = merged(read, NextStep(folder="/whole"))
    assert whole.run.next == f"ansible-playbook {kept}slb.fleet.rollout --limit @/whole/retry"


def test_of_a_host_that_is_in_several_the_last_word_counts() -> None:
    first, retry = run(("edge-1",), ("edge-2",)), run(("edge-2",), after=600)
    for order in ([first, retry], [retry, first]):
        assert merged(order, NextStep()).counts["healthy"] == 2


def test_the_whole_is_at_its_end_when_all_are() -> None:
    told = Happenings()
    told.play("Look", "edge-9")
    whole = merged([run(("edge-1",)), told.so_far()], NextStep())
    assert (whole.run.status, whole.run.ended) == ("running", None)


def test_an_engine_that_one_slice_does_not_know_may_be_another_s() -> None:
    one = replace(run(("edge-1",)), unknown_engines=("edge-2", "of-nobody"))
    two = replace(run(("edge-2",)), unknown_engines=("edge-1", "of-nobody"))
    assert merged([one, two], NextStep()).unknown_engines == ("of-nobody",)


def test_of_several_nodes_only_slices_that_have_one_say_what_it_lists() -> None:
    def of(nodes: str, *engines: str) -> Document:
        document = run((nodes,))
        return replace(document, run=replace(document.run, management_nodes=tuple(nodes)), unknown_engines=engines)

    documents = [of("NS", "ghost at N", "of-two at N", "old at S"), of("N", "ghost"), of("S", "old", "of-one")]
    assert merged(documents, NextStep()).unknown_engines == ("ghost at N", "old at S")
    assert merged(documents[1:], NextStep()).unknown_engines == ("ghost at N", "old at S", "of-one at S")
    assert merged(documents[2:], NextStep()).unknown_engines == ("old", "of-one")


def test_runs_of_different_kinds_are_not_told_as_one() -> None:
    with pytest.raises(NotMergeableError, match="in check mode"):
        merged([run(("edge-1",)), run(("edge-2",), check=True)], NextStep())


@pytest.mark.parametrize(
    "name",
    ["all", "ungrouped", "*", "!edge-1", "&edge-1", "~.*", "@/etc/passwd", "edge[1:9]", "a b", "-e", "a\nb", "a:b"],
)
def test_a_pattern_that_is_a_hosts_name_comes_into_no_limit(name: str) -> None:
    """Whoever else has written the report; and the other hosts are merged all the same."""
    values = run((), ("edge-1", "edge-2")).as_json()
    values["hosts"][0]["name"] = name
    whole = merged([document_from(json.dumps(values)), run(("edge-3",))], NextStep(folder="/whole"))
    assert [host.name for host in whole.hosts] == [" ".join(name.split()), "edge-2", "edge-3"]
    assert retry(whole) == "edge-2\n"
    assert whole.run.next == "ansible-playbook -i inventory.yml slb.fleet.rollout"
    assert whole.hosts[0].next == values["hosts"][0]["next"]
    published = summary(whole)
    assert published["again"] == "edge-2"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", '{"format": "another"}', '{"format": "slb.fleet.report", "version": 1}', "[" * 100_000],
)
def test_what_is_no_report_is_said_to_be_none(text: str) -> None:
    with pytest.raises(_UNREADABLE):
        document_from(text)


@pytest.mark.parametrize("key", ["status", "name", "done", "seconds", "verified"])
def test_a_field_that_is_not_of_its_shape_is_refused(key: str) -> None:
    values = run(("edge-1",)).as_json()
    values["hosts"][0][key] = ["\x1b[31m"]
    with pytest.raises(_UNREADABLE):
        document_from(json.dumps(values))


@pytest.mark.parametrize("seconds", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(seconds: str) -> None:
    """It would be written as it is, and no other program could read the whole."""
    values = run(("edge-1",)).as_json()
    values["hosts"][0]["seconds"] = {"look": "?"}
    with pytest.raises(_UNREADABLE):
        document_from(json.dumps(values).replace('"?"', seconds))


@pytest.mark.parametrize("number", ["1e999", "9" * 400, "-1", "1.5"])
@pytest.mark.parametrize("field", ["awx_job_id", "batches", "batch"])
def test_a_count_that_is_none_is_refused(field: str, number: str) -> None:
    values = run(("edge-1",)).as_json()
    batch = {"play": "Roll out", "hosts": "?", "began": values["run"]["began"], "ended": None, "troubled": 0}
    (values["hosts"][0] if field == "batch" else values["run"])[field] = [batch] if field == "batches" else "?"
    text = json.dumps(values)
    assert document_from(text.replace('"?"', "1"))
    with pytest.raises(_UNREADABLE):
        document_from(text.replace('"?"', number))


@pytest.mark.parametrize("seconds", ["1e999", "9" * 400])
def test_a_time_that_never_passes_is_refused(seconds: str) -> None:
    values = run(("edge-1",)).as_json()
    values["run"]["seconds"] = "?"
    with pytest.raises(_UNREADABLE):
        document_from(json.dumps(values).replace('"?"', seconds))


@pytest.mark.parametrize("moment", ["yesterday", "2026-99-99T00:00:00Z", "2026-11-22", "2026-11-22T00:00:00+05:00", 5])
@pytest.mark.parametrize("key", ["began", "updated", "ended"])
def test_a_time_that_is_none_is_refused(key: str, moment: object) -> None:
    values = run(("edge-1",)).as_json()
    values["run"][key] = moment
    with pytest.raises(_UNREADABLE):
        document_from(json.dumps(values))


def test_words_of_another_run_forge_no_line() -> None:
    values = run((), ("edge-1",)).as_json()
    values["hosts"][0]["reason"]["summary"] = "live\nedge-2  verified in the engine list\x1b[2K"
    read = document_from(json.dumps(values))
    assert read.hosts[0].reason
    assert read.hosts[0].reason.text.isprintable()
