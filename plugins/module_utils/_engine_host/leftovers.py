# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change a container by the command line of its runtime: set it aside as a leftover, restore it, start it."""

import glob
import os
import re
import time
from typing import Callable, List, Optional, Tuple, Union

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container as containers
from ansible_collections.slb.fleet.plugins.module_utils._engine_host import runtimes
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import LEFTOVER, LIVE, NAME, Container
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.record import SetAside
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

TIMEOUT = "container_command_timeout"
"""Code of a command that was killed at its time limit: the runtime may still carry it out."""

_WANTS = ("/etc/systemd/system/*.wants", "/usr/lib/systemd/system/*.wants", "/lib/systemd/system/*.wants")
_CHECK_SECONDS = 2.0
_DOWN_SECONDS = 30.0


def plan_set_aside(container: Container, purpose: str, stop_timeout: int) -> SetAside:
    """Return what the record keeps of a container that is about to be set aside."""
    return SetAside(
        id=str(container.id),
        name=LEFTOVER + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
        runtime=str(container.runtime),
        restart_policy=str(container.restart_policy),
        state=container.state,
        stop_timeout=stop_timeout,
        purpose=purpose,
    )


def inspect(before: Union[SetAside, Container]) -> Container:
    """Return the container as it is now. A state that cannot be determined is ``unknown``."""
    return containers.inspect(before.runtime, str(before.id))


def inspect_known(leftover: SetAside) -> Container:
    """Return the container as it is now. Raises FleetError if its state is unknown."""
    return containers.known(inspect(leftover))


def find_set_aside(leftover: SetAside) -> Container:
    """As ``inspect_known``, before an absent one is forgotten: it is unknown while the disk with it is not mounted."""
    now = inspect_known(leftover)
    return containers.known(containers.check_storage(now, [leftover.runtime]))


def check_runtime(container: Container) -> None:
    """Raise FleetError if this Podman cannot rename the container, or would start a leftover at the next boot."""
    if container.runtime != "podman":
        return
    version = _podman_version()
    if version < (3, 0):
        raise FleetError(
            "podman_too_old",
            "Container slb cannot be renamed: Podman is older than 3.0.",
            "Update Podman, or remove the container: `podman rm --force slb`.",
        )
    is_started_at_boot = any(glob.glob(os.path.join(folder, "podman-restart.service")) for folder in _WANTS)
    if version < (5, 1) and container.restart_policy in ("always", "unless-stopped") and is_started_at_boot:
        raise FleetError(
            "podman_too_old",
            f"A leftover would start at the next boot: Podman before 5.1 cannot change the restart policy "
            f"{container.restart_policy}, and podman-restart.service is enabled.",
            "Run `systemctl disable podman-restart.service`, or update Podman.",
        )


def move_aside(
    leftover: SetAside, stop_timeout: int, check: Callable[[Container], None], remove: bool = False
) -> Optional[str]:
    """Switch the restart policy off, stop and rename (or ``remove``) the container; return its name, None if gone.

    ``check`` raises FleetError if the container must not be changed any more. It is called directly before the stop and
    before the rename. A second call after an interruption continues.
    """
    container = inspect_known(leftover)
    can_update = container.runtime != "podman" or _podman_version() >= (5, 1)
    if container.state != "absent" and not container.is_dead:
        # Before the stop: a runtime that cannot write, such as on a full disk, could not restore the container.
        _write_first(container, can_update)
        container = inspect_known(leftover)
    check(container)
    if container.state == "paused":  # a frozen process does not get the stop signal
        _change(container, "unpause", is_done=lambda now: now.state != "paused")
    # A Podman that cannot change the policy may be between two starts of a crash loop.
    is_looping = not can_update and container.state == "exited" and container.restart_policy != "no"
    if container.state in LIVE or is_looping:
        _stop(container, stop_timeout, stays_down=not can_update)
    if container.state in LIVE and container.auto_remove:
        wait_for(lambda: inspect(container).state == "absent", runtimes.ANSWER_SECONDS)
    container = inspect_known(leftover)
    check(container)
    if container.state != "absent" and remove:
        remove_container(container)
    if container.state == "absent" or remove:
        return None
    if container.name == NAME:
        _change(container, "rename", target=leftover.name, is_done=lambda now: now.name == leftover.name)
        return leftover.name
    return container.name


def _write_first(container: Container, can_update: bool) -> None:
    """Switch the restart policy off. A Podman that cannot do that writes the container's own name instead.

    Podman 3 refuses its own name, and has no other command that writes and changes nothing.
    """
    if can_update:
        was_off = container.restart_policy == "no"
        _change(container, "update", "--restart=no", is_done=lambda now: now.restart_policy == "no" and not was_off)
    elif _podman_version() >= (4, 0):
        _change(container, "rename", target=container.name, is_done=lambda now: False)


