# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the actions that run modules on engine hosts: declared keys only; a lost connection is not a failure."""

from __future__ import annotations

import contextlib
import math
import shlex
import time
from collections.abc import Mapping
from typing import Any

from ansible import constants, context
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._causes import find_cause
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._values import Options
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._facts import ALWAYS, RETURNED, checked
from ansible_collections.slb.fleet.plugins.plugin_utils._options import Spec, raw_arguments, read_options, refuse_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import ON_HOST
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty

try:
    from ansible.module_utils.common.json import Direction, get_module_decoder, get_module_encoder
except ImportError:  # before ansible-core 2.19
    pass
else:
    # In the process from which the workers are forked; each worker would import them again for each task.
    get_module_encoder("legacy", Direction.CONTROLLER_TO_MODULE)
    get_module_decoder("legacy", Direction.MODULE_TO_CONTROLLER)

_CHECK_SSH = "Check the network and sshd on the host, then run again."
_RESTORE = "`ansible HOST -b -m slb.fleet.engine_container -a state=restored`"
_IN_AWX = (
    (f"run {_RESTORE}", "launch the template of slb.fleet.rollout"),
    (_RESTORE, "the procedure in Operations (Restoring a leftover)"),
)
_MARGIN_SECONDS = 5
"""Part of a task's time that a module on the host leaves for the connection to it."""
_MAX_TEXT = 8192
_DEEPEST = 8
_MAX_ITEMS = 20_000


