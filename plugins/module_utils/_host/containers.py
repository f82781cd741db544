# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container runtime of the engine host, through its command line: Docker's or Podman's."""

import calendar
import contextlib
import json
import os
import re
import time
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, commands, processes

ENGINE = "slb"
"""The name of the engine's container, from the interface document."""

PROGRAMS = ("docker", "podman")
# Of those that have a daemon: where it is, a container may be, also where the command to look at it is not installed.
_SOCKETS = {"docker": ("/run/docker.sock", "/var/run/docker.sock")}
_ANSWER_SECONDS = 20
_MOMENT_SECONDS = 0.5
# A container that is made between the two questions of a look is listed, and was not there to be inspected.
_LOOKS = 3
# Why a state is unknown, where the runtime answers: what there is to be done is another matter then.
_TWO = "both have a container of this name"
_IN_STORAGE = "Podman's storage holds the name for what is no container of Podman's, such as one of buildah's"
_OTHER_STATE = "calls its state"
# A command that is a script, and hands what it was given to Podman.
_TO_PODMAN = re.compile(rb"#!.*^[^#\n]*\bpodman\b[^\n]*\$\{?[@*]", re.DOTALL | re.MULTILINE)
_LONGEST_SCRIPT = 4096

# What the runtimes call a state, and what we call it. Anything else is "unknown".
_STATES = {
    "created": "created",
    "configured": "created",
    "initialized": "created",
    "running": "running",
    # Podman alone says it: from the stop signal on until its processes are gone; for ever, where the stop was killed.
    "stopping": "running",
    "restarting": "restarting",
    "paused": "paused",
    "exited": "exited",
    "stopped": "exited",
    "dead": "exited",
}


class Container(NamedTuple):
    """One look at a container. ``state``: absent, created, running, restarting, paused, exited or unknown.

    Times are seconds since the epoch by the host's clock; ``why`` says why a state is unknown. ``stopping``: it runs,
    and was told to stop. ``systemd_unit``: the one that makes it, as a Quadlet's, and makes it anew when it is gone.
    """

    state: str
    name: str = ENGINE
    runtime: Optional[str] = None
    id: Optional[str] = None
    image: Optional[str] = None
    started_at: Optional[float] = None
    exit_code: Optional[int] = None
    restart_policy: Optional[str] = None
    restart_retries: int = 0
    restart_count: int = 0
    auto_remove: bool = False
    systemd_unit: Optional[str] = None
    pid: Optional[int] = None
    network_mode: Optional[str] = None
    published_ports: List[int] = []
    stopping: bool = False
    why: Optional[str] = None

    def summary(self) -> Dict[str, Any]:
        """What results and diffs show of it."""
        shown = (
            "state",
            "name",
            "runtime",
            "id",
            "image",
            "started_at",
            "exit_code",
            "restart_policy",
            "restart_count",
            "auto_remove",
            "systemd_unit",
            "why",
        )
        return {key: getattr(self, key) for key in shown}

    @property
    def program(self) -> str:
        """What a person types on the host; Docker's command where the host has none of them."""
        return self.runtime or PROGRAMS[0]

    @property
    def whole_restart_policy(self) -> str:
        """As the runtimes' command lines take it: a limit of restarts belongs to it."""
        policy = self.restart_policy or "no"
        return f"{policy}:{self.restart_retries}" if self.restart_retries else policy


def look(name: str = ENGINE) -> Container:
    """Return the container ``name``. Never raises: a state that cannot be found out is ``unknown``."""
    seen = _look_once(name)
    if seen.state == "exited" and seen.restart_policy not in (None, "", "no"):
        # Docker calls a container in a crash loop exited for a moment between two starts.
        time.sleep(_MOMENT_SECONDS)
        return _look_once(name)
    return seen


def _look_once(name: str) -> Container:
    programs = installed()
    if not programs:
        unseen = next((program for program in PROGRAMS if _sockets(program)), None)
        if unseen is None:
            return Container("absent", name)
        why = f"a {unseen.capitalize()} daemon's socket is there, but no {unseen} command"
        return Container("unknown", name, why=why)
    seen = [_or_in_storage(_as_this_user(_look_with(program, name))) for program in programs]
    found = [container for container in seen if container.state not in ("absent", "unknown")]
    others = [container for container in found if container.id != found[0].id]
    if others:
        two = " and ".join(str(container.runtime).capitalize() for container in (found[0], others[0]))
        return Container("unknown", name, why=f"{two} {_TWO}")
    undecided = [container for container in seen if container.state == "unknown"]
    return (found or undecided or seen)[0]


