# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would create or start the container again: its labels, the process that runs it, files that mention it."""

import contextlib
import os
import re
from shlex import quote
from typing import Any, Collection, Dict, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import mentions, runtimes
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes

_LABELS = (
    ("PODMAN_SYSTEMD_UNIT", "systemd unit", ""),
    ("com.docker.compose.config-hash", "compose project", "com.docker.compose.project"),
    ("com.docker.compose.container-number", "compose project", "com.docker.compose.project"),
    ("io.podman.compose.config-hash", "compose project", "io.podman.compose.project"),
    ("com.docker.swarm.task.id", "swarm service", "com.docker.swarm.service.name"),
    ("io.kubernetes.pod.uid", "Kubernetes pod", "io.kubernetes.pod.name"),
    ("com.hashicorp.nomad.alloc_id", "Nomad allocation", ""),
    ("com.amazonaws.ecs.task-arn", "ECS task", ""),
)
"""Labels of an instance, and the label that names its manager. Those of a project may come from the image."""
_FIXES = {
    "compose project": "Remove its service from the compose project",
    "swarm service": "Run `docker service rm {}` on a manager of the swarm",
    "Kubernetes pod": "Delete the controller of the pod in Kubernetes",
    "Nomad allocation": "Stop the job that `nomad alloc status {}` shows",
    "ECS task": "Stop the service of the task in ECS",
}
_SHARED_UNITS = ("containerd", "cron", "crond", "atd", "dbus", "docker", "podman", "ssh", "sshd", "NetworkManager")
"""Units that a host needs for more than the container."""
_SYSTEMCTL_SECONDS = 8
_HARMLESS = "If it never starts slb, add its file to slb_ignored_starters."
_ABOVE = ("TriggeredBy", "WantedBy", "RequiredBy", "BoundBy", "OnFailureOf")
_TRIGGERS = (".timer", ".path", ".socket")
_PROPERTIES = ",".join(("Id", "ActiveState", "UnitFileState", "FragmentPath", "SourcePath", "DropInPaths", *_ABOVE))


class Manager(NamedTuple):
    """``words``: such as ``systemd unit x.service (/etc/x.service:5)``. ``fix``: what keeps it from starting slb."""

    words: str
    fix: str


def find_label(labels: Dict[str, Any], of_image: Dict[str, Any]) -> Optional[Tuple[str, str]]:
    """Return kind and name of the manager that made this instance. A label with the image's value says nothing."""
    for key, kind, name in _LABELS:
        if isinstance(labels.get(key), str) and of_image.get(key) != labels[key]:
            return kind, re.sub(r"[^A-Za-z0-9:_.@/-]", "?", str(labels.get(name) or labels[key]))[:100]
    return None


def find_manager(
    runtime: Optional[str], label: Optional[Tuple[str, str]], ignored: Collection[str] = ()
) -> Optional[Manager]:
    """Return what would create or start ``slb`` again. ``label``: of ``find_label``. ``ignored``: harmless files."""
    ignored = {os.path.normpath(path) for path in ignored}
    if label and label[0] != "systemd unit":
        # A manager that is gone, or that finds its containers by another name, leaves the container and its labels.
        fix = f"{_FIXES[label[0]].format(quote(label[1]))}. If slb remains, run `{runtime} rm --force slb`."
        return Manager(" ".join(label), f"{fix} Then run again.")
    of_label = _judge_unit(label[1], "", "") if label else None
    if of_label:
        return of_label
    # A unit of many commands, such as cron.service, runs what a line of a file names: first the files.
    for place, path, kind, command in mentions.find_in_files(ignored):
        return Manager(f"{kind} ({place})", _remove(place, command.format(folder=quote(os.path.dirname(path)))))
    for place, path, file, names in mentions.find_in_units(ignored):
        if file.endswith(".container"):
            unit = os.path.splitext(os.path.basename(file))[0] + ".service"
            return Manager(f"systemd unit {unit} ({place})", _stop(unit, [], file))
        for name in sorted(names):
            judged = _judge_unit(name, path, place)
            if judged:
                return judged
    return _find_process()


def _find_process() -> Optional[Manager]:
    """Return the unit whose command of the runtime runs the container in the foreground."""
    for pid in processes.pids():
        words = processes.read(pid, "cmdline").split("\0")
        is_start = os.path.basename(words[0]) in runtimes.RUNTIMES and {"run", "start"} & set(words)
        unit = re.search(r"([^/\n]+\.service)$", processes.read(pid, "cgroup"), re.MULTILINE) if is_start else None
        if unit and {runtimes.NAME, f"--name={runtimes.NAME}"} & set(words) and runtimes.is_witness(pid):
            fix = f"Find what runs it: `systemctl status {pid}` on the host. Remove it there, then run again."
            return Manager(f"systemd unit {_shown(unit.group(1))} (process {pid})", fix)
    return None


