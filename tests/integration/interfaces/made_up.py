"""Interfaces made up at random: a case is made again by its number alone, and each thing it has can be left out."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import count

# Why NetworkManager does not have it under its control; the names are in its configuration before the first is made.
KINDS = {
    "rm": "at run time",
    "ex": "watched",
    "dv": "managed=0",
    "st": "unmanaged-devices",
    "iu": "ifupdown",
    "no": "no connection",
}
TOGETHER = 25
# So many have addresses of their own.
_NETS = 100


@dataclass(frozen=True)
class Case:
    """One interface. ``making``: the commands that it cannot do without; ``things``: those that it can.

    What the kernel or the host's tools do not know is not made, and so not there before either.
    """

    number: int
    name: str
    kind: str
    making: tuple[str, ...]
    things: tuple[str, ...]

    def without(self, left_out: Collection[int]) -> Case:
        return replace(self, things=tuple(each for at, each in enumerate(self.things) if at not in left_out))


def case(number: int) -> Case:
    chance = random.Random(number)
    kind = chance.choice((*KINDS, "rm", "dv"))
    name = f"{kind}{number}"
    there = Net(number % _NETS)
    making = (
        f"ip link add {name} type veth peer name p{number} netns lan",
        f"ip -n lan link set p{number} up",
        # Or the kernel forgets neighbours that are not permanent while the test is at it: those that nobody uses.
        f"for each in 4 6; do echo 3600 > /proc/sys/net/ipv$each/neigh/{name}/gc_stale_time; done",
    )
    things = [*_link(chance, name), *_profiles(chance, name, there)]
    if chance.random() < 0.93:
        things.append(f"ip link set {name} up")
    if kind == "rm":
        making = (*making, f"nmcli device set {name} managed no")
    families = [_settings(chance, name), _inet(chance, name, there), _inet6(chance, name, there)]
    # With chances of its own: a number means the case that it meant before there was this.
    families.append(_by_others(random.Random(f"others {number}"), name, there))
    if kind == "no" or chance.random() < 0.1:
        families = families[:1]
    things += [each for family in families for each in family]
    if chance.random() < 0.05:
        things.append(f"ip -n lan link set p{number} down")
    return Case(number, name, KINDS[kind], making, tuple(things))


@dataclass(frozen=True)
class Net:
    """What is this case's alone among those that are there at the same time."""

    slot: int

    def v4(self, host: int) -> str:
        return f"10.{100 + self.slot}.0.{host}"

    def v6(self, host: int) -> str:
        return f"fd88:0:0:{self.slot}::{host:x}"


def _maybe(chance: random.Random, likely: float, *commands: str) -> Iterator[str]:
    if chance.random() < likely:
        yield chance.choice(commands)


def _link(chance: random.Random, name: str) -> Iterator[str]:
    mac = f"02:00:00:{chance.randrange(256):02x}:{chance.randrange(256):02x}:{chance.randrange(256):02x}"
    yield from _maybe(chance, 0.3, f"ip link set {name} address {mac}")
    yield from _maybe(chance, 0.4, *(f"ip link set {name} mtu {mtu}" for mtu in (1280, 1400, 1492, 9000, 1000)))
    yield from _maybe(chance, 0.2, *(f"ip link set {name} txqueuelen {length}" for length in (0, 7, 5000)))
    yield from _maybe(chance, 0.2, f"ip link set {name} alias 'to the left; {name}'")
    yield from _maybe(chance, 0.1, f"ip link set {name} group 17")
    flags = ("promisc on", "allmulticast on", "arp off", "multicast off")
    yield from _maybe(chance, 0.2, *(f"ip link set {name} {flag}" for flag in flags))
    qdiscs = (
        f"tc qdisc add dev {name} root pfifo limit 77",
        f"tc qdisc add dev {name} root handle 5: prio",
        f"tc qdisc add dev {name} root tbf rate 5mbit burst 10k latency 50ms",
        f"tc qdisc add dev {name} ingress",
    )
    yield from _maybe(chance, 0.3, *qdiscs)
    yield from _maybe(chance, 0.1, f"ip maddress add 33:33:00:00:be:ef dev {name}")


