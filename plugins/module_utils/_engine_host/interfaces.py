# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network interfaces of the host: what the kernel and NetworkManager say of them, and which can be adopted.

Sources: ``ip -json``, ``nmcli -t`` (tried with NetworkManager 1.30 to 1.52), NetworkManager.conf(5).
"""

import contextlib
import fnmatch
import glob
import ipaddress
import json
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import claims
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes

NMCLI_SECONDS = 20
_IP_SECONDS = 10
_LINK_LOCAL = r"fe80:|ff00:|multicast"
_BINDINGS = (
    "connection.uuid,connection.interface-name,802-3-ethernet.mac-address,match.interface-name,connection.autoconnect"
)
_UPPER = "/sys/class/net/{}/upper_*"
_DEVICE_FIELDS = ("GENERAL.DEVICE", "GENERAL.STATE", "GENERAL.REASON", "GENERAL.CONNECTION", "GENERAL.CON-UUID")
_UNMANAGED, _UNAVAILABLE, _CONNECTED = 10, 20, 100  # of GENERAL.STATE
_LEAST_REASON = 74  # of GENERAL.REASON; earlier ones do not say why a device is not managed

Reason = Tuple[str, str]
"""Why an interface is skipped, and what a person can do about it."""


class Profile(NamedTuple):
    """A connection profile. ``path``: its file, below /run if it is not saved. ``match``: patterns of names."""

    uuid: str
    name: str
    interface: str
    mac: str
    path: str
    match: str = ""
    is_automatic: bool = False


class Interface(NamedTuple):
    """A network interface. ``state`` and ``connection`` are NetworkManager's; None if it does not know the device.

    ``code``: the number of the state. ``why``: NetworkManager's number and words for it. ``driver``: of the kernel.
    ``kind``: ``ethernet``, ``loopback``, or the kernel's word, such as ``bridge``. ``carrier``: None while it is down.
    ``stacked``: devices on top of it, such as a VLAN; one in the namespace of a container has no name here.
    """

    name: str
    ifindex: int
    kind: str
    is_physical: bool
    mac: str
    is_up: bool
    carrier: Optional[bool]
    port_of: Optional[str]
    addresses: List[Dict[str, Any]]
    stacked: Tuple[str, ...] = ()
    state: Optional[str] = None
    connection: Optional[str] = None
    uuid: Optional[str] = None
    altnames: Tuple[str, ...] = ()
    code: int = 0
    why: str = ""
    driver: str = ""

    @property
    def is_offered(self) -> bool:
        """Return whether the web console offers it."""
        return self.code == _CONNECTED

    @property
    def is_never_adopted(self) -> bool:
        """Return whether its kind is never adopted, such as a bridge, a tunnel, or what containers use."""
        return self.kind not in ("ethernet", "veth") or re.match("docker|veth", self.name) is not None

    @property
    def lasting_addresses(self) -> List[str]:
        """Return the addresses that no router gives, with their prefix lengths: also of a lease, which ends, too.

        NetworkManager marks what it takes from a router with ``noprefixroute``; the kernel limits its time.
        """
        return [
            cidr(each)
            for each in self.addresses
            if each.get("scope") != "link"
            and not (each["family"] == "inet6" and (each.get("dynamic") or each.get("noprefixroute")))
        ]

    @property
    def global_addresses(self) -> List[str]:
        return [cidr(each) for each in self.addresses if each.get("scope") != "link"]


class NetworkState(NamedTuple):
    """The network of the host at one time. ``routes``: those of all tables and both families, as ``ip`` shows them.

    ``files``: text of those that may give an interface to another program, by path. ``over_ssh``: the interface of the
    SSH connection.
    """

    interfaces: List[Interface]
    routes: List[Dict[str, Any]]
    profiles: List[Profile]
    files: Dict[str, str]
    over_ssh: Optional[str]

    @property
    def default_routes(self) -> Set[str]:
        unicast = [route for route in self.routes if route.get("type", "unicast") == "unicast"]
        return {_route_in_words(route) for route in unicast if route.get("dst") == "default"}

    def others(self, names: Set[str]) -> Set[str]:
        """Return addresses and routes of all interfaces but ``names`` and those of containers, in words.

        Without link-local ones: an interface that waits for DHCP in vain loses and gets its own again and again.
        """

        def is_other(name: Optional[str]) -> bool:
            return name not in names and not re.match("veth|docker", name or "")

        addresses = {
            f"address {cidr(each)} of {interface.name}"
            for interface in self.interfaces
            for each in interface.addresses
            if is_other(interface.name) and each.get("scope") != "link"
        }
        return addresses | {
            _route_in_words(route)
            for route in self.routes
            if is_other(route.get("dev")) and not re.match(_LINK_LOCAL, str(route.get("dst")))
        }


def gather_network() -> NetworkState:
    """Read the state of the network once. Raises FleetError if it cannot be read."""
    links = [link for link in _ip("-details", "address", "show") if "ifname" in link]
    routes = [
        {"family": family, **route}
        for family in ("-4", "-6")
        for route in flatten_routes(_ip(family, "route", "show", "table", "all"))
    ]
    shown = _blocks(nmcli("-f", ",".join(_DEVICE_FIELDS), "device", "show"))
    devices = {each["GENERAL.DEVICE"]: each for each in shown}
    profiles = _profiles()
    interfaces = [_interface(link, devices.get(link["ifname"])) for link in links]
    return NetworkState(interfaces, routes, profiles, claims.read_files(), _find_ssh_interface(interfaces))


def flatten_routes(routes: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Return one route for each next hop. Flags such as ``dead`` are left out: they change with the carrier."""
    keys = ("gateway", "via", "dev")
    return [
        {**{key: route[key] for key in route if key != "nexthops"}, **{key: hop[key] for key in keys if key in hop}}
        for route in routes
        for hop in route.get("nexthops") or [{}]
    ]