class HostAction(ActionBase):  # type: ignore[misc]
    """Run the module of the same name on the host. Subclasses that do more override ``act``."""

    _supports_check_mode = True
    _supports_async = False
    _began, limit = 0.0, math.inf
    """``limit``: seconds of the task. Subclasses may shorten it: in its keyword, a template would cost more."""
    builds: tuple[str, ...] = ()
    """Keys of answers that ``act`` checks itself, by building what it needs of them: twice would cost 1 ms a host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        self._began, self.limit = time.monotonic(), self._task.timeout or math.inf
        self._variables = variables = task_vars or {}
        try:
            refuse_facts(variables, constants.config.get_plugin_vars("connection", self._connection._load_name))
            result.update(self.act(variables))
        except FleetError as error:
            result.update(error.as_result(), failed=True)
        except AnsibleConnectionFailure as error:
            # No rescue restores an unreachable host, and a batch of them would end the run.
            if variables.get("inventory_hostname") not in Reservations().noted("ready"):
                raise
            result.update(connection_lost(str(error)).as_result(), failed=True)
        except BaseException as error:
            if not isinstance(error, Exception):
                # A time limit of Ansible: later tasks and runs must not wait in the same shared connection.
                self.reset_connection()
            raise
        _name_host(result, str(variables.get("inventory_hostname")), is_in_awx="awx_job_id" in variables)
        if self._discovered_interpreter_key:
            # Found by Ansible on the controller's side; without it each task would search for Python again.
            result["ansible_facts"] = {self._discovered_interpreter_key: str(self._discovered_interpreter)}
        return result

    def reset_connection(self) -> None:
        """End the shared connection to the host. The next task connects again."""
        with contextlib.suppress(AnsibleError):
            self._connection.reset()

    def seconds_left(self, most: float) -> float:
        """Return the time of this task that is left for a module on the host, at most ``most`` seconds."""
        left = min(most, self.limit - (time.monotonic() - self._began))
        return max(0.0, left - _MARGIN_SECONDS)

    def time_before_end(self, reserve: float) -> float:
        """Return when ``reserve`` seconds of this task are left, at the earliest at its half: of time.monotonic()."""
        return self._began + max(self.limit / 2, self.limit - reserve)

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the task's result. Raises FleetError."""
        return self.on_host(self._task.action.rpartition(".")[2], self.task_arguments())

    def task_arguments(self) -> dict[str, Any]:
        """Return the task's options that are set; an empty one is unset."""
        return {option: value for option, value in self._task.args.items() if not is_empty(value)}

    def read_options(self, spec: Spec, variables: Mapping[str, Any], *, complete: bool = True) -> Options:
        """Return the task's options in the types of ``spec``, as ``read_options`` does. Raises OptionError."""
        raw = raw_arguments(self._task)
        return read_options(spec, self._task.args, raw, variables, self._templar, complete=complete)

    def on_host(self, module: str, arguments: dict[str, Any], *, attempts: int = 2) -> dict[str, Any]:
        """Return the result of ``slb.fleet.<module>`` on the host.

        An empty or undecodable answer is a lost connection. The module runs once more then, unless ``attempts`` is 1.
        Raises AnsibleConnectionFailure, and FleetError ``host_unreachable``, ``host_answer_invalid`` or of a cause.
        """
        answer: dict[str, Any] = {}
        for attempt in range(attempts):
            try:
                answer = self._execute_module(f"slb.fleet.{module}", arguments, task_vars=self._variables)
            except AnsibleError as error:
                words = visible(" ".join(str(error.message).split()))
                is_connection = isinstance(error, AnsibleConnectionFailure)
                _raise_cause(words, is_reached=not is_connection)
                if is_connection:
                    raise AnsibleConnectionFailure(words) from None
                raise
            if "module_stdout" not in answer:
                declared = _declared(module, answer, self.builds)
                is_done = declared.get("changed") and not declared.get("failed")
                if attempt and not is_done and module in ON_HOST:
                    declared["is_unknown"] = True  # it does not say what the execution did whose answer was lost
                return declared
            if answer.get("rc", 0) in (1, 127):
                break
            self.reset_connection()
        printed = f"{answer.get('module_stdout') or ''}\n{answer.get('module_stderr') or ''}".strip()
        _raise_cause(printed, is_reached=True)
        if not printed or answer.get("rc", 0) not in (1, 127):
            raise FleetError(
                "host_unreachable",
                f"Connection lost: SSH ended with status {answer.get('rc')} and no valid answer.",
                _CHECK_SSH,
            )
        last = visible(printed.splitlines()[-1]).rstrip(".")[:150]
        raise FleetError("host_not_checked", f"Module not run on the host: {last}.", "")

    def on_host_again(self, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """As ``on_host``, after the first contact: a lost connection is a failure, which counts like any other."""
        try:
            return self.on_host(module, arguments)
        except FleetError as error:
            # No failure of the module: whether it ran, and what it did, is not known.
            error.values["is_unknown"] = True
            raise
        except AnsibleConnectionFailure as error:
            raise connection_lost(str(error)) from None


def connection_lost(words: str) -> FleetError:
    """Return the failure of a connection that was lost, so that what the module did is not known."""
    # The last words name the cause.
    cut, _space, last = f" {visible(words)}"[-150:].partition(" ")
    summary = f"Connection to the host lost: {'… ' if cut else ''}{last.strip() or cut}."
    cause = find_cause(words)
    return FleetError("host_unreachable", summary, cause.fix if cause else _CHECK_SSH, is_unknown=True)


def raise_failure(answer: Mapping[str, Any]) -> None:
    """Raise a module's failure as FleetError."""
    if answer.get("failed"):
        values = {key: answer[key] for key in answer if key not in ALWAYS}
        raise FleetError(
            str(answer.get("code") or "task_failed"),
            str(answer.get("msg") or "Module failed without a message."),
            str(answer.get("fix") or ""),
            **values,
        )


def _name_host(result: dict[str, Any], name: str, *, is_in_awx: bool) -> None:
    """Complete the command of fixes, which is made without the inventory. No user of AWX can run it there."""
    sources = [text for source in context.CLIARGS.get("inventory") or () for text in ("-i", str(source))]
    command = _RESTORE.replace("HOST", visible(shlex.join([name, *sources])))
    for values in (result, result.get("plan")):
        for key in ("msg", "fix", "summary", "afterwards"):
            if isinstance(values, dict) and isinstance(values.get(key), str):
                for old, new in _IN_AWX if is_in_awx else ((_RESTORE, command),):
                    values[key] = values[key].replace(old, new)


def _raise_cause(words: str, *, is_reached: bool) -> None:
    """Raise FleetError if the words show why the module did not run. ``is_reached``: SSH itself has succeeded."""
    cause = find_cause(words)
    if cause and (is_reached or not cause.is_connection):
        raise FleetError(cause.code, f"Module not run on the host: {cause.summary}.", cause.fix)


def _declared(module: str, answer: Mapping[str, Any], builds: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys that the module may return. Raises FleetError if a value has a wrong type or size."""
    schema = {**ALWAYS, **RETURNED[module]}
    declared = {name: _cleaned(answer[name], _DEEPEST) for name in schema if name in answer}
    if isinstance(answer.get("warnings"), list):
        # Newer versions of Ansible have objects here, which they keep and show themselves.
        declared["warnings"] = _cleaned([text for text in answer["warnings"] if isinstance(text, str)], _DEEPEST)
    for name, value in declared.items():
        if name not in builds:
            checked(schema[name], value, name)
    return declared


def _cleaned(value: Any, depth: int) -> Any:
    """Return data of bounded size, without characters that a terminal would act upon."""
    if value is None or isinstance(value, (bool, int, float)):
        return value  # ``checked`` refuses what is too large
    if isinstance(value, str):
        return visible(value[:_MAX_TEXT], keep_lines=True)
    if depth and isinstance(value, Mapping):
        return {visible(str(name)[:100]): _cleaned(item, depth - 1) for name, item in list(value.items())[:_MAX_ITEMS]}
    if depth and isinstance(value, (list, tuple)):
        return [_cleaned(item, depth - 1) for item in value[:_MAX_ITEMS]]
    return visible(str(value)[:_MAX_TEXT])
