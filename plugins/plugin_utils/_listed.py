# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one engine in the engine list: an engine is identified by its name and address together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    UNMAPPED,
    EngineList,
    comparable,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.extent import NO_GAP, Gap
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")

ListState = Literal[
    "running",
    "deploying",
    "failed",
    "not_listed",
    "incomplete",
    "elsewhere",
    "other_name",
    "empty",
    "unknown",
    "unavailable",
    "not_configured",
]
"""``elsewhere``: the name at another address. ``other_name``: another name at this address. ``empty``: no engine at all
is listed. ``incomplete``: not listed, in a list that is a part, old or of unknown size. ``unknown``: the list does not
decide. ``not_configured``: no list is configured."""


@dataclass(frozen=True)
class Excerpt:
    """What a list of ``size`` engines shows at one address and of one name.

    ``uncomparable``: an address in it that is no IP address, such as a host's name or an empty text; None if there is
    none.
    ``gap``: why an engine that is not in the list may exist.
    """

    size: int
    here: tuple[Mapping[str, str], ...] = ()
    named: tuple[Mapping[str, str], ...] = ()
    uncomparable: str | None = None
    gap: Gap = NO_GAP


@dataclass(frozen=True)
class Listed:
    """``words``: what an operator has to know beyond the state. ``is_about_it``: an entry speaks of this engine.

    ``fix``: the advice for these words. ``code``: of the failure, if the list is unavailable.
    """

    state: ListState
    words: str = ""
    is_about_it: bool = False
    fix: str = ""
    code: str = ""


def excerpt(engines: Iterable[Mapping[str, str]], name: str, manage_ip: str, gap: Gap = NO_GAP) -> Excerpt:
    listed, address = list(engines), comparable(manage_ip)
    return Excerpt(
        len(listed),
        tuple(engine for engine in listed if engine["address"] == address),
        tuple(engine for engine in listed if engine["name"] == name),
        next((engine["address"] for engine in listed if not is_address(engine["address"])), None),
        gap,
    )


def listed(seen: Excerpt, name: str, manage_ip: str) -> Listed:
    """The state of the engine ``name`` at ``manage_ip``."""
    if not seen.size and seen.gap.kind not in ("part", "stale"):
        return Listed("empty", "check its path, the permissions of the user and the filter")
    names = sorted({engine["name"] for engine in seen.here})
    if name in names:
        here = _listed_here(seen, names)
        if here.state == "failed" and seen.gap.kind == "stale":  # it may run by now
            return _incomplete(seen)
        return _elsewhere(seen, name, manage_ip) or here if here.state == "failed" else here
    if names:
        return Listed("other_name", f"it lists {' and '.join(names)} at {manage_ip}, and not {name}", is_about_it=True)
    return _elsewhere(seen, name, manage_ip) or _not_here(seen, manage_ip)


def _elsewhere(seen: Excerpt, name: str, manage_ip: str) -> Listed | None:
    not_here = "where it has failed" if seen.here else f"and not at {manage_ip}"
    others = [engine["address"] for engine in seen.named if engine["address"] != comparable(manage_ip)]
    for address in others:
        if not is_address(address):
            return Listed("unknown", f"it lists {name} at {address!r}, which is no IP address", is_about_it=True)
    if others and is_address(manage_ip):
        return Listed("elsewhere", f"it lists {name} at {others[0]}, {not_here}", is_about_it=True)
    return None


def _listed_here(seen: Excerpt, names: list[str]) -> Listed:
    states = {engine["state"] for engine in seen.here}
    if len(names) > 1 or len(states) > 1:
        return Listed("unknown", f"it lists several engines at this address: {', '.join(names)}", is_about_it=True)
    state = states.pop()
    if state == UNMAPPED:
        word = seen.here[0].get("console_state", "")
        return Listed("unknown", f"it calls the engine's state {word!r}, an unmapped state", True)
    return Listed(state, is_about_it=True)  # type: ignore[arg-type]


def _not_here(seen: Excerpt, manage_ip: str) -> Listed:
    if not is_address(manage_ip):
        return Listed("unknown", f"{manage_ip!r} is no IP address and cannot be compared with it", bool(seen.named))
    if seen.uncomparable is not None:
        words = f"it has addresses that are no IP addresses, such as {seen.uncomparable!r}, which cannot be compared"
        return Listed("unknown", words, bool(seen.named))
    return _incomplete(seen) if seen.gap.kind else Listed("not_listed")


def _incomplete(seen: Excerpt) -> Listed:
    return Listed("incomplete", seen.gap.cause, fix=seen.gap.fix)


def is_another_machine(manage_ip: str, own: Iterable[str]) -> bool:
    """Return whether a host with these addresses is another one than that at ``manage_ip``; False if unknown."""
    known = {comparable(address) for address in own}
    return bool(known) and is_address(manage_ip) and comparable(manage_ip) not in known


def is_address(text: str) -> bool:
    """Return whether ``text`` is the IP address of a host. Called for each engine of the list, hence the pattern."""
    address = comparable(text)
    if address in ("0.0.0.0", "::"):  # noqa: S104
        return False
    if _IPV4.fullmatch(address):
        return True
    try:
        return ":" in address and bool(IPv6Address(address))
    except ValueError:
        return False


def fetch_excerpt(
    connection: Connection, engine_list: Any, name: str, manage_ip: str, max_age: float | None
) -> Excerpt:
    """Return what the engine list of the run shows of one engine.

    Args:
        connection: To the management node.
        engine_list: The variable ``slb_engine_list``.
        name: Of the engine.
        manage_ip: Of the engine.
        max_age: Maximum age of the fetch in seconds; None for any fetch of this run.

    Raises FleetError.
    """
    configured = EngineList.from_option(engine_list)
    listing = RunCache(connection).engines(configured, max_age)
    return excerpt(listing.engines, name, manage_ip, listing.gap)
