"""One plan in each phase of a run: what the host is asked, what is recorded, and what the result has."""

import math
import time
from types import SimpleNamespace

import pytest
from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.action import engine_plan
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import Listing
from ansible_collections.slb.fleet.plugins.plugin_utils import _fleet_host as fleet_host
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import digest_of
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.test_fleet_host import (
    CONTAINER,
    LIST,
    OTHER_ENGINE,
    facts,
    host,
)

ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
VERIFIED = {"state": "verified", **ENGINE, "last_verified": "c1", "request_id": "aa11", "verified_by": "host"}
REQUESTED = {"state": "requested", **ENGINE, "request_id": "aa11", "age": 10.0, "containers_before": []}
LONG = {"path": "/etc/motd", "target": None, "sources": [{"source": "/etc/motd", "bytes": 9000}], "bytes": 9000}
ABSENT = facts(1, engine_container={**CONTAINER, "state": "absent", "id": None, "uptime": None}, motd=LONG)
LEFTOVER, HEALTHY, WAITING = facts(1, motd=LONG), facts(1, record=VERIFIED), facts(1, record=REQUESTED)
WAITING["engine_container"] = ABSENT["engine_container"]
NOTHING = {"hosts": {}, "digest": digest_of({})}
GONE, CHANGED = AnsibleConnectionFailure("gone"), {"failed": True, "code": "state_changed"}
RECORDS = {"phase": "deploy", "record": True}
PHASES = {"check": {}, "deploy": {"phase": "deploy"}, "verify": {"phase": "verify"}}


class Action(engine_plan.ActionModule):
    """The host answers ``answers``. ``calls``: modules and options that it got; ``notes``: subjects that it notes."""

    def __init__(self, *answers, check=False, **args):
        self._task = SimpleNamespace(args=args, check_mode=check, timeout=0, get_ds=dict, action="", resolved_action="")
        self._task.get_play = lambda: SimpleNamespace(strategy="linear", serial=[])
        self._loader = DataLoader()
        self._began = time.monotonic()
        self.answers, self.calls, self.notes = list(answers), [], []

    def on_host(self, module, arguments, *, attempts=2):
        self.calls.append((module, arguments))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if "slb_host" in answer or module != "host_info" else {"slb_host": answer}

    def run_with(self, number=1, **variables):
        """Return the result for the host ``edge-<number>`` with these variables of the collection."""
        known = {
            "inventory_hostname": f"edge-{number}",
            "ansible_host": "192.0.2.1",
            "ansible_play_hosts_all": ["x"] * 4,
            "hostvars": SimpleNamespace(raw_get=lambda _name: {}),  # the inventory has none of these variables
            **{"slb_base_url": ENGINE["base_url"], "slb_username": "u", "slb_password": "p"},
            **{f"slb_{name}": value for name, value in variables.items()},
        }
        self._templar = Templar(loader=self._loader, variables=known)
        before = {subject: len(Reservations().noted(subject)) for subject in ("work left", "ready", "license")}
        result = self.act(known)
        self.notes = [subject for subject, number in before.items() if len(Reservations().noted(subject)) > number]
        return result


@pytest.fixture(autouse=True)
def node(tmp_path, monkeypatch):
    """A management node: ``logins``, the ``failure`` of a login, and the maximum ages of the ``fetched`` lists."""
    node = SimpleNamespace(logins=0, failure=None, fetched=[], listing=Listing([OTHER_ENGINE]))

    def log_in():
        node.logins += 1
        if node.failure:
            raise node.failure

    def fetch(cache, _engine_list, max_age=None):
        node.fetched.append(max_age)
        node.end = cache._connection.end
        if isinstance(node.listing, FleetError):
            raise node.listing
        return node.listing

    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(engine_plan, "Client", lambda *_unused: SimpleNamespace(log_in=log_in))
    monkeypatch.setattr(fleet_host.RunCache, "engines", fetch)
    return node


def outcome(result):
    return result["plan"]["action"], result["plan"]["code"]


