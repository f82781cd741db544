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
    """The state in which the engine is listed. Contradictions are ``unknown``: two entries for one host that differ,
    or the engine's name at another address.
    """
    here = {engine["state"] for engine in engines if _same_address(engine["address"], manage_ip)}
    if len(here) > 1:
        return "unknown"
    if here:
        return cast(ConsoleState, here.pop())
    return "unknown" if any(engine["name"] == name for engine in engines) else "not_listed"


def _same_address(one: str, other: str) -> bool:
    try:
        return ipaddress.ip_address(one.strip()) == ipaddress.ip_address(other.strip())
    except ValueError:
        return one == other