def check_name_free(leftover: SetAside) -> None:
    """Raise FleetError if another process takes the name ``slb`` or starts the leftover within 2 s."""
    taken: List[Container] = []

    def is_taken() -> bool:
        taken[:] = [container for container in [containers.find_once()] if container.state not in ("absent", "unknown")]
        return bool(taken)

    if not wait_for(is_taken, _CHECK_SECONDS, containers.INTERVAL):
        taken[:] = [container for container in [inspect(leftover)] if container.state in LIVE]
    for container in taken:
        require_free(container)


def require_free(slb: Container) -> Container:
    """Return what has the name ``slb`` after a step that freed it. Raises FleetError if it is a container."""
    if slb.state in ("absent", "unknown"):
        return slb
    manager = containers.find_manager(slb)
    by = manager.words if manager else "another process or user"
    raise FleetError(
        "container_recreated",
        f"Container {slb.name} ({str(slb.id)[:12]}) was started again by {by}.",
        manager.fix if manager else "Stop what starts it, then run again.",
    )


def find_other_holder(leftover: Optional[SetAside]) -> Optional[Container]:
    """Return the container that has the name ``slb`` and keeps ``leftover`` from being restored. Raises FleetError."""
    holder = containers.known(containers.find_once())
    if leftover is None or holder.state == "absent" or holder.id == leftover.id:
        return None
    return None if find_set_aside(leftover).state == "absent" else holder


def name_taken(leftover: SetAside, holder: Container) -> FleetError:
    """Return the error for a container that cannot be restored, because another container has the name ``slb``."""
    runtime = holder.runtime
    return FleetError(
        "name_taken",
        f"{leftover.name} cannot be restored: container {str(holder.id)[:12]} ({holder.state}) has the name slb.",
        f"Rename or remove it (`{runtime} rename slb NEW-NAME`) and run again. If it is the engine that you want, "
        "run slb.fleet.engine_record with state=absent.",
    )


def wait_for_stop(leftover: SetAside, seconds: float) -> None:
    """Wait until the container is down, or until no stop can be pending."""
    wait_for(lambda: inspect(leftover).state not in (*LIVE, "unknown"), seconds, containers.INTERVAL)


def move_back(leftover: SetAside) -> bool:
    """Restore name, state and restart policy of the container; return whether something was changed.

    A container that does not start gets its leftover name again. Raises FleetError.
    """
    first = container = find_set_aside(leftover)
    if container.state == "absent":
        return False
    if container.is_stopping and leftover.state in LIVE:  # Podman starts no container before it has stopped
        _stop(container, 10)
        container = inspect_known(leftover)
    if container.name != NAME:
        _change(container, "rename", target=NAME, is_done=lambda now: now.name == NAME)
    if leftover.state in LIVE and container.state not in LIVE and not container.is_dead:
        try:
            start(container, is_checked=leftover.state != "restarting")
        except FleetError as error:
            if error.values.get("is_unknown"):
                raise
            try:
                _change(container, "rename", target=leftover.name, is_done=lambda now: now.name == leftover.name)
            except FleetError as again:
                if again.values.get("is_unknown"):
                    raise
                raise partially_restored(NAME, error) from error  # such as on a full disk
            raise partially_restored(leftover.name, error) from error
    try:
        _restore_details(container, leftover)
    except FleetError as error:
        raise partially_restored(NAME, error) from error
    # Each change was confirmed: a runtime that does not answer now does not take that back.
    now = inspect(leftover)
    return (now.name, now.state, now.restart_policy) != (first.name, first.state, first.restart_policy)


def _restore_details(container: Container, leftover: SetAside) -> None:
    if container.state == "paused" and leftover.state in ("running", "restarting"):
        _change(container, "unpause", is_done=lambda now: now.state != "paused")
    if container.state != "paused" and leftover.state == "paused":
        _change(container, "pause", is_done=lambda now: now.state == "paused")
    if not container.is_dead:
        restore_policy(container, leftover.restart_policy)


def restore_policy(container: Container, policy: str) -> bool:
    """Set the restart policy of the container; return whether it was another one. Raises FleetError."""
    if container.restart_policy == policy:
        return False
    _change(container, "update", f"--restart={policy}", is_done=lambda now: now.restart_policy == policy)
    return True


def partially_restored(name: str, cause: FleetError) -> FleetError:
    """Return the error for a container that could not be restored completely because of ``cause``."""
    return FleetError(
        "partially_restored",
        f"Container {name} partially restored: {cause.summary}",
        "Remove the cause, then run `ansible HOST -b -m slb.fleet.engine_container -a state=restored`.",
        restored=False,
    )