def test_check_of_an_absent_engine_prepares_the_install(node):
    action = Action(ABSENT)
    result = action.run_with()
    assert outcome(result) == ("install", "not_installed")
    assert [module for module, _given in action.calls] == ["host_info"]
    assert (result["changed"], result["requests"], result["engine"]) == (False, 0, ENGINE)
    assert (result["slb_host"], result["settings"]["open_age"]) == (ABSENT, 120)
    assert (result["plan"]["moves_banner"], len(result["plan"]["steps"])) == (True, 2)
    assert (len(result["request_id"]), action.notes, node.logins) == (32, ["work left"], 1)
    assert Action(ABSENT).run_with()["request_id"] != result["request_id"]
    assert not {"warnings", "unknown_engines", "has_recorded", "diff"} & set(result)


@pytest.mark.parametrize(
    ("approved", "is_valid"),
    [
        *((approved, False) for approved in ({}, [], {"hosts": {}}, "missing.json")),
        *((approved, True) for approved in (NOTHING, f"sha256:{0:064}")),
    ],
    ids=str,
)
def test_invalid_approved_plan_fails_a_healthy_fleet(approved, is_valid):
    """Later, only hosts with work read it. One host reports it for the run."""
    first = ("none", "healthy") if is_valid else ("fail", "approved_plan_invalid")
    assert outcome(Action(*[HEALTHY] * is_valid).run_with(approved_plan=approved)) == first
    assert outcome(Action(HEALTHY).run_with(approved_plan=approved)) == ("none", "healthy")


@pytest.mark.parametrize(("limit", "end"), [(math.inf, 140), (120, 140), (10, 105)])
def test_fetch_of_the_list_leaves_time_for_the_host(node, limit, end):
    action = Action(HEALTHY)
    action.limit, action._began = limit, 100
    action.run_with(engine_list=LIST)
    assert node.end == end


def test_engine_that_starts_after_the_fetch_is_not_missing(node):
    """Facts are gathered after the fetch: an engine that is deployed in between is still listed so."""
    entry = {"name": "edge-1", "address": "192.0.2.1"}
    node.listing = Listing([{**entry, "state": "deploying"}])

    def gather(*_arguments, **_more):
        node.listing = Listing([{**entry, "state": "running"}])
        return {"slb_host": ABSENT}

    action = Action()
    action.on_host = gather
    assert outcome(action.run_with(engine_list=LIST)) == ("wait", "deploying_in_engine_list")


def test_check_of_a_healthy_engine_returns_little(node):
    action = Action(HEALTHY)
    result = action.run_with()
    assert (outcome(result), result["plan"]["verified_by"]) == (("none", "healthy"), "host")
    assert not {"slb_host", "settings", "requests", "request_id"} & set(result)
    assert (action.notes, node.logins, result["plan"]["engine_list"]) == ([], 0, "not_configured")


@pytest.mark.parametrize("variables", [{"adopt_interfaces": True}, {"motd_after": "restored"}])
def test_healthy_engine_with_other_work_has_work_left(variables):
    action = Action(HEALTHY)
    result = action.run_with(**variables)
    assert (outcome(result), action.notes, bool(result["work"])) == (("none", "healthy"), ["work left"], True)
    assert {"slb_host", "settings", "requests"} <= set(result)
    assert "request_id" not in result


def test_check_of_a_blocked_host_is_collected_unchanged():
    action = Action(LEFTOVER)
    result = action.run_with()
    assert (outcome(result), action.notes) == (("fail", "unverified_container"), ["work left"])
    assert (result["plan"]["moves_banner"], result["plan"]["steps"]) == (False, [])
    assert not {"request_id"} & set(result)


@pytest.mark.parametrize(("given", "limit"), [(None, 55), ("20", 15), (300, 115)])
def test_check_has_the_time_limit_of_its_host(given, limit):
    action = Action(ABSENT)
    action.limit = 120
    action.run_with(host_timeout=given)
    assert limit - 5 < action.calls[0][1]["time_limit"] <= limit