def _inet(chance: random.Random, name: str, net: Net) -> Iterator[str]:
    hosts = chance.sample(range(2, 40), chance.choice((0, 1, 1, 1, 2, 3, 4)))
    for number, host in enumerate(hosts):
        prefix = chance.choice((24, 24, 24, 24, 16 if not number else 25, 32))
        marks = [
            word
            for word, likely in (
                ("brd +", 0.7),
                (f"label {name[:10]}:{host}", 0.2),
                ("scope link", 0.05),
                ("noprefixroute", 0.1),
                ("metric 77", 0.1),
            )
            if chance.random() < likely
        ]
        lifetimes = ("", "", "", "", "preferred_lft 0", "valid_lft 3000 preferred_lft 2000")
        address = f"{net.v4(host)}/{prefix}"
        if chance.random() < 0.05:
            address = f"{net.v4(host)} peer {net.v4(host + 100)}/32"
        yield f"ip address add {address} {' '.join(marks)} {chance.choice(lifetimes)} dev {name}"
    if not hosts:
        return
    yield from _maybe(chance, 0.05, f"ip address add 169.254.{net.slot}.9/16 brd + scope link dev {name}")
    yield from _routes(chance, name, "-4", lambda at: f"10.{100 + net.slot}.{at}.0/24", net.v4(1), net.v4(hosts[0]))
    for at in range(chance.choice((0, 0, 1, 2))):
        state = chance.choice(("nud permanent", "nud permanent", "nud noarp"))
        yield f"ip neighbor add {net.v4(60 + at)} lladdr 02:00:00:00:02:{at:02x} dev {name} {state}"
    yield from _maybe(chance, 0.1, f"ip neighbor add proxy {net.v4(70)} dev {name}")
    yield from _rules(chance, name, "-4", f"10.{100 + net.slot}.0.0/16", net.slot)


def _inet6(chance: random.Random, name: str, net: Net) -> Iterator[str]:
    hosts = chance.sample(range(2, 40), chance.choice((0, 0, 1, 1, 2, 3)))
    lifetimes = ("", "", "", "preferred_lft 0", "valid_lft 3000 preferred_lft 2000", "noprefixroute", "metric 99")
    for host in hosts:
        prefix = chance.choice((64, 64, 64, 128, 80))
        probed = chance.choice(("nodad", "nodad", ""))
        yield f"ip address add {net.v6(host)}/{prefix} {probed} {chance.choice(lifetimes)} dev {name}"
    yield from _maybe(chance, 0.1, f"ip address add fe80::{net.slot + 1:x}/64 nodad dev {name}")
    yield from _maybe(chance, 0.1, f"ip token set ::{net.slot + 1:x} dev {name}")
    if not hosts:
        return
    there = f"fd88:0:1:{net.slot:x}"
    yield from _routes(chance, name, "-6", lambda at: f"{there}:{at:x}::/80", net.v6(1), net.v6(hosts[0]))
    yield from _maybe(
        chance,
        0.3,
        f"ip neighbor add {net.v6(60)} lladdr 02:00:00:00:03:01 dev {name} nud permanent",
        f"ip neighbor add {net.v6(60)} lladdr 02:00:00:00:03:01 router dev {name} nud permanent",
        f"ip neighbor add proxy {net.v6(70)} dev {name}",
    )
    yield from _rules(chance, name, "-6", f"{there}::/64", net.slot)


def _by_others(chance: random.Random, name: str, net: Net) -> Iterator[str]:
    """Of addresses that join a group, those of IPv6 are a reason to leave the interface alone."""
    yield from _maybe(chance, 0.15, f'ip link set {name} alias "{name}\'s \\\\\' \\"end\\""')
    yield from _maybe(chance, 0.15, f"ip address add 239.0.{net.slot}.1/32 autojoin dev {name}")
    yield from _maybe(chance, 0.03, f"ip address add ff05::{net.slot + 1:x}/128 autojoin dev {name}")
    yield from _maybe(chance, 0.1, *(f"ip address add {net.v6(50)}/64 {mark} dev {name}" for mark in _MARKS))
    for at, address in enumerate((net.v4(80), net.v4(81), net.v6(80))):
        hardware = f"lladdr 02:00:00:00:04:{at:02x}"
        states = ("nud permanent", "nud noarp", "nud permanent extern_learn", "nud reachable extern_learn")
        made = (*(f"{address} {hardware} {state}" for state in states), f"{address} managed", f"proxy {address}")
        by = chance.choice(("", "protocol static", "protocol 99"))
        yield from _maybe(chance, 0.2, *(f"ip neighbor add {each} {by} dev {name}" for each in made))


_MARKS = ("home nodad", "mngtmpaddr nodad")


