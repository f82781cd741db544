# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would create or start the container again: a unit, a timer, a supervisor, cron, or another orchestrator."""

import configparser
import glob
import grp
import os
import pwd
import re
import shlex
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import runtimes
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes

_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/etc/systemd/system.control",
    "/run/systemd/system",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/run/systemd/generator",
    "/run/systemd/generator.late",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_QUADLET_FOLDERS = ("/etc/containers/systemd", "/run/containers/systemd", "/usr/share/containers/systemd")
_SUPERVISOR_FILES = (
    "/etc/supervisor/supervisord.conf",
    "/etc/supervisor/conf.d/*.conf",
    "/etc/supervisord.conf",
    "/etc/supervisord.d/*",
)
_TIME = r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+"
_COMMAND_FILES = (
    ("cron", ("/etc/crontab", "/etc/cron.d/*"), _TIME + r"\S+\s+", ""),
    ("crontab", ("/var/spool/cron/crontabs/*", "/var/spool/cron/*"), _TIME, ""),
    ("cron", ("/etc/anacrontab",), r"(?:\S+\s+){3}", ""),
    ("cron", ("/etc/cron.*ly/*",), "", ""),
    ("monit", ("/etc/monitrc", "/etc/monit.d/*", "/etc/monit/monitrc", "/etc/monit/conf*/*"), ".*?=", "monit reload"),
)
"""Files with commands: the words before a command in a line, and what must run after the removal of a line."""
_SERVICE_FILES = ("/etc/service/*/run", "/var/service/*/run", "/service/*/run", "/run/service/*/run")
_SHARED_UNITS = ("containerd", "cron", "crond", "atd", "dbus", "docker", "podman", "ssh", "sshd", "NetworkManager")
"""Units that a host needs for more than the container."""
_ADMINISTRATORS = {"docker", "root", "sudo", "wheel"}
"""Groups whose members can run a container of root."""
_SYSTEMCTL_SECONDS = 8
_MAX_BYTES = 65536

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
    "swarm service": "Run `docker service rm {name}` on a manager of the swarm",
    "Kubernetes pod": "Delete the controller of the pod in Kubernetes",
    "Nomad allocation": "Stop the job that `nomad alloc status {name}` shows",
    "ECS task": "Stop the service of the task in ECS",
}
_SUPERVISORS = {
    "supervisord": "supervisorctl stop",
    "runsv": "sv force-stop",
    "s6-supervise": "s6-svc -dk",
    "supervise": "svc -dk",
}
"""Programs that start a command again when it ends, each with the command that ends one program of it."""

_WORD = r"(?<![\w./:@-])slb(?![\w./:@-])"
_COMMAND = re.compile(rf"\b(?:docker|podman)\b.*{_WORD}")
_STARTS = re.compile(rf"^[^#\n]*\b(?:docker|podman)\b.*\b(?:run|start|restart|create)\b.*{_WORD}", re.MULTILINE)
_CREATES = re.compile(rf"^[^#\n]*\b(?:docker|podman)\b.*\b(?:run|create)\b.*{_WORD}", re.MULTILINE)
_ONESHOT = re.compile(r"^\s*Type\s*=\s*oneshot\b", re.MULTILINE)
_EXEC = re.compile(r"^\s*Exec\w+\s*=\s*[-@:+!|]*(?P<command>.+)$", re.MULTILINE)
# Only in the place of a command: to open an argument, such as a path on a disk of the network, may take forever.
_CALLED = re.compile(
    r"(?:^|[;&|({!\"'`]|\b(?:sh|bash|dash|env|exec|sudo|nice|(?:flock|timeout)(?:\s+-\S+)*\s+\S+)(?:\s+-\S+)*)\s*"
    r"(?:\w+=\S*\s+)*(/[^\s;&|()<>\"'`]+)"
)
_QUADLET_LINE = re.compile(r"^\s*ContainerName\s*=\s*slb\s*$", re.MULTILINE)
_QUOTABLE = re.compile(r"[A-Za-z0-9:_.@/\\-]{1,255}")
_PROPERTIES = "Id,ActiveState,UnitFileState,FragmentPath,SourcePath,DropInPaths,TriggeredBy"