def remove_container(container: Container) -> None:
    """Delete the stopped container by its id. Raises FleetError."""
    _change(container, "rm", is_done=lambda now: now.state == "absent")


def start(container: Container, is_checked: bool = True) -> None:
    """Start the container and check for 2 s that it runs, unless it was in a crash loop. Raises FleetError.

    A container that its restart policy starts again meanwhile is stopped.
    """
    _change(container, "start", is_done=lambda now: now.state in LIVE)
    ended: List[Container] = []

    def has_ended() -> bool:
        now = inspect(container)
        ended[:] = [now] if now.state not in ("running", "paused", "unknown") else []
        return bool(ended)

    if is_checked and wait_for(has_ended, _CHECK_SECONDS, containers.INTERVAL):
        logs = runtimes.run(str(container.runtime), "logs", "--tail", "1", str(container.id))
        words = (logs.stderr.strip() or logs.stdout.strip())[:200]
        if ended[0].state == "restarting":
            _stop(ended[0], 1)
        raise FleetError(
            "container_command_failed",
            f"the container ended after its start with exit code {ended[0].exit_code}"
            + (f" ({words})." if words else "."),
            "",
        )


def _stop_once(container: Container, stop_timeout: int, is_down: Callable[[Container], bool]) -> None:
    """Stop the container. In a crash loop the runtime may not find the process that has just ended: then once more."""
    limit, command = stop_timeout + _CHECK_SECONDS, ("stop", "-t", str(stop_timeout))
    try:
        _change(container, *command, is_done=is_down, seconds=stop_timeout, pending=limit)
    except FleetError as error:
        if error.code == TIMEOUT or not container.restart_count:
            raise
        _change(container, *command, is_done=is_down, seconds=stop_timeout, pending=limit)


def _stop(container: Container, stop_timeout: int, stays_down: bool = False) -> None:
    """Stop the container; with ``stays_down`` again until a runtime that keeps restarting it has given up."""

    def is_down(now: Container) -> bool:
        return now.state not in (*LIVE, "unknown")

    deadline = time.monotonic() + _DOWN_SECONDS
    while True:
        _stop_once(container, stop_timeout, is_down)
        if not stays_down:
            return
        now = inspect(container)
        time.sleep(containers.INTERVAL)
        later = inspect(container)
        if is_down(now) and is_down(later) and containers.last_start(now) == containers.last_start(later):
            return
        if time.monotonic() > deadline:
            raise FleetError(
                "container_command_failed",
                f"Container slb does not stay stopped: this Podman cannot change {container.restart_policy}.",
                "If the container may be lost, run `podman rm --force slb`.",
            )


def _change(
    container: Container,
    verb: str,
    *options: str,
    is_done: Callable[[Container], bool],
    target: Optional[str] = None,
    seconds: float = 0.0,
    pending: float = 0.0,
) -> None:
    """Run ``docker VERB OPTIONS ID TARGET``. If it fails, the state of the container decides.

    ``pending``: for how long to wait for a change that the runtime may carry out after its command failed.
    Raises FleetError, with ``is_unknown`` if the change may still be carried out: not if the runtime refused it.
    """
    arguments = [verb, *options, str(container.id), *([target] if target else [])]
    completed = runtimes.run(str(container.runtime), *arguments, seconds=seconds)
    if completed.rc == 0:
        return

    def is_carried_out() -> bool:
        now = inspect(container)
        return now.state != "unknown" and is_done(now)

    if wait_for(is_carried_out, pending, containers.INTERVAL):
        return
    command = f"{container.runtime} {verb} {container.name}"
    if completed.is_killed:
        limit = runtimes.ANSWER_SECONDS + seconds
        summary = f"Result of `{command}` unknown: no answer within {limit:g} s."
        raise FleetError(TIMEOUT, summary, f"Check {container.runtime} on the host, then run again.", is_unknown=True)
    summary, fix = f"Command `{command}` failed: {completed.words}.", "Remove the cause on the host, then run again."
    # After a refused signal nothing is carried out later, as AppArmor and plugins of Docker refuse it.
    is_refused = re.search(r"permission denied|denied by plugin", completed.stderr, re.IGNORECASE)
    values = {"is_unknown": True} if pending and not is_refused else {}
    raise FleetError("container_command_failed", summary, fix, **values)


def _podman_version() -> Tuple[int, int]:
    match = re.search(r"(\d+)\.(\d+)", runtimes.run("podman", "--version").stdout)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)
