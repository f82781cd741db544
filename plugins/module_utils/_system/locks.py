# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a lock, with a time limit."""

import contextlib
import fcntl
import os
from typing import Iterator

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import files, folders, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

FOLDER = "/run/slb-fleet"


@contextlib.contextmanager
def locked(name: str, seconds: float, check_mode: bool) -> Iterator[None]:
    """Hold a lock of this host, a file that only root can open. Check mode takes no lock. Raises FleetError."""
    if os.geteuid() != 0:
        raise FleetError("permission_denied", "User is not root.", "Run the task as root (`become: true`).")
    if check_mode:
        yield
        return
    path = os.path.join(FOLDER, name)
    with files.file_errors(FOLDER):
        folders.make_ours(FOLDER)
    with files.file_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        if not is_got(descriptor, seconds):
            holder = find_holder(descriptor)
            shown = f" ({holder})" if holder else ""
            summary = f"Host is locked by another run{shown} for more than {seconds:g} s."
            fix = "Wait until the other run has ended, then run again."
            if holder:
                fix += f" If no run is left, end that process on the host: `kill -9 {holder.split()[1]}`."
            raise FleetError("host_busy", summary, fix)
        yield
    finally:
        os.close(descriptor)


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
