# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container runtimes of this machine: which can be asked, and which containers' processes the kernel shows.

A runtime's answer is one witness; the processes and sockets in /proc are the second one.
"""

import contextlib
import glob
import os
import re
import time
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Set

from ansible_collections.slb.fleet.plugins.module_utils._system import commands, mounts, processes

NAME = "slb"
RUNTIMES = ("docker", "podman")
ANSWER_SECONDS = 20

_DOCKER_SOCKET = "/var/run/docker.sock"
_DOCKER_PID = "/var/run/docker.pid"
_PODMAN_CONFIGURATION = (
    "/usr/share/containers/containers*.conf",
    "/usr/share/containers/containers*.conf.d/*.conf",
    "/etc/containers/containers*.conf",
    "/etc/containers/containers*.conf.d/*.conf",
)
_OWN_PODMAN_CONFIGURATION = ("containers/containers*.conf", "containers/containers*.conf.d/*.conf")
_SECOND_LOOK_SECONDS = 2.0
_PROCESSES = {"dockerd": "docker", "conmon": "podman", "podman": "podman"}
"""Which command shows the containers of a runtime's process."""
_STORAGE = {"docker": "{{.DockerRootDir}}", "podman": "{{.Store.GraphRoot}}"}
"""What ``info`` calls the folder in which a runtime keeps its containers."""
_MONITORS = {"containerd-shim": "docker", "docker-containe": "docker", "conmon": "podman"}
"""Names in /proc/PID/comm, which has 15 characters, of the process that each live container has as a parent."""
# A script that passes its arguments to Podman, as the package podman-docker installs it.
_TO_PODMAN = re.compile(r"#!.*^[^#\n]*\bpodman\b[^\n]*\$\{?[@*]", re.DOTALL | re.MULTILINE)
_REMOTE = re.compile(r"^\s*remote\s*=\s*true\b", re.MULTILINE)


class Obstacle(NamedTuple):
    """Why the state of a container is unknown, and what to do about it."""

    why: str
    fix: str


class Monitor(NamedTuple):
    """The process that a runtime keeps for a live container: a shim of Docker, a conmon of Podman."""

    pid: int
    ticks: int
    program: str
    id: str
    user: int

    def __str__(self) -> str:
        kind, of_user = ("rootless ", f" of the user {self.user}") if self.user else ("", "")
        return f"{kind}{self.program}{of_user} (process {self.pid})"


def installed() -> List[str]:
    """Return the runtimes whose command this host has. A ``docker`` that calls Podman counts as Podman."""
    programs = [runtime for runtime in RUNTIMES if commands.find(runtime)]
    if programs == list(RUNTIMES) and (_is_podman(str(commands.find("docker"))) or _is_podmans_socket()):
        programs.remove("docker")
    return programs


def run(runtime: str, *arguments: str, seconds: float = 0.0) -> commands.Completed:
    """Run the command of the runtime of this machine. Contexts and remote connections are ignored.

    Docker is not asked while it is stopped: the socket of systemd would start it, and its containers.
    """
    limit = ANSWER_SECONDS + seconds
    own = ["--remote=false"] if runtime == "podman" else ["--host", "unix://" + _docker_socket()]
    argv = [runtime, *own, *arguments]
    obstacle = find_obstacle(runtime)
    if obstacle:
        return commands.Completed(125, "", obstacle.why)
    try:
        completed = commands.attempt(argv, limit)
    except OSError as error:
        return commands.Completed(127, "", f"the command cannot be started: {error.strerror}")
    return completed._replace(stdout="", stderr=f"no answer within {limit:g} s") if completed.is_killed else completed


def find_obstacle(runtime: str) -> Optional[Obstacle]:
    """Return why the runtime of this machine must not be asked; None if it can be asked. No command is run."""
    if os.geteuid() != 0:
        why = f"permission denied: this user may not see the containers of {runtime.capitalize()}"
        return Obstacle(why, "Run the task as root (`become: true`).")
    return _find_docker_obstacle() if runtime == "docker" else _find_podman_obstacle()


