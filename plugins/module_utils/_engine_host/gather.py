# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of an engine host that the module ``host_info`` returns. Nothing is changed."""

import os
from typing import Any, Dict, Sequence

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import (
    container,
    motd,
    record,
    runtimes,
    sockets,
    steps,
)
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.record import Record
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes


def gather_facts(ignored_starters: Sequence[str] = ()) -> Dict[str, Any]:
    """Return the facts. A healthy host costs one command and no search for a manager."""
    engine_record = record.read()
    engine = container.check_storage(container.find_container(), runtimes.installed())
    # Only the recorded container needs no further question.
    is_healthy = (
        engine.state == "running" and engine_record.state == "verified" and engine.id == engine_record.last_verified
    )
    of_container = _gather_container(engine, is_healthy, ignored_starters)
    leftovers = _find_leftovers(engine_record, engine)
    return {
        "root": os.geteuid() == 0,
        "machine": _identify_machine(),
        "addresses": sockets.find_addresses(),
        "engine_container": of_container,
        "running_leftovers": sorted(name for name, is_up in leftovers.items() if is_up),
        "stopped_leftovers": sorted(name for name, is_up in leftovers.items() if not is_up),
        "record": _gather_record(engine_record, engine, is_healthy),
        "ports": sockets.find_listening(engine),
        "motd": motd.gather_banner(),
    }


def _gather_container(engine: Container, is_healthy: bool, ignored: Sequence[str]) -> Dict[str, Any]:
    connections = sockets.find_connections(engine)
    inbound = connections.inbound
    facts = engine.summary()
    facts.update(manager_fix=None, start_obstacle=None, restore_obstacle=None)
    if engine.state in ("exited", "created"):
        facts["start_obstacle"] = steps.find_start_obstacle(engine)
    if not is_healthy:
        facts["restore_obstacle"] = steps.find_restore_obstacle(engine) if engine.state in container.LIVE else None
        manager = container.find_manager(engine, ignored)
        facts.update(manager=manager.words if manager else None, manager_fix=manager.fix if manager else None)
    return dict(
        facts,
        connections=None if inbound is None else len(inbound),
        peers=(inbound or [])[:5],
        outbound=connections.outbound,
    )


def _find_leftovers(engine_record: Record, engine: Container) -> Dict[str, bool]:
    """Return the names of set-aside containers, each with whether it runs.

    If the engine runs and was never restarted, only that of the record, if it runs: no command is needed for it.
    """
    if engine.state == "unknown":
        return {}
    if engine.state != "running" or engine.restart_count:
        return container.find_leftovers()
    leftover = engine_record.set_aside or engine_record.earlier
    live = {each.id for each in runtimes.find_monitors()} - {engine.id}
    return {leftover.name: True} if leftover and leftover.id in live else {}


def _gather_record(engine_record: Record, engine: Container, is_healthy: bool) -> Dict[str, Any]:
    facts = dict(engine_record.shown(), unwritable=record.find_obstacle(), verified_name=None)
    verified = facts["last_verified"]
    for key in ("set_aside", "earlier"):
        leftover = facts[key]
        if leftover and is_healthy:
            facts[key] = dict(leftover, exists=None)
        elif leftover:
            now = engine if engine.id == leftover["id"] else container.inspect(leftover["runtime"], leftover["id"])
            is_there = {"absent": False, "unknown": None}.get(now.state, True)
            name = now.name if is_there else leftover["name"]
            facts[key] = dict(leftover, name=name, exists=is_there)
    if verified and verified != engine.id and engine.state != "unknown":
        now = container.known(container.inspect(engine.runtime, verified))
        facts["verified_name"] = now.name if now.state != "absent" else None
    return facts


def _identify_machine() -> str:
    """Return what two names of one machine share. System containers share the boot id, clones the machine id."""
    machine = processes.read_file("/etc/machine-id").strip() or "unknown"
    return f"{machine} {clock.boot_id()} {os.stat('/proc/self/ns/net').st_ino}"
