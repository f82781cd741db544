# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel tells of a process."""

import contextlib
import os
import signal
from typing import Iterator, List, NamedTuple, Optional

TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds by which the kernel rounds the beginning of a process down."""


class Process(NamedTuple):
    """``state``: the kernel's letter. ``ticks``: since boot, when it began."""

    pid: int
    state: str
    parent: int
    ticks: int

    @property
    def began(self) -> float:
        """The host's uptime in seconds at that time."""
        return self.ticks * TICK


def look(pid: Optional[int]) -> Optional[Process]:
    """None where it cannot be seen, or is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="backslashreplace") as stream:
            # The second field is the program's name, in brackets, and may hold anything.
            fields = stream.read().rpartition(")")[2].split()
        return Process(int(pid or 0), fields[0], int(fields[1]), int(fields[19]))
    except (OSError, ValueError, LookupError):
        return None


def pids() -> List[int]:
    """Return the numbers of all processes that this user can see."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def read(pid: Optional[int], name: str) -> str:
    """Return the text of ``/proc/PID/NAME``; empty if the process cannot be seen or is gone."""
    try:
        with open(f"/proc/{pid}/{name}", errors="backslashreplace") as stream:
            return stream.read()
    except OSError:
        return ""


def identity(pid: int) -> Optional[str]:
    """Something that only this run of the process with this number has; None if there is none."""
    process = look(pid)
    return None if process is None or process.state == "Z" else f"{pid} {process.ticks}"


def is_alive(noted: Optional[str]) -> bool:
    """Whether the process that had this ``identity`` still runs."""
    return noted is not None and identity(int(noted.split()[0])) == noted


def end(noted: str) -> None:
    """Ends the process that had this ``identity``, if it still runs or is frozen, and whatever it has started."""
    if not noted or not is_alive(noted):
        return
    pid = int(noted.split()[0])
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # it starts no more
        for each in [*_descendants(pid), pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def _descendants(pid: int) -> Iterator[int]:
    running = [process for process in map(look, pids()) if process]
    parents = [pid]
    while parents:
        parents = [process.pid for process in running if process.parent in parents]
        yield from parents
