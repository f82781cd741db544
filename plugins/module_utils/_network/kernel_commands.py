# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that bring back what an interface had in the kernel. Pure."""

from typing import Any, Dict, List, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import cidr
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_state import (
    FOREVER,
    ROUTE_FIELDS,
    State,
    address_key,
    is_inet,
    is_of_the_link,
    is_wider,
    route_key,
)

_ROUTE_WORDS = (("protocol", "proto"), ("scope", "scope"), ("prefsrc", "src"), ("metric", "metric"))
_ADDRESS_FLAGS = ("noprefixroute", "nodad", "home", "mngtmpaddr")
_METRICS = {
    *("mtu", "advmss", "window", "rtt", "rttvar", "rto_min", "cwnd", "initcwnd", "initrwnd", "ssthresh", "reordering"),
    *("hoplimit", "quickack", "congestion", "ecn", "fastopen_no_cookie"),
}
_REPLAYABLE = ROUTE_FIELDS | {"metrics", "pref", "expires"}


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


def addition_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings back what goes with a link or its addresses, and nothing else puts back."""
    commands = []
    if "token" in before and before["token"] != now.get("token"):
        commands.append(["token", "set", str(before["token"] or "::"), "dev", name])
    led = [route_key(route) for route in now.get("elsewhere", [])]
    for route in before.get("elsewhere", []):
        if route_key(route) not in led:
            # IPv6 keeps it without its source, and takes no second one.
            without = {field: value for field, value in route.items() if field != "prefsrc"}
            commands += _deletions([without]) if _option(route) == "-6" else []
            commands.append([_option(route), "route", "append", *_route_words(route)])
    there = [neighbour_words(each) for each in now.get("neighbours", [])]
    for neighbour in before.get("neighbours", []):
        words = neighbour_words(neighbour)
        if words not in there:
            commands.append([_option(neighbour), "neighbor", "replace", *words, "dev", name])
    return commands


def neighbour_words(neighbour: Dict[str, Any]) -> List[str]:
    """What makes it."""
    words = ["proxy", str(neighbour["dst"])] if neighbour.get("proxy") else [str(neighbour["dst"])]
    words += ["lladdr", str(neighbour["lladdr"])] if "lladdr" in neighbour else []
    words += [flag for flag in ("router", "extern_learn", "managed") if flag in neighbour]
    words += ["protocol", str(neighbour["protocol"])] if "protocol" in neighbour else []
    if "lladdr" in neighbour:
        state = neighbour.get("state", ["PERMANENT"])
        # Whether one that is not for good can be reached, is to be found out again.
        words += ["nud", "noarp" if "NOARP" in state else "permanent" if "PERMANENT" in state else "stale"]
    return words


def link_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings the link and its addresses back to what they were ``before``."""
    commands = []
    if before.get("mac") and before["mac"] != now.get("mac"):
        commands.append(["link", "set", "dev", name, "address", before["mac"]])
    if now["mtu"] != before["mtu"]:
        commands.append(["link", "set", "dev", name, "mtu", str(before["mtu"])])
    if before["up"] and not now["up"]:
        commands.append(["link", "set", "dev", name, "up"])
    wanted = {address_key(address) for address in before["addresses"]}
    # IPv6 addresses are listed newest first within their scope, IPv4 ones oldest first: added so that the list is the
    # same again.
    for listed_together, step in ((is_inet, 1), (is_of_the_link, -1), (is_wider, -1)):
        commands += _address_commands(
            name,
            [each for each in before["addresses"] if listed_together(each)][::step],
            [each for each in now["addresses"] if listed_together(each)][::step],
        )
    commands += [
        ["address", "del", cidr(address), "dev", name]
        for address in now["addresses"]
        if address_key(address) not in wanted and not address.get("temporary")
    ]
    if now["up"] and not before["up"]:
        commands.append(["link", "set", "dev", name, "down"])
    return commands


def _address_commands(name: str, before: List[Dict[str, Any]], now: List[Dict[str, Any]]) -> List[List[str]]:
    """Both oldest first. Those whose order or nature cannot be changed in place are taken away first."""
    present = {address_key(address): address for address in now}
    there = [address for address in before if address_key(address) in present]
    order = [address_key(address) for address in now]
    places = [order.index(address_key(address)) for address in there]
    rigid = any(_nature(address) != _nature(present[address_key(address)]) for address in there)
    again = there if rigid or places != sorted(places) else []
    commands = [["address", "del", cidr(address), "dev", name] for address in again]
    for address in before:
        if address in again or address_key(address) not in present:
            # It was ours a moment ago. That it was probed for is said of it once it is there.
            known = dict(address, nodad=address["family"] == "inet6")
            commands.append(["address", "replace", *_address_words(name, known)])
        elif _marks(address) != _marks(present[address_key(address)]):
            commands.append(["address", "replace", *_address_words(name, address)])
    return commands


def _nature(address: Dict[str, Any]) -> List[Any]:
    """What an address is made with."""
    if not is_inet(address):
        return []
    return [address.get(field) for field in ("label", "scope", "broadcast", "noprefixroute", "autojoin")]


def _marks(address: Dict[str, Any]) -> List[Any]:
    """What can be changed of one that is there; how long it still lives passes."""
    flags = [bool(address.get(flag)) for flag in (*_ADDRESS_FLAGS, "deprecated")]
    lasts = [address.get(f"{kind}_life_time", FOREVER) == FOREVER for kind in ("valid", "preferred")]
    return [address.get("metric"), address.get("protocol"), *flags, *lasts]


def route_commands(name: str, before: State, now: State) -> List[List[str]]:
    """Brings the routes back, once the addresses are: those without a gateway first, for others lead over them."""
    present = [_lasting_key(route) for route in now["routes"]]
    wanted = [_lasting_key(route) for route in before["routes"]]
    missing = [route for route in before["routes"] if _lasting_key(route) not in present]
    surplus = [route for route in now["routes"] if _lasting_key(route) not in wanted]
    # Whether a route expires is not changed by adding it again.
    again = [route_key(route) for route in missing]
    in_the_way = [route for route in surplus if route_key(route) in again]
    commands = _deletions(in_the_way)
    commands += [
        # "append" and not "replace", which would take the route of another interface away.
        [_option(route), "route", "append", *_route_words(route)]
        for route in sorted(missing, key=lambda route: "gateway" in route)
    ]
    return commands + _deletions([route for route in surplus if route not in in_the_way])


def _deletions(routes: List[Dict[str, Any]]) -> List[List[str]]:
    return [[_option(route), "route", "del", *_route_words(route)] for route in routes]


def _option(thing: Dict[str, Any]) -> str:
    """Of a route, or of a neighbour, which does not say its family."""
    return "-6" if thing.get("family", "inet6" if ":" in str(thing["dst"]) else "inet") == "inet6" else "-4"


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
    return words + [flag for flag in (*_ADDRESS_FLAGS, "autojoin") if address.get(flag)]


def _lasting_key(route: Dict[str, Any]) -> Tuple[str, bool]:
    return route_key(route), "expires" in route


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
