"""Connect the code of the collection with the simulated world: time, files, processes, sockets, SSH and TLS."""

import errno
import importlib
import io
import json
import os
import pkgutil
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import ansible.constants
import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from world import Actor, Crashed, World

from ansible_collections.slb.fleet.plugins import action as actions
from ansible_collections.slb.fleet.plugins.module_utils import _engine_host as engine_host
from ansible_collections.slb.fleet.plugins.module_utils._engine_host import (
    container,
    gather,
    motd,
    record,
    runtimes,
    sockets,
)
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import INSTALL_PATH
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, commands, files, locks, processes
from ansible_collections.slb.fleet.plugins.modules import host_info

PLUGINS = "ansible_collections.slb.fleet.plugins."
ADDRESS = "192.0.2.1"
_SOCKET = 77
_PREFIXES = ("/run/", "/etc/", "/var/", "/usr/", "/lib/")
_EPOCH = 1_795_000_000.0
_CONTROLLER_UPTIME = 5000.0


class Through:
    """A module of the standard library of which some functions are replaced."""

    def __init__(self, real: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced)
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Here:
    """The present world, and the folder of its host."""

    world: World
    folder: Path

    @property
    def is_host(self) -> bool:
        return self.world.actor.is_module

    def enter(self, world: World) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "var/run").mkdir(parents=True)
        if world.program == "docker":
            (self.folder / "var/run/docker.sock").touch()
        self.world = world
        world.on_reboot = lambda: shutil.rmtree(self.folder / "run", ignore_errors=True)


HERE = Here()


