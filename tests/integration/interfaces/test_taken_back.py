"""What NetworkManager had under its control, it has again; and what others had added to it then is there as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import dumped
import pytest
from compared import differences, unsaid
from fleet import Fleet
from nic_hosts import HOSTS, adopting, devices, eventually, everywhere, shell, status, wait_for
from runs import kill
from slb_lab.lab import Host

WAITING = "connecting (getting IP configuration)"
DUMP = Path(dumped.__file__).read_text()
ADDED = """
    cd /proc/sys/net/ipv6/conf/{name}
    echo 1300 > mtu
    echo 5 > router_solicitations
    echo 1 > accept_redirects
    ip address add fd66:66::20/128 nodad preferred_lft 0 dev {name}
    ip address add fd66:66::8/64 nodad valid_lft 3000 preferred_lft 2000 dev {name}
    ip address add 10.66.0.2/24 brd + dev {name}
    ip address add 10.66.0.3/24 label {name}:3 preferred_lft 0 dev {name}
    ip route add 10.67.0.0/24 via 10.66.0.1 dev {name} proto static metric 7
    ip neighbor add 10.66.0.60 lladdr 02:00:00:00:00:60 dev {name} nud permanent
"""
# Bullseye's ip knows no managed neighbours.
BY_OTHERS = """
    ip link set {name} up alias "the other's \\"way\\" \\\\'"
    ip address add 10.68.0.2/24 brd + dev {name}
    ip address add 239.1.2.3/32 autojoin dev {name}
    ip address add fd68::2/64 home nodad dev {name}
    ip address add fd68::3/64 mngtmpaddr nodad dev {name}
    ip neighbor add 10.68.0.60 lladdr 02:00:00:00:00:60 nud permanent protocol static dev {name}
    ip neighbor add 10.68.0.61 lladdr 02:00:00:00:00:61 nud permanent extern_learn router dev {name}
    ip neighbor add 10.68.0.62 lladdr 02:00:00:00:00:62 nud reachable extern_learn dev {name}
    ip neighbor add 10.68.0.63 managed protocol 99 dev {name} 2>/dev/null || true
    ip neighbor add proxy 10.68.0.64 protocol static dev {name}
    ip neighbor add fd68::60 lladdr 02:00:00:00:00:60 nud noarp protocol 99 dev {name}
"""


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-taken", {"hosts": {host: {"release": release} for release, host in HOSTS.items()}})
    for host in fleet.lab.hosts.values():
        shell(host, "ip netns add lan")  # out of NetworkManager's sight
    return fleet


def make(host: Host, name: str) -> None:
    shell(host, f"ip link add {name} type veth peer name p-{name} netns lan; ip -n lan link set p-{name} up")
    eventually(lambda: name in devices(host), 30, "NetworkManager sees it")


def seen(host: Host, name: str) -> dict[str, str]:
    return json.loads(host.exec(["python3", "-", "--kernel", name], stdin=DUMP, timeout=180).stdout)[name]


def require_same(before: dict[str, str], after: dict[str, str]) -> None:
    changed = differences(before, after)
    assert changed == {}, changed


def require_as_before(fleet: Fleet, host: Host, name: str) -> None:
    before = seen(host, name)
    with adopting(fleet, host, names=[name], confirm_timeout=6) as controller:
        wait_for(host, "applied")
        kill(controller)
        eventually(lambda: status(host) == "restored", 120, f"restored; it is {status(host)}")
    assert json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["troubles"] == []
    require_same(before, seen(host, name))


def test_one_that_waits_for_an_address_goes_on_waiting_with_what_it_had_been_given_by_hand(fleet: Fleet) -> None:
    name = "waiting"

    def scenario(host: Host) -> None:
        make(host, name)
        wish = "ipv4.method auto ipv4.dhcp-timeout 2147483647 ipv6.method ignore autoconnect no"
        shell(host, f"nmcli connection add type ethernet ifname {name} con-name {name} {wish}")
        shell(host, f"nmcli --wait 0 connection up {name}")
        eventually(lambda: devices(host)[name] == WAITING, 30, WAITING)
        shell(host, ADDED.format(name=name))
        require_as_before(fleet, host, name)
        assert devices(host)[name] == WAITING

    everywhere(fleet, scenario)


def test_ipv6_that_a_profile_has_no_room_for_is_back_with_all_its_settings(fleet: Fleet) -> None:
    name = "narrow"

    def scenario(host: Host) -> None:
        make(host, name)
        shell(host, f"nmcli device set {name} managed no; ip link set {name} up")
        for setting in ("conf/{}/router_solicitations", "neigh/{}/ucast_solicit", "neigh/{}/base_reachable_time_ms"):
            shell(host, f"echo 9 > /proc/sys/net/ipv6/{setting.format(name)}")
        wish = "802-3-ethernet.mtu 1000 ipv4.method manual ipv4.addresses 10.6.0.2/24 ipv6.method ignore autoconnect no"
        shell(host, f"nmcli connection add type ethernet ifname {name} con-name of-{name} {wish}")
        before = seen(host, name)
        (adopted,) = fleet.module(host.name, "interface", False, interfaces=[name])["adopted"]
        assert "IPv6 is gone" in " ".join(adopted["not_kept"]), adopted
        fleet.module(host.name, "interface", False, interfaces=[name], state="absent")
        require_same(before, seen(host, name))

    everywhere(fleet, scenario)


def test_what_is_joined_and_whom_others_have_made_known_stays_or_is_back(fleet: Fleet) -> None:
    name = "joined"

    def scenario(host: Host) -> None:
        make(host, name)
        shell(host, f"nmcli device set {name} managed no")
        shell(host, BY_OTHERS.format(name=name))
        before = seen(host, name)
        assert {"multicast group 239.1.2.3", "neighbour 10.68.0.62", "address fd68::2/64 home"} <= before.keys()
        (adopted,) = fleet.module(host.name, "interface", False, interfaces=[name])["adopted"]
        changed = unsaid(before, seen(host, name), adopted["not_kept"])
        assert changed == {}, changed
        assert "autojoin of the address 239.1.2.3/32 is none" in " ".join(adopted["not_kept"]), adopted
        assert not any("neighbour" in words for words in adopted["not_kept"]), adopted
        fleet.module(host.name, "interface", False, interfaces=[name], state="absent")
        require_same(before, seen(host, name))
        require_as_before(fleet, host, name)

    everywhere(fleet, scenario)


def test_what_ipv6_has_joined_and_could_not_join_again_is_left_alone(fleet: Fleet) -> None:
    name = "grouped"

    def scenario(host: Host) -> None:
        make(host, name)
        shell(host, f"nmcli device set {name} managed no; ip link set {name} up")
        shell(host, f"ip address add ff05::77/128 autojoin dev {name}")
        before = seen(host, name)
        told = fleet.module(host.name, "interface", False, interfaces=[name])["left_alone"]
        (reason,) = [each["reason"] for each in told if each["name"] == name]
        assert "the address ff05::77 joins its multicast group (autojoin)" in reason
        require_same(before, seen(host, name))

    everywhere(fleet, scenario)
