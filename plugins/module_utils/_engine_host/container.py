# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container ``slb`` of this machine, by the command lines of Docker and of root's Podman."""

import contextlib
import glob
import json
import os
import re
import shlex
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import managers, runtimes
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

NAME = runtimes.NAME
LEFTOVER = NAME + "-leftover-"
RUNTIMES = runtimes.RUNTIMES
LIVE = ("running", "restarting", "paused")
"""States in which the processes of a container exist, or the runtime starts them soon."""
TIMEOUT = "container_command_timeout"
"""Code of a command that was killed at its time limit: the runtime may still carry it out."""

_WANTS = ("/etc/systemd/system/*.wants", "/usr/lib/systemd/system/*.wants", "/lib/systemd/system/*.wants")
_END_SECONDS = 4.0  # for the last process of a container that has ended; a conmon runs a command before it ends
_CHECK_SECONDS = 2.0
_DOWN_SECONDS = 30.0
_INTERVAL = 0.5
_READS = 3  # a container created between `inspect` and `ps` is listed but was not inspected

_SILENCE = (
    (r"client version \S+ is too old|client is newer|API version", "Update the command {0}: its daemon is newer."),
    (r"[Nn]o space left", "Free space on the host, then run again."),
    (r"Cannot connect to the Docker daemon", "Start {0} on the host, or repair it, then run again."),
    (r"[Pp]ermission denied", "Check the rights of root on the host, such as AppArmor and SELinux, then run again."),
)
"""What to do if a runtime answers with these words."""
_STATES = {
    "created": "created",
    "configured": "created",
    "initialized": "created",
    "running": "running",
    "stopping": "running",  # only Podman, from the stop signal until the processes are gone
    "restarting": "restarting",
    "paused": "paused",
    "exited": "exited",
    "stopped": "exited",
    "dead": "exited",
}


class Container(NamedTuple):
    """A container at one moment.

    ``state``: absent, created, running, restarting, paused, exited or unknown (``why``, and ``fix`` says what to do).
    ``restart_policy`` has the form ``on-failure:3``. ``started`` changes with each start. ``is_dead``: its removal
    failed; it is called exited, and cannot be started.
    ``health``: of its health check: starting, healthy, unhealthy or silent (it should have reported); None without one.
    ``binds``: paths of the host that it mounts.
    """

    state: str
    name: str = NAME
    id: Optional[str] = None
    runtime: Optional[str] = None
    image: Optional[str] = None
    uptime: Optional[float] = None
    exit_code: Optional[int] = None
    restart_policy: Optional[str] = None
    restart_count: int = 0
    auto_remove: bool = False
    manager: Optional[str] = None
    why: Optional[str] = None
    fix: Optional[str] = None
    health: Optional[str] = None
    health_output: Optional[str] = None
    is_dead: bool = False
    pid: Optional[int] = None
    image_id: Optional[str] = None
    labels: Optional[Dict[str, Any]] = None
    network_mode: Optional[str] = None
    published_ports: Tuple[int, ...] = ()
    binds: Tuple[str, ...] = ()
    is_stopping: bool = False
    started: Optional[str] = None

    def summary(self) -> Dict[str, Any]:
        """Return the fields that results and facts contain."""
        return {key: getattr(self, key) for key in self._fields[: self._fields.index("pid")]}


def find_container() -> Container:
    """Return the container ``slb``. A state that cannot be determined is ``unknown``, never ``absent``."""
    container = _find_once()
    if container.state == "exited" and container.restart_policy != "no":
        # Between two starts of a crash loop, Docker reports "exited" for a moment, Podman as long as it lasts.
        time.sleep(_INTERVAL)
        first, container = container, _find_once()
        if container.state == "exited" and container.id == first.id and _last_start(container) != _last_start(first):
            return container._replace(state="restarting")
    return _check_ended(container) if container.state == "exited" else container


def inspect(runtime: Optional[str], identity: str) -> Container:
    """Return the container with this id, whatever its name is. Other runtimes are asked if ``runtime`` is missing."""
    programs = runtimes.installed()
    asked = [runtime] if runtime in programs else programs
    answers = [_read_container(program, identity) for program in asked if program]
    for container in answers:
        if container.state not in ("absent", "unknown"):
            return container
    unknown = [container for container in answers if container.state == "unknown"]
    if not unknown and runtime not in [None, *programs]:
        why = f"the command {runtime} was not found"
        return Container("unknown", LEFTOVER, identity, runtime, why=why, fix=f"Install the command {runtime}.")
    return (unknown or answers or [Container("absent")])[0]