def choose(
    network: NetworkState, wanted: List[str], allow_unmatched: bool = False
) -> Tuple[List[Interface], Dict[str, Reason], List[str]]:
    """Return the interfaces to adopt, the reason for each other one, and the items of ``wanted`` that fail the host.

    ``wanted``: names, also alternative ones, MAC addresses or shell patterns of them; none means each physical Ethernet
    device. An item that matches no interface fails the host, and one without wildcards if its interface is skipped,
    unless the console offers it. ``allow_unmatched``: A pattern may match none.
    """
    chosen: List[Interface] = []
    reasons: Dict[str, Reason] = {}
    needed = [item for item in wanted if not (allow_unmatched and _is_pattern(item))]
    failed: List[str] = [item for item in needed if not matching(network, [item])]
    for interface in network.interfaces:
        item = next((item for item in wanted if _meets(item, interface)), None)
        if wanted and item is None:
            continue
        reason = _reason(interface, network, is_named=item is not None)
        if reason is None:
            chosen.append(interface)
            continue
        # The name that a person gave stands in the reason, too.
        reasons[interface.name] = (
            (f"{reason[0]} (also named {item})", reason[1]) if item in interface.altnames else reason
        )
        if is_named(interface, wanted) and not interface.is_offered:
            failed.append(interface.name)
    return chosen, reasons, failed


def is_named(interface: Interface, wanted: List[str]) -> bool:
    """Return whether an item of ``wanted`` names the interface without wildcards."""
    return any(_meets(item, interface) and not _is_pattern(item) for item in wanted)


def find_overlap(name: str, names: Set[str], network: NetworkState) -> Optional[str]:
    """Return a subnet of the interface that overlaps one of an interface outside of ``names``, in words."""
    networks = [(each.name, cidr(address)) for each in network.interfaces for address in each.addresses]
    # An address of its own, such as a virtual one of lo, draws no traffic.
    networks = [(dev, text) for dev, text in networks if not text.endswith(("/32", "/128"))]
    networks += [
        (route["dev"], route["dst"])
        for route in network.routes
        if "table" not in route and route.get("type", "unicast") == "unicast" and "dev" in route
    ]
    parsed = [(dev, ipaddress.ip_network(text, strict=False)) for dev, text in networks if text != "default"]
    parsed = [(dev, subnet) for dev, subnet in parsed if not subnet.is_link_local and not subnet.is_multicast]
    for _dev, own in [each for each in parsed if each[0] == name]:
        for dev, other in [each for each in parsed if each[0] not in names]:
            if own.version == other.version and own.overlaps(other):
                return f"{own}, which overlaps {other} of {dev}"
    return None