def what_to_do(why: str, program: str) -> str:
    """What there is to be done where a container's state is unknown for the reason ``why``."""
    if _TWO in why:
        return "Remove or rename one of the two, then run again."
    if _IN_STORAGE in why:
        return f"Remove it on the host (`{program} rm {ENGINE}`), then run again."
    if _OTHER_STATE in why:
        look, force = f"{program} ps --all", f"{program} rm --force {ENGINE}"
        return f"See on the host what becomes of it (`{look}`), or end it (`{force}`), then run again."
    return "Bring the container runtime on the host back, then run again."


def installed() -> List[str]:
    """The runtimes whose commands the host has. A ``docker`` that is Podman's, as of podman-docker, is Podman."""
    found = [program for program in PROGRAMS if commands.find(program)]
    if {"docker", "podman"} <= set(found) and _is_podmans(str(commands.find("docker"))):
        found.remove("docker")
    return found


def _is_podmans(path: str) -> bool:
    """Told from the file: to ask the command would take as long as a look."""
    if os.path.basename(os.path.realpath(path)).startswith("podman"):
        return True
    try:
        with open(path, "rb") as stream:
            return _TO_PODMAN.match(stream.read(_LONGEST_SCRIPT)) is not None
    except OSError:
        return False


def inspect(program: str, identity: str) -> Container:
    """Looks at the container with this id, whatever its name is now. Never raises, as ``look``.

    With another runtime where the host does not have ``program`` any more, as where podman-docker was removed.
    """
    there = installed()
    if program not in there:
        for other in there:
            seen = _look_with(other, identity, f"id={identity}")
            if seen.state not in ("absent", "unknown"):
                return seen
    return _look_with(program, identity, f"id={identity}")


def names(beginning: str, running: bool = False) -> List[str]:
    """Of all containers, or those that run, whose names begin so; of every runtime that answers."""
    found: List[str] = []
    which = [] if running else ["--all"]
    for program in installed():
        with contextlib.suppress(HostError):
            listed = ask(program, "ps", *which, "--filter", f"name=^/?{beginning}", "--format", "{{.Names}}")
            found += listed.stdout.split() if listed.rc == 0 else []
    return sorted(found)


def free_name(program: str, wanted: str) -> str:
    """``wanted``, with a number behind it where another container has that name. Raises HostError if unknown."""
    name, number = wanted, 1
    while True:
        seen = _look_with(program, name)
        if seen.state == "absent":
            return name
        if seen.id is None:
            raise HostError(
                f"Whether a container has the name {name} is unknown: {seen.why}.",
                "Bring the container runtime back, then run again.",
            )
        number += 1
        name = f"{wanted}-{number}"


def ask(program: str, *arguments: str, seconds: float = 0) -> commands.Completed:
    """Runs the runtime's command line, which may take ``seconds`` more than for an answer. Raises CommandError."""
    return commands.run([program, *arguments], _ANSWER_SECONDS + seconds)


def tell(program: str, *arguments: str, seconds: float = 0) -> None:
    """As ``ask``, but an exit status other than 0 is a CommandError."""
    commands.check([program, *arguments], _ANSWER_SECONDS + seconds)


def _look_with(program: str, name: str, selection: Optional[str] = None) -> Container:
    selection = selection or f"name=^/?{name}$"
    why = ""
    for _look in range(_LOOKS):
        try:
            inspected = ask(program, "container", "inspect", name)
            if inspected.rc == 0:
                return _parse(program, name, inspected.stdout)
            # The words for "no such container" differ from version to version; an empty list does not.
            listed = ask(program, "ps", "--all", "--quiet", "--filter", selection)
        except HostError as error:
            # It becomes a part of a sentence.
            return Container("unknown", name, program, why=error.what.rstrip("."))
        if listed.rc != 0:
            return Container("unknown", name, program, why=f"{program} does not answer: {listed.words}")
        if not listed.stdout.strip():
            return Container("absent", name, program)
        why = f"{program} lists it but cannot inspect it: {inspected.words}"
    return Container("unknown", name, program, why=why)