def connect(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Replace what reaches outside of the process."""
    HERE.folder = folder
    for found in pkgutil.iter_modules(actions.__path__, PLUGINS + "action."):
        importlib.import_module(found.name)
    for found in pkgutil.iter_modules(engine_host.__path__, PLUGINS + "module_utils._engine_host."):
        module = importlib.import_module(found.name)
        for name, value in list(vars(module).items()):
            if name.isupper() and isinstance(value, (str, tuple)):
                patch.setattr(module, name, _redirected(value))
    virtual = Through(
        time,
        time=lambda: _EPOCH + HERE.world.now,
        monotonic=lambda: HERE.world.now,
        perf_counter=lambda: HERE.world.now,
        clock_gettime=_read_clock,
        gmtime=lambda seconds=None: time.gmtime(_EPOCH + HERE.world.now if seconds is None else seconds),
        sleep=lambda seconds: HERE.world.pause("sleep", seconds),
    )
    run_folder = _RunFolder()
    for module in [each for name, each in sys.modules.items() if name.startswith(PLUGINS)]:
        if getattr(module, "time", None) is time:
            patch.setattr(module, "time", virtual)
        if hasattr(module, "is_got"):
            patch.setattr(module, "is_got", _lock)
        if getattr(module, "constants", None) is ansible.constants:
            patch.setattr(module, "constants", run_folder)
    host_os = Through(os, geteuid=lambda: 0, unlink=_unlink)
    for module in (container, record, gather, runtimes, locks):
        patch.setattr(module, "os", host_os)
    patch.setattr(locks, "FOLDER", _redirected(locks.FOLDER))
    patch.setattr(host_info, "within", _within)
    patch.setattr(files, "replace", _write)
    patch.setattr(files, "sync_folder", lambda folder: None)
    patch.setattr(clock, "boot_id", lambda: f"boot {HERE.world.boots}")
    patch.setattr(commands, "find", lambda name: f"/usr/bin/{name}" if name == HERE.world.program else None)
    patch.setattr(commands, "attempt", _attempt)
    patch.setattr(processes, "pids", lambda: sorted(pid for pid in _processes()))
    patch.setattr(processes, "find", _find)
    patch.setattr(processes, "read", lambda pid, name: _processes().get(pid, {}).get(name, ""))
    patch.setattr(processes, "is_in_container", lambda pid: _processes().get(pid, {}).get("inside", False))
    patch.setattr(processes, "listening_inodes", lambda path: {_SOCKET} if HERE.world.program == "docker" else set())
    patch.setattr(
        processes, "socket_files", lambda pid: dict.fromkeys(_processes().get(pid, {}).get("sockets", ()), "")
    )
    patch.setattr(sockets, "find_connections", _find_connections)
    patch.setattr(sockets, "find_listening", lambda engine: [])
    patch.setattr(sockets, "find_addresses", lambda: [ADDRESS])
    patch.setattr(motd, "gather_banner", lambda: {"path": motd.PATH, "bytes": 0, "sources": []})
    patch.setattr(transport, "find_proxy", lambda *_arguments: "")
    patch.setattr(transport, "_bounded", _bounded)
    patch.setattr(transport.Transport, "_transfer", _transfer(transport.Transport._transfer))
    patch.setattr(transport.HTTPSConnection, "connect", _connect)


def _redirected(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_redirected, value))
    return f"{HERE.folder}{value}" if isinstance(value, str) and value.startswith(_PREFIXES) else value


def _read_clock(number: int) -> float:
    world = HERE.world
    return world.now - world.booted if HERE.is_host else world.now + _CONTROLLER_UPTIME


class _RunFolder(Through):
    """The constants of Ansible, with the temporary folder of the present run."""

    def __init__(self) -> None:
        super().__init__(ansible.constants)

    @property
    def DEFAULT_LOCAL_TMP(self) -> str:  # noqa: N802
        return str(HERE.world.actor.run.folder)


# --- the host


def _begin_write() -> None:
    HERE.world.pause("before write")
    if HERE.is_host and HERE.world.now < HERE.world.read_only_until:
        raise OSError(errno.EROFS, "Read-only file system")


def _write(path: str, content: bytes, mode: int, lasting: bool = True) -> None:
    _begin_write()
    Path(path).write_bytes(content)
    if path == record.PATH:
        HERE.world.say(f"{HERE.world.actor.name}: the record becomes {json.loads(content)['state']}.")
    HERE.world.pause("after write")


def _unlink(path: str) -> None:
    _begin_write()
    Path(path).unlink()
    if path == record.PATH:
        HERE.world.say(f"{HERE.world.actor.name}: the record is removed.")
    HERE.world.pause("after write")


def _lock(*arguments: Any, real: Any = locks.is_got, **options: Any) -> bool:
    HERE.world.pause("lock")
    return real(*arguments, **options)


def _attempt(argv: list[str], timeout: float) -> commands.Completed:
    status, out, error, is_killed = HERE.world.command(argv, timeout)
    return commands.Completed(status, out, error, is_killed)


def _processes() -> dict[int, dict[str, Any]]:
    """Return the processes of the host: the daemon, and for each live container its shim and its main process."""
    world = HERE.world
    shim = ("containerd-shim", "-namespace\0moby\0-id") if world.program == "docker" else ("conmon", "podman\0-c")
    listens = {"sockets": {_SOCKET}, "status": "Uid:\t0"}
    found: dict[int, dict[str, Any]] = {1: {"comm": "systemd", "cmdline": "/sbin/init", **listens}}
    if world.program == "docker":
        found[50] = {"comm": "dockerd", "cmdline": "/usr/bin/dockerd", **listens}
    for box in world.boxes.values():
        if box.pid:
            command = f"/usr/bin/{shim[0]}\0{shim[1]}\0{box.id}"
            found[box.pid + 1] = {"comm": shim[0], "cmdline": command, "status": "Uid:\t0"}
            found[box.pid] = {"comm": "slb", "cgroup": f"0::/{box.id}", "inside": True, "box": box}
    return found


def _find(pid: int | None) -> processes.Process | None:
    process = _processes().get(pid or 0)
    if process is None:
        return None
    box = process.get("box")
    return processes.Process(pid, "S", pid + 1 if box else 1, int((box.began if box else 0) / processes.TICK))


def _find_connections(engine: container.Container) -> sockets.Connections:
    box = HERE.world.boxes.get(str(engine.id))
    if engine.state == "unknown":
        return sockets.Connections(None)
    return sockets.Connections([f"203.0.113.9:{5000 + number}" for number in range(box.connections if box else 0)])


def run_module(run: Any, module: str, arguments: dict[str, Any], **_unused: Any) -> dict[str, Any]:
    """Run a module on the host, as ``ActionBase._execute_module``: over SSH, in a process of its own."""
    world, name = HERE.world, module.rpartition(".")[2]
    given = json.loads(json.dumps(arguments))
    step = next((f" {given[key]}" for key in ("step", "state") if given.get(key)), "")
    world.pause("call", 0.2)
    if world.now < world.unreachable_until or run.connection.fails:
        run.connection.fails = False
        world.pause("call", 1.0)
        raise AnsibleConnectionFailure("Failed to connect to the host via ssh")
    job = None
    if not run.connection.hangs:
        job = world.spawn(f"{run.name}, {name}{step}", lambda: _operate(name, given), run, is_module=True)
        job.waiter = world.actor
    end = world.now + 900
    while world.now < end and (run.connection.hangs or not (job.greenlet.dead or job.lost)):
        world.pause("waits", 900)
    world.pause("answer", 0.1)
    if job is None or run.connection.hangs or job.lost == "unreachable":
        raise AnsibleConnectionFailure("Shared connection to the host closed")
    if job.lost or job.is_dead:
        return {"failed": True, "module_stdout": "", "module_stderr": "Connection reset", "rc": -13}
    return job.result


def _operate(name: str, given: dict[str, Any]) -> dict[str, Any]:
    module = importlib.import_module(f"{PLUGINS}modules.{name}")
    validated = ArgumentSpecValidator(module.ARGUMENTS).validate({k: v for k, v in given.items() if v is not None})
    if validated.error_messages:
        raise Crashed(f"Module {name} rejects its options: {validated.error_messages}.")
    try:
        result = module.operation(validated.validated_parameters, False).as_task_result(False)
    except FleetError as error:
        result = dict(error.as_result(), failed=True)
    HERE.world.pause("ends")
    return json.loads(json.dumps(result))


def _within(seconds: float, work: Any) -> Any:
    end = HERE.world.now + seconds
    result = work()
    if HERE.world.now > end:
        raise FleetError("host_timeout", "Host too slow.", "")
    return result


# --- the management node


def _bounded(line: Any, seconds: float, exchange: Any) -> Any:
    actor = HERE.world.actor
    outer, actor.cut = actor.cut, (line, HERE.world.now + seconds)
    try:
        result = exchange()
    finally:
        actor.cut = outer
    if line.is_over:
        raise TimeoutError
    return result


def _transfer(real: Any) -> Any:
    def transfer(self: Any, request: Any, *arguments: Any) -> Any:
        HERE.world.actor.is_install = request.path == INSTALL_PATH
        return real(self, request, *arguments)

    return transfer


def _connect(connection: Any) -> None:
    actor: Actor = HERE.world.actor
    actor.stopped_at = ""
    connection.sock = _Tls()
    HERE.world.pause("clock" if actor.is_install else "http")


class _Tls:
    """The TLS connection to the management node. The request leaves with its first byte."""

    def __init__(self) -> None:
        self.sent = b""

    def getpeercert(self, binary_form: bool = False) -> bytes:
        return b"certificate"

    def sendall(self, data: bytes) -> None:
        if not self.sent:
            HERE.world.pause("byte" if HERE.world.actor.is_install else "http", 0.01)
        self.sent += data

    def makefile(self, *_arguments: Any) -> io.BytesIO:
        head, _blank, _body = self.sent.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[:2]
        cookie = ""
        if path.endswith(b"/login/"):
            answer: Any = (200, {"success": True})
            cookie = "Set-Cookie: sessionid=s1\r\n"
        elif method == b"POST":
            answer = HERE.world.post()
        else:
            is_down = HERE.world.now < HERE.world.list_down_until
            answer = (503, {}) if is_down else (200, self._list())
        HERE.world.pause("reply", 0.1 if answer else 600)
        if HERE.world.actor.cut is None or HERE.world.now >= HERE.world.actor.cut[1] or answer is None:
            raise ConnectionResetError
        body = json.dumps(answer[1])
        text = (
            f"HTTP/1.1 {answer[0]} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{cookie}\r\n"
        )
        return io.BytesIO((text + body).encode())

    @staticmethod
    def _list() -> list[dict[str, str]]:
        engines = [{"name": "other", "ip": "192.0.2.99", "status": "running"}]
        state = HERE.world.engine
        return engines + ([{"name": "edge-1", "ip": ADDRESS, "status": state}] if state != "none" else [])

    def settimeout(self, *_arguments: Any) -> None:
        """Do nothing: ``_bounded`` limits the time."""

    close = shutdown = settimeout
