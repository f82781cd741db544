"""One install: never a request without a written record, never two, and a restore after each negative answer."""

from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.action import engine_install
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import Install
from ansible_collections.slb.fleet.tests.unit.run.test_fleet_host import facts, host

GONE = AnsibleConnectionFailure("gone")


class Action(engine_install.ActionModule):
    """The host answers ``answers``; ``calls`` are the steps that it was told."""

    def __init__(self, *answers, check=False):
        slb_host = facts(1)
        slb_host["engine_container"] = {**slb_host["engine_container"], "state": "absent", "id": None}
        planned = {"plan": {"action": "install", "by_list": False}, "slb_host": slb_host, "requests": 0}
        self._task = SimpleNamespace(args={"plan": planned}, check_mode=check)
        self._templar = None
        self.answers, self.calls = list(answers), []

    def on_host(self, module, arguments, variables, *, attempts=2):
        self.calls.append(arguments)
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        return answer(arguments) if callable(answer) else answer

    @property
    def steps(self):
        return [call["step"] for call in self.calls]


def written(arguments):
    return {"changed": True, "record": {"state": "requested", "request_id": arguments["request_id"]}}


def failure(outcome, **values):
    return FleetError("x", "Rejected.", "Fix it.", outcome=outcome, **values)


@pytest.fixture
def node(tmp_path, monkeypatch):
    """A management node: its ``answer`` to an install request, and the ``requests`` that were sent."""
    node = SimpleNamespace(answer=Install("requested"), requests=[])

    def request(*arguments):
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
def test_request_after_a_written_record(node, answer, outcome):
    node.answer = answer
    action = Action(written)
    result = action.act({})
    assert (result["outcome"], result["requests"], result["changed"]) == (outcome, 1, True)
    assert (action.steps, len(node.requests)) == (["prepare"], 1)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"record": {"state": "preparing"}},
        {"record": {"state": "requested", "request_id": "of another run"}},
        {"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""},
    ],
)
def test_no_request_without_a_written_record(node, answer):
    with pytest.raises(FleetError):
        Action(answer).act({})
    assert node.requests == []


def test_lost_answer_runs_the_step_once_more(node):
    action = Action(GONE, written)
    assert action.act({})["outcome"] == "requested"
    assert action.calls[0] == action.calls[1]
    with pytest.raises(FleetError) as caught:
        Action(GONE, GONE).act({})
    assert (caught.value.code, len(node.requests)) == ("host_unreachable", 1)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Install("exists", 200, "exists"), "exists_elsewhere"),
        (failure("port_in_use", answer="8000"), "port_in_use"),
        (failure("rejected", answer="no"), "install_rejected"),
        (failure("rejected"), "x"),
    ],
)
def test_negative_answer_restores(node, answer, code):
    node.answer = answer
    action = Action(written, {"changed": True, "restored": True})
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert (caught.value.code, caught.value.values["restored"]) == (code, True)
    assert (action.steps, len(node.requests)) == (["prepare", "restore"], 1)
    assert action.calls[0]["request_id"] == action.calls[1]["request_id"]


def test_check_mode_sends_nothing(node):
    result = Action({"changed": True}, check=True).act({})
    assert (result["changed"], "outcome" in result, node.requests) == (True, False, [])
