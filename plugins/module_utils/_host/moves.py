# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container goes out of the way, and comes back: step by step, so that after a kill the same call goes on."""

import time
from typing import List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import ENGINE, Container
from ansible_collections.slb.fleet.plugins.module_utils._host.set_aside import Note
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

ASIDE = f"{ENGINE}-leftover-"
"""How the names begin of what was taken out of the way."""

_GONE_SECONDS = 20
_STOP_SECONDS = 10
"""The grace that the runtimes give by themselves."""
# Where Podman starts it again and again, a stop between two runs changes nothing; one of some ten is in time.
_DOWN_SECONDS = 60
_CALM_SECONDS = 2.0

LIVE = ("running", "paused", "restarting")
"""The states in which a container's processes are there, or are soon to be started by the runtime."""


def take_aside(container: Container, stop_seconds: int, remove: bool) -> Optional[str]:
    """Takes a container out of the way: restart policy off, stopped, renamed; deleted only on ``remove``.

    Returns its new name, or None where it was removed. It may be called again after a kill at any moment.
    """
    program = str(container.runtime)
    identity = str(container.id)
    is_off = _switch_restarts_off(program, container)
    if container.state == "paused":
        # A frozen process cannot take the stop signal; Docker refuses or waits out the whole grace period.
        containers.tell(program, "unpause", identity)
    if container.state != "created":
        _stop(program, container, stop_seconds, remove)
        if not is_off:
            _stop_until_it_stays_down(program, container, stop_seconds, remove)
    if remove:
        _remove(program, identity)
        return None
    new_name = containers.free_name(program, ASIDE + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
    containers.tell(program, "rename", identity, new_name)
    return new_name


def put_back(container: Container, note: Note) -> bool:
    """Makes the container what ``note`` says it was: its name, its restart policy, its state. True if it was not.

    After a kill in between, the next look sees one that is still out of the way, or one whose note is still there.
    """
    program = str(container.runtime)
    steps = _steps_back(container, note)
    for step in steps:
        containers.tell(program, *step, seconds=_STOP_SECONDS)
    return bool(steps)


def is_back(container: Container, note: Note) -> bool:
    """Whether there is nothing to put back any more."""
    return not _steps_back(container, note)


def _steps_back(container: Container, note: Note) -> List[List[str]]:
    steps: List[List[str]] = []
    if note.state in LIVE and container.stopping:
        # It takes no start before it has stopped, and would not be restarted when it ends.
        steps.append(["stop", "-t", str(_STOP_SECONDS), note.id])
    if note.state in LIVE and (container.stopping or container.state not in LIVE):
        steps.append(["start", note.id])
    if note.state == "paused" and container.state != "paused":
        steps.append(["pause", note.id])
    if note.state in ("running", "restarting") and container.state == "paused":
        steps.append(["unpause", note.id])
    if container.name != ENGINE:
        steps.append(["rename", note.id, ENGINE])
    # Last: a container that its runtime restarts again and again, as where its port is held, takes no new name.
    if container.whole_restart_policy != note.restart_policy:
        steps.append(["update", f"--restart={note.restart_policy}", note.id])
    return steps


def _switch_restarts_off(program: str, container: Container) -> bool:
    """Whether it is off: Podman before 5.1 cannot change the policy."""
    if container.restart_policy == "no":
        return True
    completed = containers.ask(program, "update", "--restart=no", str(container.id))
    if completed.rc != 0 and program == "docker":
        raise HostError(
            f"The restart policy of the container {container.name} could not be switched off: {completed.words}.",
            f"Run `{program} update --restart=no {container.name}` on the host to see why.",
        )
    return completed.rc == 0


def _stop_until_it_stays_down(program: str, container: Container, stop_seconds: int, remove: bool) -> None:
    """Stops it anew each time that its runtime has started it again."""
    deadline = time.monotonic() + _DOWN_SECONDS
    while not _stays_down(program, container):
        if time.monotonic() > deadline:
            raise HostError(
                f"The container {container.name} was stopped again and again for {_DOWN_SECONDS} seconds, and its "
                f"restart policy {container.whole_restart_policy}, which this {program} cannot change, starts it anew.",
                f"If it may be lost, run `{program} rm --force {container.name}` on the host.",
            )
        _stop(program, container, stop_seconds, remove)


def _stays_down(program: str, container: Container) -> bool:
    identity = str(container.id)
    seen = containers.inspect(program, identity)
    if seen.state == "absent":
        return True

    def runs() -> bool:
        now = containers.inspect(program, identity)
        return now.state != "exited" or (now.started_at, now.restart_count) != (seen.started_at, seen.restart_count)

    return seen.state == "exited" and not wait_for(runs, _CALM_SECONDS)


def _stop(program: str, container: Container, stop_seconds: int, remove: bool) -> None:
    try:
        containers.tell(program, "stop", "-t", str(stop_seconds), str(container.id), seconds=stop_seconds)
    except HostError:
        # One that deletes itself may be gone before the runtime has answered.
        if not (remove and container.auto_remove and _is_gone(program, str(container.id))):
            raise


def _remove(program: str, identity: str) -> None:
    """Removes it, or sees that it is gone: one that deletes itself is being removed when it has stopped."""
    completed = containers.ask(program, "rm", identity)
    if completed.rc != 0 and not _is_gone(program, identity):
        raise HostError(
            f"The container {identity} could not be removed: {completed.words}.",
            f"Run `{program} rm {identity}` on the host to see why.",
        )


def _is_gone(program: str, identity: str) -> bool:
    """Whether the container is not there, or vanishes within the time that a removal may take."""
    return wait_for(lambda: containers.inspect(program, identity).state == "absent", _GONE_SECONDS)
