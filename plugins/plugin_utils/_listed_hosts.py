# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the engines of the console's list make, and what has to be said of the others. Pure.

The list is others' word. What comes out of here cannot be a template, a pattern for hosts, a path or a range: a name is
letters, digits and few signs, an address is written by Python, a state is one of four words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._console.description import STATES
from ansible_collections.slb.fleet.plugins.module_utils._console.engine import Engine
from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import comparable, is_address

_HOST = re.compile(r"\w[\w.-]{0,127}")
_UNKNOWN = "unknown"
_MOST_SHOWN = 20
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class ListedHost:
    name: str
    address: str
    state: str

    @property
    def variables(self) -> dict[str, str]:
        return {
            "slb_engine_name": self.name,
            "slb_manage_ip": self.address,
            "ansible_host": self.address,
            "slb_console_state": self.state,
        }


@dataclass(frozen=True)
class Remark:
    """What an operator has to know of some engines. ``about``: each of them, as it can be shown."""

    words: str
    remedy: str
    about: Sequence[str]

    def in_words(self, most: int = _MOST_SHOWN) -> str:
        more = f" and {len(self.about) - most} more" if len(self.about) > most else ""
        return f"{self.words}: {', '.join(self.about[:most])}{more}. {self.remedy}"


_NO_NAME = (
    "Not in the inventory, because no host can have the engine's name",
    "Rename the engine, or give its host in an inventory of your own, with slb_engine_name.",
)
_NO_ADDRESS = (
    "Not in the inventory, because the engine has no IP address under which a host can be reached",
    "Correct it in the web console, or give its host in an inventory of your own.",
)
_SEVERAL_ADDRESSES = (
    "Not in the inventory, because the engine is listed at several addresses",
    "Correct it in the web console, or give its host in an inventory of your own.",
)
_SEVERAL_STATES = (
    "Listed several times, in different states, so that slb_console_state is unknown",
    "Look at the engine in the web console.",
)
_ONE_ADDRESS = (
    "Several engines are listed at one address, and each has become a host",
    "Correct it in the web console: at most one of them can be there, and slb.fleet.rollout asks for nothing on them.",
)
TAKEN_BY_CONTROLLER = (
    "Not in the inventory, because the engine's name is one of the controller's own",
    "Rename the engine, or give its host in an inventory of your own, with slb_engine_name.",
)
TAKEN_BY_GROUP = (
    "Not in the inventory, because a group has the engine's name",
    "Rename the group, or give the engine's host in an inventory of your own, with slb_engine_name.",
)
TAKEN_BY_KEY = (
    "Not in the inventory, because a key of keyed_groups would put the engine into a group of another meaning",
    "Give the key a prefix, or rename the engine.",
)
TAKEN_BY_HOST = (
    "Not taken from the console's list, because another source of the inventory has a host of this name",
    "Take the host out of that source, and put its variables into host_vars.",
)


def is_reading(value: Any) -> bool:
    """Whether ``value`` is a list of engines, as ``Listing.engines`` gives them; a cache can hold anything."""
    return isinstance(value, list) and all(
        isinstance(engine, Mapping)
        and all(isinstance(engine.get(key), str) for key in ("name", "address", "console_state"))
        and engine.get("state") in (*STATES, _UNKNOWN)
        for engine in value
    )


def hosts_of(
    engines: Iterable[Mapping[str, str]], taken: Callable[[str], tuple[str, str] | None]
) -> tuple[list[ListedHost], list[Remark]]:
    """``taken``: what stands against a name, one of the pairs above; None where nothing does."""
    named: dict[str, list[Mapping[str, str]]] = {}
    for engine in engines:
        named.setdefault(engine["name"], []).append(engine)
    hosts: list[ListedHost] = []
    remarks: dict[tuple[str, str], list[str]] = {}
    for name, entries in named.items():
        host = _host(name, entries, taken)
        if isinstance(host, ListedHost):
            hosts.append(host)
            if host.state == _UNKNOWN and len({entry["state"] for entry in entries}) > 1:
                remarks.setdefault(_SEVERAL_STATES, []).append(name)
        else:
            why, at = host
            remarks.setdefault(why, []).append(f"{_shown(name)} ({at})" if at else _shown(name))
    at_one: dict[str, list[str]] = {}
    for listed in hosts:
        at_one.setdefault(listed.address, []).append(listed.name)
    shared = [f"{' and '.join(names[:_MOST_SHOWN])} at {address}" for address, names in at_one.items() if names[1:]]
    if shared:
        remarks[_ONE_ADDRESS] = shared
    return hosts, [Remark(*why, about) for why, about in remarks.items()]


def _host(
    name: str, entries: list[Mapping[str, str]], taken: Callable[[str], tuple[str, str] | None]
) -> ListedHost | tuple[tuple[str, str], str]:
    """The host, or what stands against it, and what more has to be shown than its name."""
    if not _HOST.fullmatch(name):
        return _NO_NAME, ""
    why = taken(name)
    if why:
        return why, ""
    addresses = list(dict.fromkeys(comparable(entry["address"]) for entry in entries))
    if addresses[1:]:
        return _SEVERAL_ADDRESSES, " and ".join(_shown(address) for address in addresses[:_MOST_SHOWN])
    address = _usable(name, entries[0]["address"])
    if not address:
        return _NO_ADDRESS, _shown(entries[0]["address"])
    states = {entry["state"] for entry in entries}
    return ListedHost(name, address, states.pop() if len(states) == 1 else _UNKNOWN)


def _usable(name: str, address: str) -> str:
    """The address, as an install could be asked for with it; empty where none could. It may have a prefix length."""
    try:
        engine = Engine.from_params({"name": name, "manage_ip": address.partition("/")[0]})
    except OptionError:
        return ""
    return comparable(engine.manage_ip) if is_address(address) else ""


def _shown(text: str) -> str:
    return repr(in_short(text, _LONGEST_SHOWN)) if not _HOST.fullmatch(text) else in_short(text, _LONGEST_SHOWN)