def _routes(
    chance: random.Random, name: str, family: str, destination: Callable[[int], str], gateway: str, source: str
) -> Iterator[str]:
    numbers = count(1)
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3, 4))):
        kind = chance.choice(("",) * 12 + ("local", "multicast", "unreachable", "blackhole", "throw", "broadcast"))
        way = chance.choice((f"via {gateway} dev {name}",) * 3 + (f"dev {name}", f"via {gateway} dev {name} onlink"))
        if kind in ("unreachable", "blackhole", "throw"):
            way = ""
        if kind == "multicast":
            way = f"dev {name}"
        if not kind and chance.random() < 0.05:
            way = f"nexthop via {gateway} dev {name} nexthop dev {name} weight 3"
        protocols = ("boot", "static", "186", "11", "9", "16", "2", "99")
        words = [
            word
            for word, likely in (
                (f"metric {chance.randrange(1, 5000)}", 0.4),
                (f"table {chance.choice((100, 255, 300, 70000))}", 0.25),
                (f"proto {chance.choice(protocols)}", 0.4),
                (f"src {source}", 0.2),
                (f"tos {chance.choice(('0x10', '0x04'))}" if family == "-4" else "pref high", 0.07),
                ("scope link" if family == "-4" else "expires 3000", 0.05),
            )
            if chance.random() < likely
        ]
        attributes = (
            "mtu 1300", "mtu lock 1300", "advmss 1200", "window 20000", "rtt 300ms", "rto_min 30ms", "initcwnd 20",
            "initrwnd 30", "quickack 1", "congctl reno", "hoplimit 9", "features ecn", "realm 7", "cwnd 12",
        )  # fmt: skip
        words += [chance.choice(attributes)] if chance.random() < 0.25 else []
        yield f"ip {family} route append {kind} {destination(next(numbers))} {way} {' '.join(words)}"


def _rules(chance: random.Random, name: str, family: str, net: str, slot: int) -> Iterator[str]:
    selectors = (f"from {net}", f"iif {name}", f"oif {name}", f"from {net} fwmark 0x{slot + 1:x}", f"to {net}")
    priority = 1000 + 2 * slot + (family == "-6")
    yield from _maybe(
        chance, 0.25, *(f"ip {family} rule add {each} lookup 100 priority {priority}" for each in selectors)
    )


_VALUES = {
    "ipv4/conf": {
        "forwarding": "01", "rp_filter": "012", "arp_ignore": "012", "arp_announce": "012", "proxy_arp": "01",
        "accept_redirects": "01", "send_redirects": "01", "log_martians": "01", "arp_notify": "01", "arp_accept": "01",
        "accept_local": "01", "route_localnet": "01", "promote_secondaries": "01", "src_valid_mark": "01",
        "force_igmp_version": "023", "shared_media": "01", "secure_redirects": "01", "arp_filter": "01",
    },
    "ipv6/conf": {
        "forwarding": "01", "accept_ra": "012", "accept_ra_defrtr": "01", "accept_ra_pinfo": "01", "autoconf": "01",
        "accept_ra_mtu": "01", "dad_transmits": "012", "use_tempaddr": "012", "accept_redirects": "01",
        "proxy_ndp": "01", "ndisc_notify": "01", "keep_addr_on_down": "01", "addr_gen_mode": "013", "accept_dad": "012",
        "disable_ipv6": "0001", "max_addresses": "67", "router_solicitations": "35", "accept_source_route": "01",
    },
    "ipv4/neigh": {"gc_stale_time": ("7000", "9000"), "proxy_qlen": "35", "ucast_solicit": "25", "locktime": "57"},
    "ipv6/neigh": {"gc_stale_time": ("7000", "9000"), "proxy_qlen": "35", "ucast_solicit": "25", "app_solicit": "12"},
}  # fmt: skip


def _settings(chance: random.Random, name: str) -> Iterator[str]:
    for folder, values in _VALUES.items():
        for setting, possible in values.items():
            if chance.random() < 0.12:
                yield f"echo {chance.choice(possible)} > /proc/sys/net/{folder}/{name}/{setting}"
    yield from _maybe(chance, 0.1, f"echo {chance.randrange(2, 200)} > /proc/sys/net/ipv6/conf/{name}/hop_limit")
    yield from _maybe(chance, 0.05, f"echo 1300 > /proc/sys/net/ipv6/conf/{name}/mtu")


def _profiles(chance: random.Random, name: str, net: Net) -> Iterator[str]:
    bound = chance.choice((f"ifname {name}", f'ifname "" mac $(cat /sys/class/net/{name}/address)'))
    add = f"nmcli connection add type ethernet con-name of-{name} autoconnect no {bound}"
    settings = (
        "",
        "ipv4.dhcp-timeout 4",
        f"ipv4.method manual ipv4.addresses {net.v4(90)}/24 ipv4.dns 192.0.2.53",
        f"ipv4.method manual ipv4.addresses {net.v4(90)}/24 ipv4.routes '192.0.2.0/24 {net.v4(1)}'",
        f"ipv4.method manual ipv4.addresses {net.v4(90)}/24"
        f" ipv4.routing-rules 'priority {2000 + net.slot} from {net.v4(0)}/24 table 100'",
        "ipv4.method disabled ipv6.method ignore",
        "ipv4.method disabled ipv6.method disabled",
        "802-3-ethernet.cloned-mac-address random",
        "802-3-ethernet.mtu 1420",
        "ipv6.addr-gen-mode stable-privacy ipv6.ip6-privacy 2",
    )
    yield from _maybe(chance, 0.3, *(f"{add} {each}" for each in settings))