def _judge_unit(unit: str, path: str, place: str) -> Optional[Manager]:
    """Return the unit as the manager, if systemd would start it. Without an answer of systemd, it counts."""
    words = f"systemd unit {_shown(unit)}" + (f" ({place})" if place else "")
    is_shared = path.endswith(".conf") or unit.partition(".")[0] in _SHARED_UNITS
    of_file = _remove(place, "systemctl daemon-reload") if is_shared else ""
    states = _show(unit)
    for state in states or ():
        files = [state.get("FragmentPath", ""), state.get("SourcePath", ""), *state.get("DropInPaths", "").split()]
        if path and files[0] and os.path.realpath(path) not in map(os.path.realpath, filter(None, files)):
            continue  # a file of the same name overrides it
        starters = _find_starters(state)
        if _is_started(state) or starters:
            enabled = state.get("UnitFileState", "")
            source = state.get("SourcePath", "") if enabled == "generated" else ""
            return Manager(words, of_file or _stop(state.get("Id") or unit, starters, source, enabled))
    # Of a template without an answer, only an instance that is enabled is known to exist.
    is_unknown = states is None and ("@" not in unit or mentions.is_linked(unit))
    return Manager(words, of_file or _stop(unit, [], "")) if is_unknown else None


def _find_starters(state: Dict[str, str]) -> List[str]:
    """Return the units that would start this one, directly or by another one. Without an answer, they count."""
    known_units: Set[str] = set()
    above = _above(state)
    while above:
        targets = [unit for unit in above if unit.endswith(".target")]
        shown = _show(*above)
        started = above if shown is None else [each.get("Id", "") for each in shown if _is_started(each)]
        if started or targets:
            return started or targets
        known_units |= set(above)
        above = [unit for each in shown or () for unit in _above(each) if unit not in known_units]
    return []


def _above(state: Dict[str, str]) -> List[str]:
    return " ".join(state.get(key, "") for key in _ABOVE).split()


def _is_started(state: Dict[str, str]) -> bool:
    is_enabled = state.get("UnitFileState", "").startswith(("enabled", "generated"))
    return is_enabled or state.get("ActiveState") not in ("inactive", "failed", None)


def _remove(place: str, command: str) -> str:
    """Return the fix for a file that may have other purposes."""
    after = f", run `{command}`" if command else ""
    return f"Remove what starts slb from {place}{after}, then run again. {_HARMLESS}"


def _stop(unit: str, starters: List[str], source: str, enabled: str = "") -> str:
    """Return the fix for a unit. A generated one, as of a Quadlet, cannot be disabled: its file has to go.

    Of the units that start it, only triggers are disabled: another one, such as ssh.service, has other purposes.
    """
    names = " ".join(quote(_shown(each)) for each in [*(each for each in starters if each.endswith(_TRIGGERS)), unit])
    if source:
        # Stopped first: without its file, systemd kills the processes and Podman does not notice.
        stop = f"Run `systemctl stop {names}`, move {quote(source)} to another folder"
        return f"{stop}, run `systemctl daemon-reload`, then run again."
    others = ", ".join(_shown(each) for each in starters if not each.endswith(_TRIGGERS))
    remove = f", remove it from what {others} starts" if others and not enabled.startswith("enabled") else ""
    disable = "disable --runtime" if enabled.endswith("-runtime") else "disable"
    return f"If it starts slb: run `systemctl {disable} --now {names}`{remove}, then run again. {_HARMLESS}"


def _show(*units: str) -> Optional[List[Dict[str, str]]]:
    """Return the properties of the units; None if systemd does not answer."""
    argv = ["systemctl", "show", "--property", _PROPERTIES, "--", *units]
    completed = None
    with contextlib.suppress(OSError):
        completed = commands.attempt(argv, _SYSTEMCTL_SECONDS) if units else None
    if completed is None or completed.rc != 0:
        return None
    blocks = completed.stdout.strip().split("\n\n") if completed.stdout.strip() else []
    return [dict(line.partition("=")[::2] for line in block.splitlines()) for block in blocks]


def _shown(unit: str) -> str:
    return re.sub(r"[^A-Za-z0-9:_.@\\-]", "?", unit)
