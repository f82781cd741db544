# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches of a rollout: one ends before its slowest hosts, and after too many failures no other one begins."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import POLL_SECONDS, FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Engine
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import checked, is_empty

_LATE_SHARE = 0.2
"""Of a batch: how many hosts may be in progress when it ends, those of earlier batches included."""
WATCH_SECONDS = POLL_SECONDS - 1
"""Part of the time between two checks of a host in which it watches its batch; the role's tasks wait for the rest."""
_LOOK_SECONDS = 0.5


def may_end(size: int, healthy: int, ended: int, late: int, max_fail_percentage: float) -> bool:
    """Return whether a batch may end while hosts of it are in progress.

    ``ended``: the number of its hosts that are healthy or have failed. ``late``: that of earlier batches in progress. A
    batch without a healthy host is awaited as a whole, and so is one with too many failures if each late host failed.
    """
    in_progress, may_fail = size - ended + late, size - healthy
    return healthy > 0 and in_progress <= size * _LATE_SHARE and may_fail * 100 <= max_fail_percentage * size


def note_state(host: FleetHost, variables: Mapping[str, Any], action: str, watch: float) -> bool:
    """Note how far the host is, and return whether it is late: left in progress to the end of the run.

    ``action``: of its plan. ``watch``: seconds in which a host in progress waits for the end of its batch.
    """
    notes = host.reservations
    if action in ("none", "fail"):
        notes.note("healthy" if action == "none" else "failed in its batch", host.name)
    if action != "wait":
        return False
    end = time.monotonic() + watch
    while not _ends(host, variables):
        if time.monotonic() >= end:
            return False
        time.sleep(_LOOK_SECONDS)
    engine, record = host.engine, host.last_state.record
    until = time.monotonic() + max(0.0, record.wait_timeout - record.age)
    notes.note("late until", "\t".join([host.name, str(until), engine.name, engine.manage_ip, engine.base_url]))
    notes.note("late", host.name)
    return True


def _ends(host: FleetHost, variables: Mapping[str, Any]) -> bool:
    """Return whether the batch of a host in progress may end."""
    notes, batch = host.reservations, set(variables["ansible_play_batch"])
    healthy, failed = (batch.intersection(notes.noted(note)) for note in ("healthy", "failed in its batch"))
    earlier = [line.split("\t") for line in notes.noted("late until")]
    late = [
        name
        for name, end, *engine in earlier
        if name not in batch and time.monotonic() < float(end) and not host.lists_running(Engine(*engine))
    ]
    return may_end(len(batch), len(healthy), len(healthy | failed), len(set(late)), _limit(variables))


def note_failure(variables: Mapping[str, Any]) -> None:
    """Note a host that was not deployed; and that no batch follows, if this one has too many of them."""
    notes, name = Reservations(), str(variables["inventory_hostname"])
    batch: Sequence[str] = variables["ansible_play_batch"]
    notes.note("late", name)
    notes.note("failed", name)
    failed = len(set(batch).intersection(notes.noted("failed")))
    if failed == len(batch) or failed * 100 > _limit(variables) * len(batch):
        notes.note("stopped", name)


def _limit(variables: Mapping[str, Any]) -> float:
    percentage = variables.get("slb_max_fail_percentage")
    return 100.0 if is_empty(percentage) else float(checked("max_fail_percentage", percentage))
