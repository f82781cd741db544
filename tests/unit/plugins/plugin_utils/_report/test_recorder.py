"""The document of recorded events: each host has one status, and what was done to it is in it."""

import json
import shlex

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, HostEntry, names_for_retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, write_all
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told

REQUESTED = {"changed": True, "outcome": "requested", "set_aside_as": "slb-leftover-20261120T120000Z"}
MISSING = {"action": "fail", "code": "missing_from_engine_list", "summary": "The engine is missing."}


def of(document: Document, name: str = "edge-1") -> HostEntry:
    return next(each for each in document.hosts if each.name == name)


def statuses(document: Document) -> list[str]:
    return [host.status for host in document.hosts]


def test_each_host_has_a_status_a_code_and_a_group():
    document = told.troubled()
    assert statuses(document) == ["healthy", "failed", "unreachable", "not_started", "failed"]
    assert [(group.code, group.hosts) for group in document.groups()] == [
        ("unverified_container", ("edge-2",)),
        ("host_unreachable", ("edge-3",)),
        ("task_failed", ("edge-5",)),
        ("not_installed", ("edge-4",)),
    ]
    assert (of(document).verified_by, of(document, "edge-2").verified_by) == ("engine_list", None)
    assert document.run.management_nodes == (told.NODE,)


def test_status_is_settled_when_it_was_reached_and_stayed():
    run = told.RecordedRun().play("check", "edge-1", "edge-2", "edge-3")
    run.plan("edge-1", told.HEALTHY, seconds=10)
    run.plan("edge-1", told.ABSENT, seconds=10)
    run.plan("edge-1", told.HEALTHY, seconds=10)
    run.plan("edge-1", told.HEALTHY, seconds=10)
    run.fail("edge-2", told.RUNNING)
    run.plan("edge-3", told.ABSENT)
    settled = [host.settled for host in run.ended().hosts]
    assert settled == ["2026-11-20T12:00:30Z", "2026-11-20T12:00:41Z", None]


def test_group_of_different_causes_has_no_summary():
    run = told.RecordedRun().play("check", "edge-1", "edge-2", "edge-3")
    run.lose("edge-1", "edge-1: timed out")
    run.lose("edge-2", "edge-2: timed out")
    run.fail("edge-3", {**told.RUNNING, "fix": "Set it."})
    found = [(group.code, len(group.hosts), group.summary, group.fix) for group in run.ended().groups()]
    assert found == [("host_unreachable", 2, "", ""), ("unverified_container", 1, told.RUNNING["summary"], "Set it.")]


def test_last_plan_counts_and_changes_are_listed():
    run = told.RecordedRun().play("deploy", "edge-1")
    run.plan("edge-1", told.ABSENT, seconds=2)
    run.task("edge-1", told.INSTALL, REQUESTED, 4)
    assert (of(run.so_far()).status, of(run.so_far()).code) == ("interrupted", "interrupted")
    run.plan("edge-1", told.HEALTHY, seconds=64, requests=1, has_recorded=True)
    host = of(run.ended())
    assert (host.status, host.code, host.seconds) == ("healthy", "healthy", 70)
    assert [each.code for each in host.changes] == ["container_set_aside", "install_requested", "record_verified"]
    assert "slb-leftover-20261120T120000Z" in host.changes[0].text


STEP, CONTAINER = "slb.fleet._engine_step", "slb.fleet.engine_container"
FAILED = {"failed": True, "msg": "Not done."}
PARTIAL = {**FAILED, "restored": False, "code": "partially_restored"}
LOST = {"plan": told.HEALTHY, "changed": False, "is_unknown": True}