def test_share_of_replacements_is_of_all_hosts_of_the_run(tmp_path):
    """50% of the four of the first play are two hosts, also if the later one has one alone."""
    known = {"engine_list": LIST, "max_replaced": "50%"}
    early, later = ([host(tmp_path, number, size=size, **known) for number in (1, 2, 3)] for size in (4, 1))
    for each in (early[0], *later):
        each.fetch_list()
    early[0].plan(facts(1))
    plans = [each.plan(facts(number), is_compared=True) for number, each in enumerate(later, 1)]
    assert [plan.action for plan in plans] == ["replace", "replace", "fail"]


def test_unknown_variable_is_a_warning_once_in_a_run():
    (warning,) = Action(HEALTHY).run_with(mange_ip="x")["warnings"]
    assert "slb_manage_ip" in warning, "the nearest known variable"
    assert "warnings" not in Action(HEALTHY).run_with(mange_ip="x")
    assert "warnings" not in Action(HEALTHY, phase="deploy").run_with(other_ip="x")


def test_login_failure_blocks_before_the_host_is_changed(node):
    node.failure = FleetError("login_rejected", "Login rejected.", "Correct slb_password.")
    result = Action(ABSENT).run_with()
    assert (outcome(result), result["plan"]["steps"]) == (("fail", "login_rejected"), [])
    assert not {"request_id"} & set(result)


@pytest.mark.parametrize("slb_host", [ABSENT, LEFTOVER])
def test_remediate_needs_no_management_node(node, slb_host):
    node.failure = FleetError("login_rejected", "Login rejected.", "Correct slb_password.")
    result = Action(slb_host, phase="remediate").run_with()
    is_there = slb_host is LEFTOVER
    assert outcome(result) == (("replace", "replace_requested") if is_there else ("install", "not_installed"))
    assert (node.logins, len(result["request_id"]), result["plan"]["moves_banner"]) == (0, 32, True)


@pytest.mark.parametrize(("phase", "is_young"), [("check", False), ("deploy", True), ("verify", True)])
def test_deployment_fetches_a_young_engine_list(node, phase, is_young):
    Action(ABSENT, **PHASES[phase]).run_with(engine_list=LIST)
    (not_before,) = node.fetched
    assert bool(not_before) == is_young


@pytest.mark.parametrize(
    ("answers", "args", "code"),
    [
        ([{"slb_host": None, "failed": True, "code": "x", "msg": "m"}], {}, "x"),
        ([{"slb_host": None}], {}, "host_answer_invalid"),
        ([GONE], {"phase": "deploy"}, "host_unreachable"),  # not unreachable: the install may be in progress
        ([LEFTOVER, GONE], RECORDS, "host_unreachable"),
        ([LEFTOVER, CHANGED], RECORDS, "state_changed"),
    ],
)
def test_host_without_a_usable_answer_is_a_failure(answers, args, code):
    assert code_of(Action(*answers, **args).run_with, unverified_engine="adopt") == code
    with pytest.raises(AnsibleConnectionFailure):
        Action(GONE).run_with()


@pytest.mark.parametrize(("elapsed", "seconds"), [(0, 4), (58, 0)])
def test_failed_contact_in_a_batch_waits_within_its_limit(monkeypatch, elapsed, seconds):
    """As long as a host in progress watches its batch, so that a reboot of the host is waited for."""
    slept = []
    monkeypatch.setattr(engine_plan, "time", SimpleNamespace(sleep=slept.append))
    action = Action(GONE, phase="verify", may_be_late=True)
    action._began -= elapsed
    assert error_of(action.run_with)
    assert slept == [seconds]


def test_approval_of_a_digest_is_of_the_checked_hosts():
    work = Action(ABSENT).run_with()["work"]
    approved = digest_of({"edge-1": work})
    assert outcome(Action(ABSENT, phase="deploy").run_with(approved_plan=approved)) == ("install", "not_installed")
    Action(ABSENT).run_with(number=2)
    assert outcome(Action(ABSENT, phase="deploy").run_with(approved_plan=approved))[0] == "fail"


