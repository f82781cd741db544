# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TCP sockets of the engine host, from the kernel's own tables: who listens, and what a container serves."""

import contextlib
import os
import re
import socket
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container

_TIME_WAIT, _LISTEN = 6, 10
_LOCAL_PORTS = "/proc/sys/net/ipv4/ip_local_port_range"
_MOST_PORTS = 500


class Socket(NamedTuple):
    """A line of /proc/net/tcp or tcp6."""

    address: str
    port: int
    remote: str
    state: int
    inode: int


def parse_table(text: str) -> List[Socket]:
    """Reads /proc/net/tcp or tcp6. The kernel writes addresses as 32-bit words in its own byte order."""
    sockets = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        address, port = fields[1].split(":")
        remote, remote_port = fields[2].split(":")
        sockets.append(
            Socket(
                _address(address),
                int(port, 16),
                f"{_address(remote)}:{int(remote_port, 16)}",
                int(fields[3], 16),
                int(fields[9]),
            )
        )
    return sockets


def _address(text: str) -> str:
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)


def listening(engine: Container) -> List[Dict[str, Any]]:
    """The TCP ports that are listened on in the host's network namespace, with the process that holds each.

    The engine's and the lowest others: any user of the host can listen on thousands. ``engine``
    says whether the engine's container holds it; ``process`` and ``pid`` are null without root.
    """
    owners = _owners()
    addresses: Dict[Tuple[int, Optional[int]], Set[str]] = {}
    for entry in _read("/proc/net"):
        if entry.state == _LISTEN:
            addresses.setdefault((entry.port, owners.get(entry.inode)), set()).add(entry.address)
    pids = {key[1] for key in addresses}
    names = {pid: _process_name(pid) for pid in pids}
    of_engine = {pid for pid in pids if _belongs(pid, engine)}
    ports = [
        {
            "port": port,
            "addresses": sorted(some),
            "pid": pid,
            "process": names[pid],
            "engine": port in engine.published_ports or pid in of_engine,
        }
        for (port, pid), some in sorted(addresses.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    ]
    ports.sort(key=lambda port: not port["engine"])
    return sorted(ports[:_MOST_PORTS], key=lambda port: (port["port"], port["pid"] or 0))


def served(engine: Container) -> Optional[List[str]]:
    """Return the remote ends of the connections that come in to the engine's container; None if they cannot be seen.

    A connection is a TCP socket that neither listens nor is in TIME_WAIT: also a half-closed one, over which data may
    still be sent, and one whose listener is gone. Its local port is listened on now, or is not one that the kernel
    chooses for outbound connections.
    """
    if engine.pid is None:
        return []
    try:
        _see(engine.pid)
        sockets = list(_read(f"/proc/{engine.pid}/net"))
        own = _inodes_of(engine) if engine.network_mode == "host" else {entry.inode for entry in sockets}
    except PermissionError:
        return None
    ports = {entry.port for entry in sockets if entry.state == _LISTEN and entry.inode in own}
    lowest, highest = _local_ports()
    return sorted(
        entry.remote
        for entry in sockets
        if entry.state not in (_LISTEN, _TIME_WAIT)
        and (entry.port in ports or (entry.inode in own and not lowest <= entry.port <= highest))
    )


def _local_ports() -> List[int]:
    try:
        with open(_LOCAL_PORTS) as stream:
            return [int(word) for word in stream.read().split()]
    except (OSError, ValueError):
        return [32768, 60999]


def _see(pid: int) -> None:
    """Raises PermissionError where /proc hides the processes of other users (its mount option hidepid)."""
    try:
        os.stat(f"/proc/{pid}/net")
    except PermissionError:
        raise
    except OSError:
        # Hidden ones look as if they had ended; signal 0 does nothing but tell the two apart.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)


def _read(folder: str) -> Iterator[Socket]:
    for table in ("tcp", "tcp6"):
        try:
            with open(os.path.join(folder, table)) as stream:
                text = stream.read()
        except OSError:  # no IPv6, or the process has just ended
            continue
        yield from parse_table(text)


def _processes() -> List[int]:
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def _owners() -> Dict[int, int]:
    """Which process holds which socket: inode to process id, the first where several share it."""
    owners: Dict[int, int] = {}
    for pid in _processes():
        with contextlib.suppress(PermissionError):
            for inode in _socket_inodes(pid):
                owners.setdefault(inode, pid)
    return owners


def _inodes_of(engine: Container) -> Set[int]:
    """The sockets that the container's processes hold. Raises PermissionError if one of them cannot be looked into."""
    inodes: Set[int] = set()
    for pid in _processes():
        try:
            held = _socket_inodes(pid)
        except PermissionError:
            if pid == engine.pid or _belongs(pid, engine):
                raise
            continue
        if held and (pid == engine.pid or _belongs(pid, engine)):
            inodes |= held
    return inodes


def _socket_inodes(pid: int) -> Set[int]:
    """Raises PermissionError for a process of another user; one that has ended holds none."""
    folder = f"/proc/{pid}/fd"
    inodes: Set[int] = set()
    try:
        descriptors = os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return inodes
    for descriptor in descriptors:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it was closed while we looked
            match = re.match(r"socket:\[(\d+)\]", os.readlink(os.path.join(folder, descriptor)))
            if match:
                inodes.add(int(match.group(1)))
    return inodes


def _process_name(pid: Optional[int]) -> Optional[str]:
    if pid is None:
        return None
    try:
        with open(f"/proc/{pid}/comm", errors="backslashreplace") as stream:  # it may be any bytes
            return stream.read().strip()
    except OSError:
        return None


def _belongs(pid: Optional[int], engine: Container) -> bool:
    """Whether a process runs in the container: the runtimes name control groups after the container's id."""
    if pid is None or engine.id is None:
        return False
    try:
        with open(f"/proc/{pid}/cgroup", errors="backslashreplace") as stream:
            return engine.id in stream.read()
    except OSError:
        return False
