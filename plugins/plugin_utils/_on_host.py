# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module of the collection on an engine host, in bounded time, also where the host freezes or vanishes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.json_utils import _filter_non_json_lines
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError, taken
from ansible_collections.slb.fleet.plugins.plugin_utils._options import refuse_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty

STEP_SECONDS = 90.0
"""What a step on a host may take that waits for nothing: a connection, Python, and a container runtime that is slow."""

_TICK_SECONDS = 0.25
_MOST_MEMORY = 96 << 20
"""What one answer may cost the controller. A module is packed in a tenth of it."""
_LONGEST_ANSWER = 4 << 20
_LONGEST_TROUBLE = 1000
_PYTHON = re.compile(r"/[\w./+-]{1,250}", re.ASCII)
_ANSWER = "slb_fleet_answer"


class OnHostAction(ActionBase):  # type: ignore[misc]
    """As the module of the same name, but bounded, and what it answers comes in through one gate."""

    _supports_check_mode = True
    _supports_async = False

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
        refuse_facts(task_vars or {}, constants.config.get_plugin_vars("connection", self._connection._load_name))
        with _in_visible_words(), _bounded(seconds):
            given: dict[str, Any] = self._execute_module(module_name=module, module_args=arguments, task_vars=task_vars)
        result = taken(module.rpartition(".")[2], _answer(given), arguments)
        if self._discovered_interpreter_key:
            # The controller's own finding, without which each task would look for the host's Python anew.
            result["ansible_facts"] = {self._discovered_interpreter_key: _python(self._discovered_interpreter)}
        return result

    def _low_level_execute_command(self, *given: Any, **named: Any) -> dict[str, Any]:
        """What the host's shell prints is shown by Ansible in warnings and errors, as it is."""
        with _heard_in_bounds(self._connection):
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
    words = error.message
    cut = len(words) - _LONGEST_TROUBLE
    return (
        visible(words)
        if cut <= 0
        else f"{visible(words[:_LONGEST_TROUBLE])} … {visible(words[-min(cut, _LONGEST_TROUBLE) :])}"
    )


@contextlib.contextmanager
def _heard_in_bounds(connection: Any) -> Iterator[None]:
    """What is too much is refused before Ansible makes text of it, and lines, which cost many times its size."""
    plain = connection.exec_command

    def exec_command(*given: Any, **named: Any) -> Any:
        status, *streams = plain(*given, **named)
        if any(isinstance(stream, (bytes, str)) and len(stream) > _LONGEST_ANSWER for stream in streams):
            raise _too_much()
        return (status, *streams)

    connection.exec_command = exec_command
    try:
        yield
    finally:
        connection.exec_command = plain


def _too_much() -> HostAnswerError:
    return HostAnswerError(
        f"The host's answer cannot be used: it is larger than {_LONGEST_ANSWER >> 20} MB, or does not end.",
        "Nothing was taken from it. Somebody else may rule this host: look at it before you trust it again.",
    )


class _GiveUp(BaseException):
    """Not an Exception: connection plugins catch those, and try again."""


class _TimeIsUp(_GiveUp):
    pass


class _MemoryIsUp(_GiveUp):
    pass


@contextlib.contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Nests in the task's own ``timeout``, which uses the same signal.

    Connection plugins keep all that a host says until it ends, and it need not end. The memory is looked at, not
    limited: a limit would be that of ssh as well, or of whatever else a plugin runs.
    """
    begin, memory = time.monotonic(), _memory()

    def look(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - begin >= seconds:
            raise _TimeIsUp
        if _memory() - memory > _MOST_MEMORY:
            raise _MemoryIsUp

    handler = signal.signal(signal.SIGALRM, look)
    outer, _interval = signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
    try:
        yield
    except _MemoryIsUp:
        _end_children()
        raise _too_much() from None
    except _TimeIsUp:
        _end_children()
        raise AnsibleConnectionFailure(
            f"The host did not answer within {seconds:.0f} seconds: it is frozen, overloaded, or its network is gone. "
            "What was begun there may still be done. Look at the host, then run again."
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - begin)))


def _memory() -> int:
    """What this process has of it, in bytes; 0 where the system does not say so."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _end_children() -> None:
    """An ssh that waits for a host that is gone would go on waiting when its task has ended."""
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(child), signal.SIGTERM)
