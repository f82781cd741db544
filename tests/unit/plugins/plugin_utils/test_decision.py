"""The decision table: row by row, and as a total function over all combinations of observed states."""

import itertools
from collections import Counter
from dataclasses import replace
from typing import get_args

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Listed
from ansible_collections.slb.fleet.plugins.plugin_utils._rules import REMEDIATION_RULES, RULES
from ansible_collections.slb.fleet.plugins.plugin_utils._safety_checks import SAFETY_CHECKS
from ansible_collections.slb.fleet.plugins.plugin_utils._state import (
    LIVE,
    OPEN,
    Container,
    ContainerState,
    Engine,
    Policy,
    Port,
    Record,
    RecordState,
    RunState,
    SetAside,
    State,
)

ENGINE = Engine("edge-1", "192.0.2.1", "https://console.example")
OTHER = Engine("edge-2", "192.0.2.2", "https://console.example")
NEW, MIDDLE, OLD = "new" * 21, "mid" * 21, "old" * 21
IDS = (None, NEW, OLD)
LISTED = (
    *("not_configured", "running", "deploying", "failed", "not_listed", "elsewhere", "other_name", "empty", "unknown"),
    "incomplete",
)


def container(state="running", identity=NEW, uptime=3600, **rest):
    if state == "absent":
        return Container()
    return Container(state, identity, uptime=uptime if state == "running" else None, **rest)


def record(state="verified", **rest):
    values = {"engine": ENGINE, "last_verified": NEW if state == "verified" else None, "request_id": "1"}
    return Record(state, **{**values, **rest})


def host(box=None, note=None, listed="not_configured", **rest):
    is_about_it = listed not in ("not_configured", "empty", "not_listed", "incomplete")
    return State(ENGINE, box or container(), note or Record(), Listed(listed, "", is_about_it), **rest)


STARTS = Policy(stopped_engine="start")
RETIRES = Policy(remediates=True, retires=True)
REFUSED = FleetError("login_rejected", "Login rejected.", "Check it.")
OWN = record("requested", age=1000, containers_before=(OLD,))
YOUNG = replace(OWN, age=20)
SET_ASIDE, LEFT = SetAside(OLD, "slb-leftover-1"), ("slb-leftover-1",)
DELETED, SLOW = replace(SET_ASIDE, exists=False), replace(SET_ASIDE, stop_timeout=100)
PREPARING, RESTORING = (
    record(state, set_aside=SET_ASIDE, age=200, containers_before=(OLD,)) for state in ("preparing", "restoring")
)

ABSENT, EXITED = container("absent"), container("exited")
UNHEALTHY, STARTING = container(health="unhealthy"), container(health="starting")


OLD_STEP = replace(PREPARING, age=120)
MISSING, ONE_MISSING = RunState(missing=("edge-8", "edge-9"), limit=1), RunState(missing=("x",))


def unlisted(note, code):
    return replace(host(note=note), listed=Listed("unavailable", "Cause.", fix="Own advice.", code=code))


def unclear(box):
    return replace(host(box), listed=Listed("unknown", "", is_about_it=False))


