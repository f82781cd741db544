# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one engine in the engine list: an engine is identified by its name and address together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import UNMAPPED, Gap, comparable
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible

_HEAD = ("ENGINE", "ADDRESS", "STATE IN THE LIST", "MAPPED STATE", "HOST", "MATCH")

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
is listed. ``incomplete``: not listed, in a list that may have a gap. ``unknown``: the list does not decide.
 ``not_configured``: no list is configured."""


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


def listed(engines: Sequence[Mapping[str, str]], name: str, manage_ip: str, gap: Gap = Gap()) -> Listed:  # noqa: B008
    """Return the state of the engine ``name`` at ``manage_ip``. ``gap``: why an engine that is not listed may exist."""
    if not engines and gap.kind not in ("part", "old"):
        return Listed("empty", "check its path, the permissions of the user and the filter")
    address = comparable(manage_ip)
    here = [engine for engine in engines if engine["address"] == address]
    others = [engine["address"] for engine in engines if engine["name"] == name and engine["address"] != address]
    names = sorted({engine["name"] for engine in here})
    if name in names:
        entry = _listed_here(here, names)
        if entry.state == "failed" and gap.kind == "old":  # it may run by now
            return _incomplete(gap)
        return _elsewhere(others, name, manage_ip, "where it has failed") or entry if entry.state == "failed" else entry
    if names:
        return Listed("other_name", f"it lists {' and '.join(names)} at {manage_ip}, and not {name}", is_about_it=True)
    return _elsewhere(others, name, manage_ip, f"and not at {manage_ip}") or _not_here(engines, name, manage_ip, gap)


def _elsewhere(others: Sequence[str], name: str, manage_ip: str, not_here: str) -> Listed | None:
    for address in others:
        if not is_address(address):
            return Listed("unknown", f"it lists {name} at {address!r}, which is not an IP address", is_about_it=True)
    if others and is_address(manage_ip):
        return Listed("elsewhere", f"it lists {name} at {others[0]}, {not_here}", is_about_it=True)
    return None


def _listed_here(here: Sequence[Mapping[str, str]], names: Sequence[str]) -> Listed:
    states = {engine["state"] for engine in here}
    if len(names) > 1 or len(states) > 1:
        return Listed("unknown", f"it lists several engines at this address: {', '.join(names)}", is_about_it=True)
    state = states.pop()
    if state == UNMAPPED:
        word = here[0].get("console_state", "")
        return Listed("unknown", f"it calls the engine's state {word!r}, an unmapped state", True)
    return Listed(state, is_about_it=True)  # type: ignore[arg-type]


def _not_here(engines: Sequence[Mapping[str, str]], name: str, manage_ip: str, gap: Gap) -> Listed:
    if not is_address(manage_ip):
        is_named = any(engine["name"] == name for engine in engines)
        return Listed("unknown", f"{manage_ip!r} is not an IP address and cannot be compared with it", is_named)
    uncomparable = next((engine["address"] for engine in engines if not is_address(engine["address"])), None)
    if uncomparable is not None:
        words = f"it has addresses that are not IP addresses, such as {uncomparable!r}, which cannot be compared"
        return Listed("unknown", words)
    return _incomplete(gap) if gap.kind else Listed("not_listed")


def _incomplete(gap: Gap) -> Listed:
    return Listed("incomplete", gap.cause, fix=gap.fix)


def is_another_machine(manage_ip: str, own: Iterable[str]) -> bool:
    """Return whether a host with these addresses is another one than that at ``manage_ip``; False if unknown."""
    known = {comparable(address) for address in own}
    return bool(known) and is_address(manage_ip) and comparable(manage_ip) not in known


def is_address(text: str) -> bool:
    """Return whether ``text`` is the IP address of a host."""
    try:
        return not ip_address(comparable(text)).is_unspecified
    except ValueError:
        return False


def engine_table(engines: Sequence[Mapping[str, str]], hosts: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the lines of a table: each engine of the list with its host, then hosts whose engine is not listed.

    ``hosts``: name and address of the engine, by host.
    """
    rows = []
    without_entry = dict(hosts)
    for engine in engines:
        row = (engine["name"], engine["address"], engine["console_state"], engine["state"])
        matches = [
            host for host, (name, ip) in hosts.items() if engine["name"] == name or engine["address"] == comparable(ip)
        ]
        for host in matches:
            without_entry.pop(host, None)
            entry = listed(engines, *hosts[host])
            is_match = entry.state in ("running", "deploying", "failed", "unknown")
            rows.append((*row, host, "yes" if is_match else f"no: {entry.words or entry.state}"))
        if not matches:
            rows.append((*row, "-", "no: not in the inventory"))
    rows += [(name, ip, "-", "-", host, "no: not listed") for host, (name, ip) in without_entry.items()]
    cells = [[visible(cell) for cell in row] for row in (_HEAD, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
