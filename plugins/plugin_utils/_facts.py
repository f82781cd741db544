# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types and sizes of what an engine host may return: one schema, checked before any value is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_MAX_TEXT = 100_000  # characters that are not visible were replaced by longer words
_LARGEST = 1e15
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}")


@dataclass(frozen=True)
class Maybe:
    """A value that may be null or missing."""

    schema: Any


def text(value: Any) -> bool:
    """Return whether the value is a text."""
    return isinstance(value, str) and len(value) <= _MAX_TEXT


def name(value: Any) -> bool:
    """Return whether the value is a name or an id that may stand in a command."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def number(value: Any) -> bool:
    """Return whether the value is a number from 0; infinity and NaN are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _LARGEST


def integer(value: Any) -> bool:
    """Return whether the value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def one_of(*words: str) -> Callable[[Any], bool]:
    """Return the check for one of these words."""
    return lambda value: isinstance(value, str) and value in words


_SET_ASIDE = {
    "id": name,
    "name": name,
    "purpose": text,
    "runtime": Maybe(one_of("docker", "podman")),
    "exists": Maybe(bool),
    "stop_timeout": Maybe(number),
}
_CONTAINER = {
    "state": one_of("absent", "created", "running", "restarting", "paused", "exited", "unknown"),
    "id": Maybe(name),
    "runtime": Maybe(one_of("docker", "podman")),
    "image": Maybe(text),
    "uptime": Maybe(number),
    "exit_code": Maybe(integer),
    "restart_count": Maybe(number),
    "auto_remove": bool,
    "manager": Maybe(text),
    "manager_fix": Maybe(text),
    "start_obstacle": Maybe(text),
    "restore_obstacle": Maybe(text),
    "is_dead": Maybe(bool),
    "connections": Maybe(integer),
    "peers": Maybe([text]),
    "outbound": Maybe(number),
    "why": Maybe(text),
    "fix": Maybe(text),
    "health": Maybe(one_of("", "starting", "healthy", "unhealthy", "silent")),
    "health_output": Maybe(text),
}
_RECORD = {
    "state": one_of("none", "preparing", "prepared", "requested", "restoring", "verified", "invalid"),
    **dict.fromkeys(("why", "unwritable", "request_id", "name", "manage_ip", "base_url", "verified_by"), Maybe(text)),
    **dict.fromkeys(("age", "wait_timeout"), Maybe(number)),
    "sent": Maybe(bool),
    "replaced_gone": Maybe(bool),
    "containers_before": Maybe([name]),
    **dict.fromkeys(("last_verified", "verified_name"), Maybe(name)),
    **dict.fromkeys(("set_aside", "earlier"), Maybe(_SET_ASIDE)),
}
FACTS = {
    "root": bool,
    "machine": Maybe(text),
    "addresses": Maybe([text]),
    "engine_container": _CONTAINER,
    "record": _RECORD,
    "running_leftovers": Maybe([name]),
    "stopped_leftovers": Maybe([name]),
    "ports": Maybe([{"port": integer, "process": Maybe(text), "container": Maybe(name)}]),
    "motd": Maybe({"bytes": Maybe(number), "sources": Maybe([{"source": text, "bytes": Maybe(number)}])}),
    "interfaces": Maybe([dict]),
}
"""Of ``host_info``, as a plan needs them."""
_CHANGED_CONTAINER = {
    "record": Maybe({**_RECORD, "state": Maybe(_RECORD["state"])}),
    "set_aside_as": Maybe(text),
    **dict.fromkeys(("restored", "started", "is_replaced", "is_cleared", "is_unknown"), Maybe(bool)),
    **dict.fromkeys(("before", "after"), Maybe(dict)),
}
ALWAYS = {
    **dict.fromkeys(("changed", "failed"), Maybe(bool)),
    **dict.fromkeys(("msg", "code", "fix", "exception"), Maybe(text)),
    "diff": Maybe(lambda value: isinstance(value, (dict, list))),
    "warnings": Maybe([text]),
}
RETURNED: Mapping[str, Mapping[str, Any]] = {
    "host_info": {"slb_host": Maybe({key: Maybe(schema) for key, schema in FACTS.items()})},
    "_engine_step": _CHANGED_CONTAINER,
    "engine_container": _CHANGED_CONTAINER,
    "engine_record": {"record": Maybe(dict), "is_unknown": Maybe(bool)},
    "motd": {"moved": Maybe(bool), "backup_file": Maybe(text)},
    "login": {"sessionid": Maybe(text), "tls_fingerprint": Maybe(text)},
    "engine": {**dict.fromkeys(("outcome", "state", "answer"), Maybe(text)), "status_code": Maybe(integer)},
    "engine_info": {
        **{"engines": Maybe([dict]), "unmapped": Maybe([text])},
        **{"complete": Maybe(bool), "incomplete_cause": Maybe(text)},
    },
    "interface": {
        **dict.fromkeys(("adopted", "released", "left_alone"), Maybe([dict])),
        **dict.fromkeys(("rolled_back", "pending"), Maybe([text])),
        "token": Maybe(text),
    },
    "_interface_confirm": {"pending": Maybe([text])},
}
"""Keys that a host may return, by module, each with its schema. Everything else is dropped."""


def check(value: Any, schema: Any) -> None:
    """Raise FleetError ``host_answer_invalid`` unless the value, of data as JSON has them, fits the schema."""
    wrong = _find_invalid(value, schema)
    if wrong is not None:
        raise FleetError(
            "host_answer_invalid",
            f"Answer of this host invalid: {wrong.rstrip('.') or 'facts'} missing, or of a wrong type or size.",
            "Check the host before you trust it again: its module did not return facts.",
        )


def _find_invalid(value: Any, schema: Any) -> str | None:
    """Return the path of the first value that does not fit; None if all fit."""
    if isinstance(schema, Maybe):
        return None if value is None else _find_invalid(value, schema.schema)
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return ""
        for key, each in schema.items():
            wrong = _find_invalid(value.get(key), each)
            if wrong is not None:
                return f"{key}.{wrong}"
        return None
    if isinstance(schema, list):
        if not isinstance(value, list):
            return ""
        found = (_find_invalid(item, schema[0]) for item in value)
        return next((wrong for wrong in found if wrong is not None), None)
    is_valid = isinstance(value, schema) if isinstance(schema, type) else schema(value)
    return None if is_valid else ""
