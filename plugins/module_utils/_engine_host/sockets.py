# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TCP sockets and addresses of the engine host, read from the kernel's tables in /proc."""

import contextlib
import errno
import os
import re
import socket
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes

_TIME_WAIT, _LISTEN = 6, 10
_LOCAL_PORTS = (32768, 60999)
"""The kernel's default range of local ports for outbound connections."""
_RANGE_FILE = "/proc/sys/net/ipv4/ip_local_port_range"
_SECONDS = 5
_MAX_PORTS = 500
_LOCAL_ADDRESS = re.compile(r"\|-- (\S+)\s+/32 host LOCAL")


class Socket(NamedTuple):
    """A line of /proc/net/tcp or tcp6. ``port``: the local one."""

    port: int
    remote: str
    remote_port: int
    state: int
    inode: int


class Connections(NamedTuple):
    """``inbound``: remote end and local port of each; None if they cannot be seen. ``outbound``: their number."""

    inbound: Optional[List[str]]
    outbound: int = 0


def find_connections(engine: Container) -> Connections:
    """Return the connections of the container's processes, in each of their network namespaces.

    A connection is a TCP socket that is neither LISTEN nor TIME_WAIT, so half-closed sockets and sockets whose
    listener is gone count. It is outbound only if it cannot be a client's: no listener has its local port, which is in
    the kernel's range for outbound connections, and its remote port is that of a service.
    """
    if engine.state == "unknown":
        return Connections(None)
    if engine.pid is None:
        return Connections([])
    main = processes.find(engine.pid)
    if main and main.state == "Z" and not processes.has_ended(main):  # its other threads have the sockets
        return Connections(None)
    inbound: List[str] = []
    outbound = 0
    try:
        _check_visible(engine.pid)
        pids = [engine.pid, *(pid for pid in processes.pids() if pid != engine.pid and _belongs(pid, engine))]
        files = {inode: path for pid in pids for inode, path in processes.socket_files(pid).items()}
        left = set(files)
        for pid in _representatives(pids):
            entries = list(_read_tables(pid))
            left -= {entry.inode for entry in entries}
            # Other processes of the host use its namespace, too.
            own = set(files) if _is_of_host(pid) else {entry.inode for entry in entries}
            ports = {entry.port for entry in entries if entry.state == _LISTEN and entry.inode in own}
            active = [entry for entry in entries if entry.state not in (_LISTEN, _TIME_WAIT)]
            # A socket that the process has closed has no inode, and its port is still listened on.
            certain = [entry for entry in active if entry.port in ports]
            others = [entry for entry in active if entry.port not in ports and entry.inode in own]
            local_ports = _local_ports(pid) if others else _LOCAL_PORTS
            possible = [entry for entry in others if _may_be_of_client(entry, local_ports)]
            inbound += [f"{entry.remote} to port {entry.port}" for entry in (*certain, *possible)]
            outbound += len(others) - len(possible)
    except PermissionError:
        return Connections(None)
    if any(processes.is_tcp(files[inode]) for inode in left):
        return Connections(None)
    return Connections(sorted(inbound), outbound)


def _representatives(pids: List[int]) -> List[int]:
    """Return one process of each network namespace: the first one."""
    representatives: Dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            representatives.setdefault(os.stat(f"/proc/{pid}/ns/net").st_ino, pid)
    return list(representatives.values())


def _may_be_of_client(entry: Socket, local_ports: Tuple[int, int]) -> bool:
    """Return whether a socket without a listener may serve a client, such as one whose listener was closed."""
    lowest, highest = local_ports
    is_remote_of_client = max(lowest, _LOCAL_PORTS[0]) <= entry.remote_port <= highest
    return not lowest <= entry.port <= highest or is_remote_of_client