# (state, policy, action, code)
ROWS = [
    (host(container("unknown")), Policy(), "fail", "container_state_unknown"),
    (host(container("unknown"), is_root=False), Policy(), "fail", "permission_denied"),
    (host(conflict="x"), Policy(), "fail", "duplicate_engine"),
    (host(addresses=("192.0.2.9",)), Policy(), "fail", "address_mismatch"),
    (host(note=record(), addresses=("192.0.2.9",), is_translated=True), Policy(), "none", "healthy"),
    (host(listed="unavailable"), Policy(), "fail", "engine_list_unavailable"),
    (host(note=YOUNG, listed="unavailable"), Policy(), "fail", "engine_list_unavailable"),
    # While the management node restarts, a deployment goes on. Without a valid password, no wait helps.
    (unlisted(YOUNG, "engine_list_unavailable"), Policy(), "wait", "deployment_in_progress"),
    (unlisted(YOUNG, "login_rejected"), Policy(), "fail", "login_rejected"),
    (host(listed="other_name"), Policy(), "fail", "engine_list_mismatch"),
    (host(listed="elsewhere"), Policy(), "fail", "engine_list_mismatch"),
    (host(listed="empty"), Policy(), "fail", "engine_list_empty"),
    (host(listed="unknown"), Policy(), "fail", "engine_list_unreliable"),
    (host(ABSENT, listed="unknown"), Policy(), "fail", "engine_list_unreliable"),
    (host(ABSENT, listed="unknown"), Policy(remediates=True), "fail", "engine_list_unreliable"),
    # Another engine of the list is unclear: no container is stopped for that
    (unclear(container()), Policy(), "fail", "engine_list_unreliable"),
    (unclear(container()), Policy(remediates=True), "replace", "replace_requested"),
    (unclear(ABSENT), Policy(), "install", "not_installed"),
    (unclear(EXITED), Policy(), "replace", "container_exited"),
    # A list that may be a part does not show that a container that runs is a leftover
    (host(listed="incomplete"), Policy(), "fail", "engine_list_incomplete"),
    (host(note=record(), listed="incomplete"), Policy(), "fail", "engine_list_incomplete"),
    (host(listed="incomplete"), Policy(unverified_engine="replace"), "fail", "engine_list_incomplete"),
    (host(ABSENT, listed="incomplete"), Policy(), "install", "not_installed"),
    (host(EXITED, record(), "incomplete"), Policy(), "fail", "engine_stopped"),
    # Healthy, and what the record verified before
    (host(note=record()), Policy(), "none", "healthy"),
    (host(note=record(), listed="running"), Policy(), "none", "healthy"),
    (host(note=record(engine=OTHER), listed="running"), Policy(), "fail", "record_of_other_engine"),
    (host(listed="running"), Policy(), "record", "running_in_engine_list"),
    (host(EXITED, record()), Policy(), "fail", "engine_stopped"),
    # The verified container is started, if wanted
    (host(EXITED, record()), STARTS, "start", "engine_stopped"),
    (host(container("created"), record(), "running"), STARTS, "start", "listed_but_not_running"),
    (host(EXITED, record(), "incomplete"), STARTS, "start", "engine_stopped"),
    (host(container("paused"), record()), STARTS, "fail", "engine_stopped"),
    (host(EXITED, record(), "failed"), STARTS, "fail", "missing_from_engine_list"),
    (host(EXITED, record(), "deploying"), STARTS, "wait", "deploying_in_engine_list"),
    (host(EXITED, record(last_verified=OLD)), STARTS, "replace", "container_exited"),
    (host(EXITED, listed="running"), STARTS, "fail", "listed_but_not_running"),
    (host(EXITED, record()), replace(STARTS, remediates=True), "replace", "container_exited"),
    (host(container("exited", start_obstacle="x"), record()), STARTS, "fail", "container_not_started"),
    (host(container("exited", manager="systemd unit slb.service"), record()), STARTS, "fail", "managed_by_systemd"),
    (host(container("restarting"), record()), Policy(), "wait", "engine_restarting"),
    (host(container(uptime=1), record()), Policy(), "none", "healthy"),
    (host(note=record(), listed="failed"), Policy(), "fail", "missing_from_engine_list"),
    (host(note=record(last_verified=OLD)), Policy(), "fail", "container_changed"),
    (host(note=record(last_verified=OLD)), Policy(unverified_engine="adopt"), "record", "container_changed"),
    (host(ABSENT, record()), Policy(), "install", "container_gone"),
    (host(ABSENT, stopped_leftovers=LEFT), Policy(), "install", "engine_retired"),
    (host(ABSENT, record("none", set_aside=SET_ASIDE), stopped_leftovers=LEFT), Policy(), "install", "not_installed"),
    # Its container replaced one that was gone as well.
    (host(ABSENT, record(replaced_gone=True, age=3600)), Policy(), "fail", "container_gone"),
    (host(ABSENT, record(replaced_gone=True, age=90000)), Policy(), "install", "container_gone"),
    (host(ABSENT, record(verified_name="edge")), Policy(), "fail", "container_renamed"),
    # Interrupted
    (host(ABSENT, PREPARING), Policy(), "restore", "replacement_interrupted"),
    (host(ABSENT, replace(PREPARING, set_aside=SLOW)), Policy(), "wait", "replacement_in_progress"),
    (host(container(), replace(RESTORING, sent=True)), Policy(), "restore", "replacement_interrupted"),
    (host(container(), RESTORING), Policy(), "fail", "name_taken"),
    (host(container(), replace(RESTORING, set_aside=DELETED)), Policy(), "restore", "replacement_interrupted"),
    (host(ABSENT, PREPARING, "deploying"), Policy(), "wait", "deploying_in_engine_list"),
    # Our own request
    (host(container(), YOUNG), Policy(), "record", "deployment_finished"),
    # Its runtime restarts, or Podman has reserved the name and not made the container yet.
    (host(container("unknown"), YOUNG), Policy(), "wait", "deployment_in_progress"),
    (host(container("unknown"), OWN), Policy(), "fail", "container_state_unknown"),
    (host(container(manager="compose"), OWN), Policy(), "fail", "unverified_container"),
    (host(container(identity=OLD), OWN), Policy(), "fail", "unverified_container"),
    (host(container(), OWN, "not_listed"), Policy(), "fail", "engine_list_mismatch"),
    (host(container(), OWN, "failed"), Policy(), "replace", "deployment_failed"),
    (host(ABSENT, OWN), Policy(), "install", "deployment_failed"),
    # Requested for another engine, or by another address of the management node
    (host(note=replace(OWN, engine=OTHER)), Policy(unverified_engine="replace"), "fail", "record_of_other_engine"),
    (host(note=replace(OWN, engine=OTHER), listed="not_listed"), Policy(), "fail", "record_of_other_engine"),
    (host(note=replace(OWN, engine=OTHER)), Policy(unverified_engine="adopt"), "record", "unverified_container"),
    (host(EXITED, replace(OWN, engine=OTHER)), Policy(), "replace", "container_exited"),
    (host(ABSENT, replace(OWN, set_aside=SET_ASIDE)), Policy(), "restore", "deployment_missing"),
    (host(container("exited", OLD), replace(OWN, set_aside=SET_ASIDE)), Policy(), "restore", "deployment_missing"),
    (host(ABSENT, replace(OWN, set_aside=SET_ASIDE), "running"), Policy(), "restore", "deployment_missing"),
    (host(ABSENT, replace(OWN, set_aside=replace(SET_ASIDE, exists=None))), Policy(), "restore", "deployment_missing"),
    (host(ABSENT, replace(OWN, set_aside=SET_ASIDE)), Policy(remediates=True), "install", "not_installed"),
    (host(ABSENT, replace(OWN, set_aside=DELETED)), Policy(), "install", "deployment_failed"),
    # Another container has replaced the one that was set aside.
    (host(container("exited", MIDDLE), replace(OWN, set_aside=SET_ASIDE)), Policy(), "replace", "deployment_failed"),
    (host(container("paused"), OWN), Policy(), "fail", "unverified_container"),
    (host(EXITED, OWN, requests=1), Policy(), "replace", "deployment_failed"),
    (host(EXITED, OWN, requests=2), Policy(), "fail", "no_further_request"),
    (host(ABSENT, outcome="exists"), Policy(), "fail", "exists_elsewhere"),
    (host(ABSENT, outcome="port_in_use"), Policy(), "fail", "port_in_use"),
    (host(ABSENT, outcome="rejected"), Policy(), "fail", "install_rejected"),
    # Nothing verifies it
    (host(ABSENT), Policy(), "install", "not_installed"),
    (host(ABSENT, listed="empty"), Policy(), "install", "not_installed"),
    (host(EXITED), Policy(), "replace", "container_exited"),
    (host(container("created"), listed="not_listed"), Policy(), "replace", "container_exited"),
    (host(), Policy(), "fail", "unverified_container"),
    (host(), Policy(unverified_engine="adopt"), "record", "unverified_container"),
    (host(container(uptime=1)), Policy(unverified_engine="adopt"), "wait", "unverified_container"),
    (host(), Policy(unverified_engine="replace"), "replace", "unverified_container"),
    (host(note=record(engine=OTHER)), Policy(unverified_engine="replace"), "fail", "record_of_other_engine"),
    (host(note=record(engine=OTHER)), Policy(unverified_engine="adopt"), "record", "unverified_container"),
    (host(listed="not_listed"), Policy(), "replace", "leftover"),
    (host(listed="failed"), Policy(unverified_engine="adopt"), "fail", "override_contradicts_engine_list"),
    # Health check
    (host(UNHEALTHY, record()), Policy(), "fail", "engine_unhealthy"),
    (host(UNHEALTHY, listed="running"), Policy(remediates=True), "fail", "engine_unhealthy"),
    (host(UNHEALTHY, OWN), Policy(), "fail", "engine_unhealthy"),
    (host(UNHEALTHY, YOUNG), Policy(), "wait", "deployment_in_progress"),
    (host(UNHEALTHY), Policy(unverified_engine="adopt"), "fail", "engine_unhealthy"),
    (host(UNHEALTHY), Policy(), "fail", "unverified_container"),
    (host(UNHEALTHY, record(), "not_listed"), Policy(), "fail", "missing_from_engine_list"),
    (host(UNHEALTHY, OWN, "not_listed"), Policy(), "fail", "engine_list_mismatch"),
    (host(UNHEALTHY, record()), Policy(remediates=True), "replace", "replace_requested"),
    (host(UNHEALTHY, PREPARING), Policy(), "fail", "name_taken"),
    (host(STARTING, record(), "running"), Policy(), "wait", "engine_restarting"),
    (host(STARTING, OWN), Policy(), "wait", "deployment_settling"),
    (host(STARTING), Policy(unverified_engine="adopt"), "wait", "unverified_container"),
    # Remediation
    (host(note=record()), Policy(remediates=True), "replace", "replace_requested"),
    (host(note=record(), listed="running"), Policy(remediates=True), "none", "healthy"),
    (host(listed="running"), Policy(remediates=True), "none", "running_in_engine_list"),
    (host(listed="elsewhere"), Policy(remediates=True), "replace", "replace_requested"),
    (host(ABSENT), Policy(remediates=True), "install", "not_installed"),
    # Retired
    (host(note=record(), listed="running"), RETIRES, "fail", "still_listed"),
    (host(ABSENT, listed="deploying"), RETIRES, "fail", "still_listed"),
    (host(note=record(), listed="not_listed"), RETIRES, "replace", "replace_requested"),
    (host(container(connections=1), note=record()), RETIRES, "fail", "container_in_use"),
    # A wrong address, or a container that a person renamed
    (host(ABSENT, record(verified_name="edge")), RETIRES, "fail", "container_renamed"),
    (host(ABSENT, record(verified_name="mine")), Policy(remediates=True), "fail", "container_renamed"),
    (host(ABSENT), RETIRES, "install", "not_installed"),
    (host(ABSENT, running_leftovers=LEFT), RETIRES, "fail", "leftover_running"),
    (host(ABSENT, running_leftovers=LEFT), Policy(), "install", "not_installed"),
    (host(note=record(), running_leftovers=LEFT), Policy(), "fail", "leftover_running"),
    (host(running_leftovers=LEFT), Policy(), "fail", "unverified_container"),
    # In the run that would record the engine, too
    (host(note=OWN, running_leftovers=LEFT), Policy(), "fail", "leftover_running"),
    (host(listed="running", running_leftovers=LEFT), Policy(), "fail", "leftover_running"),
    (host(note=record(), listed="running", running_leftovers=LEFT), Policy(), "fail", "leftover_running"),
    # Safety checks
    (host(container(connections=2), listed="not_listed"), Policy(), "fail", "container_in_use"),
    (host(container(connections=None), listed="not_listed"), Policy(), "fail", "container_in_use"),
    (host(container(connections=2), listed="not_listed"), Policy(allow_established=True), "replace", "leftover"),
    (host(container(auto_remove=True), listed="not_listed"), Policy(), "fail", "container_would_be_deleted"),
    (host(container(restore_obstacle="x"), listed="not_listed"), Policy(), "fail", "container_not_restorable"),
    (host(container(restore_obstacle="x"), listed="not_listed"), Policy(remove_leftovers=True), "replace", "leftover"),
    (host(container(auto_remove=True), listed="not_listed"), Policy(remove_leftovers=True), "replace", "leftover"),
    (host(container(manager="systemd unit slb.service"), listed="not_listed"), Policy(), "fail", "managed_by_systemd"),
    (host(container(manager="compose project x"), listed="not_listed"), Policy(), "fail", "managed_by_other"),
    (host(ABSENT, Record("invalid", "x")), Policy(), "fail", "record_invalid"),
    (host(ABSENT, Record(unwritable="read-only")), Policy(), "fail", "record_not_writable"),
    # Of the run
    (host(listed="not_listed", run=RunState(("edge-1", "edge-2"), 1)), Policy(), "fail", "replace_limit_exceeded"),
    (host(listed="not_listed", run=RunState(("edge-1",), 1)), Policy(), "replace", "leftover"),
    (host(listed="not_listed", run=MISSING), Policy(), "fail", "engine_list_unreliable"),
    (host(note=record(), listed="not_listed", run=MISSING), Policy(), "fail", "engine_list_unreliable"),
    (host(note=record(), listed="not_listed", run=ONE_MISSING), Policy(), "fail", "missing_from_engine_list"),
    (host(ABSENT, outcome="unknown"), Policy(), "fail", "install_outcome_unknown"),
    (host(ABSENT, OLD_STEP, outcome="unknown"), Policy(), "restore", "replacement_interrupted"),
    (host(ABSENT, run=RunState(difference="x")), Policy(), "fail", "not_in_approved_plan"),
    (host(note=record(), run=RunState(difference="x")), Policy(), "fail", "not_in_approved_plan"),
    (host(ABSENT, run=RunState(session=REFUSED)), Policy(), "fail", "login_rejected"),
]