def added_routes(interface: Interface, network: NetworkState) -> List[str]:
    """Return the routes of the interface that neither the kernel, nor a lease, nor a router explains, in words.

    ``ip`` shows no protocol for a route that a person added.
    """
    routes = [route for route in network.routes if route.get("dev") == interface.name and _is_lasting(route)]
    return [_route_in_words(route) for route in routes if route.get("protocol") not in ("kernel", "dhcp", "ra")]


def matching(network: NetworkState, wanted: List[str]) -> List[Interface]:
    """Return the interfaces that any item of ``wanted`` names."""
    return [interface for interface in network.interfaces if any(_meets(item, interface) for item in wanted)]


def cidr(address: Dict[str, Any]) -> str:
    return f"{address['local']}/{address['prefixlen']}"


def nmcli(*arguments: str, seconds: float = NMCLI_SECONDS) -> List[str]:
    """Return the lines of ``nmcli -t``. Raises FleetError ``networkmanager_unavailable`` or ``nmcli_failed``.

    A frozen NetworkManager lets nmcli hang, and with version 1.30 succeed in the end without output, so no output from
    a query is not an answer.
    """
    program = commands.find("nmcli")
    if program is None:
        raise _unavailable("the command nmcli is missing", "Install NetworkManager on the host.")
    done = commands.attempt([program, "--terse", "--escape", "yes", *arguments], seconds)
    if done.is_killed or (done.rc == 0 and "-f" in arguments and not done.stdout.strip()):
        raise _unavailable(f"no answer within {seconds:g} s", "Run `systemctl restart NetworkManager` on the host.")
    if done.rc == 8:
        raise _unavailable("it does not run", "Run `systemctl enable --now NetworkManager` on the host.")
    if done.rc != 0:
        command = " ".join(arguments)
        raise FleetError("nmcli_failed", f"`nmcli {command}` failed: {done.words}.", "Run it on the host.", rc=done.rc)
    return done.stdout.splitlines()


def split(line: str) -> List[str]:
    """Return the fields of a line of ``nmcli -t``, in which a backslash escapes colons and backslashes."""
    fields = [""]
    for part in re.findall(r"\\.|.", line):
        if part == ":":
            fields.append("")
        else:
            fields[-1] += part[-1]
    return fields


def _reason(interface: Interface, network: NetworkState, is_named: bool) -> Optional[Reason]:
    """Return why the interface is not adopted; None if it can be."""
    if interface.is_never_adopted:
        return f"not an Ethernet device of the host ({interface.kind})", "Such a device is never adopted."
    if interface.port_of is not None:
        return f"port of {interface.port_of}", f"Remove it from {interface.port_of} first."
    if interface.is_offered:
        return f"offered already ({interface.connection or interface.state})", "Nothing to do."
    if interface.name == network.over_ssh:
        return "carries the SSH connection", "Connect over another interface."
    if not interface.is_physical and not is_named:
        return "not a physical device", "Name it in slb_interfaces."
    if interface.state is None:
        return "unknown to NetworkManager", "See `journalctl -u NetworkManager` on the host."
    place = claims.find_claim(network.files, [interface.name, *interface.altnames, interface.mac], interface.ifindex)
    if place:
        return f"another program may use it ({place})", f"Remove {interface.name} there, or leave it to that program."
    # Of a device that is managed now, the configuration shows what will be after a boot.
    words = {interface.name, *interface.altnames, interface.mac, interface.driver, interface.kind, "ethernet"}
    line = claims.find_exclusion(network.files.get(claims.PRINTED, ""), words - {""})
    if line or interface.code == _UNMANAGED:
        number, _blank, text = interface.why.partition(" ")
        stated = text.strip("()") if number.isdigit() and int(number) >= _LEAST_REASON else ""
        why = f" ({line or stated})" if line or stated else ""
        fix = f"Let NetworkManager manage it: `{claims.PRINTED}` shows its configuration."
        return f"not managed by NetworkManager{why}", fix
    return _reason_in_use(interface, network)


