"""What a run did to each host, whatever became of it, stands in the document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, HostEntry, Reason
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_line import line
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines
from ansible_collections.slb.fleet.tests.unit.report.told_runs import (
    ABSENT,
    HEALTHY,
    INSTALL,
    LIVE,
    LOOK,
    NODE,
    STOP,
    Happenings,
    decided,
    troubled,
    untold,
)

VERIFIED = {"state": "verified", "is_current": True, "last_verified": "c1"}


def of(document: Document, name: str) -> HostEntry:
    (host,) = (each for each in document.hosts if each.name == name)
    return host


def test_each_host_is_in_it_whatever_became_of_it() -> None:
    document = troubled()
    assert {host.name: host.status for host in document.hosts} == {
        "edge-1": "healthy",
        "edge-2": "failed",
        "edge-3": "unreachable",
        "edge-4": "not_started",
        "edge-5": "failed",
    }
    assert document.counts["hosts"] == 5
    assert sum(document.counts[each] for each in ("healthy", "failed", "unreachable", "not_started")) == 5


def test_there_is_a_run_that_says_something_in_each_field() -> None:
    documents = []
    for check in (False, True):
        facts = {"limit": "edge-*", "awx_job_id": 77, "versions": {"slb.fleet": "1.0.0"}}
        run = Happenings(check=check, folder="/reports", **facts)
        run.play("deploy", "edge-1", "edge-2", batch=("edge-1",))
        run.look("edge-1", {**ABSENT, "fix": "Run it.", "steps": ["install"]}, unknown_engines=["edge-9"])
        run.task("edge-1", INSTALL, {"changed": True, "outcome": "requested"})
        run.play("deploy", "edge-1", "edge-2", batch=("edge-2",))
        run.lose("edge-2")
        run.look("edge-1", {**HEALTHY, "engine_list": "running", "steps": ["verify"]}, requests=2)
        documents.append(run.ended())
    assert untold(documents) == []
    assert untold(each.run for each in documents) == []
    assert untold(host for each in documents for host in each.hosts) == []
    assert untold(batch for each in documents for batch in each.run.batches) == []


def test_a_proof_says_by_what_and_when() -> None:
    verified = of(troubled(), "edge-1").verified
    assert verified is not None
    assert (verified.by, verified.at) == ("engine_list", "2026-11-20T12:00:01Z")
    assert of(troubled(), "edge-2").verified is None


def test_a_reason_is_a_code_and_a_sentence() -> None:
    document = troubled()
    reason = of(document, "edge-2").reason
    assert reason is not None
    assert (reason.code, reason.text) == ("unverified_container", "The container slb is running: it could be live.")
    assert [(group.code, group.hosts) for group in document.groups()] == [
        ("unverified_container", ("edge-2",)),
        ("host_unreachable", ("edge-3",)),
        ("task_failed", ("edge-5",)),
        ("not_installed", ("edge-4",)),
    ]


def test_failures_are_grouped_by_status_and_code_with_what_all_of_them_say() -> None:
    run = Happenings()
    run.play("look", "edge-1", "edge-2", "edge-3")
    run.lose("edge-1", "ssh: connect to host edge-1: timed out")
    run.lose("edge-2", "ssh: connect to host edge-2: timed out")
    run.fail("edge-3", {**LIVE, "fix": "Set it."})
    groups = run.ended().groups()
    assert [(group.code, group.hosts) for group in groups] == [
        ("host_unreachable", ("edge-1", "edge-2")),
        ("unverified_container", ("edge-3",)),
    ]
    assert [(group.summary, group.fix) for group in groups] == [("", ""), (LIVE["summary"], "Set it.")]


@pytest.mark.parametrize(("last", "since"), [(HEALTHY, "corrected"), (LIVE, "drifted")])
def test_a_drift_stays_told_where_the_run_that_corrected_it_was_interrupted(last: dict[str, Any], since: str) -> None:
    run = Happenings()
    run.play("look", "edge-1")
    run.look("edge-1", ABSENT, recorded=VERIFIED)
    if last is LIVE:
        run.fail("edge-1", LIVE)
    else:
        run.look("edge-1", last, requests=2, recorded=VERIFIED)
    assert of(run.ended(), "edge-1").since == since


@pytest.mark.parametrize(
    "code",
    [
        "duplicate_engine",
        "address_mismatch",
        "invalid_variable",
        "container_state_unknown",
        "engine_list_unavailable",
        "engine_list_unreliable",
    ],
)
def test_what_the_inventory_or_the_list_has_wrong_is_no_drift_of_the_host(code: str) -> None:
    run = Happenings()
    run.play("look", "edge-1")
    host_plan = {"action": "fail", "code": code, "summary": "Two hosts want it."}
    recorded = VERIFIED
    run.task("edge-1", LOOK, {**decided(host_plan, recorded=recorded), "failed": True, "msg": "Two."}, ending="failed")
    assert of(run.ended(), "edge-1").since is None


def test_a_decision_without_another_look_makes_a_proof_no_younger() -> None:
    run = Happenings("slb.fleet.audit")
    run.play("look", "edge-1")
    run.look("edge-1", HEALTHY)
    run.now += 600
    run.gathering.end("edge-1", "again", "ok", seen(LOOK, decided(HEALTHY)), None, run.now, has_looked=False)
    verified = of(run.ended(), "edge-1").verified
    assert verified is not None
    assert verified.at == "2026-11-20T12:00:01Z"


def test_the_last_decision_counts_and_what_was_done_is_told() -> None:
    run = Happenings()
    run.play("deploy", "edge-1")
    run.look("edge-1", ABSENT, seconds=2)
    run.task("edge-1", STOP, {"changed": True, "set_aside_as": "slb-leftover-20261120T120000Z"}, 3)
    run.task("edge-1", INSTALL, {"changed": True, "outcome": "requested"}, 1)
    so_far = of(run.so_far(), "edge-1")
    assert so_far.status == "interrupted"
    assert so_far.reason is not None
    assert so_far.reason.code == "interrupted"
    run.look("edge-1", HEALTHY, seconds=64, requests=2)
    host = of(run.ended(), "edge-1")
    assert host.status == "healthy"
    assert [change.code for change in host.done] == ["container_set_aside", "install_requested"]
    assert "slb-leftover-20261120T120000Z" in host.done[0].sentence
    assert host.seconds == {"look": 66.0, "clear": 3.0, "ask": 1.0}


@pytest.mark.parametrize("ending", ["ok", "failed"])
def test_what_the_last_look_has_noted_is_told_also_where_it_fails(ending: Any) -> None:
    run = Happenings()
    run.play("deploy", "edge-1")
    run.look("edge-1", ABSENT)
    noted = {"changed": True, "has_recorded": True, "msg": "The host could not be looked at."}
    run.task("edge-1", LOOK, decided(HEALTHY, requests=2, **noted), ending=ending)
    host = of(run.ended(), "edge-1")
    assert [change.code for change in host.done] == ["record_verified"]
    assert host.status == ("healthy" if ending == "ok" else "failed")


def test_check_mode_has_done_nothing() -> None:
    run = Happenings(check=True)
    run.play("deploy", "edge-1", "edge-2")
    run.look("edge-1", ABSENT)
    run.task("edge-1", INSTALL, {"changed": True, "outcome": "requested"})
    run.fail("edge-2", LIVE)
    document = run.ended()
    assert of(document, "edge-1").status == "planned"
    assert of(document, "edge-2").status == "failed"
    assert of(document, "edge-1").done == ()
    assert [change.code for change in of(document, "edge-1").would_do] == ["install_requested"]
    assert document.counts["changed"] == 0


RECORD = "slb.fleet.engine_record"
TAKEN = (STOP, {"changed": True, "set_aside_as": None})
WITHDRAWN = (RECORD, {"changed": True, "record": {"state": "none"}})
ENDS_A_PROOF = {
    "container_set_aside": TAKEN,
    "container_restored": (STOP, {"changed": True, "restored": True}),
    "record_removed": WITHDRAWN,
    "install_requested": (INSTALL, {"changed": True, "outcome": "requested"}),
    "install_unknown": (INSTALL, {"changed": True, "outcome": "unknown"}),
}


@pytest.mark.parametrize("code", ENDS_A_PROOF)
def test_what_this_run_has_taken_away_is_not_proven_any_more(code: str) -> None:
    run = Happenings("slb.fleet.uninstall")
    run.play("uninstall", "edge-1", "edge-2")
    run.look("edge-1", HEALTHY)
    run.look("edge-2", HEALTHY)
    run.task("edge-1", *ENDS_A_PROOF[code])
    document = run.ended()
    host = of(document, "edge-1")
    assert (host.status, host.action, host.reason, host.verified) == ("done", "", None, None)
    assert [change.code for change in host.done] == [code]
    assert of(document, "edge-2").status == "healthy"
    assert "1 healthy, 1 done" in next(lines(document))
    assert run.gathering.tally(run.now).healthy == 1


@pytest.mark.parametrize("has_looked", [True, False])
def test_another_look_proves_again_what_was_taken_away_and_no_memory_of_one_does(has_looked: bool) -> None:
    run = Happenings("slb.fleet.uninstall")
    run.play("uninstall", "edge-1")
    run.look("edge-1", HEALTHY)
    run.task("edge-1", *TAKEN)
    run.gathering.end("edge-1", "again", "ok", seen(LOOK, decided(HEALTHY)), None, run.now, has_looked)
    host = of(run.ended(), "edge-1")
    assert (host.status, host.verified is not None) == (("healthy", True) if has_looked else ("done", False))
    assert (host.reason is not None) is has_looked


@pytest.mark.parametrize(
    ("module", "result"),
    [
        ("motd", {"changed": True, "moved": []}),
        ("interface", {"changed": True, "adopted": [{"name": "ens9"}]}),
        ("license", {"changed": True, "dest": "/license"}),
        ("engine_record", {"changed": True, "record": {"state": "verified"}}),
        ("engine_container", {"changed": False, "set_aside_as": None}),
    ],
)
def test_a_proof_outlives_what_leaves_the_engine_as_it_was(module: str, result: dict[str, Any]) -> None:
    run = Happenings()
    run.play("deploy", "edge-1")
    run.look("edge-1", HEALTHY)
    run.task("edge-1", f"slb.fleet.{module}", result)
    assert of(run.ended(), "edge-1").status == "healthy"


def test_what_fails_after_a_proven_engine_was_taken_away_says_why() -> None:
    run = Happenings("slb.fleet.uninstall")
    run.play("uninstall", "edge-1")
    run.look("edge-1", HEALTHY)
    run.task("edge-1", *TAKEN)
    run.task("edge-1", RECORD, {"failed": True, "msg": "The disk is full."}, ending="failed")
    host = of(run.ended(), "edge-1")
    assert (host.status, host.reason) == ("failed", Reason("task_failed", "The disk is full."))


def test_a_rollout_that_has_taken_away_what_was_proven_has_not_come_to_its_end() -> None:
    run = Happenings()
    run.play("deploy", "edge-1")
    run.look("edge-1", HEALTHY)
    run.task("edge-1", *TAKEN)
    host = of(run.ended(), "edge-1")
    assert (host.status, host.verified) == ("interrupted", None)


def test_check_mode_tells_of_what_is_proven_that_it_would_be_taken_away() -> None:
    run = Happenings("slb.fleet.uninstall", check=True)
    run.play("uninstall", "edge-1", "edge-2")
    run.look("edge-1", HEALTHY)
    run.look("edge-2", HEALTHY)
    run.task("edge-1", *TAKEN)
    run.task("edge-1", *WITHDRAWN)
    document = run.ended()
    host = of(document, "edge-1")
    assert (host.status, host.action, host.done) == ("planned", "", ())
    assert [change.code for change in host.would_do] == ["container_set_aside", "record_removed"]


def test_the_batches_of_a_play_are_one_play_whatever_it_is_called_inside() -> None:
    run = Happenings()
    run.play("deploy", "edge-1", "edge-2", "edge-3", batch=("edge-1",))
    run.look("edge-1", HEALTHY)
    run.play("deploy", "edge-1", "edge-2", "edge-3", batch=("edge-2", "edge-3"))
    run.look("edge-2", HEALTHY)
    document = run.ended()
    assert [host.status for host in document.hosts] == ["healthy", "healthy", "not_started"]
    assert [(batch.hosts, batch.troubled) for batch in document.run.batches] == [(1, 0), (2, 0)]
    assert [host.batch for host in document.hosts] == [0, 1, 1]


def test_a_host_that_its_last_play_never_came_to_was_not_started() -> None:
    run = Happenings()
    run.play("look", "edge-1", "edge-2")
    for host in ("edge-1", "edge-2"):
        run.look(host, ABSENT)
    run.play("deploy", "edge-1", "edge-2", batch=("edge-1",))
    run.fail("edge-1", LIVE, seconds=3)
    document = run.ended()
    assert [host.status for host in document.hosts] == ["failed", "not_started"]
    reason = of(document, "edge-2").reason
    assert reason is not None
    assert (reason.code, len(reason.summary) > len(ABSENT["summary"])) == ("not_installed", True)


def test_a_play_without_hosts_is_no_batch() -> None:
    run = Happenings()
    run.play("look", "edge-1")
    run.look("edge-1", HEALTHY)
    run.gathering.play("license", [], ["edge-1"], 5.0)
    document = run.ended()
    assert [batch.play for batch in document.run.batches] == ["look"]
    assert document.hosts[0].status == "healthy"


def test_what_is_known_is_known_at_any_moment() -> None:
    run = Happenings()
    run.play("look", "edge-1", "edge-2")
    run.look("edge-1", HEALTHY)
    run.gathering.begin("edge-2", "task", LOOK, run.now)
    document = run.so_far()
    assert document.run.status == "running"
    assert document.run.ended is None
    assert [host.status for host in document.hosts] == ["healthy", "interrupted"]
    ended = run.ended("interrupted")
    assert (ended.run.status, ended.run.batches[-1].ended) == ("interrupted", None)
    assert [host.status for host in ended.hosts] == ["healthy", "interrupted"]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("module", ["slb.fleet.interface", "slb.fleet.license", "ansible.builtin.debug", LOOK, STOP])
@pytest.mark.parametrize("is_checked", [False, True])
def test_an_interrupted_host_has_a_reason_and_a_fix(module: str, check: bool, is_checked: bool) -> None:
    run = Happenings(check=check)
    run.play("do", "edge-1")
    if is_checked:
        run.look("edge-1", ABSENT)
    run.gathering.begin("edge-1", "task", module, run.now)
    reason = of(run.ended("interrupted"), "edge-1").reason
    assert reason is not None
    assert (reason.code, bool(reason.summary), bool(reason.fix)) == ("interrupted", True, True)


def test_a_look_without_a_decision_claims_nothing() -> None:
    run = Happenings("slb.fleet.adopt_interfaces")
    run.play("adopt", "edge-1")
    run.task("edge-1", "slb.fleet.interface", {"changed": True, "adopted": [{"name": "ens9", "mac": "secret"}]})
    (host,) = run.ended().hosts
    assert (host.status, host.verified) == ("done", None)
    assert [change.sentence for change in host.done] == ["interfaces adopted: ens9"]


@pytest.mark.parametrize("playbook", ["slb.fleet.rollout", "slb.fleet.audit", "slb.fleet.diagnose"])
def test_a_host_whose_look_was_skipped_is_nothing_that_was_done(playbook: str) -> None:
    run = Happenings(playbook)
    run.play("look", "edge-1", "edge-2")
    run.task("edge-1", "ansible.builtin.debug", {"msg": "tagged"})
    run.task("edge-2", INSTALL, {"changed": True, "outcome": "requested"})
    assert [host.status for host in run.ended().hosts] == ["not_started", "interrupted"]


@pytest.mark.parametrize("playbook", ["slb.fleet.diagnose", "slb.fleet.audit", "slb.fleet.rollout"])
def test_the_next_command_is_for_those_that_need_it(playbook: str) -> None:
    run = Happenings(playbook, folder="/reports")
    run.play("look", "edge-1", "edge-2")
    run.look("edge-1", HEALTHY)
    run.lose("edge-2")
    document = run.ended()
    assert of(document, "edge-1").next == ""
    assert of(document, "edge-2").next == f"ansible-playbook -i inventory.yml {playbook} --limit edge-2"
    assert document.run.next == f"ansible-playbook -i inventory.yml {playbook} --limit @/reports/retry"


@pytest.mark.parametrize("playbook", ["slb.fleet.diagnose", "slb.fleet.audit"])
def test_where_nothing_could_be_decided_the_look_is_repeated_and_nothing_is_changed(playbook: str) -> None:
    """As where a password for sudo is missing, or a variable cannot be decrypted."""
    run = Happenings(playbook)
    run.play("look", "edge-1")
    run.task("edge-1", LOOK, {"failed": True, "msg": "Missing sudo password"}, 1, "failed")
    document = run.ended()
    assert document.run.next.endswith(f"{playbook} --limit edge-1")
    assert of(document, "edge-1").next.endswith(f"{playbook} --limit edge-1")


def test_next_after_check_mode_runs_the_planned_hosts() -> None:
    for playbook, given in (
        ("slb.fleet.rollout", " --limit edge-1"),
        ("slb.fleet.remediate", " --limit edge-1"),
    ):
        run = Happenings(playbook, check=True, folder="/reports")
        run.play("look", "edge-1")
        run.look("edge-1", ABSENT)
        assert run.ended().run.next == f"ansible-playbook -i inventory.yml {playbook}{given}"


def test_what_an_audit_has_seen_is_healed_by_a_rollout_and_what_it_has_not_is_looked_at_again() -> None:
    run = Happenings("slb.fleet.audit")
    run.play("look", "edge-1", "edge-2")
    run.gathering.begin("edge-1", "task", LOOK, run.now)
    document = run.ended("interrupted")
    assert document.run.next.endswith("slb.fleet.audit --limit edge-1,edge-2")
    run = Happenings("slb.fleet.audit")
    run.play("look", "edge-1", "edge-2")
    run.look("edge-1", ABSENT)
    run.lose("edge-2")
    assert run.ended().run.next.endswith("slb.fleet.rollout --limit edge-1,edge-2")


ODD = ["!bang", "&and", "~like", "@file", "edge*", "edge[1:3]", "a b", "fe80::1", "-e", "a\nNext: rm", "\x1b[2J", "all"]


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_ansible_takes_for_a_pattern_is_no_limit(name: str) -> None:
    run = Happenings(folder="/reports")
    run.play("look", name, "edge-2")
    run.lose(name)
    run.lose("edge-2")
    document = run.ended()
    assert of(document, name).next == document.run.next == "ansible-playbook -i inventory.yml slb.fleet.rollout"
    assert retry(document) == "edge-2\n"


def test_next_in_awx_names_many_hosts_for_remediate_only() -> None:
    names = [f"edge-{each}" for each in range(31)]
    for playbook, limit in (("slb.fleet.rollout", ""), ("slb.fleet.remediate", f", with the limit {','.join(names)}")):
        run = Happenings(playbook, awx_job_id=7)
        run.play("look", *names)
        for name in names:
            run.lose(name)
        assert run.ended().run.next == f"Launch the template of {playbook}{limit}."


def test_a_host_that_cannot_be_named_is_remedied_with_no_others() -> None:
    run = Happenings(step=NextStep(limit="west"))
    run.play("look", "a b")
    run.fail("a b", {"action": "fail", "code": "missing_from_engine_list", "summary": "It is gone."})
    assert of(run.ended(), "a b").next == ""


def test_the_line_of_a_run_that_only_looks_counts_what_it_has_seen() -> None:
    told = {}
    for playbook, check in (("slb.fleet.diagnose", False), ("slb.fleet.rollout", True), ("slb.fleet.audit", False)):
        run = Happenings(playbook, check=check)
        run.play("look", *(f"edge-{number}" for number in range(1, 7)))
        run.look("edge-1", HEALTHY, 30)
        run.gathering.begin("edge-1", "again", LOOK, run.now)
        run.look("edge-2", ABSENT, 30)
        run.fail("edge-3", LIVE, 30)
        run.lose("edge-4")
        told[playbook, check] = line(run.gathering.tally(run.now))
    planned = "4/6 looked at · 1 healthy · 1 failed · 1 unreachable · about 2 min left"
    assert told == {
        ("slb.fleet.diagnose", False): planned,
        ("slb.fleet.rollout", True): planned,
        ("slb.fleet.audit", False): "4/6 looked at · 1 healthy · 2 failed · 1 unreachable · about 2 min left",
    }


def test_an_engine_that_was_proven_and_is_gone_is_remedied_by_name() -> None:
    run = Happenings()
    run.play("look", "edge-1")
    run.fail("edge-1", {"action": "fail", "code": "missing_from_engine_list", "summary": "It is gone."})
    assert of(run.ended(), "edge-1").next.endswith("slb.fleet.remediate --limit edge-1")


def test_the_same_decisions_have_the_same_digest_in_check_mode_and_later() -> None:
    digests = set()
    for check in (True, False):
        run = Happenings(check=check)
        for name in ("look", "decide"):
            run.play(name, "edge-1", "edge-2")
            for host in ("edge-1", "edge-2") if check else ("edge-2", "edge-1"):
                run.look(host, ABSENT)
        if not check:
            run.look("edge-1", HEALTHY, requests=1)
        plan = run.ended().plan
        assert plan is not None
        assert set(plan.hosts) == {"edge-1", "edge-2"}
        digests.add(plan.digest)
    assert len(digests) == 1


def test_in_an_audit_a_host_with_work_has_failed_before_its_task_fails() -> None:
    run = Happenings("slb.fleet.audit")
    run.play("audit", "edge-1", "edge-2")
    run.look("edge-1", ABSENT)
    run.look("edge-2", HEALTHY)
    assert [host.status for host in run.so_far().hosts] == ["failed", "healthy"]


@pytest.mark.parametrize(
    "odd", [None, 7, [], {}, "x" * 100_000, [[["deep"]]] * 1000, {"action": ["install"], "seen": 3}]
)
def test_no_value_takes_the_report_away(odd: Any) -> None:
    run = Happenings()
    run.play("look", "edge-1", "edge-2")
    result = {"plan": odd, "progress": odd, "engine": odd, "slb_host": odd, "unknown_engines": odd, "msg": odd}
    run.task("edge-1", LOOK, result)
    for module in ("engine", "engine_record", "engine_container", "interface", "motd", "license"):
        odd_result = {"changed": True, "record": odd, "adopted": odd, "set_aside_as": odd, "dest": odd, "msg": odd}
        run.task("edge-1", f"slb.fleet.{module}", odd_result, ending="failed")
    run.look("edge-2", HEALTHY)
    document = run.ended()
    assert [host.status for host in document.hosts] == ["failed", "healthy"]
    assert len(json.dumps(document.as_json())) < 20_000


def test_of_several_management_nodes_is_told_which_lists_an_engine_that_nobody_has() -> None:
    run = Happenings("slb.fleet.audit")
    run.play("look", "edge-1", "edge-2")
    of_south = {"engine": {"name": "edge-2", "manage_ip": "192.0.2.12", "base_url": "https://south.example"}}
    run.task("edge-1", LOOK, decided(HEALTHY, "edge-1", unknown_engines=["ghost (192.0.2.9)"]))
    assert run.so_far().unknown_engines == ("ghost (192.0.2.9)",)
    run.task("edge-2", LOOK, decided(HEALTHY, "edge-2", unknown_engines=["old (192.0.2.8)"], **of_south))
    assert run.ended().unknown_engines == (f"ghost (192.0.2.9) at {NODE}", "old (192.0.2.8) at https://south.example")


def test_the_management_nodes_are_told() -> None:
    run = Happenings()
    run.play("look", "edge-1")
    run.task("edge-1", LOOK, decided(HEALTHY))
    assert run.ended().run.management_nodes == (NODE,)


@pytest.mark.parametrize(
    ("recorded", "first", "last", "since"),
    [
        ("edge-1", HEALTHY, HEALTHY, None),
        ("edge-1", ABSENT, HEALTHY, "corrected"),
        ("edge-1", LIVE, LIVE, "drifted"),
        ("west-9", ABSENT, HEALTHY, "intended"),
        (None, ABSENT, HEALTHY, "intended"),
        (None, LIVE, LIVE, None),
    ],
)
def test_who_has_changed_it_since_the_last_run(
    recorded: str | None, first: dict[str, Any], last: dict[str, Any], since: str | None
) -> None:
    run = Happenings()
    run.play("look", "edge-1")
    record = {"last_verified": "c1", "is_current": recorded == "edge-1"} if recorded else {}
    run.look("edge-1", first, recorded=record)
    if last is LIVE:
        run.fail("edge-1", LIVE)
    else:
        run.look("edge-1", last, requests=2, recorded={"state": "verified"})
    assert of(run.ended(), "edge-1").since == since


def test_what_the_operator_takes_away_and_what_comes_in_its_place_is_no_drift() -> None:
    remediate = Happenings("slb.fleet.remediate")
    remediate.play("look", "edge-1")
    word = {"action": "replace", "code": "replace_requested", "summary": "The operator says so."}
    remediate.look("edge-1", word, recorded=VERIFIED)
    remediate.task("edge-1", STOP, {"changed": True, "set_aside_as": "slb-leftover-1"})
    rollout = Happenings()
    rollout.play("look", "edge-1")
    rollout.look("edge-1", ABSENT, recorded={**VERIFIED, "purpose": "remediate"})
    rollout.look("edge-1", HEALTHY, requests=2, recorded=VERIFIED)
    assert [of(run.ended(), "edge-1").since for run in (remediate, rollout)] == [None, None]