AT_BOUNDS = [  # of times
    (host(ABSENT, replace(PREPARING, age=119.9)), "wait", "replacement_in_progress"),
    (host(ABSENT, replace(PREPARING, age=120)), "restore", "replacement_interrupted"),
    (host(ABSENT, replace(OWN, age=179.9)), "wait", "deployment_in_progress"),
    (host(ABSENT, replace(OWN, age=180)), "install", "deployment_failed"),
    (unlisted(replace(OWN, age=179.9), "management_node_unavailable"), "wait", "deployment_in_progress"),
    (unlisted(replace(OWN, age=180), "management_node_unavailable"), "fail", "management_node_unavailable"),
    (host(container(uptime=4.9), OWN), "wait", "deployment_settling"),
    (host(container(uptime=5), OWN), "record", "deployment_finished"),
    (host(container(uptime=1, restart_count=1), OWN), "replace", "deployment_failed"),
    (host(container(uptime=None), OWN), "wait", "deployment_settling"),
    (host(container(uptime=1), record()), "none", "healthy"),
    (host(container(uptime=1, restart_count=1), record()), "wait", "engine_restarting"),
    (host(container(uptime=5, restart_count=1), record()), "wait", "engine_restarting"),
    (host(container(uptime=29.9, restart_count=1), record()), "wait", "engine_restarting"),
    (host(container(uptime=30, restart_count=1), record()), "none", "healthy"),
    (host(container(uptime=4.9, restart_count=1), OWN), "replace", "deployment_failed"),
    (host(container(uptime=5, restart_count=1), OWN), "wait", "deployment_settling"),
    (host(container(uptime=30, restart_count=1), OWN), "record", "deployment_finished"),
]


