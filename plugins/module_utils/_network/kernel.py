# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's network interfaces, from /sys and from iproute2's machine-readable output."""

import contextlib
import ipaddress
import json
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._system import commands

_CLASS = "/sys/class/net"
_SETTINGS = "/proc/sys/net/{}/{}/{}"
_NO_SETTINGS = ("stable_secret",)  # it cannot be taken back once it is set
_ANSWER_SECONDS = 10
# Protocol and table.
_OF_THE_KERNEL = ("2", "255")
# Whoever asks for numbers gets them for types, too, and cannot add a route by them.
_TYPES = {
    **{"2": "local", "3": "broadcast", "4": "anycast", "5": "multicast", "6": "blackhole", "7": "unreachable"},
    **{"8": "prohibit", "9": "throw"},
}
# Of neighbours: states, and what is found out of one.
_LASTING = {"PERMANENT", "NOARP"}
_FOUND = ("lladdr", "state", "router")
_ARPHRD = {"1": "ethernet", "32": "infiniband", "772": "loopback"}


class Nic(NamedTuple):
    """One network interface as the kernel has it.

    ``kind``: ethernet, loopback, or the kernel's word for it: veth, bridge, bond, vlan, tun, wireguard, wlan, …
    ``physical``: there is a device behind it. ``master``: the bridge, bond or the like that it is a port of.
    ``lower``: the interfaces that it is made on top of, or its ports. ``details``: what is peculiar to its kind, and
    ``addresses``: as ``ip -json`` shows them.
    """

    name: str
    ifindex: int
    kind: str
    physical: bool
    driver: Optional[str]
    mac: str
    permanent_mac: str
    mtu: int
    up: bool
    carrier: Optional[bool]
    master: Optional[str]
    lower: List[str]
    details: Dict[str, Any]
    addresses: List[Dict[str, Any]]


def nics() -> List[Nic]:
    """Every interface of the host. Raises HostError where iproute2 is missing or too old."""
    shown = {link["ifname"]: link for link in ip_json("-details", "address", "show") if "ifname" in link}
    names = sorted(name for name in os.listdir(_CLASS) if os.path.isdir(os.path.join(_CLASS, name)))
    return [_nic(name, shown.get(name, {})) for name in names]


def is_there(name: str) -> bool:
    return os.path.isdir(os.path.join(_CLASS, name))


def uppers(names: List[str], present: List[Nic]) -> List[str]:
    """The interfaces that are made on top of these, such as VLANs, and on top of those; each after what is below it."""
    found: List[str] = []
    below = set(names)
    while below:
        above = [nic.name for nic in present if below.intersection(nic.lower) and nic.name not in names]
        found = [name for name in found if name not in above] + above
        below = set(above)
    return found


def settings(name: str, family: str) -> Dict[str, str]:
    """The kernel's settings of an interface that can be changed; its neighbours' are named ``neigh gc_stale_time``.

    ``family``: ipv4 or ipv6; none where it has none.
    """
    found = {}
    for prefix, kind in (("", "conf"), ("neigh ", "neigh")):
        folder = _SETTINGS.format(family, kind, name)
        for file in sorted(_entries(folder)):
            value = "" if file in _NO_SETTINGS else _read(folder, file)
            if value and os.access(os.path.join(folder, file), os.W_OK):
                found[prefix + file] = value
    return found


def set_setting(name: str, family: str, setting: str, value: str) -> None:
    """Raises OSError."""
    kind, _blank, file = setting.rpartition(" ")
    with open(os.path.join(_SETTINGS.format(family, kind or "conf", name), file), "w") as stream:
        stream.write(value)


def cidr(address: Dict[str, Any]) -> str:
    """``address``: as ``ip -json`` shows it."""
    return f"{address['local']}/{address['prefixlen']}"


def neighbours() -> List[Dict[str, Any]]:
    """Those that somebody has set, as ``ip -json`` shows them; ``proxy``: it answers for another.

    ``managed``: the kernel is to find it again and again, and what it has found is not there.
    """
    found = []
    for each in ip_json("neighbor", "show", "nud", "all"):
        lasting = "extern_learn" in each or not _LASTING.isdisjoint(each.get("state", []))
        if "managed" in each:
            found.append({field: value for field, value in each.items() if field not in _FOUND})
        elif "lladdr" in each and lasting:
            found.append(each)
    found += [dict(each, proxy=True) for each in ip_json("neighbor", "show", "proxy")]
    return [each for each in found if "dev" in each and not ipaddress.ip_address(each["dst"]).is_multicast]


def tokens() -> Dict[str, str]:
    """The part of IPv6 addresses that is set by hand, by interface; the tokenless have none."""
    shown: List[Dict[str, Any]] = []
    with contextlib.suppress(HostError):  # where there is no IPv6, and where ip is too old to say it in JSON
        shown = ip_json("token")
    found = {each.get("ifname", ""): ipaddress.IPv6Address(each.get("token", "::")) for each in shown}
    return {name: str(token) for name, token in found.items() if int(token)}


