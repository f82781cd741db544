# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an interface is not as it was, in words. Pure."""

from typing import Any, Dict, List, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import cidr
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_commands import neighbour_words
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_state import (
    FOREVER,
    PASSING_FLAGS,
    PROTOCOL_RA,
    State,
    settings_changes,
)

# What tells one from another; all else is what it is like.
_ADDRESS = ("family", "local", "prefixlen")
_ROUTE = ("family", "type", "dst", "from", "gateway", "via", "table", "metric", "tos")
_PASSING = ("tentative",)
_UP = {True: "UP", False: "DOWN"}
_PROTOCOLS = {"2": "kernel", "3": "boot", "4": "static", PROTOCOL_RA: "ra", "16": "dhcp"}


def between(before: State, now: State) -> List[str]:
    """Of what an earlier version did not note, nothing is known."""
    found = [
        f"{family} {key} is {now[family][key]} (was {value})" for family, key, value in settings_changes(before, now)
    ]
    # Below an MTU of 1280 there is none.
    if "ipv6" in before and bool(before["ipv6"]) != bool(now["ipv6"]):
        found.append("IPv6 is there (was not)" if now["ipv6"] else "IPv6 is gone, and its settings with it")
    if before["up"] != now["up"]:
        found.append(f"the link is {_UP[now['up']]} (was {_UP[before['up']]})")
    found += [
        f"the {field} is {now.get(field)} (was {before[field]})"
        for field in ("mtu", "mac", "token")
        if field in before and before[field] != now.get(field)
    ]
    found += _things("address", _addresses(before), _addresses(now))
    for family in ("inet", "inet6"):
        order = [each["local"] for each in before["addresses"] if each["family"] == family]
        after = [each["local"] for each in now["addresses"] if each["family"] == family and each["local"] in order]
        if after != [local for local in order if local in after]:
            found.append(f"the order of its {family} addresses is {', '.join(after)} (was {', '.join(order)})")
    found += _things("route to", _routes(before), _routes(now))
    if "neighbours" in before:
        found += _things("neighbour", _neighbours(before), _neighbours(now))
    return found


_Things = Dict[str, Dict[str, Any]]


def _things(kind: str, before: _Things, now: _Things) -> List[str]:
    """Those that are alike in what has become of them are told together."""
    told: Dict[Tuple[str, str], List[str]] = {}
    for name in before:
        if name not in now:
            told.setdefault(("", "gone"), []).append(name)
            continue
        had, has = before[name], now[name]
        for field in [*had, *(field for field in has if field not in had)]:
            if had.get(field) != has.get(field):
                become = f"{_shown(has.get(field))} (was {_shown(had.get(field))})"
                told.setdefault((f"{field} of the ", become), []).append(name)
    for name in now:
        if name not in before:
            told.setdefault(("", "new"), []).append(name)
    return [f"the {field}{kind} {', '.join(names)} is {become}" for (field, become), names in told.items()]


def _shown(value: Any) -> str:
    return "none" if value is None else "on" if value is True else str(value)


def _addresses(state: State) -> _Things:
    found = {}
    for address in state["addresses"]:
        if address.get("temporary"):
            continue
        fields = {key: value for key, value in address.items() if key not in _ADDRESS + _PASSING}
        for key in ("valid_life_time", "preferred_life_time"):
            left = fields.pop(key, FOREVER)
            fields[key.partition("_")[0] + " lifetime"] = {FOREVER: "for ever", 0: "over"}.get(left, "limited")
        found[cidr(address)] = fields
    return found


def _routes(state: State) -> _Things:
    found = {}
    for route in state["routes"]:
        words = [str(route["dst"])]
        words += [f"{key} {route[key]}" for key in ("gateway", "table", "metric") if key in route]
        fields = {key: value for key, value in route.items() if key not in (*_ROUTE, "dev", "expires")}
        fields["expires"] = True if "expires" in route else None
        fields["flags"] = " ".join(sorted(set(route.get("flags", [])) - PASSING_FLAGS))
        fields["protocol"] = _PROTOCOLS.get(str(route.get("protocol", "3")), route.get("protocol"))
        found[" ".join(words)] = fields
    return found


def _neighbours(state: State) -> _Things:
    return {str(each["dst"]): {"entry": " ".join(neighbour_words(each)[1:])} for each in state["neighbours"]}
