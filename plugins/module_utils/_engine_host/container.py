# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container ``slb`` of this machine, as the command lines of Docker and of root's Podman show it."""

import contextlib
import json
import os
import re
import shlex
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import managers, runtimes
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

NAME = runtimes.NAME
LEFTOVER = NAME + "-leftover-"
RUNTIMES = runtimes.RUNTIMES
LIVE = ("running", "restarting", "paused")
"""States in which the processes of a container exist, or the runtime starts them soon."""

_END_SECONDS = 4.0  # for the last process of a container that has ended; a conmon runs a command before it ends
INTERVAL = 0.5
_READS = 3  # a container created between `inspect` and `ps` is listed but was not inspected

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
    ``paths``: of the host, that it mounts or uses as devices. ``published_ports``: TCP ports of the host that lead to
    it. ``published_on``: addresses of its ports. ``joins``: containers whose namespaces it uses, and that Docker does
    not start with it, as Podman does.
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
    published_ports: Tuple[int, ...] = ()
    published_on: Tuple[str, ...] = ()
    paths: Tuple[str, ...] = ()
    joins: Tuple[str, ...] = ()
    is_stopping: bool = False
    started: Optional[str] = None

    def summary(self) -> Dict[str, Any]:
        """Return the fields that results and facts contain."""
        return {key: getattr(self, key) for key in self._fields[: self._fields.index("pid")]}


def find_container() -> Container:
    """Return the container ``slb``. A state that cannot be determined is ``unknown``, never ``absent``."""
    container = find_once()
    if container.state == "exited" and container.restart_policy != "no":
        # Between two starts of a crash loop, Docker reports "exited" for a moment, Podman as long as it lasts.
        time.sleep(INTERVAL)
        first, container = container, find_once()
        if container.state == "exited" and container.id == first.id and last_start(container) != last_start(first):
            return container._replace(state="restarting")
    return _check_ended(container) if container.state == "exited" else container


def inspect(runtime: Optional[str], identity: str) -> Container:
    """Return the container with this id, whatever its name is. Other runtimes are asked if ``runtime`` is missing."""
    programs = runtimes.installed()
    candidates = [runtime] if runtime in programs else programs
    answers = [_read_container(program, identity) for program in candidates if program]
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
    leftovers: Dict[str, bool] = {}
    for runtime in runtimes.installed():
        for line in _list(runtime, "--format", "{{.Names}} {{.Status}}"):
            names, _blank, status = line.strip().partition(" ")
            name = next((name for name in names.split(",") if name.startswith(LEFTOVER)), None)
            if name:
                leftovers[name] = status.startswith("Up")
    return leftovers


def check_storage(container: Container, programs: Sequence[str]) -> Container:
    """Return the container; an absent one is unknown if a runtime does not see the disk with its containers."""
    obstacle = runtimes.find_empty_storage(programs) if container.state == "absent" else None
    return container._replace(state="unknown", why=obstacle.why, fix=obstacle.fix) if obstacle else container


def list_ids() -> List[str]:
    """Return the ids of all containers on the host. Raises FleetError."""
    return sorted(line for runtime in runtimes.installed() for line in _list(runtime, "--quiet", "--no-trunc"))


def _list(runtime: str, *options: str) -> List[str]:
    """Return a line for each container of the runtime. Raises FleetError."""
    listed = runtimes.run(runtime, "ps", "--all", *options)
    if listed.rc != 0:
        why, fix = f"{runtime} does not answer: {listed.words}", f"Repair {runtime} on the host, then run again."
        known(Container("unknown", why=why, fix=fix))
    return [line.strip() for line in listed.stdout.splitlines() if line.strip()]


def known(container: Container) -> Container:
    """Return the container. Raises FleetError if its state is unknown."""
    if container.state != "unknown":
        return container
    code = "permission_denied" if str(container.why).startswith("permission denied") else "container_state_unknown"
    raise FleetError(code, f"State of container {container.name} unknown: {container.why}.", str(container.fix))


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