class Manager(NamedTuple):
    """``words``: such as ``systemd unit x.service (/etc/x.service)``. ``fix``: what keeps it from starting ``slb``."""

    words: str
    fix: str


def find_label(labels: Dict[str, Any], of_image: Dict[str, Any]) -> Optional[Tuple[str, str]]:
    """Return kind and name of the manager that made this instance. A label with the image's value says nothing."""
    for key, kind, name in _LABELS:
        if isinstance(labels.get(key), str) and of_image.get(key) != labels[key]:
            return kind, re.sub(r"[^A-Za-z0-9:_.@/-]", "?", str(labels.get(name) or labels[key]))[:100]
    return None


def find_manager(runtime: Optional[str], label: Optional[Tuple[str, str]]) -> Optional[Manager]:
    """Return what would create or start the container ``slb`` again. ``label``: of ``find_label``."""
    if label:
        kind, name = label
        if kind == "systemd unit":
            return _judge_unit(name, "", False)
        fix = _FIXES[kind].format(name=name if _QUOTABLE.fullmatch(name) else "NAME")
        # A manager that is gone, or that finds its containers by another name, leaves the container and its labels.
        return Manager(f"{kind} {name}", f"{fix}. If slb remains, run `{runtime} rm --force slb`. Then run again.")
    # A unit of many commands, such as cron.service, runs what a line of a file names: first the files.
    return next(filter(None, (*_find_units(), *_find_files(), _find_process())), None)


def _find_process() -> Optional[Manager]:
    """Return the manager whose command runs the container in the foreground."""
    for pid in processes.pids():
        arguments = processes.read(pid, "cmdline").split("\0")
        is_command = os.path.basename(arguments[0]) in runtimes.RUNTIMES and {"run", "start"} & set(arguments)
        if not is_command or not {runtimes.NAME, f"--name={runtimes.NAME}"} & set(arguments):
            continue
        if processes.owner(pid) != 0 or processes.is_in_container(pid):
            continue
        supervisor = _find_supervisor(pid)
        unit = re.search(r"([^/\n]+\.service)$", processes.read(pid, "cgroup"), re.MULTILINE)
        if supervisor:
            return supervisor
        if unit:
            return _judge_unit(unit.group(1), "", False)
    return None


def _find_supervisor(pid: int) -> Optional[Manager]:
    process = processes.find(pid)
    while process is not None and process.parent > 1:
        comm = processes.read(process.parent, "comm").strip()
        if comm == "supervisord":
            variables = dict(each.partition("=")[::2] for each in processes.read(pid, "environ").split("\0"))
            group, name = (variables.get(f"SUPERVISOR_{key}_NAME", "") for key in ("GROUP", "PROCESS"))
            files = dict(_find_programs())
            name = name if name == group else f"{group}:{name}"
            return _manager_of_program(comm, name, files.get(name) or files.get(f"{group}:*", ""))
        if comm in _SUPERVISORS:
            # The name alone is not enough if the services are in another folder than the usual one.
            return _manager_of_program(comm, processes.folder(process.parent), "")
        process = processes.find(process.parent)
    return None


def _manager_of_program(supervisor: str, name: str, path: str) -> Manager:
    """Return the program of a supervisor. Stopping the supervisor would end its other programs, too."""
    shown = re.sub(r"[^A-Za-z0-9:_.@/*-]", "?", name)[:100] or "unknown"
    fix = f"Run `{_SUPERVISORS[supervisor]} {shlex.quote(name)}`" if name == shown else "Stop that program alone"
    where = path if _QUOTABLE.fullmatch(path) else f"the configuration of {supervisor}"
    return Manager(
        f"program {shown} of {supervisor}" + (f" ({path})" if path else ""),
        f"{fix}, remove it from {where}, then run again.",
    )