def _find_docker_obstacle() -> Optional[Obstacle]:
    socket = _docker_socket()
    inodes = processes.listening_inodes(socket)
    if len(inodes) > 1:
        return Obstacle(
            f"two processes listen on {socket}, and only one of them is reached",
            f"Compare `ss -xlp src {socket}` with `pgrep -a dockerd`, and stop the daemon without containers.",
        )
    if any(inodes & processes.socket_files(pid).keys() for pid in _daemons()):
        return None
    if inodes & processes.socket_files(1).keys():
        return Obstacle(
            f"Docker is stopped: only systemd listens on {socket}",
            "Start Docker: `systemctl start docker` on the host. Containers with a restart policy start, too.",
        )
    fix = f"Start Docker. If dockerd listens on another socket, link that socket to {_DOCKER_SOCKET}."
    if inodes:
        fix = f"Stop the process that `ss -xlp src {socket}` shows, and let dockerd listen there."
    return Obstacle(f"no dockerd of this host listens on {socket}", fix)


def _find_podman_obstacle() -> Optional[Obstacle]:
    """Return the file that makes Podman use another machine: the management node's Podman would use it, too."""
    own = [os.path.join(os.path.expanduser("~/.config"), pattern) for pattern in _OWN_PODMAN_CONFIGURATION]
    for path in [path for pattern in [*_PODMAN_CONFIGURATION, *own] for path in sorted(glob.glob(pattern))]:
        if _REMOTE.search(processes.read_file(path)):
            return Obstacle(
                f"{path} lets Podman use another machine (remote = true)",
                f"Remove that line from {path}, then run again.",
            )
    return None


def find_unserved(runtimes: List[str]) -> Optional[Obstacle]:
    """Return the obstacle if a runtime is on this machine whose command is missing."""
    missing = {name: command for name, command in _PROCESSES.items() if command not in runtimes}
    daemon = ""
    if "docker" not in runtimes and os.path.exists(_DOCKER_SOCKET) and not _is_podmans_socket():
        daemon = "dockerd"
    elif missing:
        names = ((pid, processes.read(pid, "comm").strip()) for pid in processes.pids())
        daemon = next((name for pid, name in names if name in missing and is_witness(pid)), "")
    if not daemon:
        return None
    command = missing[daemon]
    return Obstacle(
        f"{daemon} is on this host, and the command {command} was not found",
        f"Install the command {command}, or link it to /usr/local/bin/{command}.",
    )


def find_unlisted(list_ids: Callable[[], List[str]]) -> Optional[Obstacle]:
    """Return the obstacle if a container may run that no runtime lists, so that ``absent`` has no second witness.

    ``list_ids`` is called only if there are monitors. It is called twice before an alarm: a monitor outlives the
    removal of its container for a moment.
    """
    daemons = sorted(_daemons())
    if len(daemons) > 1:
        numbers = " and ".join(map(str, daemons[:5]))
        return Obstacle(
            f"{len(daemons)} Docker daemons run on this host (processes {numbers}), and only one of them is asked",
            "Find the engine: `ss -xlp` shows the sockets of dockerd, `docker --host unix://SOCKET ps --all` shows its "
            "containers. Stop the daemon without the engine.",
        )
    left = find_monitors()
    for is_last in (False, True):
        if not left:
            return None
        listed = set(list_ids())
        left = [each for each in left if each.id not in listed and _is_the_same(each)]
        if left and not is_last:
            time.sleep(_SECOND_LOOK_SECONDS)
    if not left:
        return None
    monitor = left[0]
    fix = f"Check `ps -fp {monitor.pid}` and the data root of its runtime on the host, then run again."
    if monitor.user:
        fix = f"Only root's containers are supported. Check the containers of the user {monitor.user} on the host."
    return Obstacle(f"{monitor} belongs to container {monitor.id[:12]}, which no runtime of root lists", fix)


def find_empty_storage(programs: Sequence[str]) -> Optional[Obstacle]:
    """Return the obstacle if a runtime works on the folder below a disk that is not mounted, or was mounted later."""
    for program in programs:
        answer = run(program, "info", "--format", _STORAGE[program])
        root = answer.stdout.strip()
        place = mounts.find_unmounted([root]) if root else None
        again = " and restart Docker" if program == "docker" else ""
        if answer.is_killed:
            return Obstacle(f"`{program} info`: {answer.words}", f"Repair {program} on the host, then run again.")
        if place:
            why = f"the containers of {program} are below {place}, which is not mounted"
            return Obstacle(why, f"Mount it{again}, or remove its line from /etc/fstab, then run again.")
        if root and program == "docker" and any(_is_covered(pid, root) for pid in _daemons()):
            return Obstacle(
                f"a disk was mounted over {root} after Docker had started", "Restart Docker, then run again."
            )
    return None


