"""A container runtime in memory, and a kill at any step."""

import copy
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import (
    container,
    leftovers,
    mentions,
    record,
    runtimes,
)
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, locks


class Killed(BaseException):
    """Stands for SIGKILL: no handler runs."""


class Killer:
    """Kills what is run before one of its changes, each of which calls ``step``."""

    _left: int | None = None

    def step(self, _name: str = "") -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed

    def kill_before(self, number: int, act: Callable[[], object]) -> bool:
        """Run ``act`` and kill it before its change ``number``. Return False if it made fewer changes."""
        self._left = number
        try:
            act()
        except Killed:
            return True
        finally:
            self._left = None
        return False


class FakeRuntime:
    """Docker or Podman with some containers.

    ``before`` is called with the verb before each change; ``fails`` maps a verb to an error message.
    """

    def __init__(self, program: str = "docker", version: str = "4.3.1") -> None:
        self.program = program
        self.version = version
        self.containers: dict[str, dict[str, Any]] = {}
        self.changes: list[str] = []
        self.asked = 0
        self.fails: dict[str, str] = {}
        self.before: Callable[[str], None] = lambda verb: None
        self.ends_after_start = ""

    def add(self, identity: str = "c1", name: str = "slb", status: str = "running", **values: Any) -> None:
        policy = {"Name": values.get("policy", "on-failure"), "MaximumRetryCount": values.get("max", 3)}
        is_removed = values.get("auto_remove", False)
        self.containers[identity] = {
            "Id": identity,
            "Name": name,
            "Config": {"Image": "slb:1", "Labels": values.get("labels")},
            "HostConfig": {"RestartPolicy": policy, "NetworkMode": "none", "AutoRemove": is_removed},
            "State": {"Status": status, "Pid": 0, "ExitCode": 3, "StartedAt": "2026-11-20T13:14:00Z"},
        }

    def set(self, status: str, name: str = "") -> None:
        """Let another program change the state of the container c1, and its name if one is given."""
        item = self.containers["c1"]
        item["State"]["Status"], item["Name"] = status, name or item["Name"]

    def show(self, identity: str = "c1") -> tuple[str, str, str] | None:
        """Return name, state and restart policy."""
        item = self.containers.get(identity)
        if item is None:
            return None
        policy = item["HostConfig"]["RestartPolicy"]
        whole = policy["Name"] + (f":{policy['MaximumRetryCount']}" if policy["MaximumRetryCount"] else "")
        return item["Name"], item["State"]["Status"], whole

    def attempt(self, argv: list[str], timeout: float) -> commands.Completed:
        words = argv[1:]
        if argv[0] == "systemctl":
            raise FileNotFoundError(argv[0])
        if argv[0] == "docker":
            assert words[:1] == ["--host"]
            words = words[2:]
        else:
            assert words[:1] == ["--remote=false"]
            words = words[1:]
        assert argv[0] == self.program
        self.asked += 1
        try:
            return commands.Completed(0, self._answer(words), "")
        except LookupError as error:
            return commands.Completed(1, "", str(error.args[0]))
        except TimeoutError:
            return commands.Completed(-9, "", "", is_killed=True)

    def _find(self, name: str) -> dict[str, Any]:
        for item in self.containers.values():
            if name in (item["Id"], item["Name"]):
                return item
        raise LookupError("no such container")

    def _answer(self, words: list[str]) -> str:
        verb, rest = words[0], words[1:]
        if verb == "--version":
            return f"podman version {self.version}"
        if verb == "container":
            return json.dumps([self._find(rest[1])])
        if verb == "ps":
            status = {"running": "Up 3 minutes"}
            template = rest[rest.index("--format") + 1] if "--format" in rest else "{{.ID}}"
            return "\n".join(
                template.replace("{{.ID}}", item["Id"])
                .replace("{{.Names}}", item["Name"])
                .replace("{{.Status}}", status.get(item["State"]["Status"], "Exited (0) 3 minutes ago"))
                for item in self.containers.values()
            )
        if verb == "info":
            return ""
        if verb == "logs":
            return "port 80 is in use"
        return self._change(verb, rest)

    def _change(self, verb: str, rest: list[str]) -> str:
        self.before(verb)
        item = self._find(rest[-2] if verb == "rename" else rest[-1])
        if verb in self.fails:
            raise LookupError(self.fails[verb])
        if verb == "rename":
            refuses_own = self.program == "docker" or self.version < "4"
            others = [other for other in self.containers.values() if other is not item or refuses_own]
            if any(other["Name"] == rest[-1] for other in others):
                raise LookupError("the name is in use")
            item["Name"] = rest[-1]
        elif verb == "update":
            if self.program == "podman" and self.version < "5.1":
                raise LookupError("unknown flag: --restart")
            name, _, retries = rest[0].partition("=")[2].partition(":")
            item["HostConfig"]["RestartPolicy"] = {"Name": name, "MaximumRetryCount": int(retries or 0)}
        elif verb == "rm":
            del self.containers[item["Id"]]
        else:
            states = {"stop": "exited", "start": "running", "pause": "paused", "unpause": "running"}
            item["State"]["Status"] = states[verb]
            if verb == "start" and self.ends_after_start:
                item["State"]["Status"] = self.ends_after_start
            if verb == "stop" and item["HostConfig"]["AutoRemove"]:
                del self.containers[item["Id"]]
        self.changes.append(verb)
        return ""


