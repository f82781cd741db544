# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SSH connection through which this process was started."""

import os
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._system import processes

_SSHD = ("sshd", "sshd-session")


class Session(NamedTuple):
    """One SSH connection, from the host's side. ``began``: seconds since boot; None if that is unknown."""

    client: str
    client_port: int
    server: str
    began: Optional[float]


def current() -> Optional[Session]:
    """The SSH connection of this process, found even where sudo has emptied the environment; None without."""
    lineage = _lineage()
    for pid in lineage:
        words = _environment(pid).get("SSH_CONNECTION", "").split()
        if len(words) == 4:
            return Session(_bare(words[0]), int(words[1]), _bare(words[2]), _began(lineage))
    return None


def _lineage() -> List[int]:
    """This process, its parent, and so on."""
    found: List[int] = []
    pid = os.getpid()
    while pid > 1 and len(found) < 64:
        found.append(pid)
        process = processes.look(pid)
        pid = process.parent if process else 0
    return found


def _environment(pid: int) -> Dict[str, str]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _began(lineage: List[int]) -> Optional[float]:
    """When sshd started the process that serves the connection."""
    for pid in lineage:
        try:
            with open(f"/proc/{pid}/comm") as stream:
                name = stream.read().strip()
        except OSError:
            continue
        process = processes.look(pid)
        if name in _SSHD and process is not None:
            return process.began
    return None


def _bare(address: str) -> str:
    """Without the scope of a link-local address, and without the prefix of an IPv4 one in IPv6's clothes."""
    address = address.partition("%")[0]
    return address[len("::ffff:") :] if address.startswith("::ffff:") and "." in address else address