@pytest.mark.parametrize(
    ("state", "policy", "action", "code"), [*ROWS, *((state, Policy(), *plan) for state, *plan in AT_BOUNDS)]
)
def test_decide_row(state, policy, action, code):
    plan = decide(state, policy)
    assert (plan.action, plan.code) == (action, code), plan


def test_decide_all_codes_have_a_row():
    # A manager gives its own code.
    codes = (
        {rule.code for rule in (*RULES, *REMEDIATION_RULES)}
        | {"managed_by_systemd", "managed_by_other"}
        | {check.code for check in SAFETY_CHECKS if isinstance(check.code, str)}
    )
    assert codes | {REFUSED.code} == {code for _state, _policy, _action, code in ROWS}


def test_decide_cause_that_hosts_share_has_the_same_words():
    """The terminal shows it once."""
    states = (host(ABSENT), host(EXITED, record(last_verified=OLD)))
    refused = [decide(replace(state, run=RunState(session=REFUSED)), Policy()) for state in states]
    assert refused[0] == refused[1]
    states = (host(listed="not_listed"), host(EXITED, listed="not_listed"))
    for run in (MISSING, RunState(("edge-1", "edge-2"), 1), RunState(difference="x")):
        shared = [decide(replace(state, run=run), Policy()) for state in states]
        assert shared[0] == shared[1]