def _reason_in_use(interface: Interface, network: NetworkState) -> Optional[Reason]:
    if interface.global_addresses:
        addresses = ", ".join(interface.global_addresses)
        fix = "Make a NetworkManager profile with these addresses by hand."
        return f"has addresses that NetworkManager would remove ({addresses})", fix
    own = [
        _route_in_words(route) for route in network.routes if route.get("dev") == interface.name and _is_lasting(route)
    ]
    if own:
        return f"has a route that NetworkManager would remove ({own[0]})", "Make a NetworkManager profile by hand."
    own_profile = next((profile for profile in network.profiles if profile.uuid == interface.uuid), None)
    # NetworkManager tries a profile that it has generated for ever.
    if interface.uuid and not (own_profile and _is_generated(own_profile)):
        fix = "Wait for it, or run `nmcli device`."
        return f"NetworkManager connects it already ({interface.connection or interface.uuid})", fix
    # netplan and the initrd write theirs below /run: a second profile would win after a reboot.
    active = {one.uuid for one in network.interfaces}
    profiles = [
        profile for profile in network.profiles if is_for(profile, interface, active) and not _is_generated(profile)
    ]
    if profiles:
        fix = f"Run `nmcli connection up uuid {profiles[0].uuid}` on the host, or delete that profile."
        return f"has the profile {profiles[0].name} already ({profiles[0].path})", fix
    if interface.code == _UNAVAILABLE or interface.carrier is False:
        return "no carrier", "Connect the cable, then run again."
    return None


def _is_generated(profile: Profile) -> bool:
    """Return whether NetworkManager generated the profile, such as "Wired connection 1"; it is in memory only."""
    return re.search(r"^nm-generated=true", processes.read_file(profile.path), re.MULTILINE) is not None


def is_for(profile: Profile, interface: Interface, active: Set[Optional[str]]) -> bool:
    """Return whether the profile is bound to this interface, or NetworkManager may use it there.

    ``active``: profiles that are in use. One that is bound to nothing serves one interface at a time.
    """
    if profile.interface or (profile.mac and profile.mac != interface.mac.lower()):
        return profile.interface == interface.name
    patterns = [item.lstrip("|&") for item in re.split("[,; ]+", profile.match) if item]
    if any(fnmatch.fnmatchcase(interface.name, item[1:]) for item in patterns if item.startswith("!")):
        return False
    if patterns:
        return any(item.startswith("!") or fnmatch.fnmatchcase(interface.name, item) for item in patterns)
    return bool(profile.mac) or (profile.is_automatic and profile.uuid not in active)


def _blocks(lines: List[str]) -> List[Dict[str, str]]:
    """Return the values of each object that ``nmcli -t`` shows. The key of its first line begins the next one."""
    blocks: List[Dict[str, str]] = []
    for key, *value in map(split, filter(None, lines)):
        if not blocks or key in blocks[-1]:
            blocks.append({})
        blocks[-1][key] = ":".join(value)
    return blocks


def read_addresses(name: str) -> List[Dict[str, Any]]:
    """Return the addresses of an interface, without link-local ones. Raises FleetError."""
    addresses = [each for link in _ip("address", "show", "dev", name) for each in link.get("addr_info", [])]
    return [each for each in addresses if "local" in each and each.get("scope") != "link"]


def _interface(link: Dict[str, Any], device: Optional[Dict[str, str]]) -> Interface:
    flags = link.get("flags", [])
    kind = link.get("linkinfo", {}).get("info_kind") or {"ether": "ethernet"}.get(link["link_type"], link["link_type"])
    known = device or {}
    code, _blank, state = known.get("GENERAL.STATE", "").partition(" ")
    return Interface(
        name=link["ifname"],
        ifindex=link["ifindex"],
        kind=kind,
        is_physical=os.path.exists(f"/sys/class/net/{link['ifname']}/device"),
        mac=link.get("address", ""),
        is_up="UP" in flags,
        carrier="LOWER_UP" in flags if "UP" in flags else None,
        port_of=link.get("master"),
        addresses=[each for each in link.get("addr_info", []) if "local" in each],
        stacked=_stacked(link),
        state=re.sub(r"^\((.*)\)$", r"\1", state) or None,
        connection=known.get("GENERAL.CONNECTION") or None,
        uuid=known.get("GENERAL.CON-UUID") or None,
        altnames=tuple(link.get("altnames", [])),
        code=int(code) if code.isdigit() else 0,
        why=known.get("GENERAL.REASON", ""),
        driver=_driver(link["ifname"]),
    )


def _driver(name: str) -> str:
    try:
        return os.path.basename(os.readlink(f"/sys/class/net/{name}/device/driver"))
    except OSError:
        return ""