def find_leftovers() -> Dict[str, bool]:
    """Return the names of set-aside containers, each with whether it runs."""
    found: Dict[str, bool] = {}
    for runtime in runtimes.installed():
        listed = runtimes.run(runtime, "ps", "--all", "--format", "{{.Names}} {{.Status}}")
        for line in listed.stdout.splitlines() if listed.rc == 0 else []:
            names, _blank, status = line.strip().partition(" ")
            name = next((name for name in names.split(",") if name.startswith(LEFTOVER)), None)
            if name:
                found[name] = status.startswith("Up")
    return found


def list_ids() -> List[str]:
    """Return the ids of all containers on the host. Raises FleetError."""
    ids: List[str] = []
    for runtime in runtimes.installed():
        listed = runtimes.run(runtime, "ps", "--all", "--quiet", "--no-trunc")
        if listed.rc != 0:
            why, fix = f"{runtime} does not answer: {listed.words}", f"Repair {runtime} on the host, then run again."
            raise unknown_state(Container("unknown", why=why, fix=fix))
        ids += listed.stdout.split()
    return sorted(ids)


def unknown_state(container: Container) -> FleetError:
    """Return the error for a container whose state is unknown."""
    code = "permission_denied" if str(container.why).startswith("permission denied") else "container_state_unknown"
    return FleetError(code, f"State of container {container.name} unknown: {container.why}.", str(container.fix))


def find_manager(container: Container, ignored: Sequence[str] = ()) -> Optional[managers.Manager]:
    """Return what would create or start the container again, such as ``systemd unit x.service``.

    ``ignored``: files that the operator knows to be harmless.
    """
    label = managers.find_label(container.labels or {}, {})
    if label and container.runtime:
        # The image may be a copy of a container, with its labels.
        inspected = runtimes.run(container.runtime, "image", "inspect", str(container.image_id))
        with contextlib.suppress(ValueError, LookupError, TypeError):
            of_image = json.loads(inspected.stdout)[0]["Config"].get("Labels") or {}
            label = managers.find_label(container.labels or {}, of_image)
    return managers.find_manager(container.runtime, label, ignored)


def plan_set_aside(container: Container, purpose: str, stop_timeout: int) -> Dict[str, Any]:
    """Return what the record keeps of a container that is about to be set aside."""
    return {
        "id": container.id,
        "name": LEFTOVER + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
        "runtime": container.runtime,
        "restart_policy": container.restart_policy,
        "state": container.state,
        "stop_timeout": stop_timeout,
        "purpose": purpose,
    }


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
    leftover: Dict[str, Any],
    stop_timeout: int,
    check: Callable[[Container], None],
    remove: bool = False,
) -> Optional[str]:
    """Switch the restart policy off, stop and rename (or ``remove``) the container; return its name, None if gone.

    ``check`` raises FleetError if the container must not be changed any more. It is called directly before the stop and
    before the rename. A second call after an interruption continues.
    """
    container = _inspect_known(leftover)
    can_update = container.runtime != "podman" or _podman_version() >= (5, 1)
    if container.state != "absent" and not container.is_dead:
        # Before the stop: a runtime that cannot write, such as on a full disk, could not restore the container.
        _write_first(container, can_update)
        container = _inspect_known(leftover)
    check(container)
    if container.state == "paused":  # a frozen process does not get the stop signal
        _change(container, "unpause", is_done=lambda now: now.state != "paused")
    # A Podman that cannot change the policy may be between two starts of a crash loop.
    is_looping = not can_update and container.state == "exited" and container.restart_policy != "no"
    if container.state in LIVE or is_looping:
        _stop(container, stop_timeout, stays_down=not can_update)
    if container.state in LIVE and container.auto_remove:
        wait_for(lambda: inspect(container.runtime, str(container.id)).state == "absent", runtimes.ANSWER_SECONDS)
    container = _inspect_known(leftover)
    check(container)
    if container.state != "absent" and remove:
        remove_container(container)
    if container.state == "absent" or remove:
        return None
    if container.name == NAME:
        _change(container, "rename", target=leftover["name"], is_done=lambda now: now.name == leftover["name"])
        return str(leftover["name"])
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


def check_name_free(leftover: Dict[str, Any]) -> None:
    """Raise FleetError if another process takes the name ``slb`` or starts the leftover within 2 s."""
    taken: List[Container] = []

    def is_taken() -> bool:
        taken[:] = [container for container in [_find_once()] if container.state not in ("absent", "unknown")]
        return bool(taken)

    if not wait_for(is_taken, _CHECK_SECONDS, _INTERVAL):
        taken[:] = [
            container for container in [inspect(leftover["runtime"], leftover["id"])] if container.state in LIVE
        ]
    if taken:
        manager = find_manager(taken[0])
        by = manager.words if manager else "another process or user"
        raise FleetError(
            "container_recreated",
            f"Container {taken[0].name} ({str(taken[0].id)[:12]}) was started again by {by}.",
            manager.fix if manager else "Stop what starts it, then run again.",
        )


