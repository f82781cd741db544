"""One install: no request without the record of it, never two, and a restore unless the request was accepted."""

import time
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.action import engine_install
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import CHECK_FIRST, Install
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.test_fleet_host import (
    LIST,
    facts,
    host,
)

GONE = AnsibleConnectionFailure("gone")


class Action(engine_install.ActionModule):
    """The host answers ``answers``; ``calls`` are the steps that it got."""

    def __init__(self, *answers, check=False):
        slb_host = facts(1)
        slb_host["engine_container"] = {**slb_host["engine_container"], "state": "absent", "id": None}
        plan = {"action": "install", "by_list": False}
        planned = {"plan": plan, "slb_host": slb_host, "requests": 0, "request_id": "aa11"}
        self._task = SimpleNamespace(args={"plan": planned}, check_mode=check, timeout=0)
        self._connection = SimpleNamespace(reset=lambda: None)
        self._templar = None
        self.answers, self.calls = list(answers), []

    def on_host(self, module, arguments, *, attempts=2):
        self.calls.append(arguments)
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        return answer(arguments) if callable(answer) else answer

    @property
    def steps(self):
        return [call["step"] for call in self.calls]


def prepared(arguments, state="prepared"):
    return {"changed": True, "record": {"state": state, "request_id": arguments["request_id"]}}


def marked(arguments):
    return prepared(arguments, "requested")


RESTORED = {"changed": True, "restored": True, "record": {"state": "none"}}


def failure(outcome, **values):
    return FleetError("x", "Rejected.", "Fix it.", outcome=outcome, **values)


@pytest.fixture
def node(tmp_path, monkeypatch):
    """A management node: its ``answer`` to an install request, and the ``requests`` that were sent."""
    node = SimpleNamespace(answer=Install("requested"), requests=[])

    def request(*arguments, send_by):
        assert send_by == 1030, "30 s after the record of the request"
        node.requests.append(arguments)
        if isinstance(node.answer, Exception):
            raise node.answer
        return node.answer

    monkeypatch.setattr(engine_install, "request_install", request)
    monkeypatch.setattr(engine_install, "boot_time", lambda: 1000)
    monkeypatch.setattr(
        engine_install, "Client", lambda *_unused: SimpleNamespace(log_in=lambda: None, is_one_at_a_time=False)
    )
    node.host, node.other = made, _other = host(tmp_path, 1), host(tmp_path, 2, engine_list=LIST)
    monkeypatch.setattr(engine_install.FleetHost, "from_variables", lambda *_unused: made)
    return node


@pytest.mark.parametrize(("answer", "outcome"), [(Install("requested"), "requested"), (failure("unknown"), "unknown")])
def test_install_sends_after_the_record_is_written(node, answer, outcome):
    node.answer = answer
    action = Action(prepared, marked)
    result = action.act({})
    assert (result["outcome"], result["requests"], result["changed"]) == (outcome, 1, True)
    assert (result["request_id"], action.steps, len(node.requests)) == ("aa11", ["prepare", "mark"], 1)


@pytest.mark.parametrize(("fix", "is_shown"), [(f"Set slb_base_url. {CHECK_FIRST}", True), (CHECK_FIRST, False)])
def test_redirected_install_shows_its_target_at_once(node, fix, is_shown):
    """It may have been accepted: nothing is restored, and the wait goes on."""
    node.answer = FleetError("install_not_confirmed", "Redirect.", fix, outcome="unknown", status_code=307)
    action = Action(prepared, marked)
    result = action.act({})
    assert (result["outcome"], action.steps) == ("unknown", ["prepare", "mark"])
    assert result.get("warnings", []) == [f"Redirect. {fix}"] * is_shown


def test_install_takes_the_patterns_of_the_variables(node):
    node.host.variables["exists_patterns"] = ["ya existe"]
    Action(prepared, marked).act({})
    _client, _engine, options = node.requests[0]
    assert (options["exists_patterns"], options["port_in_use_patterns"]) == (["ya existe"], [])