def find_listening(engine: Container) -> List[Dict[str, Any]]:
    """Return the TCP ports that are listened on in the host's network namespace, and the process of each.

    At most 500: those of the engine, then the lowest. ``process`` and ``pid`` are null without root.
    """
    owners = _owners()
    listening = {(entry.port, owners.get(entry.inode)) for entry in _read_tables(os.getpid()) if entry.state == _LISTEN}
    pids = {pid for _port, pid in listening}
    names = {pid: processes.read(pid, "comm").strip() or None for pid in pids}
    of_engine = {pid for pid in pids if _belongs(pid, engine)}
    ports = [
        {
            "port": port,
            "pid": pid,
            "process": names[pid],
            "container": _container_of(pid),
            "engine": port in engine.published_ports or pid in of_engine,
        }
        for port, pid in sorted(listening, key=lambda each: (each[0], each[1] or 0))
    ]
    ports.sort(key=lambda port: not port["engine"])
    return sorted(ports[:_MAX_PORTS], key=lambda port: (port["port"], port["pid"] or 0))


def find_addresses() -> Optional[List[str]]:
    """Return the host's IP addresses without loopback and link-local addresses; None if they cannot be seen."""
    trie = processes.read_file("/proc/net/fib_trie")
    if not trie:
        return None
    addresses = set(_LOCAL_ADDRESS.findall(trie))
    for line in processes.read_file("/proc/net/if_inet6").splitlines():  # missing without IPv6
        addresses.add(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(line.split()[0])))
    return sorted(each for each in addresses if not re.match(r"127\.|169\.254\.|::1$|fe[89ab]", each))


def can_listen(address: str) -> bool:
    """Return whether a program can listen on the address: it is on this host, or the kernel allows any one."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
            listener.bind((address, 0))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def parse_table(text: str) -> List[Socket]:
    """Return the sockets of /proc/net/tcp or tcp6. Addresses are 32-bit words in the byte order of the machine."""
    sockets = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        port = int(fields[1].split(":")[1], 16)
        remote, remote_port = fields[2].split(":")
        end, remote_end = f"{_address(remote)}:{int(remote_port, 16)}", int(remote_port, 16)
        sockets.append(Socket(port, end, remote_end, int(fields[3], 16), int(fields[9])))
    return sockets


def _address(text: str) -> str:
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)


def _local_ports(pid: int) -> Tuple[int, int]:
    """Return the range of the network namespace of a process."""
    enter = [] if _is_of_host(pid) else ["nsenter", f"--net=/proc/{pid}/ns/net"]
    try:
        lowest, highest = map(int, commands.attempt([*enter, "cat", _RANGE_FILE], _SECONDS).stdout.split())
        return lowest, highest
    except (OSError, ValueError):
        return _LOCAL_PORTS


def _is_of_host(pid: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino == os.stat("/proc/self/ns/net").st_ino
    except OSError:
        return False


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


def _read_tables(pid: int) -> Iterator[Socket]:
    for table in ("tcp", "tcp6"):  # none without IPv6, or if the process has just ended
        yield from parse_table(processes.read(pid, f"net/{table}"))


def _owners() -> Dict[int, int]:
    """Return the process of each socket inode; the first one if several processes share it."""
    owners: Dict[int, int] = {}
    for pid in processes.pids():
        with contextlib.suppress(PermissionError):
            for inode in processes.socket_files(pid):
                owners.setdefault(inode, pid)
    return owners


def _container_of(pid: Optional[int]) -> Optional[str]:
    """Return the id of the container that a process runs in, as runtimes show it; None outside of one.

    The host itself may be a container: its own id stands in the control group of each process.
    """
    own = re.findall(r"[0-9a-f]{64}", processes.read(1, "cgroup"))
    ids = [each for each in re.findall(r"[0-9a-f]{64}", processes.read(pid, "cgroup")) if each not in own]
    return ids[-1][:12] if ids else None


def _belongs(pid: Optional[int], engine: Container) -> bool:
    """Return whether a process runs in the container: runtimes name control groups after the id."""
    if pid is None or engine.id is None:
        return False
    if engine.pid is None or engine.id in processes.read(engine.pid, "cgroup"):
        return engine.id in processes.read(pid, "cgroup")
    # With --cgroups=disabled, only the parents show it.
    return any(each.pid == engine.pid for each in processes.ancestors(pid))
