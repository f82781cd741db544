# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an interface's state before is to be there again, beside what it has now. Pure."""

from typing import Any, Callable, Dict, List, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_state import (
    FOREVER,
    PROTOCOL_KERNEL,
    PROTOCOL_RA,
    State,
    Things,
    address_key,
    is_inet,
    is_wider,
    route_key,
)

_ASKED_FOR = (PROTOCOL_RA, "16")  # the latter by DHCP
_TIME_LEFT = ("valid_life_time", "preferred_life_time", "deprecated")


def missing(before: State, now: State) -> List[str]:
    """The addresses and routes of ``before`` that are gone, whoever put them there."""
    addresses, routes = _lost(before, now)
    gone = ["the address " + address_key(address).partition(" ")[2] for address in addresses]
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


def with_what_came_since(before: State, now: State) -> State:
    """All of ``before``, for an interface that its manager has configured again, beside what is new on it.

    A lease, and what a router advertises, is not put back where another has come instead: it is for whoever asks for
    it. The MAC address is the manager's choice.
    """
    there = {address_key(address): address for address in now["addresses"]}
    new = _others(now["addresses"], before["addresses"], address_key)
    answered = {address["family"] for address in new if is_inet(address) or is_wider(address)}
    addresses = []
    for address in before["addresses"]:
        found = there.get(address_key(address))
        if found is not None or not _passes(address) or address["family"] not in answered:
            addresses.append(address if found is None else _with_time_left(address, found))
    return dict(
        before,
        mac=now.get("mac"),
        up=before["up"] or now["up"],
        addresses=_in_place(new, now["addresses"], addresses),
        routes=_with_new_routes(before, now, answered),
    )


def _with_new_routes(before: State, now: State, answered: Set[str]) -> Things:
    """Where ``before`` has a route, the manager's own new one to the same place goes, unless it was asked for."""
    leased = [address["local"] for address in before["addresses"] if _passes(address)]
    new = _others(now["routes"], before["routes"], route_key)
    asked_again = [_place(route) for route in new if route.get("protocol") in _ASKED_FOR]
    given_up = [
        route
        for route in _others(before["routes"], now["routes"], route_key)
        if _place(route) in asked_again or (route["family"] in answered and _was_asked_for(route, leased))
    ]
    kept = [route for route in before["routes"] if route not in given_up]
    places = [_place(route) for route in kept]
    return kept + [route for route in new if _place(route) not in places or route.get("protocol") in _ASKED_FOR]


def _with_time_left(address: Dict[str, Any], found: Dict[str, Any]) -> Dict[str, Any]:
    """Which its manager may have been given more of."""
    if not _passes(found):
        return address
    lasting = {field: value for field, value in address.items() if field not in _TIME_LEFT}
    return dict(lasting, **{field: found[field] for field in _TIME_LEFT if field in found})


def _others(of: Things, these: Things, key: Callable[[Dict[str, Any]], str]) -> Things:
    known = {key(each) for each in these}
    return [each for each in of if key(each) not in known]


def _in_place(new: Things, now: Things, wanted: Things) -> Things:
    """With those that are new after the same ones as now, so that none has to make way for the order."""
    merged = list(wanted)
    for each in new:
        earlier = {address_key(one) for one in now[: now.index(each)]}
        places = [place for place, one in enumerate(merged, 1) if address_key(one) in earlier]
        merged.insert(max(places, default=0), each)
    return merged


def _lost(before: State, now: State) -> Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]:
    present = {address_key(address) for address in now["addresses"]}
    ways = {way for route in now["routes"] for way in (_way(route), _advertised_way(route))}
    addresses = [
        address
        for address in before["addresses"]
        if address_key(address) not in present and not address.get("temporary")
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


def _was_asked_for(route: Dict[str, Any], leased: List[str]) -> bool:
    return route.get("protocol") in _ASKED_FOR or "expires" in route or route.get("prefsrc") in leased


def _place(route: Dict[str, Any]) -> Tuple[str, ...]:
    """Where each manager makes the same route, with a metric and marks of its own."""
    return tuple(str(route.get(field, "")) for field in ("family", "dst", "gateway", "table", "type"))


def _way(route: Dict[str, Any]) -> Tuple[str, ...]:
    return tuple(str(route.get(field, "")) for field in ("family", "dst", "gateway", "table", "metric"))


def _advertised_way(route: Dict[str, Any]) -> Tuple[str, ...]:
    """What a router advertises has the metric that whoever listens to it gives it."""
    return _way(dict(route, metric="advertised")) if route.get("protocol") == PROTOCOL_RA else _way(route)
