# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an interface has in the kernel.

Everything here is plain data, so that it can be kept in a file.
"""

import time
from typing import Any, Dict, List, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel

Things = List[Dict[str, Any]]
State = Dict[str, Any]
"""Of one interface: ``up``, ``mtu``, ``mac``, ``token``, ``addresses``, ``routes``, ``neighbours``, ``ipv4``, ``ipv6``.

``read_at``: when, by the monotonic clock. ``elsewhere``: the routes that do not lead over it and go with its addresses
all the same: one is their source.
The lists are as ``ip -json`` shows them; ``ipv4`` and ``ipv6`` are the kernel's settings by name. One that an earlier
version noted may lack some: of those nothing is known, and nothing is changed.
"""

FAMILIES = ("ipv4", "ipv6")

FOREVER = 4294967295
PROTOCOL_KERNEL = "2"
PROTOCOL_RA = "9"
_BY_ITSELF = ("fe80::/64", "ff00::/8")
PASSING_FLAGS = {"linkdown", "dead", "offload", "trap", "rt_offload", "rt_trap"}
ROUTE_FIELDS = {"dst", "gateway", "dev", "table", "protocol", "scope", "prefsrc", "metric", "flags", "family"}


def read(names: List[str]) -> Dict[str, State]:
    """The present state of the interfaces ``names`` that are there. Raises HostError."""
    routes, neighbours, tokens = kernel.routes(), kernel.neighbours(), kernel.tokens()
    return {
        nic.name: {
            "read_at": time.monotonic(),
            "up": nic.up,
            "mtu": nic.mtu,
            "mac": nic.mac,
            "addresses": nic.addresses,
            "routes": [route for route in routes if route.get("dev") == nic.name],
            "elsewhere": _with_source(nic, routes),
            "neighbours": [each for each in neighbours if each["dev"] == nic.name],
            "token": tokens.get(nic.name),
            "ipv4": kernel.settings(nic.name, "ipv4"),
            "ipv6": kernel.settings(nic.name, "ipv6"),
        }
        for nic in kernel.nics()
        if nic.name in names
    }


def _with_source(nic: kernel.Nic, routes: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    own = [address["local"] for address in nic.addresses]
    return [route for route in routes if route.get("prefsrc") in own and route.get("dev") != nic.name]


def substance(state: State) -> State:
    """What of a state an interface really has: not what IPv6 makes of itself wherever it is on."""
    return dict(
        state,
        addresses=[
            address for address in state["addresses"] if address["family"] != "inet6" or address.get("scope") != "link"
        ],
        routes=[route for route in state["routes"] if route["dst"] not in _BY_ITSELF],
    )


def renamed(state: State, names: Dict[str, Optional[str]]) -> State:
    """The same where interfaces are called otherwise: ``names`` has what each of them is called now."""

    def called(thing: Dict[str, Any]) -> Dict[str, Any]:
        now = {}
        if "dev" in thing:
            now["dev"] = names.get(thing["dev"]) or thing["dev"]
        if "label" in thing:
            name, colon, label = thing["label"].partition(":")
            now["label"] = f"{names.get(name) or name}{colon}{label}"
        if "nexthops" in thing:
            now["nexthops"] = [called(hop) for hop in thing["nexthops"]]
        return dict(thing, **now)

    lists = [key for key in ("addresses", "routes", "elsewhere", "neighbours") if key in state]
    return dict(state, **{key: [called(each) for each in state[key]] for key in lists})


def aged(before: State, now: State) -> State:
    """The state that it would have by now: what lives for a while has that much less left, or is no more."""
    passed = max(0, int(now.get("read_at", 0) - before.get("read_at", now.get("read_at", 0))))

    def left(thing: Dict[str, Any], *fields: str) -> Dict[str, Any]:
        ends = {field: max(0, thing[field] - passed) for field in fields if thing.get(field, FOREVER) != FOREVER}
        return dict(thing, **ends)

    addresses = [left(address, "valid_life_time", "preferred_life_time") for address in before["addresses"]]
    routes = [left(route, "expires") for route in before["routes"]]
    return dict(
        before,
        addresses=[address for address in addresses if address.get("valid_life_time") != 0],
        routes=[route for route in routes if route.get("expires") != 0],
    )


def settings_changes(before: State, now: State) -> List[Tuple[str, str, str]]:
    """The settings that are not as they were ``before``: family, name and value of each."""
    return [
        (family, key, value)
        for family in FAMILIES
        for key, value in before.get(family, {}).items()
        if now.get(family, {}).get(key, value) != value
    ]


def only_ipv6_makes(before: State, now: State) -> List[str]:
    """The addresses of the link that are no longer made of its secret, which nobody can say who sets one by hand."""
    secret = [address_key(each) for each in now["addresses"] if "stable-privacy" in each]
    if "addr_gen_mode" not in before.get("ipv6", {}):
        return []  # it cannot be asked to
    return [
        kernel.cidr(each)
        for each in before["addresses"]
        if is_of_the_link(each) and "stable-privacy" in each and address_key(each) not in secret
    ]


def in_the_way_of(made: List[str], before: State) -> List[str]:
    """These addresses of the link, and those that came after them: listed newest first, they are to be so again."""
    listed = [kernel.cidr(each) for each in before["addresses"] if is_of_the_link(each)]
    return listed[: 1 + max(listed.index(each) for each in made)]


def is_inet(address: Dict[str, Any]) -> bool:
    return bool(address["family"] == "inet")


def is_of_the_link(address: Dict[str, Any]) -> bool:
    """Most have but one of these, which IPv6 makes by itself."""
    return bool(address["family"] == "inet6" and address.get("scope") == "link")


def is_wider(address: Dict[str, Any]) -> bool:
    return address["family"] == "inet6" and not is_of_the_link(address) and not address.get("temporary")


def address_key(address: Dict[str, Any]) -> str:
    return f"{address['family']} {kernel.cidr(address)}"


def route_key(route: Dict[str, Any]) -> str:
    """What makes two routes the same, without what passes."""
    fields = {field: route.get(field) for field in (ROUTE_FIELDS - {"flags"}) | {"type", "tos"}}
    fields["flags"] = sorted(set(route.get("flags", [])) - PASSING_FLAGS)
    fields["metrics"] = route.get("metrics")
    return repr(sorted(fields.items(), key=str))