@pytest.mark.parametrize(
    ("tasks", "changes"),
    [
        ([(told.INSTALL, {**FAILED, **REQUESTED, "restored": True})], ["container_set_aside", "container_restored"]),
        ([(told.INSTALL, {**FAILED, "timedout": {"period": 70}})], ["step_unknown"]),
        ([(told.INSTALL, {**FAILED, "code": "host_unreachable", "is_unknown": True})], ["step_unknown"]),
        ([(told.INSTALL, {**FAILED, "code": "state_changed"})], []),
        *(([(f"slb.fleet.{module}", LOST)], ["step_unknown"]) for module in ("engine_plan", "engine_record", "motd")),
        # The step tries to restore, then its rescue: test_restore_container_that_does_not_start.
        *(([(step, PARTIAL), (STEP, PARTIAL)], ["container_partially_restored"]) for step in (told.INSTALL, STEP)),
        ([(told.INSTALL, PARTIAL), (CONTAINER, {"changed": True, "restored": True})], ["container_restored"]),
        ([(CONTAINER, {"changed": True, "restored": False})], ["record_restored"]),
        ([(CONTAINER, {"changed": True, "set_aside_as": "slb-leftover-1"})], ["container_set_aside"]),
        ([(STEP, {"changed": True, "set_aside_as": None})], ["container_deleted"]),  # with slb_remove_leftovers
    ],
)
def test_changes_of_each_step_are_listed(tasks, changes):
    run = told.RecordedRun().play("deploy", "edge-1")
    run.plan("edge-1", told.ABSENT)
    for module, result in tasks:
        run.task("edge-1", module, result, ending="failed" if result.get("failed") else "ok")
    assert [each.code for each in of(run.ended()).changes] == changes


def test_state_after_a_cut_step_is_shown():
    run = told.RecordedRun().play("deploy", "edge-1")
    run.plan("edge-1", told.ABSENT)
    run.task("edge-1", told.INSTALL, {**FAILED, "code": "host_unreachable", "is_unknown": True}, ending="failed")
    rescue = {"changed": True, "restored": True, "afterwards": "Container slb is running."}
    run.task("edge-1", CONTAINER, rescue)
    host = of(run.ended())
    assert [each.code for each in host.changes] == ["step_unknown", "container_restored"]
    assert (host.status, host.summary) == ("failed", "Not done.")
    assert host.observations[-1] == "afterwards: Container slb is running."


def test_run_killed_in_a_step_counts_the_host_as_changed():
    run = told.RecordedRun().play("deploy", "edge-1", "edge-2")
    for host, is_step in (("edge-1", True), ("edge-2", False)):
        run.plan(host, told.ABSENT)
        run.recorder.start(host, host, run.now, is_step=is_step)
    document = run.ended("interrupted")
    assert [[change.code for change in host.changes] for host in document.hosts] == [["step_unknown"], []]
    assert document.counts["changed"] == 1


def test_check_mode_plans_and_counts_no_change():
    run = told.RecordedRun(check=True).play("check", "edge-1", "edge-2", "edge-3")
    run.plan("edge-1", {**told.ABSENT, "steps": ["install"]})
    run.plan("edge-2", told.RUNNING)
    run.plan("edge-3", told.HEALTHY)
    document = run.ended()
    assert statuses(document) == ["planned", "failed", "healthy"]
    assert (of(document).plan.steps, document.counts["changed"]) == (("install",), 0)


def test_host_that_no_batch_reached_is_not_started():
    run = told.RecordedRun().play("check", "edge-1", "edge-2", "edge-3")
    for host in ("edge-1", "edge-2", "edge-3"):
        run.plan(host, told.ABSENT)
    run.play("deploy", "edge-1", "edge-2", "edge-3", batch=("edge-1",))
    run.plan("edge-1", told.HEALTHY, requests=1)
    run.play("deploy", "edge-1", "edge-2", "edge-3", batch=("edge-2",))
    run.fail("edge-2", told.RUNNING)
    document = run.ended()
    assert statuses(document) == ["healthy", "failed", "not_started"]
    assert of(document, "edge-3").code == "not_installed"
    assert [(batch.hosts, batch.failed) for batch in document.run.batches] == [(3, 0), (1, 0), (1, 1)]
    assert [host.batch for host in document.hosts] == [1, 2, 0]


