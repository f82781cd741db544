"""One install: no request without the record of it, never two, and a restore unless the request was accepted."""

from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.action import engine_install
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.client import boot_time
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import Install
from ansible_collections.slb.fleet.tests.unit.run.test_fleet_host import facts, host

GONE = AnsibleConnectionFailure("gone")


class Action(engine_install.ActionModule):
    """The host answers ``answers``; ``calls`` are the steps that it was told."""

    def __init__(self, *answers, check=False):
        slb_host = facts(1)
        slb_host["engine_container"] = {**slb_host["engine_container"], "state": "absent", "id": None}
        plan = {"action": "install", "by_list": False}
        planned = {"plan": plan, "slb_host": slb_host, "requests": 0, "request_id": "aa11"}
        self._task = SimpleNamespace(args={"plan": planned}, check_mode=check, timeout=0)
        self._connection = SimpleNamespace(reset=lambda: None)
        self._templar = None
        self.answers, self.calls = list(answers), []

    def on_host(self, module, arguments, variables, *, attempts=2):
        self.calls.append({"step": "restore", **arguments})
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
        assert send_by <= boot_time() + 30
        node.requests.append(arguments)
        if isinstance(node.answer, Exception):
            raise node.answer
        return node.answer

    monkeypatch.setattr(engine_install, "request_install", request)
    monkeypatch.setattr(engine_install, "Client", lambda *_unused: SimpleNamespace(log_in=lambda: None))
    made = host(tmp_path, 1)
    monkeypatch.setattr(engine_install.FleetHost, "from_variables", lambda *_unused: made)
    return node


@pytest.mark.parametrize(("answer", "outcome"), [(Install("requested"), "requested"), (failure("unknown"), "unknown")])
def test_install_sends_after_the_record_is_written(node, answer, outcome):
    node.answer = answer
    action = Action(prepared, marked)
    result = action.act({})
    assert (result["outcome"], result["requests"], result["changed"]) == (outcome, 1, True)
    assert (result["request_id"], action.steps, len(node.requests)) == ("aa11", ["prepare", "mark"], 1)


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
    ("answer", "code"),
    [
        (Install("exists", 200, "exists"), "exists_elsewhere"),
        (failure("port_in_use", answer="8000"), "port_in_use"),
        (failure("rejected", answer="no"), "install_rejected"),
        (failure("rejected"), "x"),
    ],
)
def test_install_with_a_negative_answer_restores(node, answer, code):
    node.answer = answer
    action = Action(prepared, marked, RESTORED)
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert (caught.value.code, caught.value.values["restored"]) == (code, True)
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
