# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine host may return, and the observed state that a plan is made of. Nothing else of it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._typed import Amount, DataError, Name, build, fields_of
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Listed
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Container, Engine, Port, Record, SetAside, State

_LEFTOVER = re.compile(r"slb-leftover-[0-9A-Za-z.-]{1,60}")


@dataclass(frozen=True)
class Source:
    """A file of the login banner, and its size."""

    source: str
    bytes: Amount = 0


@dataclass(frozen=True)
class Banner:
    """The login banner."""

    bytes: Amount = 0
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Facts of ``host_info``, as a plan needs them. Without the first three, there is no plan."""

    root: bool
    engine_container: Container
    record: Record
    machine: str = ""
    addresses: tuple[str, ...] = ()
    running_leftovers: tuple[Name, ...] = ()
    stopped_leftovers: tuple[Name, ...] = ()
    ports: tuple[Port, ...] = ()
    motd: Banner = Banner()


_Dict = Mapping[str, Any]
_Dicts = tuple[Mapping[str, Any], ...]
_Texts = tuple[str, ...]
_CHANGED_CONTAINER = {
    "record": Record | None,
    "set_aside_as": str | None,
    **dict.fromkeys(("restored", "started", "is_replaced", "is_cleared", "is_unknown"), bool | None),
    **dict.fromkeys(("before", "after"), _Dict | None),
}
ALWAYS = {
    **dict.fromkeys(("changed", "failed"), bool | None),
    **dict.fromkeys(("msg", "code", "fix", "exception"), str | None),
    "diff": _Dict | _Dicts | None,
    "warnings": _Texts | None,
}
RETURNED: Mapping[str, Mapping[str, Any]] = {
    "host_info": {"slb_host": Facts | None},
    "_engine_step": _CHANGED_CONTAINER,
    "engine_container": _CHANGED_CONTAINER,
    "engine_record": {"record": _Dict | None, "has_deleted": bool | None, "is_unknown": bool | None},
    "motd": {**dict.fromkeys(("moved", "restored"), bool | None), "backup_file": str | None},
    "login": {"sessionid": str | None, "tls_fingerprint": str | None},
    "engine": {**dict.fromkeys(("outcome", "state", "answer"), str | None), "status_code": int | None},
    "engine_info": {
        **{"engines": _Dicts | None, "unmapped": _Texts | None},
        **{"complete": bool | None, "incomplete_cause": str | None},
    },
    "interface": {
        **dict.fromkeys(("adopted", "released", "left_alone"), _Dicts | None),
        "rolled_back": _Texts | None,
        "token": str | None,
    },
}
"""Keys that a host may return, by module, each with its type. Everything else is dropped."""


for _kind in (Facts, Container, Record, SetAside, Engine, Port, Banner, Source):
    fields_of(_kind)  # in the process that forks the workers


def checked(hint: Any, value: Any, place: str) -> Any:
    """Return the value as the type. Raises FleetError ``host_answer_invalid``."""
    try:
        return build(hint, value, place)
    except DataError as error:
        raise FleetError(
            "host_answer_invalid",
            f"Answer of this host invalid: {error}.",
            "Check the host before you trust it again: its module did not return facts.",
        ) from None


def state_from_facts(slb_host: Mapping[str, Any], engine: Engine, listed: Listed) -> State:
    """Return the observed state of a host. ``slb_host``: of the module ``host_info``. Raises FleetError."""
    facts: Facts = checked(Facts, slb_host, "")
    record = replace(facts.record, engine=checked(Engine, slb_host["record"], "record"))
    if record.verified_name.startswith("slb-leftover-"):
        record = replace(record, verified_name="")
    return State(
        engine=engine,
        container=facts.engine_container,
        record=record,
        listed=listed,
        addresses=facts.addresses,
        is_root=facts.root,
        running_leftovers=facts.running_leftovers[:5],
        stopped_leftovers=tuple(filter(_LEFTOVER.fullmatch, facts.stopped_leftovers)),
        ports=facts.ports,
    )
