# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to the engine's container: a leftover is taken out of the way, an engine is waited for."""

import time
from typing import Any, Dict, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, WaitError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, sockets
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_POLL_SECONDS = 0.5


def stopped(
    container_id: Optional[str],
    container_state: Optional[str],
    allow_established: bool,
    stop_seconds: int,
    remove: bool,
    check_mode: bool,
) -> Result:
    """Takes the container ``slb`` out of the way, guarded: see the module's documentation for the rules."""
    before = _known(containers.look())
    if before.state == "absent":
        return _moved(before, before, None)
    _refuse_another(before, container_id)
    _refuse_revived(before, container_state)
    _refuse_traffic(before, allow_established)
    if check_mode:
        return _moved(before, before._replace(state="absent", id=None), None, changed=True)
    name = containers.take_aside(before, stop_seconds, remove)
    return _moved(before, containers.look(), name, changed=True)


def running(timeout: float, settle: float, started_after: Optional[float], check_mode: bool) -> Result:
    """Waits until the container ``slb`` has run for ``settle`` seconds since a start after ``started_after``.

    Raises WaitError after ``timeout`` seconds, with what was last seen. Check mode looks once.
    """
    begin = time.monotonic()
    before = seen = containers.look()
    while not _settled(seen, settle, started_after):
        waited = time.monotonic() - begin
        if check_mode:
            break
        if waited >= timeout:
            raise WaitError(
                "No engine came up within {:g} seconds; last seen: {}.".format(timeout, _sight(seen, started_after)),
                "Look at the deployment in the web console, and at `{} ps --all` on the host.".format(
                    seen.runtime or "docker"
                ),
                before=before.summary(),
                after=seen.summary(),
            )
        time.sleep(min(_POLL_SECONDS, timeout - waited))
        seen = containers.look()
    return Result(
        False,
        {"before": before.summary(), "after": seen.summary(), "waited": round(time.monotonic() - begin, 1)},
    )


def _settled(seen: Container, settle: float, started_after: Optional[float]) -> bool:
    uptime = containers.uptime(seen)
    if uptime is None or seen.started_at is None:
        return False
    return seen.started_at >= (started_after or 0) and uptime >= settle


def _sight(seen: Container, started_after: Optional[float]) -> str:
    if seen.state == "unknown":
        return "its state is unknown ({})".format(seen.why)
    uptime = containers.uptime(seen)
    if uptime is not None and seen.started_at is not None:
        if seen.started_at < (started_after or 0):
            return "a container that was running before the request"
        return "running for {:.0f} seconds, restarted {} times".format(uptime, seen.restart_count)
    return "the container is {}".format(seen.state)


def _known(seen: Container) -> Container:
    if seen.state == "unknown":
        raise HostError(
            "The state of the container {} is unknown: {}.".format(seen.name, seen.why),
            "Nothing was changed. Bring the container runtime back, then run again.",
        )
    return seen


def _refuse_another(before: Container, container_id: Optional[str]) -> None:
    if container_id is not None and before.id != container_id:
        raise HostError(
            "The container slb is {}, not {} as when it was decided to stop it.".format(before.id, container_id),
            "Nothing was changed. Somebody else deploys on this host; run again to look anew.",
        )


def _refuse_revived(before: Container, container_state: Optional[str]) -> None:
    if container_state in ("created", "exited") and before.state not in ("created", "exited"):
        raise HostError(
            "The container slb is {}; it was {} when it was decided to take it away.".format(
                before.state, container_state
            ),
            "Nothing was changed. Somebody has started it since; run again to look anew.",
        )


def _refuse_traffic(before: Container, allow_established: bool) -> None:
    if allow_established:
        return
    peers = sockets.served(before)
    if peers is None:
        raise HostError(
            "Whether the container slb carries established connections cannot be seen by this user.",
            "Nothing was changed. Run with become: true. If it is a leftover all the same, allow it for this host "
            "alone: slb_allow_established: true.",
            established=None,
        )
    if peers:
        raise HostError(
            "The container slb carries {} established connections (from {}).".format(len(peers), ", ".join(peers[:5])),
            "Nothing was changed. If it is a leftover all the same, allow it for this host alone: "
            "slb_allow_established: true.",
            established=len(peers),
        )


def _moved(before: Container, after: Container, name: Optional[str], changed: bool = False) -> Result:
    values: Dict[str, Any] = {
        "before": before.summary(),
        "after": after.summary(),
        "quarantined_as": name,
    }
    return Result(changed, values, {"before": {"slb": before.state}, "after": {"slb": after.state}})