@pytest.mark.parametrize("is_collected", [False, True])
def test_late_host_is_in_progress_until_it_is_collected(is_collected):
    run = told.RecordedRun().play("Deploy the engines", "edge-1", "edge-2", "edge-3", batch=("edge-1", "edge-2"))
    run.task("edge-1", told.INSTALL, REQUESTED)
    run.plan("edge-1", {**told.ABSENT, "action": "wait"}, requests=1, is_late=True)
    run.plan("edge-2", told.HEALTHY)
    run.play("Deploy the engines", "edge-1", "edge-2", "edge-3", batch=("edge-3",))
    run.plan("edge-3", told.HEALTHY)
    if is_collected:
        run.play("Collect late hosts", "edge-1")
        run.fail("edge-1", told.RUNNING)
    document = run.ended("interrupted")
    assert statuses(document) == ["failed" if is_collected else "interrupted", "healthy", "healthy"]
    found = [(batch.hosts, batch.late, batch.failed) for batch in document.run.batches]
    assert found == [(2, 1, int(is_collected)), (1, 0, 0)]
    assert [host.batch for host in document.hosts] == [0, 0, 1]


def test_planned_host_that_was_not_changed_is_not_started():
    for playbook in ("slb.fleet.rollout", "slb.fleet.remediate", "slb.fleet.retire"):
        run = told.RecordedRun(playbook).play("deploy", "edge-1", "edge-2")
        run.plan("edge-1", {**told.ABSENT, "action": "replace"})
        run.plan("edge-2", {**told.ABSENT, "action": "replace"})
        run.task("edge-2", "slb.fleet.engine_container", {"changed": True, "set_aside_as": "slb-leftover-1"})
        assert statuses(run.ended()) == ["not_started", "interrupted" if playbook.endswith("rollout") else "done"]


@pytest.mark.parametrize("check", [False, True])
def test_host_of_an_interrupted_run_has_a_fix(check):
    run = told.RecordedRun(check=check).play("check", "edge-1", "edge-2", "edge-3")
    run.plan("edge-1", told.HEALTHY)
    run.start("edge-2")
    document = run.ended("interrupted")
    assert statuses(document) == ["healthy", "interrupted", "not_started"]
    assert (of(document, "edge-2").code, bool(of(document, "edge-2").fix)) == ("interrupted", True)
    assert document.run.batches[0].ended is None


def test_playbook_without_plans_ends_with_done():
    run = told.RecordedRun("slb.fleet.adopt_interfaces").play("adopt", "edge-1", "edge-2")
    run.task("edge-1", "slb.fleet.interface", {"changed": True, "adopted": [{"name": "ens9", "mac": "secret"}]})
    document = run.ended()
    assert statuses(document) == ["done", "not_started"]
    assert [each.text for each in of(document).changes] == ["interfaces adopted: ens9"]


def test_same_plans_have_the_same_digest():
    digests = set()
    for check in (True, False):
        run = told.RecordedRun(check=check)
        for name in ("check", "compare"):
            run.play(name, "edge-1", "edge-2")
            for host in ("edge-1", "edge-2") if check else ("edge-2", "edge-1"):
                run.plan(host, told.ABSENT)
        if not check:
            run.plan("edge-1", told.HEALTHY, requests=1)
        plan = run.ended().plan
        assert plan is not None
        assert set(plan.hosts) == {"edge-1", "edge-2"}
        digests.add(plan.digest)
    assert len(digests) == 1


def next_of(playbook, plan, *others, host="edge-1", **facts):
    """Return the next command after a run in which the host has this plan, or is lost as the others are."""
    run = told.RecordedRun(f"slb.fleet.{playbook}", folder="reports", **facts).play("check", host, *others)
    if plan is not None:
        (run.fail if plan["action"] == "fail" else run.plan)(host, plan)
    for name in others if plan is not None else (host, *others):
        run.lose(name)
    return run.ended().run.next


RETIRED = {**told.ABSENT, "code": "engine_retired"}
REPLACE, OWN_INVALID = {**told.ABSENT, "action": "replace"}, {**MISSING, "code": "invalid_variable"}
NOT_APPROVED, NO_APPROVAL = ({**MISSING, "code": code} for code in ("not_in_approved_plan", "approved_plan_invalid"))
R_JSON = {"extra_vars": ("slb_approved_plan=r.json",)}
WRONG = {"action": "fail", "code": "interface_not_adopted", "summary": "x", "fix": "Correct slb_interfaces."}


