"""What an action takes from a host's answer, and what it takes for a lost connection."""

import math
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.slb.fleet.plugins.plugin_utils import _host_action as host_action
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of


class TimeLimitError(BaseException):
    """As Ansible ends a task at its time limit."""


class Host(HostAction):
    """A host that gives these answers, one after the other."""

    def __init__(self, *answers):
        self.answers, self.calls, self.resets = list(answers), 0, 0
        self._connection, self._variables = self, {}

    def reset(self):
        """As a connection plugin."""
        self.resets += 1

    def _execute_module(self, *_arguments, **_more):
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


FULL = "Failed to create temporary directory: No space left on device"
LOST = {"failed": True, "module_stdout": "", "module_stderr": "Connection reset", "rc": -13}


def test_declared_keys_only():
    dropped = {"ansible_facts": {"slb_base_url": "x"}, "ansible_stats": {}, "add_group": "x"}
    kept = {"changed": True, "record": {}}
    assert Host({**kept, **dropped}).on_host("engine_record", {}) == kept


def test_answer_is_bounded_and_visible():
    taken = Host({"msg": "\x1b[31m" + "x" * 100_000, "record": {"x": [[[[[[[[[["deep"]]]]]]]]]]}}).on_host(
        "engine_record", {}
    )
    assert "\x1b" not in taken["msg"]
    assert len(str(taken)) < 20_000


@pytest.mark.parametrize(
    ("answers", "module", "is_unknown"),
    [
        ([{"changed": False}], "engine_container", False),
        ([LOST, {"changed": False}], "engine_container", True),
        ([LOST, {"changed": True}], "engine_container", False),
        ([LOST, {"changed": True, "failed": True}], "engine_container", True),
        ([LOST, {"changed": False}], "engine_record", True),
        ([LOST, {"changed": False}], "motd", True),
        ([LOST, {}], "host_info", False),
    ],
)
def test_repetition_without_a_change_is_unknown(answers, module, is_unknown):
    """The execution whose answer was lost may have changed the host."""
    host = Host(*answers)
    taken = host.on_host(module, {})
    assert (bool(taken.get("is_unknown")), host.calls) == (is_unknown, len(answers))


def printed(words, status=1, output=""):
    return {"failed": True, "module_stdout": output, "module_stderr": words, "rc": status}


@pytest.mark.parametrize(
    ("answers", "code", "fix"),
    [
        ([LOST, LOST], "host_unreachable", None),
        ([{**LOST, "module_stderr": ""}] * 2, "host_unreachable", None),
        ([printed("python: not found", 127)], "host_not_checked", None),
        ([printed("SyntaxError", output="Traceback")], "host_not_checked", None),
        ([printed("sudo: sorry, you must have a tty to run sudo")], "permission_denied", "requiretty"),
        ([AnsibleError("Missing sudo password")], "permission_denied", "--ask-become-pass"),
        ([AnsibleConnectionFailure(FULL)], "host_not_checked", "df"),
        # Words that are not known get no fix: a guess would send the operator to the wrong place.
        ([printed("Segmentation fault")], "host_not_checked", ""),
        *(([lie], "host_answer_invalid", None) for lie in ({"slb_host": [1]}, {"changed": "no"}, {"msg": {}})),
        ([{"slb_host": {"record": {"age": float("inf")}}}], "host_answer_invalid", None),
    ],
)
def test_answer_of_no_use_has_a_code(answers, code, fix):
    error = error_of(Host(*answers).on_host, "host_info", {})
    assert error.code == code
    assert fix is None or (fix in error.fix, bool(error.fix)) == (True, bool(fix))


@pytest.mark.parametrize(
    "error", [AnsibleConnectionFailure("Host key verification failed"), AnsibleError("some words")], ids=str
)
def test_unreachable_host_stays_unreachable_until_contacted(error):
    with pytest.raises(type(error)):
        Host(error).on_host("host_info", {})
    if isinstance(error, AnsibleConnectionFailure):
        assert code_of(Host(error).on_host_again, "host_info", {}) == "host_unreachable"


@pytest.mark.parametrize(("error", "resets"), [(TimeLimitError(), 1), (RuntimeError(), 0)])
def test_task_at_its_time_limit_ends_the_shared_connection(monkeypatch, error, resets):
    """Later tasks and runs would wait in it, although the host answers."""
    host = Host()
    monkeypatch.setattr(host_action.ActionBase, "run", lambda *_arguments: {})
    monkeypatch.setattr(host_action, "refuse_facts", lambda *_arguments: None)
    host._connection = SimpleNamespace(_load_name="ssh", reset=host.reset)
    host._task = SimpleNamespace(timeout=0)

    def act(_variables):
        raise error

    host.act = act
    with pytest.raises(type(error)):
        host.run(task_vars={})
    assert host.resets == resets


@pytest.mark.parametrize(
    ("limit", "used", "left"), [(math.inf, 0, 65), (60, 0, 55), (100, 0, 65), (60, 40, 15), (60, 99, 0)]
)
def test_module_gets_the_time_that_its_task_has_left(monkeypatch, limit, used, left):
    host = Host()
    host.limit, host._began = limit, 1000.0
    monkeypatch.setattr(host_action.time, "monotonic", lambda: 1000.0 + used)
    assert host.seconds_left(70) == left


@pytest.mark.parametrize(
    ("is_in_awx", "fix", "shown"),
    [
        (False, "Remove X, then run {}.", "run `ansible 'edge 7' -i /inventory.yml -b -m slb.fleet.engine_container"),
        (True, "Remove X, then run {}.", "Remove X, then launch the template of slb.fleet.rollout."),
        (True, "Set aside: X; {} restores it.", "the procedure in Operations (Restoring a leftover) restores it."),
    ],
)
def test_command_of_a_fix_can_be_typed(monkeypatch, is_in_awx, fix, shown):
    monkeypatch.setattr(host_action.context, "CLIARGS", {"inventory": ("/inventory.yml",)})
    plan = {"fix": fix.format("`ansible HOST -b -m slb.fleet.engine_container -a state=restored`")}
    host_action._name_host({"msg": "x", "plan": plan}, "edge 7", is_in_awx=is_in_awx)
    assert shown in plan["fix"]


@pytest.mark.parametrize("answer", [{"changed": "yes"}, {"module_stdout": "Traceback", "module_stderr": "x", "rc": 1}])
def test_step_without_a_usable_answer_has_an_unknown_result(answer):
    assert error_of(Host(answer).on_host_again, "_engine_step", {}).values["is_unknown"] is True
