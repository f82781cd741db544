# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an interface has in the kernel, and the commands that bring it back there.

Everything here is plain data, so that it can be kept in a file.
"""

import time
from typing import Any, Dict, List, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel

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
_ASKED_FOR = (PROTOCOL_RA, "16")  # the latter by DHCP
_BY_ITSELF = ("fe80::/64", "ff00::/8")
_ROUTE_WORDS = (("protocol", "proto"), ("scope", "scope"), ("prefsrc", "src"), ("metric", "metric"))
PASSING_FLAGS = {"linkdown", "dead", "offload", "trap", "rt_offload", "rt_trap"}
_ROUTE_FIELDS = {"dst", "gateway", "dev", "table", "protocol", "scope", "prefsrc", "metric", "flags", "family"}
_METRICS = {
    *("mtu", "advmss", "window", "rtt", "rttvar", "rto_min", "cwnd", "initcwnd", "initrwnd", "ssthresh", "reordering"),
    *("hoplimit", "quickack", "congestion", "ecn", "fastopen_no_cookie"),
}
_REPLAYABLE = _ROUTE_FIELDS | {"metrics", "pref", "expires"}


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


def unreplayable(name: str, routes: List[Dict[str, Any]]) -> List[str]:
    """The destinations of the interface's routes that could not be brought back, such as multipath ones."""
    found = []
    for route in routes:
        hops = [hop.get("dev") for hop in route.get("nexthops", [])]
        if name in hops or (route.get("dev") == name and not _is_replayable(route)):
            found.append(str(route.get("dst")))
    return found


def _is_replayable(route: Dict[str, Any]) -> bool:
    metrics = {metric for each in route.get("metrics", []) for metric in each}
    return not set(route) - _REPLAYABLE and metrics <= _METRICS


def missing(before: State, now: State) -> List[str]:
    """The addresses and routes of ``before`` that are gone, whoever put them there."""
    addresses, routes = _lost(before, now)
    gone = ["the address " + _address_key(address).partition(" ")[2] for address in addresses]
    return gone + [f"the route to {route['dst']}" for route in routes]


def with_lost(before: State, now: State) -> State:
    """What is there now with what is gone of ``before``, for an interface that was not itself changed."""
    addresses, routes = _lost(before, now)
    return dict(
        now,
        up=before["up"] or now["up"],
        addresses=now["addresses"] + addresses,
        routes=now["routes"] + routes,
    )


def with_lost_for_good(before: State, now: State) -> State:
    """The same for an interface that its manager has configured again.

    Leases and what a router advertises are not counted: they are for whoever asks for them.
    """
    addresses, routes = _lost(before, now)
    passing = [address["local"] for address in before["addresses"] if _passes(address)]
    return dict(
        now,
        addresses=now["addresses"] + [address for address in addresses if not _passes(address)],
        routes=now["routes"]
        + [
            route
            for route in routes
            if route.get("protocol") not in _ASKED_FOR
            and route.get("prefsrc") not in passing
            and "expires" not in route
        ],
    )


def _lost(before: State, now: State) -> Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]:
    present = {_address_key(address) for address in now["addresses"]}
    ways = {way for route in now["routes"] for way in (_way(route), _advertised_way(route))}
    addresses = [
        address
        for address in before["addresses"]
        if _address_key(address) not in present and not address.get("temporary")
    ]
    own = [address["local"] for address in before["addresses"]]
    routes = [
        route
        for route in before["routes"]
        if _way(route) not in ways
        and _advertised_way(route) not in ways
        # Link-local routes come and go with the link-local address, at a metric of their manager's choice.
        and route["dst"] != "fe80::/64"
        # To an address of its own it needs none, and not every manager makes the one that the kernel does.
        and not (route["dst"] in own and route.get("protocol") == PROTOCOL_KERNEL)
    ]
    return addresses, routes


def _passes(address: Dict[str, Any]) -> bool:
    return bool(address.get("valid_life_time", FOREVER) != FOREVER)


def _way(route: Dict[str, Any]) -> Tuple[str, ...]:
    return tuple(str(route.get(field, "")) for field in ("family", "dst", "gateway", "table", "metric"))