def _find_units() -> Iterator[Optional[Manager]]:
    """Return the units that would start the container, of systemd's whole unit path."""
    for path in _glob(_UNIT_FOLDERS, ("*.service", "*.service.d/*.conf")):
        name = os.path.basename(os.path.dirname(path)[:-2] if path.endswith(".conf") else path)
        text = re.sub("%[pN]", os.path.splitext(name)[0], _read(path).replace("\\\n", " "))
        starts = [found.group("command") for found in _EXEC.finditer(text) if _is_start(found.group("command"))]
        if starts:
            # At a boot, a start of slb by its name changes nothing; one that creates slb does.
            is_creating = any(map(_CREATES.search, [*starts, *map(_read, _CALLED.findall(" ".join(starts)))]))
            yield _judge_unit(name, path, is_oneshot=_ONESHOT.search(text) is not None, is_creating=is_creating)
    for path in _glob(_QUADLET_FOLDERS, ("**/*.container", "**/*.container.d/*.conf", "**/*.kube")):
        file = os.path.dirname(path)[:-2] if path.endswith(".conf") else path
        if _QUADLET_LINE.search(_read(path)):
            unit = os.path.splitext(os.path.basename(file))[0] + ".service"
            yield Manager(f"systemd unit {unit} ({path})", _fix_of_unit(unit, [], file))


def _is_start(command: str) -> bool:
    """Return whether the command, or a script that it calls, names the container."""
    return _COMMAND.search(command) is not None or _calls_start(command)


def _calls_start(command: str) -> bool:
    texts = (_read(path) for path in _CALLED.findall(command))
    return any(text.startswith("#!") and _STARTS.search(text.replace("\\\n", " ")) for text in texts)


def _find_files() -> Iterator[Optional[Manager]]:
    for name, path in _find_programs():
        yield _manager_of_program("supervisord", name, path)
    for path in _glob_files(_SERVICE_FILES):
        if _STARTS.search(_read(path).replace("\\\n", " ")):
            program = "runsv" if commands.find("sv") else "s6-supervise"
            yield _manager_of_program(program, os.path.dirname(path), "")
    for kind, patterns, before, command in _COMMAND_FILES:
        for path in _glob_files(patterns):
            text = re.sub(r"^\s*#.*", "", _read(path).replace("\\\n", " "), flags=re.MULTILINE)
            is_start = _STARTS.search(text) or any(
                _calls_start(re.sub(f"^{before}", "", line)) for line in text.splitlines()
            )
            if is_start and (kind != "crontab" or _is_administrator(os.path.basename(path))):
                after = f", run `{command}`" if command else ""
                fix = f"Remove the line that starts slb from {path}{after}, then run again."
                yield Manager(f"{kind} ({path})", fix)


def _find_programs() -> Iterator[Tuple[str, str]]:
    """Return the programs of supervisord that run the container: the name for supervisorctl, and the file."""
    files = []
    for path in _glob_files(_SUPERVISOR_FILES):
        parser = configparser.RawConfigParser(strict=False, inline_comment_prefixes=(";", "#"))
        try:
            parser.read_string(_read(path))
        except configparser.Error:
            continue
        files += [(path, section, dict(parser.items(section))) for section in parser.sections()]
    groups = {
        name.strip(): section[len("group:") :]
        for _path, section, options in files
        if section.startswith("group:")
        for name in options.get("programs", "").split(",")
    }
    for path, section, options in files:
        kind, _colon, name = section.partition(":")
        if kind == "program" and _is_start(options.get("command", "")):
            is_one = "process_name" not in options
            group = groups.get(name)
            # Which processes of a group belong to one program of it cannot be written in one word.
            yield (f"{group}:{name}" if is_one else "") if group else (name if is_one else f"{name}:*"), path


def _is_administrator(user: str) -> bool:
    """Return whether commands of the user's crontab can start a container of root."""
    try:
        group = pwd.getpwnam(user).pw_gid
        names = {grp.getgrgid(each).gr_name for each in os.getgrouplist(user, group)}
    except KeyError:
        return False
    return user == "root" or bool(names & _ADMINISTRATORS)