def last_start(container: Container) -> Tuple[Optional[str], int]:
    return container.started, container.restart_count


def find_once() -> Container:
    programs = runtimes.installed()
    answers = [_read_container(program, NAME) for program in programs]
    containers = [container for container in answers if container.state not in ("absent", "unknown")]
    if any(container.id != containers[0].id for container in containers):
        why = "Docker and Podman both have a container slb"
        return Container("unknown", why=why, fix="Remove or rename one of the two containers.")
    unknown = [container for container in answers if container.state == "unknown"]
    if containers or unknown:
        return (containers or unknown)[0]
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
    if wait_for(lambda: not first & runtimes.find_processes_of(str(container.id)), _END_SECONDS, INTERVAL):
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
    start: Optional[Tuple[Optional[str], int]] = None
    for _attempt in range(_READS):
        inspected = runtimes.run(runtime, "container", "inspect", name)
        if inspected.rc == 0:
            container = _parse(runtime, name, inspected.stdout)
            if container.state not in LIVE or container.state == "restarting":
                return container
            obstacle = _find_absence(container)
            if obstacle is None:
                return container
            if start not in (None, last_start(container)):  # each reading finds another process that has ended
                return container._replace(state="restarting")
            start, (why, fix) = last_start(container), obstacle
            continue
        if inspected.is_killed:
            why = f"`{runtime} container inspect {name}`: {inspected.words}"
            break
        # The words for "no such container" differ between versions, and so does what a filter finds; a list does not.
        listed = runtimes.run(runtime, "ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Names}}")
        if listed.rc != 0:
            why = f"{runtime} does not answer: {listed.words}"
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
            **_parse_needs(item, bindings, runtime),
            is_stopping=state["Status"] == "stopping",
            is_dead=state["Status"] == "dead",
            started=state["StartedAt"],
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"the output of `{runtime} container inspect` has an unknown form: {error!r}"
        return Container("unknown", name, runtime=runtime, why=why, fix=f"Check `{runtime} inspect {name}`.")


def _parse_needs(item: Dict[str, Any], bindings: Dict[str, Any], runtime: str) -> Dict[str, Any]:
    """Return what a start needs of the host: ``paths``, ``published_ports``, ``published_on`` and ``joins``."""
    host = item["HostConfig"]
    sources = [mount["Source"] for mount in item.get("Mounts") or [] if mount.get("Type") == "bind"]
    devices = [str(device.get("PathOnHost")) for device in host.get("Devices") or []]
    addresses = {str(port.get("HostIp") or "") for ports in bindings.values() for port in ports or []}
    tcp_ports = [port["HostPort"] for name, ports in bindings.items() if name.endswith("/tcp") for port in ports or []]
    modes = [str(host.get(each)).partition("container:") for each in ("NetworkMode", "PidMode", "IpcMode")]
    return {
        "paths": (*sources, *(device for device in devices if device.startswith("/"))),
        "published_on": tuple(sorted(addresses - {""})),
        "published_ports": tuple(int(text) for text in tcp_ports if text.isdigit()),
        "joins": tuple(other for kind, _colon, other in modes if other and not kind and runtime == "docker"),
    }


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


def _find_absence(container: Container) -> Optional[runtimes.Obstacle]:
    """Return why a container that its runtime calls live does nothing on this machine; None if it does."""
    obstacle = _find_halt(container) if container.state == "running" else None
    if obstacle or _is_here(container):
        return obstacle
    why = f"{container.runtime} reports {container.state}, but its main process {container.pid} has ended"
    fix = f"Check the log of {container.runtime} on the host. Repair {container.runtime}, then run again."
    if container.runtime == "podman":
        fix = f"Run `podman stop --time 1 {container.name}` on the host, which corrects that state, then run again."
    return runtimes.Obstacle(why, fix)


def _is_here(container: Container) -> bool:
    """Return whether the main process exists on this machine and belongs to the container."""
    process = processes.find(container.pid)
    if process is None or container.id is None or processes.has_ended(process):
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