def _is_covered(pid: int, root: str) -> bool:
    """Return whether a file below ``root`` that the process has open is not the one that has its path now."""
    for file in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            path = os.readlink(file)
            if path.startswith(root + "/") and not path.endswith(" (deleted)"):
                now = f"/proc/{pid}/root{path}"
                if not os.path.exists(now) or not os.path.samefile(file, now):
                    return True
    return False


def find_monitors() -> List[Monitor]:
    """Return the monitors of the host's own containers.

    Those of other users than root count only if a program of root's file runs for Docker or for a container ``slb``.
    """
    monitors = []
    for pid in processes.pids():
        program = processes.read(pid, "comm").strip()
        if program not in _MONITORS:
            continue
        words = processes.read(pid, "cmdline").split("\0")
        values = dict(zip(words, words[1:]))
        if program == "conmon":  # other programs than Podman have conmons, too
            is_ours, identity = any("podman" in word for word in words), values.get("-c", "")
        else:
            is_ours = values.get("-namespace", "moby") == "moby"
            identity = values.get("-id") or os.path.basename(values.get("-workdir", "")) or "".join(words[1:2])
        user, process = processes.owner(pid), processes.find(pid)
        if user and (not processes.is_program_of_root(pid) or values.get("-n", NAME) != NAME):
            continue
        if is_ours and user is not None and process and not _is_nested(pid):
            monitors.append(Monitor(pid, process.ticks, program, identity, user))
    return monitors


def find_processes_of(identity: str) -> Set[int]:
    """Return the processes that belong to the container: its monitor, and those in its control group."""
    pids = {monitor.pid for monitor in find_monitors() if monitor.id == identity}
    return pids | {pid for pid in processes.pids() if identity in processes.read(pid, "cgroup")}


def _daemons() -> Iterator[int]:
    """Return the processes dockerd of this host, first the one whose number is in Docker's file."""
    first = 0
    with contextlib.suppress(OSError, ValueError), open(_DOCKER_PID) as stream:
        first = int(stream.read(20))
    if first and _is_daemon(first):
        yield first
    yield from (pid for pid in processes.pids() if pid != first and _is_daemon(pid))


def _is_daemon(pid: int) -> bool:
    return processes.read(pid, "comm").startswith("dockerd") and is_witness(pid)


def is_witness(pid: int) -> bool:
    """Return whether the process belongs to root and to this host: any user can run a program of any name."""
    return processes.owner(pid) == 0 and not _is_nested(pid)


def _is_nested(pid: int) -> bool:
    """Return whether the process is in a container, with or without a PID namespace of its own."""
    above = (processes.read(each.pid, "comm").strip() for each in processes.ancestors(pid) if each.pid != pid)
    return processes.is_in_container(pid) or any(name in _MONITORS for name in above)


def _is_the_same(monitor: Monitor) -> bool:
    now = processes.find(monitor.pid)
    return now is not None and now.ticks == monitor.ticks


def _docker_socket() -> str:
    """Return the default socket, or the one that the command line of dockerd names."""
    if not os.path.exists(_DOCKER_SOCKET):
        for pid in _daemons():
            sockets = [word.partition("unix://")[2] for word in processes.read(pid, "cmdline").split("\0")]
            return next(filter(os.path.exists, sockets), _DOCKER_SOCKET)
    return _DOCKER_SOCKET


def _is_podmans_socket() -> bool:
    return os.path.basename(os.path.realpath(_DOCKER_SOCKET)) == "podman.sock"


def _is_podman(path: str) -> bool:
    """Return whether a ``docker`` command calls Podman. Read from the file, because the command is slow."""
    is_link = os.path.basename(os.path.realpath(path)).startswith("podman")
    return is_link or _TO_PODMAN.match(processes.read_file(path, 4096)) is not None
