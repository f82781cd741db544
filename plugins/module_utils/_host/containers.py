# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container runtime of the engine host, through its command line: Docker's or Podman's."""

import calendar
import json
import os
import re
import time
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import commands

ENGINE = "slb"
"""The name of the engine's container, from the interface document."""

_PROGRAMS = ("docker", "podman")
_SOCKETS = ("/run/docker.sock", "/var/run/docker.sock")
_ANSWER_SECONDS = 30
# A container that is made between the two questions of a look is listed, and was not there to be inspected.
_LOOKS = 3

# What the runtimes call a state, and what we call it. Anything else is "unknown".
_STATES = {
    "created": "created",
    "configured": "created",
    "initialized": "created",
    "running": "running",
    "restarting": "restarting",
    "paused": "paused",
    "exited": "exited",
    "stopped": "exited",
    "dead": "exited",
}


class Container(NamedTuple):
    """One look at a container. ``state``: absent, created, running, restarting, paused, exited or unknown.

    Times are seconds since the epoch by the host's clock; ``why`` says why a state is unknown.
    """

    state: str
    name: str = ENGINE
    runtime: Optional[str] = None
    id: Optional[str] = None
    image: Optional[str] = None
    started_at: Optional[float] = None
    exit_code: Optional[int] = None
    restart_policy: Optional[str] = None
    restart_count: int = 0
    pid: Optional[int] = None
    network_mode: Optional[str] = None
    published_ports: List[int] = []
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
            "why",
        )
        return {key: getattr(self, key) for key in shown}


def look(name: str = ENGINE) -> Container:
    """Looks at the container ``name``. Never raises: what cannot be found out is the state ``unknown``."""
    programs = [program for program in _PROGRAMS if commands.find(program)]
    if not programs:
        if any(os.path.exists(socket) for socket in _SOCKETS):
            return Container("unknown", name, why="a Docker daemon's socket is there, but no docker command")
        return Container("absent", name)
    seen = [_look_with(program, name) for program in programs]
    found = [container for container in seen if container.state not in ("absent", "unknown")]
    if len({container.id for container in found}) > 1:
        return Container("unknown", name, why="Docker and Podman both have a container of this name")
    undecided = [container for container in seen if container.state == "unknown"]
    return (found or undecided or seen)[0]


def _look_with(program: str, name: str) -> Container:
    why = ""
    for _look in range(_LOOKS):
        try:
            inspected = commands.run([program, "container", "inspect", name], _ANSWER_SECONDS)
            if inspected.rc == 0:
                return _parse(program, name, inspected.stdout)
            # The words for "no such container" differ from version to version; an empty list does not.
            listed = commands.run(
                [program, "ps", "--all", "--quiet", "--filter", "name=^/?{}$".format(name)], _ANSWER_SECONDS
            )
        except HostError as error:
            return Container("unknown", name, program, why=error.what)
        if listed.rc != 0:
            return Container("unknown", name, program, why="{} does not answer: {}".format(program, listed.words))
        if not listed.stdout.strip():
            return Container("absent", name, program)
        why = "{} lists it but cannot inspect it: {}".format(program, inspected.words)
    return Container("unknown", name, program, why=why)


def _parse(program: str, name: str, text: str) -> Container:
    try:
        item = json.loads(text)[0]
        state = item["State"]
        host_config = item["HostConfig"]
        known = _STATES.get(state["Status"])
        return Container(
            state=known or "unknown",
            name=name,
            runtime=program,
            id=item["Id"],
            image=item["Config"]["Image"],
            started_at=parse_time(state["StartedAt"]),
            exit_code=state["ExitCode"],
            restart_policy=host_config["RestartPolicy"]["Name"] or "no",
            restart_count=item.get("RestartCount", 0),
            pid=state["Pid"] or None,
            network_mode=host_config["NetworkMode"],
            published_ports=_published_ports(item),
            why=None if known else "{} calls its state {}".format(program, state["Status"]),
        )
    except (ValueError, LookupError, TypeError) as error:
        return Container(
            "unknown", name, program, why="{} describes it in an unknown form: {!r}".format(program, error)
        )


def _published_ports(item: Dict[str, Any]) -> List[int]:
    bindings = (item.get("NetworkSettings") or {}).get("Ports") or {}
    return sorted({int(binding["HostPort"]) for bound in bindings.values() for binding in bound or []})


def parse_time(text: str) -> Optional[float]:
    """The runtime's time stamp in seconds since the epoch; None for "never", written as the year 1."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)? ?(Z|[+-]\d\d:?\d\d)?", text)
    if match is None:
        raise ValueError("not a time: {!r}".format(text))
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
    try:
        with open("/proc/{}/stat".format(container.pid)) as stream:
            # The second field is the program's name, in brackets, and may hold anything.
            began = int(stream.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        with open("/proc/uptime") as stream:
            return max(0.0, float(stream.read().split()[0]) - began)
    except OSError:
        return max(0.0, time.time() - container.started_at)


def take_aside(container: Container, stop_seconds: int, remove: bool) -> Optional[str]:
    """Takes a container out of the way: restart policy off, stopped, renamed; deleted only on ``remove``.

    Returns its new name, or None where it was removed. It may be called again after a kill at any moment.
    """
    program = str(container.runtime)
    identity = str(container.id)
    _switch_restarts_off(program, container)
    if container.state == "paused":
        # A frozen process cannot take the stop signal; Docker refuses or waits out the whole grace period.
        commands.check([program, "unpause", identity], _ANSWER_SECONDS)
    if container.state != "created":
        commands.check([program, "stop", "-t", str(stop_seconds), identity], stop_seconds + _ANSWER_SECONDS)
    if remove:
        commands.check([program, "rm", identity], _ANSWER_SECONDS)
        return None
    new_name = _free_name(
        program, "{}-leftover-{}".format(container.name, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
    )
    commands.check([program, "rename", identity, new_name], _ANSWER_SECONDS)
    return new_name


def _switch_restarts_off(program: str, container: Container) -> None:
    if container.restart_policy == "no":
        return
    completed = commands.run([program, "update", "--restart=no", str(container.id)], _ANSWER_SECONDS)
    # Podman before 5.1 cannot change the policy, which brings a container back at most at the next boot.
    if completed.rc != 0 and program == "docker":
        raise HostError(
            "The restart policy of the container {} could not be switched off: {}.".format(
                container.name, completed.words
            ),
            "Nothing was stopped. Run `docker update --restart=no {}` on the host to see why.".format(container.name),
        )


def _free_name(program: str, wanted: str) -> str:
    name, number = wanted, 1
    while _look_with(program, name).state != "absent":
        number += 1
        name = "{}-{}".format(wanted, number)
    return name
