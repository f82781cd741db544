"""One install: no request without the record of it, never two, and a restore unless the request was accepted."""

import time
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.action import engine_install
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import CHECK_FIRST, Install
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.test_fleet_host import LIST, facts, host

GONE = AnsibleConnectionFailure("gone")
ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
HEALTHY = facts(1, record={"state": "verified", "last_verified": "c1", **ENGINE})


class Action(engine_install.ActionModule):
    """The host answers ``answers``; ``calls`` are the steps that it got."""

    def __init__(self, *answers, check=False):
        slb_host = facts(1)
        slb_host["engine_container"] = {**slb_host["engine_container"], "state": "absent", "id": None}
        planned = {"plan": {"action": "install"}, "slb_host": slb_host, "requests": 0, "request_id": "aa11"}
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


def set_aside(arguments):
    return {**prepared(arguments), "set_aside_as": "slb-leftover-1"}


def marked(arguments):
    return prepared(arguments, "requested")


CHANGED = {"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""}
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
    node.client = SimpleNamespace(log_in=lambda: None, is_one_at_a_time=False)
    monkeypatch.setattr(engine_install, "Client", lambda *_unused: node.client)
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


@pytest.mark.parametrize("is_said", [False, True])
def test_session_that_changes_is_said_once(node, is_said):
    node.client.is_one_at_a_time = True
    if is_said:
        node.host.reservations.is_first("one at a time https://console.example")
    assert len(Action(prepared, marked).act({}).get("warnings", [])) == (not is_said)


def test_install_takes_the_patterns_of_the_variables(node):
    node.host.variables["exists_patterns"] = ["ya existe"]
    Action(prepared, marked).act({})
    _client, _engine, options = node.requests[0]
    assert (options["exists_patterns"], options["port_in_use_patterns"]) == (["ya existe"], [])


LOST, INVALID = (FleetError(code, "Lost.", "Fix.") for code in ("host_unreachable", "host_answer_invalid"))


@pytest.mark.parametrize(
    ("answers", "code", "steps", "is_unknown"),
    [
        ([CHANGED], "state_changed", ["prepare"], False),
        ([GONE, CHANGED], "state_changed", ["prepare"] * 2, True),
        ([LOST, CHANGED], "state_changed", ["prepare"] * 2, True),
        ([GONE, GONE], "host_unreachable", ["prepare"] * 2, True),
        ([LOST, GONE], "host_unreachable", ["prepare"] * 2, True),
        ([INVALID], "host_answer_invalid", ["prepare"], True),
        ([{}, RESTORED], "record_not_writable", ["prepare", "restore"], False),
        ([marked, RESTORED], "record_not_writable", ["prepare", "restore"], False),
        ([prepared, GONE, GONE, RESTORED], "host_unreachable", ["prepare", "mark", "mark", "restore"], False),
        ([prepared, prepared, RESTORED], "record_not_writable", ["prepare", "mark", "restore"], False),
        ([prepared, CHANGED, RESTORED], "state_changed", ["prepare", "mark", "restore"], False),
    ],
)
def test_install_without_a_confirmed_record_sends_nothing(node, answers, code, steps, is_unknown):
    """A lost answer to the preparation leaves its result unknown."""
    action = Action(*answers)
    error = error_of(action.act, {})
    assert (error.code, action.steps, node.requests) == (code, steps, [])
    assert bool(error.values.get("is_unknown")) == is_unknown


def test_install_with_a_lost_answer_repeats_the_step(node):
    """The shared connection is ended first."""
    action, resets = Action(GONE, prepared, GONE, marked), []
    action._connection = SimpleNamespace(reset=lambda: resets.append(1))
    assert action.act({})["outcome"] == "requested"
    assert (action.steps, len(resets)) == (["prepare", "prepare", "mark", "mark"], 2)
    assert {call["request_id"] for call in action.calls} == {"aa11"}


def test_install_sends_a_planned_request_once(node):
    assert Action(prepared, marked).act({})["outcome"] == "requested"
    assert node.host.reservations.noted("not accepted aa11") == []
    action = Action(prepared, marked)
    assert (code_of(action.act, {}), action.calls, len(node.requests)) == ("state_changed", [], 1)


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
    error = error_of(action.act, {})
    assert (error.code, error.values["restored"], words in error.summary) == (code, True, True)
    assert (action.steps, len(node.requests)) == (["prepare", "mark", "restore"], 1)
    restore = [action.calls[2][key] for key in ("request_id", "open_age", "requested_age", "lock_timeout")]
    assert restore == ["aa11", 0, 0, 10]


def test_controller_that_cannot_write_restores_the_container(node, monkeypatch):
    note = node.host.reservations.note

    def fail(subject, line):
        if subject.startswith("not accepted"):
            raise FleetError("run_cache_not_writable", "Full.", "Free space.")
        note(subject, line)

    monkeypatch.setattr(node.host.reservations, "note", fail)
    node.answer = failure("rejected", answer="no")
    action = Action(set_aside, marked, RESTORED)
    assert (code_of(action.act, {}), action.steps) == ("install_rejected", ["prepare", "mark", "restore"])


def test_install_leaves_a_new_container_to_the_next_check(node):
    """The request that was answered with "exists" may be an earlier one, whose container came late."""
    node.answer = Install("exists", 200, "exists")
    result = Action(prepared, marked, {"restored": False, "is_replaced": True}).act({})
    assert result["outcome"] == "exists"


def test_install_in_check_mode_sends_nothing(node):
    result = Action({"changed": True}, check=True).act({})
    assert (result["changed"], "outcome" in result, node.requests) == (True, False, [])
    assert (result["requests"], Action({}, check=True).act({})["requests"]) == (0, 0)


def test_install_tells_the_host_what_the_plan_expects(node):
    action = Action(set_aside, marked)
    node.host.variables.update(stop_timeout=33, host_timeout=40)
    result = action.act({})
    assert result["set_aside_as"] == "slb-leftover-1"
    seen = {"container_id": None, "container_state": "absent", "record_state": "none", "record_request_id": None}
    safety = {"allow_established": False, "remove": False, "ignored_starters": []}
    step = {"request_id": "aa11", **ENGINE, "time_limit": 68, "lock_timeout": 10}
    prepare = {"step": "prepare", "action": "install", "expected": seen, "stop_timeout": 33, "wait_timeout": 180}
    assert action.calls == [{**step, **prepare, **safety}, {**step, "step": "mark"}]


def test_install_waits_for_the_lock_no_longer_than_its_task(node):
    action = Action(prepared, marked)
    action.limit, action._began = 12, time.monotonic()
    action.act({})
    assert {call["lock_timeout"] for call in action.calls} <= {5, 6, 7}


@pytest.mark.parametrize("planned", [None, "x", {}, {"slb_host": {}}, {"slb_host": {}, "request_id": "aa11"}])
def test_install_without_a_plan_is_refused(node, planned):
    action = Action()
    action._task.args = {"plan": planned}
    assert (code_of(action.act, {}), action.calls) == ("invalid_option", [])


def test_install_without_a_session_leaves_the_host_alone(node, monkeypatch):
    def log_in():
        raise FleetError("login_rejected", "Login rejected.", "Correct it.")

    monkeypatch.setattr(engine_install, "Client", lambda *_unused: SimpleNamespace(log_in=log_in))
    action = Action()
    assert (code_of(action.act, {}), action.calls) == ("login_rejected", [])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"plan": {"action": "replace"}}, "state_changed"),
        ({"slb_host": facts(1)}, "unverified_container"),
        ({"slb_host": facts(1, record={"state": "requested", "age": 1})}, "state_changed"),
        *(
            ({"slb_host": HEALTHY, "plan": {"action": action}}, "state_changed")
            for action in ("wait", "none", "record")
        ),
        ({"requests": 2}, "no_further_request"),
    ],
)
def test_install_with_another_plan_changes_nothing(node, change, code):
    action = Action()
    action._task.args["plan"].update(change)
    error = error_of(action.act, {})
    assert (error.code, bool(error.fix), action.calls, node.requests) == (code, True, [], [])


