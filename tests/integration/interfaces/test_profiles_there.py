"""Profiles that are there, and what an interface has without an address: neither is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import addresses, devices, eventually, everywhere, kernel, profiles, shell, topology
from slb_lab.lab import Host

# Where nobody answers, all of it is waited for; where somebody does, he may be slow.
DHCP_SECONDS, ANSWERED_SECONDS = 4, 30
ROUTED, STATIC6, UNPLUGGED, LINK6, LINK4, BOUND, LEASED, ADVERTISED = (f"ens{number}" for number in range(10, 18))
NICS: dict[str, dict[str, Any]] = {
    name: {"kind": "no_address"} for name in (ROUTED, STATIC6, UNPLUGGED, LINK6, LINK4, BOUND, ADVERTISED)
}
NICS[LEASED] = {"kind": "no_address", "dhcp": "answers"}

# A router on the other end of the cable: itself as default route, with a hop limit, and fd77::/64 for addresses.
ROUTER = """
import socket, struct, sys, time
link = socket.if_nametoindex(sys.argv[1])
router = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, link)
prefix = socket.inet_pton(socket.AF_INET6, "fd77::")
said = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
said += struct.pack("!BBBBIII16s", 3, 4, 64, 0xC0, 3600, 1800, 0, prefix)
while True:
    router.sendto(said, ("ff02::1", 0, 0, link))
    time.sleep(1)
"""


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-profiles", topology(NICS))
    everywhere(fleet, prepare)
    return fleet


def prepare(host: Host) -> None:
    for name, settings in (
        (
            ROUTED,
            "ipv4.method auto ipv4.routes '10.50.0.0/16 10.77.0.1' ipv4.dns 192.0.2.1 ipv4.dns-search example.org",
        ),
        (STATIC6, "ipv4.method auto ipv6.method manual ipv6.addresses 2001:db8:77::2/64"),
        (UNPLUGGED, "ipv4.method auto"),
        (LEASED, "ipv4.method auto ipv4.route-metric 700"),
    ):
        shell(host, f"nmcli connection add type ethernet ifname {name} con-name of-{name} autoconnect no {settings}")
    shell(host, f"nmcli device set {LINK6} managed no; ip link set {LINK6} down")
    shell(host, f"sysctl -q net.ipv6.conf.{LINK6}.disable_ipv6=0 net.ipv6.conf.{LINK6}.addr_gen_mode=0")
    shell(host, f"sleep 1; ip link set {LINK6} up")
    shell(host, f"nmcli device set {LINK4} managed no; ip address add 169.254.7.7/16 scope link dev {LINK4}")
    shell(host, f"ip link set {LINK4} up; ip -n lan link set {UNPLUGGED} down")
    eventually(lambda: devices(host)[UNPLUGGED] == "unavailable", 20, "no carrier")
    eventually(lambda: any("fe80" in each for each in addresses(host, LINK6)), 20, "a link-local address")
    shell(host, f"ip -6 route add 2001:db8::/32 via fe80::1 dev {LINK6}")


def adopt(fleet: Fleet, host: Host, *names: str, **options: Any) -> dict[str, Any]:
    return fleet.module(host.name, "interface", interfaces=list(names), **{"dhcp_timeout": DHCP_SECONDS, **options})


def told(host: Host, name: str) -> str:
    """What the profile's file says, without what confirming it changes."""
    script = f"grep -vE 'autoconnect|timestamp' /etc/NetworkManager/system-connections/of-{name}.nmconnection"
    return "\n".join(line for line in shell(host, script).splitlines() if line)


def reason(result: dict[str, Any], name: str) -> str:
    return next(entry["reason"] for entry in result["left_alone"] if entry["name"] == name)