def find_other_holder(leftover: Optional[Dict[str, Any]]) -> Optional[Container]:
    """Return the container that has the name ``slb`` and keeps ``leftover`` from being restored. Raises FleetError."""
    holder = _find_once()
    if holder.state == "unknown":
        raise unknown_state(holder)
    if leftover is None or holder.state == "absent" or holder.id == leftover["id"]:
        return None
    return None if _inspect_known(leftover).state == "absent" else holder


def name_taken(leftover: Dict[str, Any], holder: Container) -> FleetError:
    """Return the error for a container that cannot be restored, because another container has the name ``slb``."""
    runtime = holder.runtime
    return FleetError(
        "name_taken",
        f"{leftover['name']} cannot be restored: container {str(holder.id)[:12]} ({holder.state}) has the name slb.",
        f"Rename or remove it (`{runtime} rename slb NEW-NAME`) and run again. If it is the engine that you want, "
        "run slb.fleet.engine_record with state=absent.",
    )


def wait_for_stop(leftover: Dict[str, Any], seconds: float) -> None:
    """Wait until the container is down, or until no stop can be pending."""
    wait_for(lambda: inspect(leftover["runtime"], leftover["id"]).state not in (*LIVE, "unknown"), seconds, _INTERVAL)


def move_back(leftover: Dict[str, Any]) -> bool:
    """Restore name, state and restart policy of the container; return whether something was changed.

    A container that does not start gets its leftover name again. Raises FleetError.
    """
    first = container = _inspect_known(leftover)
    if container.state == "absent":
        return False
    if container.is_stopping and leftover["state"] in LIVE:  # Podman starts no container before it has stopped
        _stop(container, 10)
        container = _inspect_known(leftover)
    if container.name != NAME:
        _change(container, "rename", target=NAME, is_done=lambda now: now.name == NAME)
    if leftover["state"] in LIVE and container.state not in LIVE and not container.is_dead:
        try:
            start(container, is_checked=leftover["state"] != "restarting")
        except FleetError as error:
            if error.values.get("is_unknown"):
                raise
            try:
                _change(container, "rename", target=leftover["name"], is_done=lambda now: now.name == leftover["name"])
            except FleetError as again:
                if again.values.get("is_unknown"):
                    raise
                raise partially_restored(NAME, error) from error  # such as on a full disk
            raise partially_restored(leftover["name"], error) from error
    try:
        _restore_details(container, leftover)
    except FleetError as error:
        raise partially_restored(NAME, error) from error
    # Each change was confirmed: a runtime that does not answer now does not take that back.
    now = inspect(leftover["runtime"], leftover["id"])
    return (now.name, now.state, now.restart_policy) != (first.name, first.state, first.restart_policy)


def _restore_details(container: Container, leftover: Dict[str, Any]) -> None:
    if container.state == "paused" and leftover["state"] in ("running", "restarting"):
        _change(container, "unpause", is_done=lambda now: now.state != "paused")
    if container.state != "paused" and leftover["state"] == "paused":
        _change(container, "pause", is_done=lambda now: now.state == "paused")
    if not container.is_dead:
        restore_policy(container, leftover["restart_policy"])


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
        cause=cause.code,
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
        now = inspect(container.runtime, str(container.id))
        ended[:] = [now] if now.state not in ("running", "paused", "unknown") else []
        return bool(ended)

    if is_checked and wait_for(has_ended, _CHECK_SECONDS, _INTERVAL):
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
        now = inspect(container.runtime, str(container.id))
        time.sleep(_INTERVAL)
        later = inspect(container.runtime, str(container.id))
        if is_down(now) and is_down(later) and _last_start(now) == _last_start(later):
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
        now = inspect(container.runtime, str(container.id))
        return now.state != "unknown" and is_done(now)

    if wait_for(is_carried_out, pending, _INTERVAL):
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


def _last_start(container: Container) -> Tuple[Optional[str], int]:
    return container.started, container.restart_count


def _inspect_known(leftover: Dict[str, Any]) -> Container:
    container = inspect(leftover["runtime"], leftover["id"])
    if container.state == "unknown":
        raise unknown_state(container)
    return container