@pytest.mark.parametrize(
    ("arguments", "facts", "expected"),
    [
        (("rollout", told.ABSENT), {"check": True}, " slb.fleet.rollout --limit edge-1"),
        (("remediate", REPLACE), {"check": True}, " slb.fleet.remediate --limit edge-1"),
        (("diagnose", told.ABSENT), {}, " slb.fleet.rollout --limit edge-1"),
        (("audit", told.ABSENT), {}, " slb.fleet.rollout --limit edge-1"),
        (("rollout", MISSING), {}, " slb.fleet.remediate --limit edge-1"),
        (("audit", OWN_INVALID), {}, " slb.fleet.audit --limit edge-1"),
        (("audit", RETIRED), {}, "Remove from the inventory: edge-1"),
        (("audit", RETIRED, "edge-2"), {}, " slb.fleet.audit --limit edge-2"),
        (("rollout", RETIRED), {"check": True}, " slb.fleet.rollout --limit edge-1"),
        *(((name, None), {}, f"yml slb.fleet.{name} --limit edge-1") for name in ("diagnose", "audit", "rollout")),
        # Without an approval, the next command changes nothing, also if another host failed for another cause.
        (("rollout", NOT_APPROVED), R_JSON, "yml slb.fleet.rollout --check --limit edge-1"),
        (("rollout", NO_APPROVAL), R_JSON, "yml slb.fleet.rollout --check --limit edge-1"),
        (("rollout", NOT_APPROVED, "edge-2"), R_JSON, "yml slb.fleet.rollout --check --limit edge-1,edge-2"),
        (("rollout", NO_APPROVAL, "edge-2"), R_JSON, "yml slb.fleet.rollout --check --limit edge-1,edge-2"),
        (("rollout", NOT_APPROVED), {"awx_job_id": 7}, "approve its new plan."),
        (("rollout", None), {"awx_job_id": 7}, "of slb.fleet.rollout, with the limit edge-1."),
        (("rollout", None, *map(str, range(30))), {"awx_job_id": 7}, "Launch the template of slb.fleet.rollout."),
        # A limit that has to be corrected stays: without it, the next run would adopt all interfaces.
        (
            ("adopt_interfaces", WRONG),
            {"extra_vars": ("slb_interfaces=ens99", "slb_interfaces_state=absent")},
            " -e slb_interfaces=... -e slb_interfaces_state=absent",
        ),
    ],
)
def test_next_is_what_changes_or_checks_the_host(arguments, facts, expected):
    assert next_of(*arguments, **facts).endswith(expected)


def test_host_that_cannot_be_named_is_not_remediated_with_others():
    assert next_of("rollout", MISSING, host="a b", limit="west") == ""


GIVEN = ("slb_unverified_engine=replace", "@site.yml", "slb_approved_plan=r.json", "slb_password=...")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (told.ABSENT, GIVEN),
        (MISSING, GIVEN),
        ({**MISSING, "fix": "Unset slb_unverified_engine."}, GIVEN[1:]),
        (NOT_APPROVED, (*GIVEN[:2], *GIVEN[3:])),
    ],
)
def test_next_repeats_extra_variables_that_are_not_blamed(plan, expected):
    words = next_of("rollout", plan, extra_vars=GIVEN, check=plan == told.ABSENT).split()
    assert tuple(words[at + 1] for at, word in enumerate(words) if word == "-e") == expected


ODD = ["!bang", "&and", "@file", "a,b", "a:b", "a b", "-e", "a\nNext: rm", "\x1b[2J", "all", "#1"]


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        *((name, False) for name in ODD),
        *((name, True) for name in ("2001:db8::1", "[2001:db8::1]", "edge*", "edge[1:3]", "~like", "edge:22")),
    ],
)
def test_name_that_no_limit_contains_is_left_out(name, is_named):
    run = told.RecordedRun(folder="reports").play("check", name, "edge-2")
    run.lose(name)
    run.lose("edge-2")
    document, names = run.ended(), [name, "edge-2"] if is_named else ["edge-2"]
    words = ["ansible-playbook", "-i", "inventory.yml", "slb.fleet.rollout", "--limit", ",".join(names)]
    assert (shlex.split(document.run.next), names_for_retry(document)) == (words, names)