def _judge_unit(unit: str, path: str, is_oneshot: bool, is_creating: bool = False) -> Optional[Manager]:
    """Return the unit as the manager, if systemd would start it. Without an answer of systemd, it counts.

    ``is_creating``: whether it makes the container new, so that it counts if it is enabled for a boot alone.
    """
    shown = re.sub(r"[^A-Za-z0-9:_.@\\-]", "?", unit)
    words = f"systemd unit {shown}" + (f" ({path})" if path else "")
    states = _show(shown.replace("@.", "@*."))
    if states is None:
        return None if is_oneshot else Manager(words, _fix_of_file(unit, path) or _fix_of_unit(unit, [], ""))
    for state in states:
        files = [state.get("FragmentPath", ""), state.get("SourcePath", ""), *state.get("DropInPaths", "").split()]
        if path and files[0] and os.path.realpath(path) not in map(os.path.realpath, filter(None, files)):
            continue  # a file of the same name overrides it
        triggers = [
            each.get("Id", "")
            for each in _show(*state.get("TriggeredBy", "").split()) or []
            if each.get("ActiveState") == "active" or each.get("UnitFileState", "").startswith("enabled")
        ]
        is_up = state.get("ActiveState") in ("active", "activating", "reloading", "deactivating")
        is_started = is_up or state.get("UnitFileState", "").startswith(("enabled", "generated"))
        # A unit that ends after its commands starts the container again only at a boot, or if something triggers it.
        if triggers or (is_started and (is_creating or not is_oneshot)):
            source = state.get("SourcePath", "") if state.get("UnitFileState") == "generated" else ""
            verb = "disable --now"
            if state.get("UnitFileState") == "enabled-runtime":  # as systemd's generator of rc.local does it
                is_maskable = not state.get("FragmentPath", "").startswith("/etc/")
                verb = "mask --now" if is_maskable else "disable --runtime --now"
            words = f"systemd unit {shown} ({source})" if source else words
            fix = _fix_of_file(unit, path) or _fix_of_unit(state.get("Id") or unit, triggers, source, verb)
            return Manager(words, fix)
    return None


def _fix_of_file(unit: str, path: str) -> str:
    """Return the fix if the unit has another purpose, so that it must not be disabled; else an empty text."""
    if path.endswith(".conf"):
        where = shlex.quote(path) if _QUOTABLE.fullmatch(path) else "that file"
        return f"Move {where} to another folder, run `systemctl daemon-reload`, then run again."
    if unit.partition(".")[0] in _SHARED_UNITS:
        return f"Remove what starts slb from {path or f'the configuration of {unit}'}, then run again."
    return ""


def _fix_of_unit(unit: str, triggers: List[str], source: str, verb: str = "disable --now") -> str:
    """Return the fix. A generated unit, as of a Quadlet, cannot be disabled: its file has to go."""
    names = [*triggers, unit]
    if not all(_QUOTABLE.fullmatch(each) for each in [*names, source] if each):
        return "Disable and stop that unit on the host, then run again."
    quoted = " ".join(map(shlex.quote, names))
    if source:
        # Stopped first: without its file, systemd kills the processes and Podman does not notice.
        stop = f"Run `systemctl stop {quoted}`, move {shlex.quote(source)} to another folder"
        return f"{stop}, run `systemctl daemon-reload`, then run again."
    return f"Run `systemctl {verb} {quoted}`, then run again."


def _show(*units: str) -> Optional[List[Dict[str, str]]]:
    """Return the properties of the units; None if systemd does not answer."""
    if commands.find("systemctl") is None or not units:
        return None
    argv = ["systemctl", "show", "--property", _PROPERTIES, "--", *units]
    try:
        completed = commands.attempt(argv, _SYSTEMCTL_SECONDS)
    except OSError:
        return None
    if completed.rc != 0:
        return None
    blocks = completed.stdout.strip().split("\n\n") if completed.stdout.strip() else []
    return [dict(line.partition("=")[::2] for line in block.splitlines()) for block in blocks]


def _glob(folders: Tuple[str, ...], patterns: Tuple[str, ...]) -> List[str]:
    found = [
        path for folder in folders for pattern in patterns for path in glob.iglob(f"{folder}/{pattern}", recursive=True)
    ]
    return sorted({os.path.realpath(path): path for path in reversed(found)}.values())


def _glob_files(patterns: Tuple[str, ...]) -> List[str]:
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def _read(path: str) -> str:
    """Return the text of the file; empty if it cannot be read or is no regular file."""
    if not os.path.isfile(path):
        return ""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