def _or_in_storage(seen: Container) -> Container:
    """What was seen; where Podman has nothing, the name may be taken all the same, and no install succeeds."""
    if seen.runtime != "podman" or seen.state != "absent":
        return seen
    with contextlib.suppress(HostError):
        # Filters do not hold for these.
        listed = ask("podman", "ps", "--all", "--external", "--format", "{{.Names}} {{.Status}}")
        if listed.rc == 0 and f"{seen.name} Storage" in listed.stdout.splitlines():
            return seen._replace(state="unknown", why=_IN_STORAGE)
    return seen


def _as_this_user(seen: Container) -> Container:
    """What was seen, and where that is only because this user is not root: said clearly, at the beginning."""
    if os.geteuid() == 0:
        return seen
    if seen.runtime == "podman" and seen.state == "absent":
        return seen._replace(
            state="unknown",
            why="permission denied: without root, podman shows a user's own containers, and not those of root",
        )
    if seen.state == "unknown" and ("permission denied" in str(seen.why).lower() or _is_closed(str(seen.runtime))):
        return seen._replace(why=f"permission denied to this user, who is not root: {seen.why}")
    return seen


def _sockets(program: str) -> List[str]:
    return [socket for socket in _SOCKETS.get(program, ()) if os.path.exists(socket)]


def _is_closed(program: str) -> bool:
    there = _sockets(program)
    return bool(there) and not any(os.access(socket, os.R_OK | os.W_OK) for socket in there)


def _parse(program: str, name: str, text: str) -> Container:
    try:
        item = json.loads(text)[0]
        state = item["State"]
        host_config = item["HostConfig"]
        known = _STATES.get(state["Status"])
        return Container(
            state=known or "unknown",
            name=str(item.get("Name") or name).lstrip("/"),
            runtime=program,
            id=item["Id"],
            image=item["Config"]["Image"],
            started_at=parse_time(state["StartedAt"]),
            exit_code=state["ExitCode"],
            restart_policy=host_config["RestartPolicy"]["Name"] or "no",
            restart_retries=host_config["RestartPolicy"].get("MaximumRetryCount") or 0,
            restart_count=item.get("RestartCount", 0),
            auto_remove=host_config.get("AutoRemove") is True,
            systemd_unit=_systemd_unit(item["Config"].get("Labels") or {}),
            pid=state["Pid"] or None,
            network_mode=host_config["NetworkMode"],
            published_ports=_published_ports(item),
            stopping=state["Status"] == "stopping",
            why=None if known else f"{program} {_OTHER_STATE} {state['Status']}",
        )
    except (ValueError, LookupError, TypeError) as error:
        return Container("unknown", name, program, why=f"{program} describes it in an unknown form: {error!r}")


def _systemd_unit(labels: Dict[str, Any]) -> Optional[str]:
    # Podman writes it there where it was called by a unit that says so, as those do that Podman makes.
    unit = labels.get("PODMAN_SYSTEMD_UNIT")
    return unit if isinstance(unit, str) and re.match(r"[A-Za-z0-9:_.@\\-]{1,256}\Z", unit) else None


def _published_ports(item: Dict[str, Any]) -> List[int]:
    bindings = (item.get("NetworkSettings") or {}).get("Ports") or {}
    return sorted({int(binding["HostPort"]) for bound in bindings.values() for binding in bound or []})


def parse_time(text: str) -> Optional[float]:
    """The runtime's time stamp in seconds since the epoch; None for "never", written as the year 1."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)? ?(Z|[+-]\d\d:?\d\d)?", text)
    if match is None:
        raise ValueError(f"not a time: {text!r}")
    if match.group(1) == "0001":
        return None
    fields = [int(field) for field in match.groups()[:6]]
    offset = 0
    if match.group(8) not in (None, "Z"):
        sign, digits = match.group(8)[0], match.group(8)[1:].replace(":", "")
        offset = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        offset = -offset if sign == "-" else offset
    return calendar.timegm(tuple(fields)) - offset + float(match.group(7) or 0)


def uptime(container: Container) -> Optional[float]:
    """For how many seconds it has been running; None where it does not run.

    By the kernel's clock, which nobody sets, wherever its process can be seen.
    """
    if container.state != "running" or container.started_at is None:
        return None
    process = processes.look(container.pid)
    if process is None:
        return max(0.0, time.time() - container.started_at)
    return max(0.0, clock.uptime() - process.began)