POLICIES = [
    *(Policy(unverified_engine=each, stopped_engine="start") for each in ("fail", "adopt", "replace")),
    *(Policy(), Policy(remediates=True, stopped_engine="start")),
]


def _records():
    yield Record()
    yield Record("invalid", "damaged")
    sides = (None, SET_ASIDE, SetAside(NEW, "slb"))
    for state, engine, last, age, before, aside in itertools.product(
        (*OPEN, "requested", "verified"), (ENGINE, OTHER), IDS, (10, 1000), ((), (NEW,), (OLD,)), sides
    ):
        rest = {"age": age, "containers_before": before, "set_aside": aside, "request_id": "1"}
        yield Record(state, engine=engine, last_verified=last, **rest)


def _all_states():
    boxes = [container(state) for state in get_args(ContainerState)]
    boxes += [container(uptime=1), container(uptime=1, restart_count=2), container(connections=1)]
    boxes += [UNHEALTHY, STARTING, container(uptime=1, restart_count=2, health="starting")]
    boxes += [container(connections=None), container(auto_remove=True), container(manager="compose project x")]
    for box, note, listed, policy in itertools.product(boxes, _records(), LISTED, POLICIES):
        yield host(box, note, listed), policy


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_decide_is_total_and_safe(step):
    """No state is without a plan, and no plan changes what may serve traffic."""
    seen = Counter()
    for state, policy in itertools.islice(_all_states(), 0, None, step):
        plan = decide(state, policy)
        seen[plan.code] += 1
        box, note = state.container, state.record
        context = (state, policy, plan)
        assert plan.summary and bool(plan.fix) == (plan.action in ("fail", "wait")), context
        if plan.action == "replace":
            assert box.state not in ("absent", "unknown"), context
            assert box.state not in LIVE or (box.connections == 0 and not box.auto_remove), context
            assert not box.manager and note.state != "invalid", context
            assert state.listed.state != "running" or policy.remediates, context
            assert state.listed.state != "incomplete" or policy.remediates or box.state not in LIVE, context
            assert not state.is_verified or policy.remediates, context
        if plan.action in ("install", "replace") and not policy.remediates:
            assert state.remaining(policy) == 0 and state.listed.state != "deploying", context
            assert note.state not in OPEN, context
        if plan.action == "install":
            assert box.state == "absent", context
        if plan.action == "start":
            assert state.is_verified and box.state in ("exited", "created") and not box.manager, context
            assert state.listed.state in ("not_configured", "running", "incomplete"), context
            assert policy.stopped_engine == "start" and not policy.remediates, context
        if plan.action == "none":
            assert box.state == "running", context
        verified_by = "engine_list" if state.listed.state == "running" else "host"
        assert plan.verified_by == (verified_by if plan.action in ("none", "record") else None), context
        if plan.code == "healthy" or plan.action == "record":
            assert box.health not in ("starting", "unhealthy"), context
        if plan.action == "record" and state.has_list:
            assert state.listed.state == "running", context
        if plan.action == "restore":
            assert note.state in (*OPEN, "requested"), context
            assert note.age >= (180 if note.state == "requested" else 120), context
        if policy.remediates:
            assert plan.action != "record", context
        if plan.action == "fail" and note.set_aside and note.state != "verified" and box.id != note.set_aside.id:
            assert note.set_aside.name in plan.fix and "engine_container" in plan.fix, context
    assert len(seen) > 25