OWN, EARLIER = {"state": "requested", "request_id": "aa11"}, {"state": "requested", "request_id": "b"}
TAKEN = {"failed": True, "code": "name_taken", "msg": "m", "fix": "f"}
ASIDE = "slb-leftover-1"


@pytest.mark.parametrize(
    ("answer", "code", "is_restored", "name"),
    [
        ({"restored": True}, "install_rejected", True, None),
        # Another run has taken over the record, or it is that of an earlier request of the same run.
        *(({"restored": False, "record": each}, "install_rejected", False, ASIDE) for each in (OWN, EARLIER, {}, None)),
        (TAKEN, "name_taken", False, ASIDE),
        ({"failed": True}, "partially_restored", False, ASIDE),
        (GONE, "host_unreachable", None, None),
    ],
)
def test_restore_after_a_rejection_is_reported(node, answer, code, is_restored, name):
    node.answer = failure("rejected", answer="no")
    error = error_of(Action(set_aside, marked, answer).act, {})
    values = error.values
    assert (error.code, values.get("restored"), values.get("set_aside_as")) == (code, is_restored, name)
    if is_restored is not None:
        assert (values["outcome"], values["requests"], bool(error.fix)) == ("rejected", 1, True)


def test_restore_whose_answer_was_lost_is_unknown(node):
    """The repetition finds nothing to do: the first execution may have restored the container."""
    node.answer = failure("rejected", answer="no")
    again = {"changed": False, "restored": False, "is_unknown": True, "record": {"state": "none"}}
    error = error_of(Action(set_aside, marked, again).act, {})
    assert (error.code, error.values["is_unknown"]) == ("install_rejected", True)
    assert "set aside as" not in error.summary
