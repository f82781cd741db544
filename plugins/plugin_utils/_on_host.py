# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module of the collection on an engine host, in bounded time, also where the host freezes or vanishes."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.json_utils import _filter_non_json_lines
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, in_words
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._as_stated import (
    refuse_connection_by_facts,
    refuse_delegation_by_facts,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._bounded import NoAnswer, bounded, heard_in_bounds
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError, options_of, taken
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty, without_facts
from ansible_collections.slb.fleet.plugins.plugin_utils.options import names_for, refuse_facts

try:
    from ansible.module_utils.common.json import Direction, get_module_decoder, get_module_encoder
except ImportError:  # before ansible-core 2.19
    pass
else:
    # Each worker of a run would import the forms in which modules are told and answer, for every task anew.
    get_module_encoder("legacy", Direction.CONTROLLER_TO_MODULE)
    get_module_decoder("legacy", Direction.MODULE_TO_CONTROLLER)

STEP_SECONDS = 90.0
"""What a step on a host may take that waits for nothing: a connection, Python, and a container runtime that is slow."""

_RESET_SECONDS = 5.0
_LONGEST_TROUBLE = 1000
_PYTHON = re.compile(r"/[\w./+-]{1,250}", re.ASCII)
_ANSWER = "slb_fleet_answer"


class OnHostAction(ActionBase):  # type: ignore[misc]
    """As the module of the same name, but bounded, and what it answers comes in through one gate."""

    _supports_check_mode = True
    _supports_async = False

    @classmethod
    def beside(cls, action: ActionBase) -> OnHostAction:
        """For one that does more than this, in the same task and over the same connection."""
        return cls(
            action._task,
            action._connection,
            action._play_context,
            action._loader,
            action._templar,
            action._shared_loader_obj,
        )

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        arguments = self.given()
        try:
            return self.on_host(self._task.action, arguments, self.seconds(arguments), task_vars)
        except HostAnswerError as error:
            return {"failed": True, "msg": str(error)}

    def given(self) -> dict[str, Any]:
        """The task's options; an empty one counts as not given."""
        return {option: value for option, value in self._task.args.items() if not is_empty(value)}

    def seconds(self, arguments: Mapping[str, Any]) -> float:
        """How long the module may take with these arguments."""
        return STEP_SECONDS

    def on_host(
        self, module: str, arguments: dict[str, Any], seconds: float, task_vars: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The module's result, or what of it has the form that it has to be. Raises HostAnswerError.

        Raises AnsibleConnectionFailure, which makes the host unreachable, after ``seconds``.
        """
        self._refuse_facts(task_vars or {})
        with _in_visible_words():
            try:
                with bounded(seconds):
                    given: dict[str, Any] = self._execute_module(
                        module_name=module, module_args=arguments, task_vars=task_vars
                    )
            except NoAnswer:
                self._drop_shared_connection()
                raise
        name = module.rpartition(".")[2]
        result = taken(name, _answer(given), arguments)
        if result.get("failed") and result.get("msg"):
            result["msg"] = in_words(result["msg"], names_for(self._task), options_of(name))
        if self._discovered_interpreter_key:
            # The controller's own finding, without which each task would look for the host's Python anew.
            result["ansible_facts"] = {self._discovered_interpreter_key: _python(self._discovered_interpreter)}
        return result

    def _drop_shared_connection(self) -> None:
        """The one that ssh keeps for later tasks: after a minute without the network, TCP tries it again only after
        the next, so that a host that is back long since would not be reached by the next run either.
        """
        if self._connection.transport == "ssh":
            with contextlib.suppress(AnsibleError), bounded(_RESET_SECONDS):
                self._connection.reset()

    def _refuse_facts(self, task_vars: Mapping[str, Any]) -> None:
        """Neither this host nor the one that the task is delegated to says which one that is, or how it is reached."""
        of_connection = constants.config.get_plugin_vars("connection", self._connection._load_name)
        refuse_facts(task_vars, of_connection)
        delegated = task_vars.get("ansible_delegated_vars") or {}
        refuse_facts(delegated.get(self._task.delegate_to) or {}, of_connection)
        if self._task.delegate_to:
            with without_facts(task_vars, self._templar, self._task) as stated:
                try:
                    refuse_delegation_by_facts(self._task, stated, self._templar)
                except FleetError as error:
                    raise HostAnswerError(error.what, error.remedy) from None
        refuse_connection_by_facts(self._task, self._connection, task_vars, self._templar)

    def _low_level_execute_command(self, *given: Any, **named: Any) -> dict[str, Any]:
        """What the host's shell prints is shown by Ansible in warnings and errors, as it is."""
        with heard_in_bounds(self._connection):
            said: dict[str, Any] = super()._low_level_execute_command(*given, **named)
        for stream in ("stdout", "stderr"):
            lines = (visible(line, keep_lines=True) for line in said[stream].replace("\r\n", "\n").split("\n"))
            said[stream] = "\n".join(lines)
            said[f"{stream}_lines"] = said[stream].splitlines()
        return said

    def _parse_returned_data(self, said: dict[str, Any], *given: Any) -> Any:
        """Ansible would act upon some keys, show others, and decode some values: it gets to see a single text."""
        # Where there is no answer at all, Ansible says so.
        with contextlib.suppress(ValueError):
            # What is around the answer would be shown as well.
            text = _filter_non_json_lines(said["stdout"], objects_only=True)[0]
            said = {**said, "stdout": json.dumps({_ANSWER: text})}
        return super()._parse_returned_data(said, *given)


def _answer(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the module printed; what Ansible says instead, where it could not be run."""
    if _ANSWER not in given:
        return given
    try:
        answer = json.loads(given[_ANSWER])
    except (ValueError, RecursionError) as error:
        raise HostAnswerError(
            f"The host's answer cannot be read: {in_short(str(error), 200)}.",
            "Nothing was taken from it. Somebody else may rule this host: look at it before you trust it again.",
        ) from None
    return answer if isinstance(answer, Mapping) else {}


def as_seconds(value: Any, default: float) -> float:
    """A module's own option, which the module will check; what is no number is not waited for."""
    try:
        return max(0.0, min(float(default if value is None else value), 86_400.0))
    except (TypeError, ValueError):
        return 0.0


def _python(path: Any) -> str:
    """The path of the host's Python, which is kept as a fact."""
    if not isinstance(path, str) or not _PYTHON.fullmatch(path):
        raise HostAnswerError(
            f"The host names as its Python what is no path of a program: {in_short(str(path), 60)}.",
            "Set ansible_python_interpreter for it, and look at it before you trust it again.",
        )
    return path


@contextlib.contextmanager
def _in_visible_words() -> Iterator[None]:
    """What a connection plugin or Ansible says of a host that fails holds what the host said."""
    try:
        yield
    except AnsibleConnectionFailure as error:
        raise AnsibleConnectionFailure(_trouble(error)) from None
    except AnsibleError as error:
        raise HostAnswerError(_trouble(error), "") from None


def _trouble(error: AnsibleError) -> str:
    """ssh says why it ended in its last words, after all that the host has printed."""
    words = error.message.replace("\r\n", "\n")
    cut = len(words) - _LONGEST_TROUBLE
    return (
        visible(words)
        if cut <= 0
        else f"{visible(words[:_LONGEST_TROUBLE])} … {visible(words[-min(cut, _LONGEST_TROUBLE) :])}"
    )
