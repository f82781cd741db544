"""Run the tasks of a role on the simulated host: the files of the role as they are, and the real action plugins.

An unknown keyword or module is an error, so that the tasks of the role cannot change without this reader.
"""

import contextlib
import importlib
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from patches import ADDRESS, HERE, PLUGINS, run_module
from world import WAIT, Crashed, TaskTimeout

from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import observe
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations

ROLES = Path(__file__).resolve().parents[2] / "roles"
LOADER = DataLoader()
ENGINE_LIST = {
    **{"path": "/engines", "name": "name", "address": "ip", "state": "status"},
    **{"running": ["running"], "deploying": ["deploying"], "failed": ["failed"], "complete": True},
}
HOST = {
    **{"inventory_hostname": "edge-1", "ansible_host": ADDRESS, "ansible_play_hosts_all": ["edge-1"]},
    "ansible_play_batch": ["edge-1"],
    **{"ansible_check_mode": False},
    **{"slb_base_url": "https://console.example", "slb_username": "ansible", "slb_password": "secret"},
    **{"slb_timeout": 5, "slb_retries": 0, "slb_wait_timeout": WAIT, "slb_settle": 2},
}
OTHERS = ("edge-2", "edge-3", "edge-4", "edge-5")
_KEYWORDS = {
    *("name", "block", "rescue", "always", "when", "register", "until", "retries", "delay", "timeout", "throttle"),
    *("changed_when", "ignore_errors", "run_once", "vars"),
}
_TASK = {
    **{"async_val": 0, "check_mode": False, "diff": False, "delegate_to": None, "environment": None, "no_log": False},
    **{"collections": [], "get_ds": dict, "get_play": lambda: SimpleNamespace(strategy="linear", serial=[])},
}


class HostFailed(Exception):  # noqa: N818
    """A task failed, and the host has no further tasks in this block."""


class Unreachable(Exception):  # noqa: N818
    """The host is out of the play: no rescue runs."""


class Connection:
    """The SSH connection that the tasks of a run share. ``hangs``: until it is reset. ``fails``: once."""

    transport = _load_name = "ssh"
    _shell = SimpleNamespace(tmpdir="/tmp/x")
    become = None

    def __init__(self) -> None:
        self.hangs = self.fails = False

    def reset(self) -> None:
        HERE.world.pause("reset", 0.1)
        self.hangs = False

    def get_option(self, _name: str) -> str:
        return ""

    def set_option(self, _name: str, _value: Any) -> None:
        """Do nothing."""


class RunTemplar:
    """The templar of a run. All runs share one, whose compiled templates are kept: they cost more than all the rest."""

    shared = Templar(loader=LOADER)
    for name in ("from_string", "compile_expression"):
        setattr(shared._engine.environment, name, lru_cache(None)(getattr(shared._engine.environment, name)))

    def __init__(self, variables: dict[str, Any]) -> None:
        self.variables = variables

    def __getattr__(self, name: str) -> Any:
        self.shared.available_variables = self.variables
        return getattr(self.shared, name)