def _find_once() -> Container:
    programs = runtimes.installed()
    answers = [_read_container(program, NAME) for program in programs]
    found = [container for container in answers if container.state not in ("absent", "unknown")]
    if any(container.id != found[0].id for container in found):
        why = "Docker and Podman both have a container slb"
        return Container("unknown", why=why, fix="Remove or rename one of the two containers.")
    unknown = [container for container in answers if container.state == "unknown"]
    if found or unknown:
        return (found or unknown)[0]
    try:
        obstacle = runtimes.find_unserved(programs) or runtimes.find_unlisted(list_ids)
    except FleetError as error:
        obstacle = runtimes.Obstacle(error.summary.rstrip("."), error.fix)
    if obstacle:
        return Container("unknown", runtime=programs[0] if programs else None, why=obstacle.why, fix=obstacle.fix)
    return (answers or [Container("absent")])[0]


def _check_ended(container: Container) -> Container:
    """Return the exited container; ``unknown`` if a process of it remains."""
    first = runtimes.find_processes_of(str(container.id))
    if wait_for(lambda: not first & runtimes.find_processes_of(str(container.id)), _END_SECONDS, _INTERVAL):
        return container
    pid = min(first & runtimes.find_processes_of(str(container.id)) or first)
    why = f"{container.runtime} reports {container.state}, but process {pid} of the container runs"
    fix = f"Check `ps -fp {pid}` on the host. Repair {container.runtime}, then run again."
    return container._replace(state="unknown", why=why, fix=fix)


def _read_container(runtime: str, name: str) -> Container:
    """Return the container with this name or id."""
    obstacle = runtimes.find_obstacle(runtime)
    if obstacle:
        return Container("unknown", name, runtime=runtime, why=obstacle.why, fix=obstacle.fix)
    why, fix = "", f"Check `{runtime} ps --all` on the host, then run again."
    for _attempt in range(_READS):
        inspected = runtimes.run(runtime, "container", "inspect", name)
        if inspected.rc == 0:
            container = _parse(runtime, name, inspected.stdout)
            if container.state not in LIVE or container.state == "restarting":
                return container
            obstacle = _find_halt(container) if container.state == "running" else None
            if _is_here(container) and not obstacle:
                return container
            why = f"{runtime} reports {container.state}, but its main process {container.pid} has ended"
            fix = f"Check the log of {runtime} on the host. Repair {runtime}, then run again."
            if runtime == "podman":
                fix = f"Run `podman stop --time 1 {name}` on the host, which corrects that state, then run again."
            why, fix = obstacle or (why, fix)
            continue
        if inspected.is_killed:
            why = f"`{runtime} container inspect {name}`: {inspected.words}"
            break
        # The words for "no such container" differ between versions, and so does what a filter finds; a list does not.
        listed = runtimes.run(runtime, "ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Names}}")
        if listed.rc != 0:
            why = f"{runtime} does not answer: {listed.words}"
            fix = next((own.format(runtime) for words, own in _SILENCE if re.search(words, listed.words)), fix)
            break
        # Docker adds the names that links give a container.
        if not any(name in re.split("[ ,]", line) for line in listed.stdout.splitlines()):
            return _check_absent(runtime, name)
        why = f"{runtime} lists it but cannot inspect it: {inspected.words}"
    return Container("unknown", name, runtime=runtime, why=why, fix=fix)


def _check_absent(runtime: str, name: str) -> Container:
    """Return the absent container, or ``unknown`` if Podman's storage has the name."""
    if runtime == "podman" and name == NAME:
        # Filters do not apply to containers of other programs. An old Podman does not know the option.
        listed = runtimes.run("podman", "ps", "--all", "--external", "--format", "{{.Names}} {{.Status}}")
        if listed.rc == 0 and f"{name} Storage" in listed.stdout.splitlines():
            why = "another program, such as buildah, uses its name in Podman's storage"
            return Container("unknown", name, runtime=runtime, why=why, fix="Run `podman rm slb` on the host.")
    return Container("absent", name, runtime=runtime)