def _stacked(link: Dict[str, Any]) -> Tuple[str, ...]:
    uppers = sorted(glob.glob(_UPPER.format(glob.escape(link["ifname"]))))
    names = [path.rpartition("/upper_")[2] for path in uppers]
    # A macvlan that was moved to a container is not listed; it shows in the count, or by its MAC address.
    is_used = not names and (link.get("promiscuity") or _has_second_mac(link))
    return tuple(names or (["a device of a container, or a capture"] if is_used else []))


def _has_second_mac(link: Dict[str, Any]) -> bool:
    """Return whether the device receives for another address of one host than its own."""
    with contextlib.suppress(OSError, ValueError):
        for entry in json.loads(commands.attempt(["bridge", "-j", "fdb", "show", "dev", link["ifname"]], 8).stdout):
            is_of_group = int(entry["mac"][:2], 16) & 1
            if "self" in entry.get("flags", []) and not is_of_group and entry["mac"] != link.get("address"):
                return True
    return False


def _profiles(tries: int = 3) -> List[Profile]:
    """Return the Ethernet profiles, with two commands. If one disappears meanwhile, all are read again."""
    # NetworkManager has answered before: no profile at all is an answer.
    listed = [split(line) for line in nmcli("--fields", "UUID,TYPE,FILENAME,NAME", "connection", "show")]
    files = {uuid: (name, path) for uuid, kind, path, name in listed if kind == "802-3-ethernet"}
    words = [word for uuid in files for word in ("uuid", uuid)]
    try:
        lines = nmcli("--fields", _BINDINGS, "connection", "show", *words) if words else []
    except FleetError as error:
        if error.values.get("rc") != 10 or tries == 1:  # 10: no such profile
            raise
        return _profiles(tries - 1)
    # A setting that the profile does not have is not printed.
    bindings = [[each.get(key, "") for key in _BINDINGS.split(",")] for each in _blocks(lines)]
    return [
        Profile(uuid, files[uuid][0], interface, mac.lower(), files[uuid][1], match, automatic == "yes")
        for uuid, interface, mac, match, automatic in bindings
    ]


def _find_ssh_interface(interfaces: List[Interface]) -> Optional[str]:
    """Return the interface that has the SSH connection's address, found even if sudo has emptied the environment."""
    for process in processes.ancestors(os.getpid()):
        match = re.search(r"(?:^|\0)SSH_CONNECTION=\S+ \S+ (\S+) ", processes.read(process.pid, "environ"))
        if match:
            server = match.group(1).partition("%")[0].replace("::ffff:", "")
            has_it = (
                interface.name for interface in interfaces if any(a["local"] == server for a in interface.addresses)
            )
            return next(has_it, None)
    return None


def _is_lasting(route: Dict[str, Any]) -> bool:
    """Return whether a user or program set the route; the kernel makes those of link-local and multicast addresses."""
    return route.get("table") != "local" and not re.match(_LINK_LOCAL, str(route.get("dst")))


def _route_in_words(route: Dict[str, Any]) -> str:
    keys = ("dst", "gateway", "via", "dev", "table", "metric", "prefsrc", "nhid")
    return "route " + " ".join(f"{key} {route[key]}" for key in keys if key in route).replace("dst ", "", 1)


def _is_pattern(item: str) -> bool:
    return re.search(r"[*?\[]", item) is not None


def _meets(item: str, interface: Interface) -> bool:
    named = any(fnmatch.fnmatchcase(name, item) for name in (interface.name, *interface.altnames))
    return named or fnmatch.fnmatchcase(interface.mac.lower(), item.lower())


def _ip(*arguments: str) -> List[Dict[str, Any]]:
    program = commands.find("ip")
    if program is None:
        raise FleetError("network_not_read", "Network not read: command ip missing.", "Install iproute2 on the host.")
    done = commands.attempt([program, "-json", *arguments], _IP_SECONDS)
    if done.rc != 0:  # an interface that changes meanwhile, or a busy host, cuts its answer
        done = commands.attempt([program, "-json", *arguments], _IP_SECONDS)
    if done.is_killed:
        raise FleetError("network_not_read", f"Network not read: ip silent for {_IP_SECONDS} s.", "Run again.")
    if done.rc != 0:
        raise FleetError("network_not_read", f"Network not read: {done.words}.", "Install iproute2 4.19 or later.")
    objects: List[Dict[str, Any]] = json.loads(done.stdout.strip() or "[]")
    return objects


def _unavailable(why: str, fix: str) -> FleetError:
    return FleetError("networkmanager_unavailable", f"NetworkManager not available: {why}.", fix)