@pytest.mark.parametrize(
    ("requests", "expected"), [(1, ("install", "not_installed")), (2, ("fail", "no_further_request"))]
)
def test_second_request_of_a_run_needs_no_approval(requests, expected):
    planned = {"requests": requests, "request_id": "aa11"}
    result = Action(ABSENT, phase="verify", planned=planned).run_with(approved_plan=NOTHING)
    assert (outcome(result), result["requests"]) == (expected, requests)
    assert (result["request_id"] == "aa11") is (requests == 2)


@pytest.mark.parametrize(("slb_host", "action"), [(WAITING, "wait"), (HEALTHY, "none"), (LEFTOVER, "fail")])
def test_request_keeps_its_id_while_it_is_verified(slb_host, action):
    result = Action(slb_host, phase="verify", planned={"request_id": "aa11", "requests": 1}).run_with()
    assert (result["plan"]["action"], result["request_id"]) == (action, "aa11")
    assert "request_id" not in Action(slb_host, phase="verify", planned={"requests": 1}).run_with()
    assert "request_id" not in Action(slb_host).run_with()


def test_engine_of_a_host_with_invalid_variables_is_known():
    assert outcome(Action().run_with(number=2, settle=-1)) == ("fail", "invalid_variable")
    planned = Action(HEALTHY, list_unknown_engines=True).run_with(engine_list=LIST)
    compare = Action(phase="compare", planned=planned, list_unknown_engines=True)
    assert compare.run_with(engine_list=LIST)["unknown_engines"] == []


def checked(slb_host=ABSENT, **variables):
    return Action(slb_host).run_with(**variables)


@pytest.mark.parametrize("phase", [*PHASES, "compare"])
@pytest.mark.parametrize(
    ("slb_host", "variables", "expected", "code"),
    [
        (LEFTOVER, {"engine_list": LIST, "max_replaced": 0}, ("replace", "leftover"), "replace_limit_exceeded"),
        (ABSENT, {"approved_plan": NOTHING}, ("install", "not_installed"), "not_in_approved_plan"),
    ],
    ids=["limit", "approval"],
)
def test_limit_and_approval_hold_after_the_check(phase, slb_host, variables, expected, code):
    args, answers = PHASES.get(phase, {}), [slb_host]
    if phase == "compare":
        args, answers = {"phase": phase, "planned": checked(slb_host, **variables), "record": True}, []
    action = Action(*answers, **args)
    result = action.run_with(**variables)
    assert outcome(result) == (expected if phase == "check" else ("fail", code))
    assert "ready" not in action.notes


@pytest.mark.parametrize(
    ("is_last", "is_check", "notes"), [(True, False, ["ready"]), (True, True, []), (False, False, [])]
)
def test_comparison_notes_hosts_that_are_changed_now(is_last, is_check, notes):
    """An approved plan has one comparison more, before the one that decides."""
    action = Action(phase="compare", planned=checked(), record=is_last, check=is_check)
    result = action.run_with()
    assert (outcome(result), action.notes, action.calls) == (("install", "not_installed"), notes, [])
    assert result["slb_host"] == ABSENT


def test_comparison_blocks_two_hosts_of_one_address():
    first = checked()
    assert outcome(Action(ABSENT).run_with(number=2)) == ("fail", "duplicate_engine")
    assert outcome(Action(phase="compare", planned=first).run_with()) == ("fail", "duplicate_engine")


def test_comparison_of_a_healthy_host_repeats_its_plan():
    first = checked(HEALTHY)
    action = Action(phase="compare", planned=first)
    assert action.run_with() == {**first, "changed": False}
    assert (action.notes, action.calls) == ([], [])
    assert Action(phase="compare", planned=first, list_unknown_engines=True).run_with()["unknown_engines"] == []