@pytest.mark.parametrize("state", get_args(RecordState))
def test_decide_unwritable_record_never_changes_a_host(state):
    for box in get_args(ContainerState):
        plan = decide(host(container(box), Record(state, "x", unwritable="read-only", engine=ENGINE)), Policy())
        assert plan.action in ("none", "wait", "fail")


@pytest.mark.parametrize(
    ("note", "names"),
    [
        (Record(set_aside=SET_ASIDE), {"slb-leftover-1"}),
        (Record(earlier=SET_ASIDE), {"slb-leftover-1"}),
        (Record(set_aside=SET_ASIDE, earlier=SetAside(MIDDLE, "slb-leftover-2")), {"slb-leftover-1", "slb-leftover-2"}),
        (Record(set_aside=replace(SET_ASIDE, exists=None)), set()),
        (Record(set_aside=DELETED), set()),
        (Record(set_aside=SetAside(NEW, "slb-leftover-1")), set()),
        (record(engine=OTHER, last_verified=MIDDLE, set_aside=SET_ASIDE), set()),
        (Record(), set()),
    ],
)
def test_decide_names_containers_that_nothing_replaced(note, names):
    plan = decide(host(note=note), Policy())
    assert (plan.action, plan.code) == ("fail", "unverified_container")
    assert {name for name in ("slb-leftover-1", "slb-leftover-2") if name in plan.fix} == names
    assert ("state=restored" in plan.fix) is bool(names)


