"""What a well-behaved engine host answers to each module: one engine, from its first request to its proof."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODULE = re.compile(
    rb"(?:ansible_collections[./]slb[./]fleet[./]plugins[./]modules|ansible[./](?:legacy|modules))[./](\w+)"
)
_ARGUMENTS = re.compile(rb"\{\\*[\"']ANSIBLE_MODULE_ARGS")
_CONTAINER = {
    "name": "slb",
    "id": "c0ffee" * 10,
    "runtime": "docker",
    "image": "slb:1",
    "started_at": 1795000100.0,
    "uptime": 100.0,
    "exit_code": 0,
    "restart_policy": "always",
    "restart_count": 0,
    "auto_remove": False,
    "after_request": True,
    "established": 0,
}
_ABSENT = {"state": "absent", "runtime": "docker", "auto_remove": False, "after_request": None, "established": 0}
_PORTS = [{"port": 22, "addresses": ["0.0.0.0", "::"], "process": "sshd", "pid": 101, "engine": False}]
_INTERFACE = {
    "name": "ens9",
    "mac": "52:54:00:12:34:56",
    "profile": "ens9",
    "profile_is_new": True,
    "uuid": "9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f",
    "addresses": ["192.0.2.20/24"],
    "returns_at_boot": True,
    "notes": [],
}


def address_of(host: str) -> str:
    """That of a host whose name ends in its number."""
    number = int(host.rpartition("-")[2])
    return f"192.0.2.{number}" if number < 256 else f"198.18.{number // 256}.{number % 256}"


class Engine:
    """One host, by a name that ends in its number. Nothing that it says differs from run to run.

    ``verified_at``: the management node for which its engine was healthy already; empty for none.
    """

    def __init__(self, host: str, verified_at: str = "") -> None:
        self._host, self._state, self._address = host, "absent", address_of(host)
        self._record: dict[str, Any] = {"state": "none", "unwritable": None}
        if verified_at:
            self._state, engine = "running", {"name": host, "manage_ip": self._address, "base_url": verified_at}
            proof = {"state": "verified", "container_id": _CONTAINER["id"], "verified_by": "host"}
            self._noted({**engine, **proof})

    def answer(self, module: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answers = {
            "host_info": self._looked_at,
            "engine_record": self._noted,
            "engine_container": self._container_after,
            "motd": self._message,
            "interface": self._adopted,
            "setup": self._facts,
            "ping": lambda _arguments: {"ping": "pong"},
            "command": lambda _arguments: {"rc": 0, "stdout": "said", "stderr": "", "cmd": ["true"], "changed": True},
        }
        said = answers[module](arguments) if module in answers else {"msg": "done"}
        return {"changed": False, **said, "invocation": {"module_args": {}}}

    @property
    def _container(self) -> dict[str, Any]:
        return dict(_ABSENT) if self._state == "absent" else {**_CONTAINER, "state": self._state}

    def _looked_at(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        seen = {
            "engine_container": self._container,
            "record": dict(self._record),
            "ports": _PORTS,
            "motd": {
                "path": "/etc/motd",
                "target": None,
                "bytes": 900,
                "sources": [{"source": "/etc/motd", "bytes": 900}],
                "backups": [],
            },
            "interfaces": [],
        }
        wanted = {name: value for name, value in seen.items() if name in arguments.get("subset", seen)}
        common = {"observed_at": 1795000200.5, "root": True, "addresses": [self._address], "set_aside": None}
        return {"slb_host": {**common, **wanted}}

    def _noted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        state = arguments["state"]
        if state == "absent":
            self._record = {"state": "none", "unwritable": None}
        else:
            named = {key: arguments[key] for key in ("name", "manage_ip", "base_url")}
            self._record = {
                "state": state,
                **named,
                "attempt": 1,
                "requested_at": 1795000000.5,
                "boot_id": "0d4b9a55-1c1e-4c0b-9a53-6f3c1f4c8a11",
                "uptime": 86400.25,
                "age": 0.0,
                "container_id": arguments.get("container_id"),
                "verified_by": arguments.get("verified_by"),
            }
        return {"changed": True, "record": dict(self._record)}

    def _container_after(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        before = self._container
        if arguments["state"] == "running":
            # The management node has done its work by now.
            self._state = "running"
            return {"before": before, "after": self._container, "waited": 0.5}
        self._state = "absent"
        return {"changed": True, "before": before, "after": self._container, "set_aside_as": "slb-leftover-1"}

    def _message(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"changed": True, "moved": True, "backup_file": "/etc/motd.bak"}

    def _adopted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        left_alone = [{"name": "lo", "reason": "it is no Ethernet device but of the kind loopback"}]
        pending = [] if arguments.get("state") == "verified" else ["ens9"]
        return {"changed": True, "adopted": [_INTERFACE], "left_alone": left_alone, "remarks": [], "requested": pending}

    def _facts(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"ansible_facts": {"ansible_hostname": self._host, "ansible_local": {"slb_engine": {"state": "none"}}}}


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