@pytest.mark.parametrize(
    ("answers", "code", "steps"),
    [
        ([{"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""}], "state_changed", ["prepare"]),
        ([GONE, GONE], "host_unreachable", ["prepare"] * 2),
        ([{}, RESTORED], "record_not_writable", ["prepare", "restore"]),
        ([marked, RESTORED], "record_not_writable", ["prepare", "restore"]),
        ([prepared, GONE, GONE, RESTORED], "host_unreachable", ["prepare", "mark", "mark", "restore"]),
        ([prepared, prepared, RESTORED], "record_not_writable", ["prepare", "mark", "restore"]),
        (
            [prepared, {"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""}, RESTORED],
            *("state_changed", ["prepare", "mark", "restore"]),
        ),
    ],
)
def test_install_without_a_confirmed_record_sends_nothing(node, answers, code, steps):
    action = Action(*answers)
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert (caught.value.code, action.steps, node.requests) == (code, steps, [])


def test_install_with_a_lost_answer_repeats_the_step(node):
    action = Action(GONE, prepared, GONE, marked)
    assert action.act({})["outcome"] == "requested"
    assert action.steps == ["prepare", "prepare", "mark", "mark"]
    assert {call["request_id"] for call in action.calls} == {"aa11"}


def test_install_sends_a_planned_request_once(node):
    assert Action(prepared, marked).act({})["outcome"] == "requested"
    action = Action(prepared, marked)
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert (caught.value.code, action.calls, len(node.requests)) == ("state_changed", [], 1)


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (Install("exists", 200, "there"), "exists_elsewhere", "there."),
        (failure("port_in_use", answer="8000"), "port_in_use", "8000."),
        (failure("rejected", answer="no"), "install_rejected", "no."),
        (failure("rejected"), "x", "Rejected."),
    ],
)
def test_install_with_a_negative_answer_restores(node, answer, code, words):
    node.answer = answer
    action = Action(prepared, marked, RESTORED)
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert (caught.value.code, caught.value.values["restored"]) == (code, True)
    assert words in caught.value.summary
    assert (action.steps, len(node.requests)) == (["prepare", "mark", "restore"], 1)
    assert (action.calls[2]["request_id"], action.calls[2]["requested_age"]) == ("aa11", 0)


def test_install_leaves_a_new_container_to_the_next_check(node):
    """The request that was answered with "exists" may be an earlier one, whose container came late."""
    node.answer = Install("exists", 200, "exists")
    result = Action(prepared, marked, {"restored": False, "is_replaced": True}).act({})
    assert result["outcome"] == "exists"


def test_install_rejected_after_an_earlier_request_fails(node):
    """The record before is the earlier request of the same run."""
    node.answer = Install("exists", 200, "exists")
    with pytest.raises(FleetError) as caught:
        Action(prepared, marked, {"restored": False, "record": {"state": "requested", "request_id": "b"}}).act({})
    assert caught.value.code == "exists_elsewhere"


def test_install_names_a_container_that_stays_set_aside(node):
    """Another run has taken over the record."""
    aside = {"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""}
    first = lambda arguments: {**prepared(arguments), "set_aside_as": "slb-leftover-1"}  # noqa: E731
    with pytest.raises(FleetError) as caught:
        Action(first, aside, {"restored": False, "record": {"state": "none"}}).act({})
    assert caught.value.values["set_aside_as"] == "slb-leftover-1"


def test_install_in_check_mode_sends_nothing(node):
    result = Action({"changed": True}, check=True).act({})
    assert (result["changed"], "outcome" in result, node.requests) == (True, False, [])
    assert (result["requests"], Action({}, check=True).act({})["requests"]) == (0, 0)


def code_of(action):
    with pytest.raises(FleetError) as caught:
        action.act({})
    return caught.value.code


def test_install_tells_the_host_what_the_plan_expects(node):
    action = Action(prepared, marked)
    node.host.variables.update(stop_timeout=33, host_timeout=40)
    action.act({})
    engine = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
    seen = {"container_id": None, "container_state": "absent", "record_state": "none", "record_request_id": None}
    limits = {"time_limit": 68, "lock_timeout": 10}
    safety = {
        "allow_established": False,
        "remove": False,
        "ignored_starters": [],
        "stop_timeout": 33,
        "wait_timeout": 180,
    }
    step = {"request_id": "aa11", **engine, **limits}
    assert action.calls[0] == {**step, "step": "prepare", "action": "install", "expected": seen, **safety}
    assert action.calls[1] == {**step, "step": "mark"}


def test_install_waits_for_the_lock_no_longer_than_its_task(node):
    action = Action(prepared, marked)
    action._task.timeout, action._began = 12, time.monotonic()
    action.act({})
    assert {call["lock_timeout"] for call in action.calls} <= {5, 6, 7}


@pytest.mark.parametrize("planned", [None, "x", {}, {"slb_host": {}}, {"slb_host": {}, "request_id": "aa11"}])
def test_install_without_a_plan_is_refused(node, planned):
    action = Action()
    action._task.args = {"plan": planned}
    assert (code_of(action), action.calls) == ("invalid_option", [])


def test_install_without_a_session_leaves_the_host_alone(node, monkeypatch):
    def log_in():
        raise FleetError("login_rejected", "Login rejected.", "Correct it.")

    monkeypatch.setattr(engine_install, "Client", lambda *_unused: SimpleNamespace(log_in=log_in))
    action = Action()
    assert (code_of(action), action.calls) == ("login_rejected", [])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"plan": {"action": "replace"}}, "state_changed"),
        ({"slb_host": facts(1)}, "unverified_container"),
        ({"slb_host": facts(1, record={"state": "requested", "age": 1})}, "state_changed"),
        ({"requests": 2}, "no_further_request"),
    ],
)
def test_install_with_another_plan_changes_nothing(node, change, code):
    action = Action()
    action._task.args["plan"].update(change)
    with pytest.raises(FleetError) as raised:
        action.act({})
    assert (raised.value.code, action.calls, node.requests) == (code, [], [])
    assert raised.value.fix


