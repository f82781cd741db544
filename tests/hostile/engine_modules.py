"""What an honest engine host returns for each module: one engine, from its first request to its verification."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODULE = re.compile(
    rb"(?:ansible_collections[./]slb[./]fleet[./]plugins[./]modules|ansible[./](?:legacy|modules))[./](\w+)"
)
_ARGUMENTS = re.compile(rb"\{\\*[\"']ANSIBLE_MODULE_ARGS")
_CONTAINER = {
    **dict.fromkeys(
        ("id", "image", "uptime", "exit_code", "restart_policy", "manager", "why", "fix", "health", "health_output")
    ),
    **{"name": "slb", "runtime": "docker", "restart_count": 0, "auto_remove": False},
    **{"connections": 0, "peers": [], "outbound": 0, "state": "absent"},
}
_RUNNING = {"state": "running", "image": "slb:1", "uptime": 1000.0, "exit_code": 0, "restart_policy": "always"}
_NO_RECORD = {"state": "none", "unwritable": None}
_LEFTOVER, _INSTALLED = "1ef70e" * 10, "c0ffee" * 10
_INTERFACE = {
    "name": "ens9",
    "mac": "52:54:00:12:34:56",
    "uuid": "9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f",
    "addresses": ["192.0.2.20/24"],
    "settings": {},
}


class Engine:
    """One host. Nothing that it returns differs from run to run. ``seconds``: duration of a deployment."""

    def __init__(self, host: str, address: str, seconds: float = 0) -> None:
        self.host, self.address, self.seconds = host, address, seconds
        self.container, self.requested_at = "", 0.0
        self._record: dict[str, Any] = dict(_NO_RECORD)
        self._before: tuple[str, dict[str, Any]] = ("", self._record)

    def start(self, state: str, base_url: str) -> None:
        """Begin with a ``verified`` engine, one that is ``pending``, a ``live`` leftover, or nothing."""
        engine = {"name": self.host, "manage_ip": self.address, "base_url": base_url}
        if state == "verified":
            self._note({**engine, "state": "verified", "container_id": _INSTALLED, "verified_by": "host"})
        if state == "pending":
            self._record.update(engine, state="requested", request_id="1", age=5000.0, containers_before=[])
        self.container = {"verified": _INSTALLED, "pending": _INSTALLED, "live": _LEFTOVER}.get(state, "")

    def answer(self, module: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answers = {
            "host_info": self._gather,
            "engine_record": self._note,
            "_engine_step": self._step,
            "interface": self._adopt,
            "ping": lambda _arguments: {"ping": "pong"},
        }
        answer = answers[module](arguments) if module in answers else {"msg": "done"}
        return {"changed": False, **answer, "invocation": {"module_args": {}}}

    @property
    def _seen(self) -> dict[str, Any]:
        is_due = self._record["state"] == "requested" and time.monotonic() >= self.requested_at + self.seconds
        if is_due and not self.container:
            self.container = _INSTALLED
        return {**_CONTAINER, **_RUNNING, "id": self.container} if self.container else dict(_CONTAINER)

    def _gather(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        facts = {
            "root": True,
            "machine": f"machine of {self.host}",
            "addresses": [self.address],
            "engine_container": self._seen,
            "record": dict(self._record),
            "running_leftovers": [],
            "ports": [{"port": 22, "process": "sshd", "container": None}],
            "motd": {"path": "/etc/motd", "target": None, "bytes": 0, "sources": []},
        }
        return {"slb_host": facts}

    def _step(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        steps = {"prepare": self._install, "mark": self._install, "confirm": self._adopt}
        return steps.get(arguments["step"], self._set_aside)(arguments)

    def _install(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["step"] == "mark":
            self.requested_at = time.monotonic()
            self._record.update(state="requested")
            return {"changed": True, "record": dict(self._record)}
        before, aside = self._seen, "slb-leftover-1" if self.container else None
        if not arguments["_ansible_check_mode"]:
            self._before = self.container, self._record
            self.container = ""
            engine = {key: arguments[key] for key in ("name", "manage_ip", "base_url")}
            engine["request_id"] = arguments["request_id"]
            known = {"containers_before": [before["id"]] if before["id"] else []}
            self._record = {**_NO_RECORD, **engine, **known, "state": "prepared", "age": 0.0}
        record, after = dict(self._record), dict(_CONTAINER)
        return {"changed": True, "record": record, "set_aside_as": aside, "before": before, "after": after}

    def _note(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._record = dict(_NO_RECORD)
        if arguments["state"] == "verified":
            engine = {key: arguments[key] for key in ("name", "manage_ip", "base_url", "verified_by")}
            self._record.update(engine, state="verified", age=0.0, last_verified=arguments["container_id"])
        return {"changed": True, "record": dict(self._record)}

    def _set_aside(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        before = self._seen
        if arguments["step"] == "restore":
            is_own = arguments.get("request_id") == self._record.get("request_id")
            is_undone = is_own and self._record["state"] == "requested" and arguments.get("requested_age") == 0
            if is_undone or (is_own and self._record["state"] == "prepared"):
                self.container, self._record = self._before
            record = dict(self._record)
            return {
                "changed": is_undone,
                "restored": is_undone,
                "record": record,
                "before": before,
                "after": self._seen,
            }
        self.container = ""
        name = None if arguments.get("remove") else "slb-leftover-1"
        return {"changed": True, "before": before, "after": self._seen, "set_aside_as": name}

    def _adopt(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        left_alone = [
            {"name": "lo", "reason": "not an Ethernet device of the host (loopback)", "fix": "", "never_adopted": True},
            {"name": "ens10", "reason": "no carrier", "fix": "Connect the cable.", "never_adopted": False},
        ]
        return {
            "changed": True,
            "adopted": [_INTERFACE],
            "left_alone": left_alone,
            "rolled_back": [],
            "token": "0" * 32,
        }


def module_in(payload: bytes) -> str:
    found = _MODULE.search(payload)
    return found[1].decode() if found else ""


def arguments_in(payload: bytes) -> dict[str, Any]:
    """Return the arguments, which the payload holds as JSON in a literal of Python."""
    begin = _ARGUMENTS.search(payload)
    if not begin:
        return {}
    line = payload[begin.start() :].partition(b"\n")[0].decode()
    with contextlib.suppress(ValueError):
        return _json(line)
    return _json(line.encode().decode("unicode_escape"))


def _json(text: str) -> dict[str, Any]:
    values, _end = json.JSONDecoder().raw_decode(text)
    arguments: dict[str, Any] = values["ANSIBLE_MODULE_ARGS"]
    return arguments