def routes() -> List[Dict[str, Any]]:
    """The routes of every table, as ``ip -json -N`` shows them, with their ``family``: inet or inet6.

    Protocols, scopes and tables are numbers, in text; the main table's is left out, and so is the type unicast.
    Those of other types that the kernel makes of addresses, in a table of their own, are not there.
    ``lock``: its metrics are not to be changed, which it says in words alone.
    """
    found: List[Dict[str, Any]] = []
    more: Dict[str, Any]
    for family, option in (("inet", "-4"), ("inet6", "-6")):
        shown = ip_json("-N", option, "route", "show", "table", "all")
        locked = _locked(option) if any("metrics" in route for route in shown) else []
        for route in shown:
            if "type" not in route or (route.get("protocol"), route.get("table")) != _OF_THE_KERNEL:
                more = {"lock": True} if route.get("dst") in locked else {}
                if "type" in route:
                    more["type"] = _TYPES.get(route["type"], route["type"])
                found.append(dict(route, family=family, **more))
    return found


def _locked(option: str) -> List[str]:
    lines = _ip_lines(option, "route", "show", "table", "all")
    # The type may stand before the destination.
    return [
        next(word for word in words if not word.isalpha() or word == "default") for words in lines if "lock" in words
    ]


def _ip_lines(*arguments: str) -> List[List[str]]:
    answer = commands.check([commands.find("ip") or "ip", *arguments], _ANSWER_SECONDS).stdout
    return [line.split() for line in answer.splitlines() if line.split()]


def rules() -> List[List[str]]:
    """Every rule by which routes are looked up, in the words that add it, after its family: -4 or -6."""
    return [
        # What is in brackets passes, such as that the interface is not there.
        [family, "priority", priority.rstrip(":"), *(word for word in words if word[0] != "[")]
        for family in ("-4", "-6")
        for priority, *words in _ip_lines(family, "-N", "rule", "show")
    ]


def ip_json(*arguments: str) -> List[Dict[str, Any]]:
    """What ``ip -json`` prints. Raises HostError where it is missing, fails or does not know JSON."""
    program = commands.find("ip")
    if program is None:
        raise HostError(
            "The command ip is missing on the engine host.",
            "Install iproute2 there; without it nothing is known of addresses and routes.",
        )
    answer = commands.check([program, "-json", *list(arguments)], _ANSWER_SECONDS).stdout
    try:
        return _json(answer or "[]")  # type: ignore[no-any-return]
    except ValueError as error:
        raise HostError(
            f"The command ip does not print JSON: {answer[:100]!r}.", "Install a newer iproute2."
        ) from error


def _json(text: str) -> Any:
    """Up to iproute2 5.10 an apostrophe has a backslash that JSON does not know, and up to 6.1 a route through a tunnel
    has fields twice, of which the first is its own. In an alias any character stands as it is.
    """
    readable = re.sub(r"\\(.)", lambda escaped: "'" if escaped[1] == "'" else escaped[0], text)
    return json.loads(readable, strict=False, object_pairs_hook=lambda pairs: {**dict(pairs), **dict(pairs[::-1])})


def _nic(name: str, link: Dict[str, Any]) -> Nic:
    folder = os.path.join(_CLASS, name)
    uevent = dict(line.split("=", 1) for line in _read(folder, "uevent").splitlines() if "=" in line)
    linkinfo = link.get("linkinfo", {})
    made_as = linkinfo.get("info_kind")
    arphrd = _read(folder, "type")
    carrier = _read(folder, "carrier")
    return Nic(
        name=name,
        ifindex=int(_read(folder, "ifindex") or 0),
        kind=made_as or uevent.get("DEVTYPE") or _ARPHRD.get(arphrd, f"type {arphrd}"),
        physical=os.path.exists(os.path.join(folder, "device")),
        driver=_target(folder, "device/driver") or made_as,
        mac=_read(folder, "address"),
        permanent_mac=link.get("permaddr") or _read(folder, "address"),
        mtu=int(_read(folder, "mtu") or 0),
        up=bool(int(_read(folder, "flags") or "0", 16) & 1),
        carrier=carrier == "1" if carrier else None,
        master=_target(folder, "master"),
        lower=sorted(entry[len("lower_") :] for entry in _entries(folder) if entry.startswith("lower_")),
        details=linkinfo.get("info_data", {}),
        addresses=link.get("addr_info", []),
    )


def _entries(folder: str) -> List[str]:
    """None where the interface has vanished since it was listed, as those of containers do."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(folder: str, name: str) -> str:
    """Empty where the kernel has no answer, as for the carrier of an interface that is down."""
    try:
        with open(os.path.join(folder, name)) as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _target(folder: str, name: str) -> Optional[str]:
    try:
        return os.path.basename(os.readlink(os.path.join(folder, name)))
    except OSError:
        return None
