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
    "name": "slb",
    "runtime": "docker",
    "image": "slb:1",
    "uptime": 100.0,
    "exit_code": 0,
    "restart_policy": "always",
    "restart_count": 0,
    "auto_remove": False,
    "manager": None,
    "connections": 0,
    "peers": [],
    "outbound": 0,
    "why": None,
}
_GONE = {"id": None, "image": None, "uptime": None, "exit_code": None, "restart_policy": None}
_NO_RECORD = {"state": "none", "unwritable": None}
_LEFTOVER, _INSTALLED = "1ef70e" * 10, "c0ffee" * 10
_PORTS = [{"port": 22, "addresses": ["0.0.0.0", "::"], "process": "sshd", "pid": 101, "engine": False}]
_INTERFACE = {
    "name": "ens9",
    "mac": "52:54:00:12:34:56",
    "uuid": "9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f",
    "addresses": ["192.0.2.20/24"],
    "settings": {},
}


def address_of(host: str) -> str:
    """That of a host whose name ends in its number."""
    number = int(host.rpartition("-")[2])
    return f"192.0.2.{number}" if number < 256 else f"198.18.{number // 256}.{number % 256}"


class Engine:
    """One host, by a name that ends in its number. Nothing that it returns differs from run to run.

    ``verified_at``: the management node for which its engine was verified before; empty for none. ``seconds``: duration
    of a deployment, which begins when the host is prepared.
    """

    def __init__(self, host: str, verified_at: str = "") -> None:
        self.host, self.address = host, address_of(host)
        self.container = ""
        self.seconds = self.requested_at = 0.0
        self._record: dict[str, Any] = dict(_NO_RECORD)
        self._before: tuple[str, dict[str, Any]] = ("", self._record)
        if verified_at:
            self.verify(verified_at)

    def verify(self, base_url: str) -> None:
        self.container = _INSTALLED
        engine = {"name": self.host, "manage_ip": self.address, "base_url": base_url}
        self._noted({**engine, "state": "verified", "container_id": _INSTALLED, "verified_by": "host"})

    def run_leftover(self) -> None:
        self.container = _LEFTOVER

    def answer(self, module: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answers = {
            "host_info": self._facts_of_host,
            "engine_install": self._installed,
            "engine_record": self._noted,
            "engine_container": self._set_aside,
            "motd": self._message,
            "interface": self._adopted,
            "setup": self._facts,
            "ping": lambda _arguments: {"ping": "pong"},
            "command": lambda _arguments: {"rc": 0, "stdout": "said", "stderr": "", "cmd": ["true"], "changed": True},
        }
        said = answers[module](arguments) if module in answers else {"msg": "done"}
        return {"changed": False, **said, "invocation": {"module_args": {}}}

    @property
    def _seen(self) -> dict[str, Any]:
        is_due = self._record["state"] == "requested" and time.monotonic() >= self.requested_at + self.seconds
        if is_due and not self.container:
            self.container = _INSTALLED
        if not self.container:
            return {**_CONTAINER, **_GONE, "state": "absent"}
        return {**_CONTAINER, "id": self.container, "state": "running"}

    def _facts_of_host(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        facts = {
            "root": True,
            "machine": f"machine of {self.host}",
            "addresses": [self.address],
            "engine_container": self._seen,
            "record": dict(self._record),
            "running_leftovers": [],
            "ports": _PORTS,
            "motd": {
                "path": "/etc/motd",
                "target": None,
                "bytes": 900,
                "sources": [{"source": "/etc/motd", "bytes": 900}],
                "backups": [],
            },
        }
        return {"slb_host": facts}

    def _installed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["step"] == "restore":
            self.container, self._record = self._before
            return {"changed": True, "restored": bool(self.container), "record": dict(self._record)}
        before, aside = self._seen, "slb-leftover-1" if self.container else None
        if not arguments["_ansible_check_mode"]:
            self._before = self.container, self._record
            self.container, self.requested_at = "", time.monotonic()
            engine = {key: arguments[key] for key in ("name", "manage_ip", "base_url", "request_id")}
            self._record = {**_NO_RECORD, **engine, "state": "requested", "age": 0.0, "container_before": before["id"]}
        after = {**_CONTAINER, **_GONE, "state": "absent"}
        return {"changed": True, "record": dict(self._record), "set_aside_as": aside, "before": before, "after": after}

    def _noted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._record = dict(_NO_RECORD)
        if arguments["state"] == "verified":
            engine = {key: arguments[key] for key in ("name", "manage_ip", "base_url", "verified_by")}
            self._record.update(engine, state="verified", age=0.0, last_verified=arguments["container_id"])
        return {"changed": True, "record": dict(self._record)}

    def _set_aside(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        before = self._seen
        if arguments["state"] == "restored":
            return {"restored": False, "before": before, "after": before}
        self.container = ""
        return {"changed": True, "before": before, "after": self._seen, "set_aside_as": "slb-leftover-1"}

    def _message(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"changed": True, "moved": True, "backup_file": "/etc/motd.bak"}

    def _adopted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        left_alone = [{"name": "lo", "reason": "not an Ethernet device of the host (loopback)", "fix": ""}]
        pending = [] if arguments.get("state") == "confirmed" else ["ens9"]
        return {"changed": True, "adopted": [_INTERFACE], "left_alone": left_alone, "undone": [], "pending": pending}

    def _facts(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"ansible_facts": {"ansible_hostname": self.host, "ansible_local": {"slb_engine": {"state": "none"}}}}


def module_in(payload: bytes) -> str:
    found = _MODULE.search(payload)
    return found[1].decode() if found else ""


def arguments_in(payload: bytes) -> dict[str, Any]:
    """The payload is a program that holds them as JSON, in a literal of Python."""
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
