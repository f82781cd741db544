# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the collection wants to know of an engine host, in one look that changes nothing."""

import os
import time
from typing import Any, Callable, Dict, List

from ansible_collections.slb.fleet.plugins.module_utils._host import (
    addresses,
    containers,
    motd,
    moves,
    record,
    room,
    set_aside,
    sockets,
)
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container
from ansible_collections.slb.fleet.plugins.module_utils._network import interfaces

SUBSETS = ("engine_container", "record", "ports", "motd", "interfaces")


def observe(subsets: List[str]) -> Dict[str, Any]:
    """The parts named in ``subsets``; times are seconds since the epoch by the host's own clock."""
    engine = containers.look()
    looks: Dict[str, Callable[[], Any]] = {
        "engine_container": lambda: _engine(engine),
        "record": lambda: _record(engine),
        "ports": lambda: sockets.listening(engine),
        "motd": motd.look,
        "interfaces": interfaces.observe,
    }
    seen = {subset: looks[subset]() for subset in subsets}
    if "engine_container" in subsets:
        # What was done to the container belongs to what is there of it.
        seen["set_aside"] = set_aside.look()
        seen["set_aside_unwritable"] = room.unwritable(set_aside.PATH)
        seen["running_leftovers"] = _running_leftovers(engine)
        seen["addresses"] = addresses.look()
    return dict(seen, root=os.geteuid() == 0, observed_at=time.time())


def _running_leftovers(engine: Container) -> List[str]:
    # Where the engine runs well, nothing stands in its way, and the question would be one more for every host; a
    # runtime that hangs would take its time for it again.
    if engine.state == "unknown" or (engine.state == "running" and not engine.restart_count):
        return []
    return containers.names(moves.ASIDE, running=True)


def _record(engine: Container) -> Dict[str, Any]:
    noted = dict(record.read(), unwritable=record.unwritable())
    if noted["state"] == "verified" and engine.runtime and engine.id != noted["container_id"]:
        seen = containers.inspect(engine.runtime, noted["container_id"])
        is_there = seen.state not in ("absent", "unknown") and not seen.name.startswith(moves.ASIDE)
        noted["container_name"] = seen.name if is_there else None
    return noted


def _engine(engine: Container) -> Dict[str, Any]:
    peers = sockets.served(engine)
    return dict(
        engine.summary(),
        uptime=containers.uptime(engine),
        established=None if peers is None else len(peers),
        after_request=record.after_request(record.read(), engine),
    )
