# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read processes from /proc."""

import contextlib
import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Set

TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Resolution of the start time of a process, in seconds."""
UNIX_SOCKETS = "/proc/net/unix"
CGROUPS = "/sys/fs/cgroup"
_LISTENING = 0x10000


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


def find(pid: Optional[int]) -> Optional[Process]:
    """Return the process; None if it cannot be seen or is gone."""
    # The second field is the program's name, in parentheses, with any characters.
    fields = read(pid, "stat").rpartition(")")[2].split()
    return Process(int(pid or 0), fields[0], int(fields[1]), int(fields[19])) if len(fields) > 19 else None


def has_ended(process: Optional[Process]) -> bool:
    """Return whether the process is gone, or a zombie without other threads."""
    if process is None:
        return True
    with contextlib.suppress(OSError):
        return process.state in "ZX" and len(os.listdir(f"/proc/{process.pid}/task")) <= 1
    return True


def ancestors(pid: Optional[int]) -> Iterator[Process]:
    """Return the process, then each one above it; not the first one of the machine."""
    process = find(pid)
    while process is not None and process.pid > 1:
        yield process
        process = find(process.parent)


def pids() -> List[int]:
    """Return the numbers of all processes that this user can see."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def read(pid: Optional[int], name: str) -> str:
    """Return the text of ``/proc/PID/NAME``; empty if the process cannot be seen or is gone."""
    return read_file(f"/proc/{pid}/{name}")


def read_file(path: str, most: int = -1) -> str:
    """Return the text of a file, at most ``most`` characters; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as stream:
            return stream.read(most)
    except OSError:
        return ""


def owner(pid: int) -> Optional[int]:
    """Return the user of the process; None if it cannot be seen or is gone."""
    match = re.search(r"^Uid:\s+(\d+)", read(pid, "status"), re.MULTILINE)
    return int(match.group(1)) if match else None


def is_program_of_root(pid: int) -> bool:
    """Return whether the file that the process executes belongs to root."""
    try:
        return os.stat(f"/proc/{pid}/exe").st_uid == 0
    except OSError:
        return False


def socket_files(pid: int) -> Dict[int, str]:
    """Return the sockets of a process, each by its inode with its path in /proc/PID/fd.

    Raises PermissionError for a process of another user.
    """
    files: Dict[int, str] = {}
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except (FileNotFoundError, ProcessLookupError):
        return files
    for path in (f"/proc/{pid}/fd/{descriptor}" for descriptor in descriptors):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # closed in the meantime
            match = re.match(r"socket:\[(\d+)\]", os.readlink(path))
            if match:
                files[int(match.group(1))] = path
    return files


def is_tcp(socket_file: str) -> bool:
    """Return whether the kernel calls a socket TCP, also if it stands in no table of a network namespace."""
    try:
        return os.getxattr(socket_file, "system.sockprotoname").startswith(b"TCP")
    except OSError:  # closed in the meantime
        return False


def listening_inodes(path: str) -> Set[int]:
    """Return the inodes of the UNIX sockets that listen on ``path``. Two are sockets of which one is unlinked."""
    inodes: Set[int] = set()
    real = os.path.realpath(path)
    with open(UNIX_SOCKETS, errors="backslashreplace") as stream:
        lines = stream.read().splitlines()[1:]
    for line in lines:
        if not line.endswith(os.path.basename(real)):  # most lines, without reading the file system
            continue
        fields = line.split(None, 7)
        if len(fields) == 8 and int(fields[3], 16) & _LISTENING and os.path.realpath(fields[7]) == real:
            inodes.add(int(fields[6]))
    return inodes


def find_freezer(pid: Optional[int]) -> str:
    """Return the file that says that the control group of the process is frozen; empty if none does."""
    for line in read(pid, "cgroup").splitlines():
        controllers, _colon, path = line.partition(":")[2].partition(":")
        if controllers not in ("", "freezer"):
            continue
        whole = f"{CGROUPS}/unified" if os.path.isdir(f"{CGROUPS}/unified") else CGROUPS  # of both versions
        file = f"{CGROUPS}/freezer{path}/freezer.state" if controllers else f"{whole}{path}/cgroup.events"
        if re.search(r"^frozen 1$|^FR(OZEN|EEZING)$", read_file(file), re.MULTILINE):
            return file
    return ""


def is_in_container(pid: int) -> bool:
    """Return whether the process is in a PID namespace below that of this host."""
    return re.search(r"^NSpid:\s+\d+\s+\d", read(pid, "status"), re.MULTILINE) is not None