def test_comparison_asks_no_management_node_that_was_unavailable(node):
    node.listing = FleetError("management_node_unavailable", "No answer.", "Check it.")
    first = Action(LEFTOVER).run_with(engine_list=LIST)
    second = Action(phase="compare", planned=first, list_unknown_engines=True)
    result = second.run_with(engine_list=LIST)
    assert (outcome(result), second.notes) == (("fail", "management_node_unavailable"), [])
    assert len(node.fetched) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mine", ("fail", "container_renamed")),
        ("slb-leftover-7", ("install", "container_gone")),
        (None, ("install", "container_gone")),
    ],
)
def test_verified_container_with_another_name_is_no_leftover(name, expected):
    record = {**VERIFIED, "last_verified": "c0", "verified_container": "exited", "verified_name": name}
    assert outcome(Action({**ABSENT, "record": record}).run_with()) == expected


@pytest.mark.parametrize(("seconds", "age"), [({}, 120), ({"stop_timeout": 30}, 150)])
def test_interrupted_step_is_open_for_as_long_as_it_may_take(seconds, age):
    aside = {"id": "c0", "name": "slb", "purpose": "replace", "exists": True, **seconds}
    record = {**REQUESTED, "state": "preparing", "set_aside": aside}
    assert checked({**ABSENT, "record": record})["settings"]["open_age"] == age


def test_check_has_one_host_of_a_node_list_unknown_engines(node):
    def noted(number, *, asked=True, **variables):
        engine = {"name": f"edge-{number}", "address": f"192.0.2.{number}"}
        base = {"base_url": variables.get("base_url", ENGINE["base_url"]), "manage_ip": engine["address"]}
        node.listing = Listing([{**engine, "state": "running"}])
        action = Action(facts(number, record={**VERIFIED, **base, "name": engine["name"]}), list_unknown_engines=asked)
        result = action.run_with(number, manage_ip=engine["address"], **variables)
        assert (outcome(result), "unknown_engines" in result) == (("none", "healthy"), False)
        return action.notes

    assert [noted(1), noted(1, asked=False, engine_list=LIST)] == [[], []]
    assert [noted(number, engine_list=LIST) for number in (1, 2, 3)] == [["work left"], [], []]
    assert noted(4, engine_list=LIST, base_url="https://south.example") == ["work left"]


RECORDED = {"changed": True, "record": VERIFIED, "diff": {"before": {}, "after": {}}}


@pytest.mark.parametrize(("is_check", "action"), [(False, "none"), (True, "record")])
def test_record_of_a_verified_engine_is_written(is_check, action):
    host = Action(LEFTOVER, RECORDED, check=is_check, **RECORDS)
    result = host.run_with(unverified_engine="adopt", remove_leftovers=True)
    assert (outcome(result), result["plan"]["verified_by"]) == ((action, "unverified_container"), "host")
    assert (result["changed"], result["has_recorded"], result["diff"]) == (True, True, RECORDED["diff"])
    options = {"state": "verified", **ENGINE, "container_id": "c1", "verified_by": "host", "remove_leftovers": True}
    assert host.calls[1:] == [("engine_record", options)]
    assert ("slb_host" in result) is is_check


def test_record_without_a_change_is_unchanged():
    result = Action(LEFTOVER, {"changed": False}, **RECORDS).run_with(unverified_engine="adopt")
    assert (result["changed"], result["has_recorded"], "diff" in result) == (False, False, False)
    result = Action(LEFTOVER, {"changed": False, "is_unknown": True}, **RECORDS).run_with(unverified_engine="adopt")
    assert result["is_unknown"], "the execution whose answer was lost may have written it"


def test_record_is_written_only_on_demand_and_if_needed():
    for action in (Action(LEFTOVER), Action(HEALTHY, **RECORDS), Action(ABSENT, **RECORDS)):
        assert "has_recorded" not in action.run_with(unverified_engine="adopt")
        assert len(action.calls) == 1


@pytest.mark.parametrize("is_checked", [False, True])
def test_invalid_variable_blocks_only_its_host(is_checked):
    action = Action(ABSENT, **({"phase": "compare", "planned": checked()} if is_checked else {}))
    result = action.run_with(wait_timeout="soon")
    assert (outcome(result), result["changed"], action.calls) == (("fail", "invalid_variable"), False, [])
    assert (action.notes, result["plan"]["steps"], result["plan"]["moves_banner"]) == (["work left"], [], False)
    assert not {"slb_host", "request_id", "work"} & set(result)
