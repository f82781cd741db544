# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The safety checks that a plan makes on the controller and a step repeats on the host: code, words and fix of each."""

from typing import Optional, Sequence

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import amount


def managed(manager: str, fix: str) -> FleetError:
    """Return the failure of a container that ``manager`` may create or start again."""
    return FleetError(
        "managed_by_systemd" if manager.startswith("systemd") else "managed_by_other",
        f"Container slb may be created or started again by {manager}.",
        fix or "Remove the container there, then run again.",
    )


def in_use(connections: Optional[int], peers: Sequence[str]) -> FleetError:
    """Return the failure of a container with connections; None: they cannot be seen."""
    summary = "Connections of container slb cannot be seen."
    if connections is not None:
        count = amount(connections, "connection")
        shown = f" (from {', '.join(list(peers)[:5])})" if peers else ""
        summary = f"Container slb has {count}{shown}."
    return FleetError(
        "container_in_use", summary, "If it is a leftover anyway, set slb_allow_established: true for this host."
    )


def would_be_deleted() -> FleetError:
    """Return the failure of a container that was started with ``--rm``."""
    return FleetError(
        "container_would_be_deleted",
        "Container slb deletes itself when it stops (--rm), and could not be restored.",
        "If it may be lost, set slb_remove_leftovers: true for this host.",
    )


def not_restorable(cause: str) -> FleetError:
    """Return the failure of a running container that could not be started again, because of ``cause``."""
    return FleetError(
        "container_not_restorable",
        f"Container slb could not be started again after its stop: {cause}.",
        "Restore that on the host, then run again. If the container may be lost, set slb_remove_leftovers: true.",
    )


def not_started(cause: str) -> FleetError:
    """Return the failure of a stopped container that cannot be started, because of ``cause``."""
    return FleetError(
        "container_not_started", f"Container slb not started: {cause}.", "Remove the cause on the host, then run again."
    )
