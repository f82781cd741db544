# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step on a host ends in bounded time and costs the controller bounded memory, whatever the host does."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError

_TICK_SECONDS = 0.25
_MOST_MEMORY = 96 << 20
"""What one answer may cost the controller. A module is packed in a tenth of it."""
_MOST_MEMORY_UNHEARD = 32 << 20
"""While it still comes: Ansible's ssh copies all of it with each part, in a time that grows with its square."""
_LONGEST_ANSWER = 4 << 20

_ceiling = sys.maxsize


@contextlib.contextmanager
def heard_in_bounds(connection: Any) -> Iterator[None]:
    """What is too much is refused before Ansible makes text of it, and lines, which cost many times its size."""
    plain = connection.exec_command

    def exec_command(*given: Any, **named: Any) -> Any:
        with _growing_by(_MOST_MEMORY_UNHEARD):
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


class NoAnswer(AnsibleConnectionFailure):  # type: ignore[misc]
    """The host did not answer in time."""


class _GiveUp(BaseException):
    """Not an Exception: connection plugins catch those, and try again."""


class _TimeIsUp(_GiveUp):
    pass


class _MemoryIsUp(_GiveUp):
    pass


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Nests in the task's own ``timeout``, which uses the same signal.

    Connection plugins keep all that a host says until it ends, and it need not end. The memory is looked at, not
    limited: a limit would be that of ssh as well, or of whatever else a plugin runs.
    """
    begin = time.monotonic()

    def look(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - begin >= seconds:
            raise _TimeIsUp
        if _memory() > _ceiling:
            raise _MemoryIsUp

    handler = signal.signal(signal.SIGALRM, look)
    outer, _interval = signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
    try:
        with _growing_by(_MOST_MEMORY):
            yield
    except _MemoryIsUp:
        _end_children()
        raise _too_much() from None
    except _TimeIsUp:
        _end_children()
        raise NoAnswer(
            f"The host did not answer within {seconds:.0f} seconds: it is frozen, overloaded, or its network is gone. "
            "What was begun there may still be done. Look at the host, then run again."
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - begin)))


@contextlib.contextmanager
def _growing_by(most: int) -> Iterator[None]:
    """This process may come to have so much more than it has now."""
    global _ceiling  # noqa: PLW0603 (of the process, as the signal is)
    outer, _ceiling = _ceiling, min(_ceiling, _memory() + most)
    try:
        yield
    finally:
        _ceiling = outer


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