@pytest.mark.parametrize("action_planned", ["wait", "none", "record", "fail"])
def test_install_of_a_plan_without_work_is_refused(node, action_planned):
    action = Action()
    verified = {"state": "verified", "last_verified": "c1", "name": "edge-1", "manage_ip": "192.0.2.1"}
    healthy = facts(1, record={**verified, "base_url": "https://console.example"})
    action._task.args["plan"].update(plan={"action": action_planned}, slb_host=healthy)
    assert (code_of(action), action.calls) == ("state_changed", [])


def test_request_is_noted_as_not_accepted_only_if_so(node):
    Action(prepared, marked).act({})
    assert node.host.reservations.noted("not accepted aa11") == []


@pytest.mark.parametrize(
    ("answer", "code", "is_restored", "name"),
    [
        ({"restored": True, "after": {"state": "running"}}, "install_rejected", True, None),
        ({"restored": False}, "install_rejected", False, "slb-leftover-1"),
        ({"failed": True, "code": "name_taken", "msg": "m", "fix": "f"}, "name_taken", False, "slb-leftover-1"),
        ({"failed": True}, "partially_restored", False, "slb-leftover-1"),
        (GONE, "host_unreachable", None, None),
    ],
)
def test_restore_after_a_rejection_is_reported(node, answer, code, is_restored, name):
    node.answer = failure("rejected", answer="no")
    action = Action(lambda given: {**prepared(given), "set_aside_as": "slb-leftover-1"}, marked, answer)
    with pytest.raises(FleetError) as caught:
        action.act({})
    values = caught.value.values
    assert (caught.value.code, values.get("restored"), values.get("set_aside_as")) == (code, is_restored, name)
    assert action.calls[2]["step"] == "restore"
    assert (action.calls[2]["open_age"], action.calls[2]["requested_age"], action.calls[2]["lock_timeout"]) == (
        0,
        0,
        10,
    )
    if is_restored is not None:
        assert (values["outcome"], values["requests"], bool(caught.value.fix)) == ("rejected", 1, True)
        assert values["after"] == ({"state": "running"} if is_restored else None)


def test_restore_whose_answer_was_lost_is_unknown(node):
    """The repetition finds nothing to do: the first execution may have restored the container."""
    node.answer = failure("rejected", answer="no")
    again = {"changed": False, "restored": False, "is_unknown": True, "record": {"state": "none"}}
    with pytest.raises(FleetError) as caught:
        Action(lambda given: {**prepared(given), "set_aside_as": "slb-leftover-1"}, marked, again).act({})
    assert (caught.value.code, caught.value.values["is_unknown"]) == ("install_rejected", True)
    assert "set aside as" not in caught.value.summary


@pytest.mark.parametrize("record", [{"state": "requested", "request_id": "aa11"}, {"state": "none"}, None])
def test_rejection_is_a_failure_unless_a_container_came(node, record):
    node.answer = failure("rejected", answer="no")
    assert code_of(Action(prepared, marked, {"restored": False, "record": record})) == "install_rejected"


def test_lost_answers_leave_the_result_unknown(node):
    with pytest.raises(FleetError) as caught:
        Action(FleetError("host_unreachable", "Lost.", "Fix."), GONE).act({})
    assert (caught.value.code, caught.value.values["is_unknown"]) == ("host_unreachable", True)
    action = Action(FleetError("host_not_checked", "No Python.", "Fix."))
    assert (code_of(action), action.steps) == ("host_not_checked", ["prepare"])


@pytest.mark.parametrize("lost", [[GONE], [FleetError("host_unreachable", "", "")], []])
def test_refusal_after_a_lost_answer_leaves_the_result_unknown(node, lost):
    refusal = {"failed": True, "code": "state_changed", "msg": "Record is restoring already."}
    with pytest.raises(FleetError) as caught:
        Action(*lost, refusal).act({})
    assert (caught.value.code, bool(caught.value.values.get("is_unknown"))) == ("state_changed", bool(lost))


def test_lost_answer_ends_the_shared_connection(node):
    action, resets = Action(GONE, prepared, marked), []
    action._connection = SimpleNamespace(reset=lambda: resets.append(1))
    action.act({})
    assert len(resets) == 1


def test_result_shows_what_was_set_aside(node):
    answer = {"set_aside_as": "slb-leftover-1", "before": {"state": "exited"}}
    result = Action(lambda given: {**prepared(given), **answer}, marked).act({})
    assert {key: result[key] for key in answer} == answer


def test_step_without_a_usable_answer_has_an_unknown_result(node):
    with pytest.raises(FleetError) as caught:
        Action(FleetError("host_answer_invalid", "Answer of this host invalid.", "Check the host.")).act({})
    assert (caught.value.code, caught.value.values["is_unknown"]) == ("host_answer_invalid", True)
    assert node.requests == []
