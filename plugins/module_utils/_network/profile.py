# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What NetworkManager's profile of an interface has to say. Pure: from what was seen to nmcli's properties."""

import ipaddress
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import cidr
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_state import (
    FOREVER,
    PROTOCOL_KERNEL,
    PROTOCOL_RA,
    State,
    substance,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.kinds import WIRED, Settings
from ansible_collections.slb.fleet.plugins.module_utils._network.resolver import Resolver

_MAIN_TABLES = (None, "254")
_ORDINARY_MTU = 1500
# NetworkManager's own patience with a DHCP server, seconds. A shorter one would also hold after the next boot.
_ORDINARY_DHCP_TIMEOUT = 45
_MARGIN_SECONDS = 15


class Surroundings(NamedTuple):
    """What the rest of the host has, which an interface that gets its settings by DHCP must not take over."""

    has_name_servers: bool
    has_way_out: bool


def keeping(mac: str, state: State, resolver: Resolver, backwards: bool = False) -> Settings:
    """The profile that gives an interface what it has. ``resolver``: name servers that this one is to carry.

    ``backwards``: NetworkManager gives it IPv6 addresses in the opposite order.
    """
    settings = _both_families_empty()
    settings.update(_inet(state))
    settings.update(_inet6(mac, state, backwards))
    settings[f"{WIRED}.mtu"] = str(state["mtu"]) if state["mtu"] != _ORDINARY_MTU else ""
    settings.update(_dns(resolver, settings))
    return settings


def by_dhcp(state: State, timeout: float, around: Surroundings) -> Settings:
    """The profile that asks DHCP, without taking over a way out or name servers that the host has.

    Where it has its way out, nothing but an address and its subnet: a few routes together may be a way out as well.
    """
    settings = _both_families_empty()
    settings[f"{WIRED}.mtu"] = str(state["mtu"]) if around.has_way_out or state["mtu"] != _ORDINARY_MTU else ""
    settings["ipv4.dhcp-timeout"] = str(max(_ORDINARY_DHCP_TIMEOUT, int(timeout) + _MARGIN_SECONDS))
    for family in ("ipv4", "ipv6"):
        settings[family + ".method"] = "auto"
        settings[family + ".never-default"] = "yes" if around.has_way_out else "no"
        settings[family + ".ignore-auto-routes"] = "yes" if around.has_way_out else "no"
        settings[family + ".ignore-auto-dns"] = "yes" if any(around) else "no"
    return settings


def new(settings: Settings, of_kind: Settings) -> Settings:
    """The same for a profile that is made: the device keeps its MAC address, whatever is usual on the host."""
    return {**settings, **of_kind, f"{WIRED}.cloned-mac-address": "preserve"}


def sparing_name_servers(settings: Settings) -> Settings:
    """The same for a profile that was there before: name servers that it has, and that may stay in it, do."""
    spared = [
        f"{family}.{name}"
        for family in ("ipv4", "ipv6")
        if settings[family + ".method"] in ("manual", "auto") and not settings[family + ".dns"]
        for name in ("dns", "dns-search", "dns-options", "ignore-auto-dns")
    ]
    return {key: value for key, value in settings.items() if key not in spared}


def without_address() -> Settings:
    """The document's treatment: under control, without an address. Nothing else of a profile is changed."""
    return {"ipv4.method": "disabled", "ipv6.method": "ignore"}


def carries_present(family: str, state: State) -> List[str]:
    """The addresses of a family that a profile has to carry, as ADDRESS/PREFIX, in the kernel's order."""
    return [
        cidr(address) for address in state["addresses"] if address["family"] == family and not address.get("temporary")
    ]


def unrepresentable(state: State) -> Optional[str]:
    """What of an interface no profile can hold; None where all of it can be kept."""
    for address in state["addresses"]:
        if "address" in address:
            return f"the point-to-point address {address['local']} cannot be put into a profile"
        if address["family"] == "inet6" and address.get("autojoin"):
            # Where IPv6 is taken from an interface for a moment, the kernel forgets to leave, and refuses it for ever.
            return (
                f"the address {address['local']} joins its multicast group (autojoin), which the kernel would refuse it"
                " the next time; take it away first, and add it again afterwards"
            )
        if address["family"] == "inet" and address.get("valid_life_time", FOREVER) != FOREVER:
            return (
                f"another DHCP client has leased the address {address['local']}, and goes on renewing it or lets it"
                " expire; stop that one first, and take the address away"
            )
    for route in state["routes"]:
        if route.get("protocol") == PROTOCOL_RA:
            continue  # the router says it again
        unknown = {name for metrics in route.get("metrics", []) for name in metrics} - {"mtu"}
        if unknown:
            named = ", ".join(sorted(unknown))
            return f"the attributes {named} of the route to {route['dst']} cannot be put into a profile"
    families = {address["family"] for address in state["addresses"] if not address.get("temporary")}
    for route in substance(state)["routes"]:
        if route["family"] not in families:
            return f"the route to {route['dst']} leads over it without an address, which cannot be put into a profile"
    return None


def eui64(mac: str) -> str:
    """The last 64 bits of an IPv6 address that the kernel makes of a MAC address."""
    octets = [int(octet, 16) for octet in mac.split(":")]
    octets[0] ^= 2
    octets[3:3] = [0xFF, 0xFE]
    return ":".join(f"{octets[at]:02x}{octets[at + 1]:02x}" for at in range(0, 8, 2))


def _both_families_empty() -> Settings:
    """Everything that another profile might have said about addresses, taken back in the same call."""
    names = ("addresses", "gateway", "routes", "dns", "dns-search", "dns-options")
    settings = {f"{family}.{name}": "" for family in ("ipv4", "ipv6") for name in names}
    for family in ("ipv4", "ipv6"):
        settings[family + ".never-default"] = "no"
        settings[family + ".ignore-auto-dns"] = "no"
        settings[family + ".ignore-auto-routes"] = "no"
        settings[family + ".route-metric"] = "-1"
    return settings


def _inet(state: State) -> Settings:
    addresses = carries_present("inet", state)
    if not addresses:
        return {"ipv4.method": "disabled"}
    return dict(
        _routing("ipv4", "inet", state, ordinary_metric=0),
        **{
            "ipv4.method": "manual",
            "ipv4.addresses": ",".join(addresses),
            # The address is ours already; probing for another owner would only keep it away for longer.
            "ipv4.dad-timeout": "0",
        },
    )


def _inet6(mac: str, state: State, backwards: bool) -> Settings:
    addresses = [
        address for address in state["addresses"] if address["family"] == "inet6" and not address.get("temporary")
    ]
    if not addresses:
        return {"ipv6.method": "ignore"}
    advertised = any(address.get("valid_life_time", FOREVER) != FOREVER for address in addresses)
    advertised = advertised or any(route.get("protocol") == PROTOCOL_RA for route in state["routes"])
    # Those that NetworkManager makes by itself, in the same way as the kernel did, need not be named.
    named = [address for address in addresses if not _made_of_mac(mac, address)][:: -1 if backwards else 1]
    method = "auto" if advertised else "manual" if named else "link-local"
    settings = {"ipv6.method": method, "ipv6.addr-gen-mode": "eui64"}
    if named:
        settings["ipv6.addresses"] = ",".join(cidr(address) for address in named)
    settings.update(_routing("ipv6", "inet6", state, ordinary_metric=256))
    return settings


def _made_of_mac(mac: str, address: Dict[str, Any]) -> bool:
    by_itself = address.get("scope") == "link" or address.get("valid_life_time", FOREVER) != FOREVER
    interface_part = int(ipaddress.IPv6Address(address["local"])) & (2**64 - 1)
    return by_itself and interface_part == int(ipaddress.IPv6Address("::" + eui64(mac)))


def _routing(prefix: str, family: str, state: State, ordinary_metric: int) -> Settings:
    """Gateway, routes and metrics, so that the kernel's routing table stays what it is."""
    own = [route for route in state["routes"] if route["family"] == family]
    connected = [
        route
        for route in own
        if route.get("protocol") == PROTOCOL_KERNEL and not str(route["dst"]).startswith("fe80::/")
    ]
    metric = min((int(route.get("metric", 0)) for route in connected), default=ordinary_metric)
    settings = {prefix + ".route-metric": str(metric)}
    listed = []
    for route in own:
        if route.get("protocol") in (PROTOCOL_KERNEL, PROTOCOL_RA):
            continue
        if _is_plain_gateway(route, metric) and prefix + ".gateway" not in settings:
            settings[prefix + ".gateway"] = route["gateway"]
        else:
            listed.append(_route(route))
    if listed:
        settings[prefix + ".routes"] = ", ".join(listed)
    return settings


def _is_plain_gateway(route: Dict[str, Any], metric: int) -> bool:
    return (
        route["dst"] == "default"
        and "gateway" in route
        and route.get("table") in _MAIN_TABLES
        and int(route.get("metric", 0)) == metric
        and not route.get("metrics")
        and "prefsrc" not in route
        and "onlink" not in route.get("flags", [])
    )


def _route(route: Dict[str, Any]) -> str:
    """One route in nmcli's words: DESTINATION [GATEWAY] METRIC [ATTRIBUTE=VALUE …]."""
    wide = route["family"] == "inet6"
    destination = str(route["dst"])
    if destination == "default":
        destination = "::/0" if wide else "0.0.0.0/0"
    elif "/" not in destination:
        destination += "/128" if wide else "/32"
    words = [destination]
    if "gateway" in route:
        words.append(str(route["gateway"]))
    words.append(str(route.get("metric", 0)))
    if route.get("table") not in _MAIN_TABLES:
        words.append(f"table={route['table']}")
    if "prefsrc" in route:
        words.append(f"src={route['prefsrc']}")
    if "onlink" in route.get("flags", []):
        words.append("onlink=true")
    words += [f"mtu={metrics['mtu']}" for metrics in route.get("metrics", []) if "mtu" in metrics]
    return " ".join(words)


def _dns(resolver: Resolver, settings: Settings) -> Settings:
    """The name servers, each with a family that the profile really has; a server of neither is left out."""
    found: Settings = {}
    for family, version in (("ipv4", 4), ("ipv6", 6)):
        servers = [server for server in resolver.servers if _version(server) == version]
        if settings[family + ".method"] in ("manual", "auto") and servers:
            found[family + ".dns"] = ",".join(servers)
            found[family + ".dns-search"] = ",".join(resolver.search)
            found[family + ".dns-options"] = ",".join(resolver.options)
    return found


def without_a_place(resolver: Resolver, settings: Settings) -> List[str]:
    """The name servers that the profile cannot carry, because it has nothing of their family."""
    carried = ",".join(settings.get(family + ".dns", "") for family in ("ipv4", "ipv6")).split(",")
    return [server for server in resolver.servers if server not in carried]


def _version(server: str) -> int:
    return 6 if ":" in server else 4