def _advertised_way(route: Dict[str, Any]) -> Tuple[str, ...]:
    """What a router advertises has the metric that whoever listens to it gives it."""
    return _way(dict(route, metric="advertised")) if route.get("protocol") == PROTOCOL_RA else _way(route)


def settings_changes(before: State, now: State) -> List[Tuple[str, str, str]]:
    """The settings that are not as they were ``before``: family, name and value of each."""
    return [
        (family, key, value)
        for family in FAMILIES
        for key, value in before.get(family, {}).items()
        if now.get(family, {}).get(key, value) != value
    ]


def addition_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings back what goes with a link or its addresses, and nothing else puts back."""
    commands = []
    if "token" in before and before["token"] != now.get("token"):
        commands.append(["token", "set", str(before["token"] or "::"), "dev", name])
    led = [_route_key(route) for route in now.get("elsewhere", [])]
    commands += [
        [_option(route), "route", "append", *_route_words(route)]
        for route in before.get("elsewhere", [])
        if _route_key(route) not in led
    ]
    there = [neighbour_words(each) for each in now.get("neighbours", [])]
    for neighbour in before.get("neighbours", []):
        words = neighbour_words(neighbour)
        if words not in there:
            commands.append([_option(neighbour), "neighbor", "replace", *words, "dev", name])
    return commands


def neighbour_words(neighbour: Dict[str, Any]) -> List[str]:
    """What makes it."""
    if neighbour.get("proxy"):
        return ["proxy", str(neighbour["dst"])]
    kind = "noarp" if "NOARP" in neighbour.get("state", []) else "permanent"
    flags = [flag for flag in ("router", "extern_learn") if flag in neighbour]
    return [str(neighbour["dst"]), "lladdr", str(neighbour["lladdr"]), *flags, "nud", kind]


def link_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings the link and its addresses back to what they were ``before``."""
    commands = []
    if before.get("mac") and before["mac"] != now.get("mac"):
        commands.append(["link", "set", "dev", name, "address", before["mac"]])
    if now["mtu"] != before["mtu"]:
        commands.append(["link", "set", "dev", name, "mtu", str(before["mtu"])])
    if before["up"] and not now["up"]:
        commands.append(["link", "set", "dev", name, "up"])
    wanted = {_address_key(address) for address in before["addresses"]}
    # IPv6 addresses are listed newest first, IPv4 ones oldest first: added so that the list is the same again.
    for family, step in (("inet", 1), ("inet6", -1)):
        commands += _address_commands(
            name,
            [each for each in before["addresses"] if each["family"] == family and not each.get("temporary")][::step],
            [each for each in now["addresses"] if each["family"] == family and not each.get("temporary")][::step],
        )
    commands += [
        ["address", "del", "{local}/{prefixlen}".format(**address), "dev", name]
        for address in now["addresses"]
        if _address_key(address) not in wanted and not address.get("temporary")
    ]
    if now["up"] and not before["up"]:
        commands.append(["link", "set", "dev", name, "down"])
    return commands


def _address_commands(name: str, before: List[Dict[str, Any]], now: List[Dict[str, Any]]) -> List[List[str]]:
    """Both oldest first. Those whose order or nature cannot be changed in place are taken away first."""
    present = {_address_key(address): address for address in now}
    there = [address for address in before if _address_key(address) in present and not _made_by_ipv6(address)]
    order = [_address_key(address) for address in now]
    places = [order.index(_address_key(address)) for address in there]
    rigid = any(_nature(address) != _nature(present[_address_key(address)]) for address in there)
    again = there if rigid or places != sorted(places) else []
    commands = [["address", "del", "{local}/{prefixlen}".format(**address), "dev", name] for address in again]
    for address in before:
        if address in again or _address_key(address) not in present:
            # It was ours a moment ago. That it was probed for is said of it once it is there.
            known = dict(address, nodad=address["family"] == "inet6")
            commands.append(["address", "replace", *_address_words(name, known)])
        elif _marks(address) != _marks(present[_address_key(address)]):
            commands.append(["address", "replace", *_address_words(name, address)])
    return commands


def _made_by_ipv6(address: Dict[str, Any]) -> bool:
    return bool(address["family"] == "inet6" and address.get("scope") == "link")


