# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read processes from /proc."""

import os
import re
from typing import List, NamedTuple, Optional

TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Resolution of the start time of a process, in seconds."""


class Process(NamedTuple):
    """``state``: the letter in /proc/PID/stat. ``ticks``: start time since boot."""

    pid: int
    state: str
    parent: int
    ticks: int

    @property
    def began(self) -> float:
        """Return the uptime of the host at the start of the process, in seconds."""
        return self.ticks * TICK


def look(pid: Optional[int]) -> Optional[Process]:
    """Return the process; None if it cannot be seen or is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="backslashreplace") as stream:
            # The second field is the program's name, in parentheses, with any characters.
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


def is_in_container(pid: int) -> bool:
    """Return whether the process is in a PID namespace below that of this host."""
    return re.search(r"^NSpid:\s+\d+\s+\d", read(pid, "status"), re.MULTILINE) is not None
