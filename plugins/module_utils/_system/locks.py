# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a lock, with a time limit."""

import fcntl
import os

from ansible_collections.slb.fleet.plugins.module_utils._system import processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for


def is_got(descriptor: int, seconds: float, interval: float = 0.1, kind: int = fcntl.LOCK_EX) -> bool:
    """Return whether the file was locked in time; closing it releases the lock. Raises OSError."""

    def take() -> bool:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return wait_for(take, seconds, interval)


def find_holder(descriptor: int) -> str:
    """Return the process that has locked the file, as in ``process 4031, stopped``; empty if it cannot be seen."""
    inode = ":{0}".format(os.fstat(descriptor).st_ino)
    for line in processes.read_file("/proc/locks").splitlines():
        words = line.split()
        process = processes.find(int(words[4])) if " FLOCK " in line and words[5].endswith(inode) else None
        if process and "->" not in words:
            return "process {0}{1}".format(process.pid, ", stopped" if process.state == "T" else "")
    return ""