SSHD, HTTPD, HELD = Port(22, "sshd"), Port(80, "httpd"), Port(80, "httpd", "c0ffee123456")
PORTS = (Port(8080, "nginx"), Port(81))
KNOWN = {"stopped_leftovers": ("slb-leftover-20261119T000000Z", "slb-leftover-20261120T000000Z")}
RENAME_LEFTOVER = "docker rename slb-leftover-20261120T000000Z slb"
RUNNING = {"running_leftovers": LEFT}
CRASHING, PAUSED, INVALID = container("restarting"), container("paused"), Record("invalid", "x")
ADVICE = [  # state, texts that the summary or the fix of its plan has, and texts that they lack
    (host(container(connections=1, peers=("192.0.2.8",)), listed="not_listed"), ["1 connection (from 192.0.2.8"], []),
    (host(container(connections=2, peers=("192.0.2.8",)), listed="not_listed"), ["2 connections (from 192.0.2.8"], []),
    (host(container(connections=None), listed="not_listed"), [], ["(from"]),
    (host(container(health="unhealthy", health_output="port 80 refused"), record()), ["port 80 refused"], []),
    (host(UNHEALTHY, record()), ["no output"], []),
    (host(container("unknown", why="no answer within 20 s", fix="Run `x`.")), ["no answer", "Run `x`."], ["reported"]),
    (host(container("unknown")), ["reported"], ["no answer"]),
    (host(ABSENT, record(verified_name="mine")), ["rename mine slb"], []),
    (host(ABSENT, record(verified_name="")), [], ["rename"]),
    # A stopped container is started; one that does not exist is not.
    (host(EXITED, outcome="exists"), ["docker start slb"], []),
    (host(outcome="exists"), [], ["docker start slb"]),
    (host(EXITED, listed="running"), ["docker start slb"], ["no container", "slb_stopped_engine"]),
    (host(ABSENT, listed="running"), ["no container"], ["docker start slb"]),
    (host(EXITED, record()), ["docker start slb", "slb_stopped_engine"], ["rename", "slb-leftover"]),
    (host(PAUSED, record()), ["docker unpause slb"], ["slb_stopped_engine"]),
    (host(PAUSED, listed="running"), [], ["slb_stopped_engine"]),
    (host(ABSENT, Record(unwritable="x"), is_root=False), ["become"], []),
    (host(ABSENT, Record(unwritable="x")), [], ["become"]),
    # What is in the way. No command for one container: another process may hold the port.
    (host(ABSENT, outcome="port_in_use", ports=(SSHD, HELD)), ["docker rename CONTAINER slb", "c0ffee123456"], []),
    (host(ABSENT, outcome="port_in_use", ports=(SSHD, HTTPD)), [], ["docker rename CONTAINER slb", "slb-leftover"]),
    (host(ABSENT, outcome="port_in_use", ports=PORTS, **RUNNING), ["stop slb-leftover-1", "8080 (nginx)", "81 ("], []),
    (host(EXITED, record(), **RUNNING), ["docker stop slb-leftover-1"], []),
    (host(CRASHING, record(), **RUNNING), ["docker stop slb-leftover-1"], []),
    (host(CRASHING, record()), [], ["slb-leftover"]),
    (host(EXITED, listed="running", **RUNNING), ["docker stop slb-leftover-1"], []),
    # A leftover that no record knows is named, unless the name slb is taken, or another container was renamed.
    (host(ABSENT, INVALID, **KNOWN), [RENAME_LEFTOVER], []),
    (host(ABSENT, outcome="exists", **KNOWN), [RENAME_LEFTOVER], []),
    *((host(ABSENT, note, outcome=outcome), [], ["leftover"]) for note, outcome in ((INVALID, ""), (None, "exists"))),
    (host(EXITED, record(), **KNOWN), [], ["rename"]),
    (host(ABSENT, run=RunState(difference="x"), **KNOWN), ["slb.fleet.rollout --check"], ["rename"]),
    (host(note=INVALID, listed="unavailable", **KNOWN), [], ["rename"]),
    (host(ABSENT, record(verified_name="mine"), **KNOWN), ["rename mine slb"], ["rename slb-leftover"]),
]


