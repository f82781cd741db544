# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TCP sockets and addresses of the engine host, read from the kernel's tables in /proc."""

import contextlib
import os
import re
import socket
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container
from ansible_collections.slb.fleet.plugins.module_utils._system import processes

_TIME_WAIT, _LISTEN = 6, 10
_LOCAL_PORTS = "/proc/sys/net/ipv4/ip_local_port_range"
_MAX_PORTS = 500
_LOCAL_ADDRESS = re.compile(r"\|-- (\S+)\s+/32 host LOCAL")


class Socket(NamedTuple):
    """A line of /proc/net/tcp or tcp6."""

    address: str
    port: int
    remote: str
    state: int
    inode: int


class Connections(NamedTuple):
    """Remote ends of inbound connections (None: they cannot be seen), and the number of outbound connections."""

    inbound: Optional[List[str]]
    outbound: int = 0


def find_connections(engine: Container) -> Connections:
    """Return the connections of the container's processes.

    A connection is a TCP socket that is neither LISTEN nor TIME_WAIT, so half-closed sockets and sockets whose
    listener is gone count. It is inbound if its local port is listened on, or is outside of the kernel's range for
    outbound connections.
    """
    if engine.state == "unknown":
        return Connections(None)
    if engine.pid is None:
        return Connections([])
    try:
        _check_visible(engine.pid)
        sockets = list(_read_tables(f"/proc/{engine.pid}/net"))
        own = _inodes_of(engine) if engine.network_mode == "host" else {entry.inode for entry in sockets}
    except PermissionError:
        return Connections(None)
    ports = {entry.port for entry in sockets if entry.state == _LISTEN and entry.inode in own}
    lowest, highest = _local_ports()
    inbound, outbound = [], 0
    for entry in sockets:
        if entry.state in (_LISTEN, _TIME_WAIT):
            continue
        # A socket that the process has closed has no inode, and its port is still listened on.
        if entry.port in ports or (entry.inode in own and not lowest <= entry.port <= highest):
            inbound.append(entry.remote)
        elif entry.inode in own:
            outbound += 1
    return Connections(sorted(inbound), outbound)


def find_listening(engine: Container) -> List[Dict[str, Any]]:
    """Return the TCP ports that are listened on in the host's network namespace, and the process of each.

    At most 500: those of the engine, then the lowest. ``process`` and ``pid`` are null without root.
    """
    owners = _owners()
    addresses: Dict[Tuple[int, Optional[int]], Set[str]] = {}
    for entry in _read_tables("/proc/net"):
        if entry.state == _LISTEN:
            addresses.setdefault((entry.port, owners.get(entry.inode)), set()).add(entry.address)
    pids = {key[1] for key in addresses}
    names = {pid: processes.read(pid, "comm").strip() or None for pid in pids}
    of_engine = {pid for pid in pids if _belongs(pid, engine)}
    ports = [
        {
            "port": port,
            "addresses": sorted(some),
            "pid": pid,
            "process": names[pid],
            "container": _container_of(pid),
            "engine": port in engine.published_ports or pid in of_engine,
        }
        for (port, pid), some in sorted(addresses.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    ]
    ports.sort(key=lambda port: not port["engine"])
    return sorted(ports[:_MAX_PORTS], key=lambda port: (port["port"], port["pid"] or 0))


def find_addresses() -> Optional[List[str]]:
    """Return the host's IP addresses without loopback and link-local addresses; None if they cannot be seen."""
    try:
        with open("/proc/net/fib_trie") as stream:
            found = set(_LOCAL_ADDRESS.findall(stream.read()))
    except OSError:
        return None
    with contextlib.suppress(OSError), open("/proc/net/if_inet6") as stream:  # missing without IPv6
        for line in stream:
            found.add(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(line.split()[0])))
    return sorted(each for each in found if not re.match(r"127\.|169\.254\.|::1$|fe[89ab]", each))


def parse_table(text: str) -> List[Socket]:
    """Return the sockets of /proc/net/tcp or tcp6. Addresses are 32-bit words in the byte order of the machine."""
    sockets = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        address, port = fields[1].split(":")
        remote, remote_port = fields[2].split(":")
        end = f"{_address(remote)}:{int(remote_port, 16)}"
        sockets.append(Socket(_address(address), int(port, 16), end, int(fields[3], 16), int(fields[9])))
    return sockets


def _address(text: str) -> str:
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)


def _local_ports() -> Tuple[int, int]:
    try:
        with open(_LOCAL_PORTS) as stream:
            lowest, highest = (int(word) for word in stream.read().split())
            return lowest, highest
    except (OSError, ValueError):
        return 32768, 60999


def _check_visible(pid: int) -> None:
    """Raise PermissionError if /proc hides the process (mount option hidepid)."""
    try:
        os.stat(f"/proc/{pid}/net")
    except PermissionError:
        raise
    except OSError:
        # A hidden process looks like an ended one; signal 0 only tells the two apart.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)


def _read_tables(folder: str) -> Iterator[Socket]:
    for table in ("tcp", "tcp6"):
        try:
            with open(os.path.join(folder, table)) as stream:
                text = stream.read()
        except OSError:  # no IPv6, or the process has just ended
            continue
        yield from parse_table(text)


def _owners() -> Dict[int, int]:
    """Return the process of each socket inode; the first one if several processes share it."""
    owners: Dict[int, int] = {}
    for pid in processes.pids():
        with contextlib.suppress(PermissionError):
            for inode in processes.socket_inodes(pid):
                owners.setdefault(inode, pid)
    return owners


def _inodes_of(engine: Container) -> Set[int]:
    """Return the socket inodes of the container's processes. Raises PermissionError."""
    inodes: Set[int] = set()
    for pid in processes.pids():
        if pid == engine.pid or _belongs(pid, engine):
            inodes |= processes.socket_inodes(pid)
    return inodes


def _container_of(pid: Optional[int]) -> Optional[str]:
    """Return the id of the container that a process runs in, as runtimes show it; None outside of one.

    The host itself may be a container: its own id stands in the control group of each process.
    """
    own = re.findall(r"[0-9a-f]{64}", processes.read(1, "cgroup"))
    found = [each for each in re.findall(r"[0-9a-f]{64}", processes.read(pid, "cgroup")) if each not in own]
    return found[-1][:12] if found else None


def _belongs(pid: Optional[int], engine: Container) -> bool:
    """Return whether a process runs in the container: runtimes name control groups after the id."""
    return pid is not None and engine.id is not None and engine.id in processes.read(pid, "cgroup")