class Run:
    """One run of a role for one host. ``touched``: name, whether live, and policy of a container before its change.

    ``late``: seconds between the end of its batch, whose other hosts are healthy, and the play that collects it.
    """

    def __init__(
        self,
        name: str,
        number: int,
        role: str = "engine_deployment",
        *,
        is_called_twice: bool = False,
        late: float | None = None,
        **variables: Any,
    ) -> None:
        self.name, self.role, self.is_called_twice, self.late = name, role, is_called_twice, late
        self.folder = HERE.folder / f"run-{number}"
        self.folder.mkdir()
        self.connection = Connection()
        self.results: list[tuple[str, dict[str, Any]]] = []
        self.changes: list[str] = []
        self.touched: dict[str, tuple[str, bool, str]] = {}
        self.seen: dict[str, bool] = {}
        self.is_killed = self.has_failed = False
        self.code = ""
        self.variables = {**_read(role, "defaults/main.yml"), **_read(role, "vars/main.yml"), **HOST, **variables}
        if late is not None:
            self.variables.update(ansible_play_batch=["edge-1", *OTHERS], __slb_is_batch=True)
            for other in OTHERS:
                Reservations(self.folder).note("healthy", other)
        self.variables["hostvars"] = SimpleNamespace(raw_get=lambda host: {**HOST, **variables})
        self.templar = RunTemplar(self.variables)
        self.actor = HERE.world.spawn(name, self._run, self)

    @property
    def plan(self) -> dict[str, Any]:
        plans = [result["plan"] for _name, result in self.results if isinstance(result.get("plan"), dict)]
        return plans[-1] if plans else {}

    @property
    def failures(self) -> list[dict[str, Any]]:
        return [result for _name, result in self.results if result.get("failed") or result.get("unreachable")]

    @property
    def failure_text(self) -> str:
        """Return what the failed tasks show."""
        return " ".join(f"{result.get('msg', '')} {result.get('fix') or ''}".strip() for result in self.failures)

    def _run(self) -> None:
        HERE.world.say(f"{self.name} begins.")
        if self.is_called_twice:
            with contextlib.suppress(HostFailed):
                self._tasks(_read(self.role, "tasks/main.yml"))
            HERE.world.say(f"{self.name} calls the role again.")
        try:
            self._tasks(_read(self.role, "tasks/main.yml"))
            if self.late is not None:
                HERE.world.pause("sleep", self.late)
                self.variables.update(__slb_is_batch=False)
                self._tasks(_read(self.role, "tasks/collect.yml"))
        except (HostFailed, Unreachable):
            self.has_failed = True
        failed = [result.get("code") or (result.get("timedout") and "host_timeout") for result in self.failures]
        shown = next(filter(None, [*failed, self.plan.get("code")]), "host_unreachable")
        self.code = str(shown) if self.has_failed else "success"
        HERE.world.say(f"{self.name} ends: {self.code}. {self.failure_text}".rstrip())

    def _tasks(self, tasks: list[dict[str, Any]], *inherited: Any) -> None:
        """Run tasks. As in Ansible, blocks and imports pass their conditions on to each of their tasks."""
        for task in tasks:
            actions = set(task) - _KEYWORDS
            if len(actions) != int("block" not in task):
                raise Crashed(f"The driver does not know the keywords of task {task.get('name')}: {sorted(actions)}.")
            action = actions.pop() if actions else "block"
            conditions = (*inherited, task.get("when", True))
            self.variables.update(task.get("vars", {}))
            if action == "block":
                self._block(task, conditions)
            elif action == "ansible.builtin.import_tasks":
                self._tasks(_read(self.role, f"tasks/{task[action]}"), *conditions)
            elif all(map(self._is_true, conditions)):
                self._task(task, action)
            elif "register" in task:
                self.variables[task["register"]] = {"skipped": True, "changed": False, "failed": False}

    def _block(self, block: dict[str, Any], conditions: tuple[Any, ...]) -> None:
        try:
            self._tasks(block["block"], *conditions)
        except HostFailed as failure:
            if "rescue" not in block:
                raise
            self.variables["ansible_failed_result"] = failure.args[0]
            self._tasks(block["rescue"], *conditions)
        if "always" in block:
            raise Crashed(f"The driver does not know the keyword always of task {block.get('name')}.")

    def _task(self, task: dict[str, Any], action: str) -> None:
        kind = action.removeprefix("ansible.builtin.")
        if kind == "include_tasks":
            self._tasks(_read(self.role, f"tasks/{task[action]}"))
            return
        try:
            result = self._tried(task, action, kind)
        except AnsibleConnectionFailure as error:
            result = {"unreachable": True, "msg": str(error)}
        except TaskTimeout:
            period = int(self._value(task["timeout"]))
            HERE.world.say(f"{self.name}: task {task['name']!r} reaches its time limit.")
            result = {"failed": True, "msg": f"Timed out after {period} s", "timedout": {"period": period}}
        finally:
            HERE.world.actor.deadline = None
        self._keep(task, result, kind)
        if result.get("unreachable"):
            raise Unreachable
        if result["failed"] and not self._is_true(task.get("ignore_errors", False)):
            raise HostFailed(result)

    def _keep(self, task: dict[str, Any], result: dict[str, Any], module: str) -> None:
        result.setdefault("failed", False)
        result.setdefault("changed", False)
        if "register" in task:
            self.variables[task["register"]] = result
        before = self.plan.get("code")
        self.results.append((task["name"], result))
        self.changes += [change.code for change in observe(module, result).changes]
        if self.plan.get("code") != before:
            HERE.world.say(f"{self.name} plans {self.plan['action']}: {self.plan['code']}.")

    def _tried(self, task: dict[str, Any], action: str, kind: str) -> dict[str, Any]:
        arguments = self._value(task[action]) or {}
        attempts = 1 + int(self._value(task["retries"])) if "retries" in task else 4 if "until" in task else 1
        limit = int(self._value(task["timeout"])) if "timeout" in task else None
        result: dict[str, Any] = {}
        for attempt in range(attempts):
            if attempt:
                HERE.world.actor.deadline = None
                HERE.world.pause("sleep", float(self._value(task.get("delay", 5))))
            HERE.world.actor.deadline = HERE.world.now + limit if limit else None
            result = self._act(kind, arguments, limit, task)
            if "register" in task:
                self.variables[task["register"]] = result
            result.setdefault("failed", False)
            if "changed_when" in task:
                result["changed"] = self._is_true(task["changed_when"])
            if "until" not in task or self._is_true(task["until"]):
                return result
            self._say_poll(result)
        return {**result, "failed": True}

    def _say_poll(self, result: dict[str, Any]) -> None:
        plan = result.get("plan") or {}
        sentence = f"{self.name} waits: {plan.get('code', result.get('code'))}."
        if not HERE.world.lines[-1].endswith(sentence):
            HERE.world.say(sentence)

    def _act(self, kind: str, arguments: dict[str, Any], limit: int | None, task: dict[str, Any]) -> dict[str, Any]:
        if kind == "set_fact":
            self.variables.update(arguments)
            return {}
        if kind == "fail":
            return {"failed": True, "msg": arguments["msg"]}
        if kind == "pause":
            HERE.world.pause("sleep", float(arguments.get("seconds") or 0))
            return {}
        collection, _dot, name = kind.rpartition(".")
        if collection != "slb.fleet":
            raise Crashed(f"The driver does not know the module {kind} of task {task['name']}.")
        stub = SimpleNamespace(**_TASK, args=arguments, action=kind, resolved_action=kind, timeout=limit)
        plugin = importlib.import_module(f"{PLUGINS}action.{name}").ActionModule(
            stub, self.connection, SimpleNamespace(), LOADER, self.templar, None
        )
        plugin._execute_module = lambda module_name, module_args=None, **rest: run_module(
            self, module_name, module_args or {}, **rest
        )
        return plugin.run(task_vars=self.variables)

    def _value(self, value: Any) -> Any:
        return self.templar.template(value)

    def _is_true(self, condition: Any) -> bool:
        conditions = condition if isinstance(condition, list) else [condition]
        return all(each if isinstance(each, bool) else self.templar.evaluate_conditional(each) for each in conditions)


@cache
def _load(path: Path) -> Any:
    return LOADER.load_from_file(str(path), trusted_as_template=True)


def _read(role: str, file: str) -> Any:
    return _load(ROLES / role / file)