@pytest.mark.parametrize(("state", "has", "lacks"), ADVICE)
def test_decide_names_what_to_do_and_nothing_else(state, has, lacks):
    plan = decide(state, Policy())
    text = f"{plan.summary} {plan.fix}"
    assert [each for each in has if each not in text] == [each for each in lacks if each in text] == [], text


@pytest.mark.parametrize("policy", ["adopt", "fail"])
def test_decide_unverified_container_advises_no_set_policy(policy):
    plan = decide(host(CRASHING), Policy(unverified_engine=policy))
    assert (plan.code, "slb_unverified_engine" in plan.fix) == ("unverified_container", policy == "fail")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (host(running_leftovers=("slb-leftover-7",)), {"slb-leftover-7"}),
        (host(note=Record(set_aside=SET_ASIDE)), {"slb-leftover-1"}),
        (host(note=Record(earlier=SET_ASIDE)), {"slb-leftover-1"}),
        (host(note=Record(set_aside=replace(SET_ASIDE, exists=None))), set()),
        (host(container(manager="compose project x")), {"compose project x"}),
        (host(container(uptime=77)), {"77 s"}),
        (host(container(health="unhealthy", health_output="no such")), {"check unhealthy", "no such"}),
        (host(container(health="silent")), {"is ignored"}),
        (host(container(restart_count=3)), {"3 times"}),
        (host(note=replace(OWN, age=88)), {"88 s"}),
        (host(note=Record("invalid", "damaged")), {"damaged"}),
        (host(container("unknown", why="silent")), {"silent"}),
        (host(outcome="rejected", answer="no such"), {"no such"}),
        (host(note=record(engine=OTHER)), {"another engine"}),
        (host(note=record(last_verified=OLD)), {"another container"}),
        (host(ABSENT, record()), set()),
        (host(container("unknown"), record()), set()),
        (host(container("unknown"), record(engine=OTHER)), {"another engine"}),
        (host(note=record()), set()),
        (host(listed="failed"), {"list failed"}),
        (host(listed="not_listed"), {"does not list"}),
        (host(), set()),
    ],
)
def test_seen_state_has_what_is_special_about_it(state, words):
    special = ("slb-leftover-7", "slb-leftover-1", "compose project x", "77 s", "3 times", "88 s", "damaged", "silent")
    special += ("no such", "another engine", "another container", "check unhealthy", "is ignored")
    special += ("list failed", "does not list")
    shown = state.in_words()
    assert all(shown), "no empty line"
    assert {each for each in special if any(each in line for line in shown)} == words
