# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module of the collection on an engine host, in bounded time, also where the host freezes or vanishes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError, taken
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty

STEP_SECONDS = 90.0
"""What a step on a host may take that waits for nothing: a connection, Python, and a container runtime that is slow."""


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
        with _bounded(seconds):
            answer: dict[str, Any] = self._execute_module(
                module_name=module, module_args=arguments, task_vars=task_vars
            )
        result = taken(module.rpartition(".")[2], answer)
        if self._discovered_interpreter_key:
            # The controller's own finding, without which each task would look for the host's Python anew.
            result["ansible_facts"] = {self._discovered_interpreter_key: self._discovered_interpreter}
        return result


def as_seconds(value: Any, default: float) -> float:
    """A module's own option, which the module will check; what is no number is not waited for."""
    try:
        return max(0.0, min(float(default if value is None else value), 86_400.0))
    except (TypeError, ValueError):
        return 0.0


class _TimeIsUp(BaseException):
    """Not an Exception: connection plugins catch those, and try again."""


@contextlib.contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Nests in the task's own ``timeout``, which uses the same signal."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    begin = time.monotonic()
    handler = signal.signal(signal.SIGALRM, give_up)
    outer, _interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
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


def _end_children() -> None:
    """An ssh that waits for a host that is gone would go on waiting when its task has ended."""
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(child), signal.SIGTERM)