def test_settings_of_a_profile_survive_where_no_dhcp_answers(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        said = told(host, ROUTED)
        refused = adopt(fleet, host, ROUTED)
        assert not refused["failed"], refused
        assert refused["adopted"] == []
        assert "No DHCP server answered within 4 seconds" in reason(refused, ROUTED)
        assert told(host, ROUTED) == said
        assert devices(host)[ROUTED] == "disconnected"
        assert profiles(host)[ROUTED] == [f"/etc/NetworkManager/system-connections/of-{ROUTED}.nmconnection"]

    everywhere(fleet, scenario)


def test_a_profile_with_addresses_of_its_own_is_used_as_it_is(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        said = told(host, STATIC6)
        adopted = adopt(fleet, host, STATIC6)
        assert [entry["profile"] for entry in adopted["adopted"]] == [f"of-{STATIC6}"], adopted
        assert "2001:db8:77::2/64" in addresses(host, STATIC6)
        assert told(host, STATIC6) == said

    everywhere(fleet, scenario)


def test_a_profile_that_asks_dhcp_keeps_its_metric(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        said = told(host, LEASED)
        adopted = adopt(fleet, host, LEASED, dhcp_timeout=ANSWERED_SECONDS)
        assert [entry["name"] for entry in adopted["adopted"]] == [LEASED], adopted
        assert told(host, LEASED) == said
        given_back = adopt(fleet, host, LEASED, state="absent")
        assert not given_back["failed"], given_back
        assert devices(host)[LEASED] == "disconnected"

    everywhere(fleet, scenario)


def test_a_profile_that_waits_for_a_cable_is_left_alone(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        said = told(host, UNPLUGGED)
        refused = adopt(fleet, host, UNPLUGGED)
        assert not refused["changed"], refused
        assert "no carrier" in reason(refused, UNPLUGGED)
        assert told(host, UNPLUGGED) == said

    everywhere(fleet, scenario)


def test_what_has_no_address_but_routes_keeps_them(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = kernel(host, LINK4, LINK6)
        adopted = adopt(fleet, host, LINK4, LINK6)
        assert {entry["name"] for entry in adopted["adopted"]} == {LINK4, LINK6}, adopted
        now = kernel(host, LINK4, LINK6)
        for name, (kept_addresses, kept_routes) in before.items():
            assert set(now[name][0]) >= set(kept_addresses)
            assert set(now[name][1]) >= set(kept_routes)

    everywhere(fleet, scenario)


def test_what_a_router_advertises_is_kept_and_listened_to_again(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        settings = f"/proc/sys/net/ipv6/conf/{ADVERTISED}"
        shell(host, f"nmcli device set {ADVERTISED} managed no; ip link set {ADVERTISED} down; sleep 1")
        shell(
            host, f"cd {settings}; echo 0 > disable_ipv6; echo 0 > addr_gen_mode; echo 2 > accept_ra; echo 1 > autoconf"
        )
        shell(host, f"ip link set {ADVERTISED} up; ip -n lan link set {ADVERTISED} up")
        router = ["setsid", "-f", "ip", "netns", "exec", "lan", "python3", "-c", ROUTER, ADVERTISED]
        host.exec(["sh", "-c", '"$@" > /dev/null 2>&1', "sh", *router])
        eventually(lambda: advertised(host), 20, "the kernel has heard the router")
        before = addresses(host, ADVERTISED)
        adopted = adopt(fleet, host, ADVERTISED)
        assert [entry["name"] for entry in adopted["adopted"]] == [ADVERTISED], adopted
        assert addresses(host, ADVERTISED) == before
        assert advertised(host)
        given_back = adopt(fleet, host, ADVERTISED, state="absent")
        assert not given_back["failed"], given_back
        assert shell(host, f"cat {settings}/accept_ra {settings}/addr_gen_mode").split() == ["2", "0"]
        assert addresses(host, ADVERTISED) == before
        assert advertised(host)

    everywhere(fleet, scenario)


def advertised(host: Host) -> bool:
    """Whether a router is the way out over the interface, and it has an address from it."""
    way = shell(host, f"ip -6 route show default dev {ADVERTISED} proto ra")
    return "via fe80::" in way and any(each.startswith("fd77::") for each in addresses(host, ADVERTISED))


def test_a_profile_that_is_bound_by_mac_is_put_back(fleet: Fleet) -> None:
    """The address goes into it, and comes out of it again; what is on top of the interface loses nothing."""

    def scenario(host: Host) -> None:
        mac = shell(host, f"cat /sys/class/net/{BOUND}/address").strip()
        shell(host, f"nmcli connection add type ethernet con-name of-{BOUND} autoconnect no mac {mac} ipv4.method auto")
        shell(host, f"nmcli device set {BOUND} managed no; ip link set {BOUND} up")
        shell(host, f"ip address add 10.78.0.2/24 dev {BOUND}")
        shell(host, f"ip link add on-top link {BOUND} type macvlan; ip link set on-top up")
        shell(host, "ip address add 10.79.0.2/24 dev on-top; ip route add 10.80.0.0/16 via 10.79.0.1 dev on-top")
        said, on_top = told(host, BOUND), kernel(host, "on-top")
        adopted = adopt(fleet, host, BOUND)
        assert [entry["profile"] for entry in adopted["adopted"]] == [f"of-{BOUND}"], adopted
        assert told(host, BOUND) != said
        assert kernel(host, "on-top") == on_top
        given_back = adopt(fleet, host, BOUND, state="absent")
        assert not given_back["failed"], given_back
        assert told(host, BOUND) == said
        assert "10.78.0.2/24" in addresses(host, BOUND)
        assert devices(host)[BOUND] == "unmanaged"
        assert kernel(host, "on-top") == on_top

    everywhere(fleet, scenario)