class Host(Killer):
    """An engine host: a fake runtime, a real record file, and a kill before any change of the two.

    ``meanwhile`` is called before each command of the runtime; its result, if any, replaces the answer.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, runtime: FakeRuntime) -> None:
        self.runtime = runtime
        self.path = folder / "facts.d" / "slb_engine.fact"
        self.meanwhile: Callable[[list[str], float], commands.Completed | None] = lambda argv, timeout: None
        self.units = folder / "units"
        self.units.mkdir()
        write = record.files.replace

        def replace(path: str, content: bytes, mode: int) -> None:
            self.step("write")
            write(path, content, mode)

        # The tests may be run by any user, who owns the folders.
        own = SimpleNamespace(**{**vars(os), "geteuid": os.getuid})
        monkeypatch.setattr(record.folders, "os", own)
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(record, "PATH", str(self.path))
        monkeypatch.setattr(locks, "FOLDER", str(folder / "run"))
        monkeypatch.setattr(record.files, "replace", replace)
        monkeypatch.setattr(commands, "attempt", self._attempt)
        monkeypatch.setattr(commands, "find", lambda name: name if name == self.runtime.program else None)
        monkeypatch.setattr(container.processes, "pids", list)
        monkeypatch.setattr(container, "_is_here", lambda seen: True)
        monkeypatch.setattr(mentions, "_SYSTEMD", (str(self.units),))
        for name in ("_QUADLETS", "_INIT_SCRIPTS", "_FILES"):
            monkeypatch.setattr(mentions, name, ())
        monkeypatch.setattr(runtimes, "_DOCKER_SOCKET", str(folder / "docker.sock"))
        monkeypatch.setattr(runtimes, "find_obstacle", lambda runtime: None)
        monkeypatch.setattr(leftovers, "_WANTS", (str(folder / "wants"),))
        monkeypatch.setattr(container, "INTERVAL", 0.0)
        for name in ("_CHECK_SECONDS", "_DOWN_SECONDS"):
            monkeypatch.setattr(leftovers, name, 0.0)
        # No stop of the fake runtime is pending.
        monkeypatch.setattr(leftovers, "wait_for_stop", lambda aside, seconds: None)
        runtime.before = self.step

    def _attempt(self, argv: list[str], timeout: float) -> commands.Completed:
        return self.meanwhile(argv, timeout) or self.runtime.attempt(argv, timeout)

    def kills(self, act: Callable[[], object]) -> Iterator[int]:
        """Run ``act`` from the present state, killed before each of its changes, and finally to its end."""
        containers, content = self.state()
        for number in itertools.count():
            self.runtime.containers = copy.deepcopy(containers)
            self.path.unlink(missing_ok=True)
            if content is not None:
                self.path.write_bytes(content)
            was_killed = self.kill_before(number, act)
            yield number
            if not was_killed:
                return

    def file(self) -> dict[str, Any] | None:
        return json.loads(self.path.read_text()) if self.path.exists() else None

    def state(self) -> tuple[dict[str, Any], bytes | None]:
        """Return everything that lasts: the containers and the bytes of the record."""
        content = self.path.read_bytes() if self.path.exists() else None
        return copy.deepcopy(self.runtime.containers), content