def _nature(address: Dict[str, Any]) -> List[Any]:
    """What an address is made with."""
    if address["family"] == "inet6":
        return []
    return [address.get(field) for field in ("label", "scope", "broadcast", "noprefixroute")]


def _marks(address: Dict[str, Any]) -> List[Any]:
    """What can be changed of one that is there; how long it still lives passes."""
    flags = [bool(address.get(flag)) for flag in ("noprefixroute", "nodad", "deprecated")]
    lasts = [address.get(f"{kind}_life_time", FOREVER) == FOREVER for kind in ("valid", "preferred")]
    return [address.get("metric"), address.get("protocol"), *flags, *lasts]


def route_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings the routes back, once the addresses are: those without a gateway first, for others lead over them."""
    present = [_route_key(route) for route in now["routes"]]
    wanted = [_route_key(route) for route in before["routes"]]
    missing = [route for route in before["routes"] if _route_key(route) not in present]
    commands = [
        # "append" and not "replace", which would take the route of another interface away.
        [_option(route), "route", "append", *_route_words(route)]
        for route in sorted(missing, key=lambda route: "gateway" in route)
    ]
    surplus = [route for route in now["routes"] if _route_key(route) not in wanted]
    return commands + [[_option(route), "route", "del", *_route_words(route)] for route in surplus]


def _option(thing: Dict[str, Any]) -> str:
    """Of a route, or of a neighbour, which does not say its family."""
    return "-6" if thing.get("family", "inet6" if ":" in str(thing["dst"]) else "inet") == "inet6" else "-4"


def _address_key(address: Dict[str, Any]) -> str:
    return "{} {}/{}".format(*(address[field] for field in ("family", "local", "prefixlen")))


def _address_words(name: str, address: Dict[str, Any]) -> List[str]:
    words = [str(address["local"])]
    if "address" in address:
        words += ["peer", str(address["address"])]
    words[-1] += f"/{address['prefixlen']}"
    for field, word in (("broadcast", "broadcast"), ("scope", "scope"), ("metric", "metric"), ("protocol", "proto")):
        if field in address:
            words += [word, str(address[field])]
    if address.get("label", name) != name:
        words += ["label", str(address["label"])]
    words += ["dev", name]
    left = {"valid": address.get("valid_life_time"), "preferred": address.get("preferred_life_time")}
    if address.get("deprecated"):
        left["preferred"] = 0  # of an IPv4 one it is said in no other way
    for kind, seconds in left.items():
        if seconds not in (None, FOREVER):
            words += [f"{kind}_lft", str(seconds)]
    if address.get("noprefixroute"):
        words.append("noprefixroute")
    if address.get("nodad"):
        words.append("nodad")
    return words


def _route_key(route: Dict[str, Any]) -> str:
    """What makes two routes the same, without what passes."""
    fields = {field: route.get(field) for field in (_ROUTE_FIELDS - {"flags"}) | {"type", "tos"}}
    fields["flags"] = sorted(set(route.get("flags", [])) - PASSING_FLAGS)
    fields["metrics"] = route.get("metrics")
    return repr(sorted(fields.items(), key=str))


def _route_words(route: Dict[str, Any]) -> List[str]:
    words = [str(route[field]) for field in ("type", "dst") if field in route]
    for field, word in (("tos", "tos"), ("gateway", "via"), ("dev", "dev"), ("table", "table"), *_ROUTE_WORDS):
        if field in route:
            words += [word, str(route[field])]
    if "onlink" in route.get("flags", []):
        words.append("onlink")
    for metrics in route.get("metrics", []):
        for metric, value in sorted(metrics.items()):
            words += _metric_words(metric, value)
    for field in ("pref", "expires"):
        if field in route:
            words += [field, str(route[field])]
    return words


def _metric_words(metric: str, value: Any) -> List[str]:
    """It is not always shown as it is set."""
    if metric == "ecn":
        return ["features", "ecn"]
    if metric == "congestion":
        return ["congctl", str(value)]
    return [metric, f"{value}ms" if metric in ("rtt", "rttvar", "rto_min") else str(value)]
