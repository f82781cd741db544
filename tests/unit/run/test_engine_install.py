# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One install: never a request without a written record, never two, and a restore after each negative answer."""

from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.action import engine_install
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import Install
from ansible_collections.slb.fleet.tests.unit.run.test_fleet_host import facts, host

ABSENT = {"state": "absent", "id": None}


class Action(engine_install.ActionModule):
    """The host answers ``answers``; ``calls`` are the steps that it was told."""

    def __init__(self, *answers, check=False):
        slb_host = facts(1)
        slb_host["engine_container"] = {**slb_host["engine_container"], **ABSENT}
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


def written(arguments):
    return {"changed": True, "record": {"state": "requested", "request_id": arguments["request_id"]}}


RESTORED = {"changed": True, "restored": True}


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """The requests that were sent."""
    requests = []
    monkeypatch.setattr(engine_install, "Client", lambda *_unused: SimpleNamespace(log_in=lambda: None))
    made = host(tmp_path, 1)
    monkeypatch.setattr(engine_install.FleetHost, "from_variables", lambda *_unused: made)
    return requests


def answer_with(monkeypatch, sent, answer):
    def request(*arguments):
        sent.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(engine_install, "request_install", request)


def failure(outcome, **values):
    return FleetError("x", "Rejected.", "Fix it.", outcome=outcome, **values)


@pytest.mark.parametrize(("answer", "outcome"), [(Install("requested"), "requested"), (failure("unknown"), "unknown")])
def test_request_after_a_written_record(monkeypatch, sent, answer, outcome):
    answer_with(monkeypatch, sent, answer)
    action = Action(written)
    result = action.act({})
    assert (result["outcome"], result["requests"], result["changed"]) == (outcome, 1, True)
    assert [call["step"] for call in action.calls] == ["prepare"]
    assert len(sent) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"record": {"state": "preparing"}},
        {"record": {"state": "requested", "request_id": "of another run"}},
        {"failed": True, "code": "state_changed", "msg": "Changed.", "fix": ""},
    ],
)
def test_no_request_without_a_written_record(monkeypatch, sent, answer):
    answer_with(monkeypatch, sent, Install("requested"))
    with pytest.raises(FleetError):
        Action(answer).act({})
    assert sent == []


def test_lost_answer_runs_the_step_once_more(monkeypatch, sent):
    answer_with(monkeypatch, sent, Install("requested"))
    action = Action(AnsibleConnectionFailure("gone"), written)
    assert action.act({})["outcome"] == "requested"
    assert action.calls[0] == action.calls[1]
    lost = Action(AnsibleConnectionFailure("gone"), AnsibleConnectionFailure("gone"))
    with pytest.raises(FleetError) as caught:
        lost.act({})
    assert (caught.value.code, len(sent)) == ("host_unreachable", 1)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Install("exists", 200, "exists"), "exists_elsewhere"),
        (failure("port_in_use", answer="8000"), "port_in_use"),
        (failure("rejected", answer="no"), "install_rejected"),
        (failure("rejected"), "x"),
    ],
)
def test_negative_answer_restores(monkeypatch, sent, answer, code):
    answer_with(monkeypatch, sent, answer)
    action = Action(written, RESTORED)
    with pytest.raises(FleetError) as caught:
        action.act({})
    assert caught.value.code == code
    assert [call["step"] for call in action.calls] == ["prepare", "restore"]
    assert action.calls[0]["request_id"] == action.calls[1]["request_id"]
    assert (caught.value.values["restored"], len(sent)) == (True, 1)


def test_check_mode_sends_nothing(monkeypatch, sent):
    answer_with(monkeypatch, sent, Install("requested"))
    result = Action({"changed": True}, check=True).act({})
    assert (result["changed"], sent) == (True, [])
    assert "outcome" not in result