def test_next_with_many_hosts_names_a_file_of_its_run(tmp_path):
    commands = set()
    for number in (31, 40, 40):
        run = told.RecordedRun(folder="reports")
        names = [f"edge-{each}" for each in range(number)]
        run.play("check", *names)
        for name in names:
            run.lose(name)
        document = run.ended()
        write_all(tmp_path, document, AT_THE_END)
        file = document.run.next.rpartition("@reports/")[2]
        assert (tmp_path / file).read_text().split() == names
        commands.add(document.run.next)
    assert len(commands) == len(list(tmp_path.glob("retry-*"))) == 2, "the file of an earlier run stays"


@pytest.mark.parametrize(
    "odd", [None, 7, [], {}, "x" * 100_000, [[["deep"]]] * 1000, {"action": ["install"], "seen": 3}]
)
def test_odd_result_of_a_host_leaves_the_report_whole(odd):
    run = told.RecordedRun().play("check", "edge-1", "edge-2")
    run.task("edge-1", told.PLAN, {"plan": odd, "engine": odd, "unknown_engines": odd, "msg": odd, "requests": odd})
    for module in ("engine", "engine_install", "engine_record", "engine_container", "interface", "motd", "license"):
        result = {"changed": True, "record": odd, "adopted": odd, "set_aside_as": odd, "dest": odd, "msg": odd}
        run.task("edge-1", f"slb.fleet.{module}", result, ending="failed")
    run.plan("edge-2", told.HEALTHY)
    document = run.ended()
    assert statuses(document) == ["failed", "healthy"]
    assert len(json.dumps(document.as_json())) < 20_000


def test_no_secret_can_come_in_because_fields_are_taken_by_name():
    secret = "s3cret-never-shown"
    run = told.RecordedRun().play("check", "edge-1")
    result = told.planned(
        {**told.HEALTHY, "password": secret}, password=secret, invocation={"module_args": {"password": secret}}
    )
    result["engine"]["session"] = secret
    run.task("edge-1", "slb.fleet.engine_plan", result)
    run.task("edge-1", "slb.fleet.login", {"sessionid": secret, "changed": True})
    run.task("edge-1", "ansible.builtin.command", {"stdout": secret, "changed": True})
    document = run.ended()
    assert all(secret not in render(document) for render in AT_THE_END.values())


@pytest.mark.parametrize(
    ("playbook", "expected"),
    [
        ("slb.fleet.diagnose", "4/6 checked · 1 healthy · 1 failed · 1 unreachable"),
        ("slb.fleet.audit", "4/6 checked · 1 healthy · 2 failed · 1 unreachable"),
        ("slb.fleet.rollout", "1/6 healthy · 1 failed · 1 unreachable · longest wait edge-5 20 s"),
    ],
)
def test_progress_counts_and_names_the_longest_wait(playbook, expected):
    run = told.RecordedRun(playbook).play("check", *(f"edge-{number}" for number in range(1, 7)))
    run.plan("edge-1", told.HEALTHY, 30)
    run.plan("edge-2", told.ABSENT, 30)
    is_rollout = playbook == "slb.fleet.rollout"
    if is_rollout:
        run.fail("edge-3", told.RUNNING)
    else:
        run.plan("edge-3", told.RUNNING, 29)
    run.lose("edge-4")
    if is_rollout:
        run.start("edge-5")
        run.now += 20
    assert run.recorder.progress(run.now) == expected


@pytest.mark.parametrize(
    ("playbook", "fix"), [("slb.fleet.audit", "Run slb.fleet.rollout to"), ("slb.fleet.rollout", "Run again to")]
)
def test_failed_host_with_work_shows_the_next_step(playbook, fix):
    run = told.RecordedRun(playbook).play("check", "edge-1")
    run.plan("edge-1", {**told.ABSENT, "action": "record", "steps": ["record the engine"]})
    run.task("edge-1", "ansible.builtin.fail", {"failed": True, "msg": "x"}, ending="failed")
    assert of(run.ended()).fix == f"{fix} record the engine."
