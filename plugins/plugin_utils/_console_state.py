# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the console's list says of one engine."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import cast

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ConsoleState


def console_state(engines: Sequence[Mapping[str, str]], name: str, manage_ip: str) -> ConsoleState:
    """The state in which the engine is listed. ``unknown`` are contradictions, two entries for one host that differ, or
    the engine's name at another address, and addresses that cannot be compared: a name may be that of this very host.
    """
    here = {engine["state"] for engine in engines if _address(engine["address"]) == _address(manage_ip)}
    if len(here) > 1:
        return "unknown"
    if here:
        return cast(ConsoleState, here.pop())
    are_comparable = all(
        not isinstance(_address(address), str) for address in (manage_ip, *(engine["address"] for engine in engines))
    )
    is_named = any(engine["name"] == str(name) for engine in engines)
    return "not_listed" if are_comparable and not is_named else "unknown"


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | str:
    """As it is where it is no IP address, with or without the length of a prefix."""
    try:
        return ipaddress.ip_interface(str(text).strip()).ip
    except ValueError:
        return str(text)