def _parse(runtime: str, name: str, text: str) -> Container:
    try:
        item = json.loads(text)[0]
        state, host, config = item["State"], item["HostConfig"], item["Config"]
        policy, retries = host["RestartPolicy"]["Name"] or "no", host["RestartPolicy"].get("MaximumRetryCount") or 0
        # Of a container that is down, only the wish is known.
        bindings = (item.get("NetworkSettings") or {}).get("Ports") or host.get("PortBindings") or {}
        pid, known = state["Pid"] or None, _STATES.get(state["Status"])
        process = processes.find(pid) if known == "running" else None
        if not os.path.exists(item.get("StaticDir") or "/"):  # only Podman has the key
            why = f"its folder {item['StaticDir']} is not on this machine"
            return Container("unknown", name, runtime=runtime, why=why, fix=f"Let {runtime} use this machine.")
        uptime = max(0.0, clock.uptime() - process.began) if process else None
        health, output = _parse_health(item, runtime, uptime)
        return Container(
            state=known or "unknown",
            name=str(item.get("Name") or name).lstrip("/"),
            id=str(item["Id"]),
            runtime=runtime,
            image=config["Image"],
            uptime=uptime,
            exit_code=state["ExitCode"],
            restart_policy=f"{policy}:{retries}" if retries else policy,
            restart_count=item.get("RestartCount") or 0,
            auto_remove=host.get("AutoRemove") is True,
            manager=" ".join(managers.find_label(config.get("Labels") or {}, {}) or ()) or None,
            why=None if known else f"{runtime} reports the state {state['Status']}",
            fix=None if known else f"Check `{runtime} ps --all`; `{runtime} rm --force {name}` removes the container.",
            health=health,
            health_output=output,
            pid=pid,
            image_id=item.get("Image"),
            labels=config.get("Labels") or {},
            network_mode=host["NetworkMode"],
            published_ports=_parse_ports(bindings),
            binds=tuple(mount["Source"] for mount in item.get("Mounts") or [] if mount.get("Type") == "bind"),
            is_stopping=state["Status"] == "stopping",
            is_dead=state["Status"] == "dead",
            started=state["StartedAt"],
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"the output of `{runtime} container inspect` has an unknown form: {error!r}"
        return Container("unknown", name, runtime=runtime, why=why, fix=f"Check `{runtime} inspect {name}`.")


def _parse_ports(bindings: Dict[str, Any]) -> Tuple[int, ...]:
    """Return the TCP ports of the host that lead to the container."""
    found = [port["HostPort"] for name, ports in bindings.items() if name.endswith("/tcp") for port in ports or []]
    return tuple(int(text) for text in found if text.isdigit())


def _parse_health(item: Dict[str, Any], runtime: str, uptime: Optional[float]) -> Tuple[Optional[str], Optional[str]]:
    """Return the state of the health check, and the last line that it printed when it decided."""
    state = item["State"]
    container = state.get("Health") or state.get("Healthcheck") or {}  # the second key: Podman before 4.0
    status, check = container.get("Status"), item["Config"].get("Healthcheck") or {}
    if uptime is None or status not in ("starting", "healthy", "unhealthy"):  # Podman 4.3 has an empty text for none
        return None, None
    # After a restart, the log still has the checks of the run before until the status is decided.
    log = container.get("Log") or [] if status != "starting" else []
    lines = str(log[-1].get("Output")).strip().splitlines() if log else []
    defaults = {"Interval": 30, "Timeout": 30, "StartPeriod": 0}
    each = {key: (check.get(key) or 0) / 1e9 or default for key, default in defaults.items()}
    longest = each["StartPeriod"] + ((check.get("Retries") or 3) + 1) * (each["Interval"] + each["Timeout"])
    # Without an interval, Podman never runs the check.
    if status == "starting" and (uptime > longest or (runtime == "podman" and not check.get("Interval"))):
        status = "silent"
    return status, lines[-1][:200] if lines else None


def _is_here(container: Container) -> bool:
    """Return whether the main process exists on this machine and belongs to the container."""
    process = processes.find(container.pid)
    if process is None or container.id is None:
        return False
    # The runtimes name control groups after the id. With --cgroups=disabled, the parent (conmon, shim) has the id.
    return container.id in processes.read(container.pid, "cgroup") or container.id in processes.read(
        process.parent, "cmdline"
    )


def _find_halt(container: Container) -> Optional[runtimes.Obstacle]:
    """Return why a running container does nothing: its main process is stopped, or its control group is frozen."""
    process = processes.find(container.pid)
    if process and process.state == "T":
        why = f"{container.runtime} reports running, but its main process {container.pid} is stopped"
        return runtimes.Obstacle(why, f"Run `kill -CONT {container.pid}` on the host, then run again.")
    freezer = processes.find_freezer(container.pid)
    if freezer:
        word, file = ("THAWED", freezer) if freezer.endswith(".state") else ("0", freezer.replace(".events", ".freeze"))
        why = f"{container.runtime} reports running, but its control group is frozen"
        return runtimes.Obstacle(why, f"Run `echo {word} > {shlex.quote(file)}` on the host, then run again.")
    return None


def _podman_version() -> Tuple[int, int]:
    match = re.search(r"(\d+)\.(\d+)", runtimes.run("podman", "--version").stdout)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)
