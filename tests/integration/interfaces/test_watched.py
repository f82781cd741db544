"""What NetworkManager by itself remembers of an interface that it merely watches: why a dump leaves some of it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import dumped
import pytest
from compared import differences
from fleet import Fleet
from nic_hosts import HOSTS, devices, eventually, shell
from slb_lab.lab import Host
from troubles import TROUBLES

NAME, ADDRESS = "watched", "10.66.0.2/24"
PROFILES = "/run/NetworkManager/system-connections"
OWN_ADDRESSES = f"/proc/sys/net/ipv6/conf/{NAME}/addr_gen_mode"
WATCHED = "connected (externally)"
DUMP = Path(dumped.__file__).read_text()


@pytest.fixture(scope="module")
def hosts(make_fleet: Callable[[str, dict], Fleet]) -> dict[str, Host]:
    releases = ("bullseye", "trixie")
    fleet = make_fleet("nic-watched", {"hosts": {HOSTS[release]: {"release": release} for release in releases}})
    found = {release: fleet.lab.hosts[HOSTS[release]] for release in releases}
    for host in found.values():
        shell(host, "ip netns add lan")  # out of NetworkManager's sight
    return found


def remembered(host: Host) -> str:
    return shell(host, f"cat {PROFILES}/{NAME}*")


def seen(host: Host) -> dict[str, str]:
    return json.loads(host.exec(["python3", "-", "--settled", NAME], stdin=DUMP, timeout=180).stdout)[NAME]


def make(host: Host, *addresses: str) -> None:
    shell(host, f"ip link del {NAME}", check=False)
    shell(host, f"ip link add {NAME} type veth peer name other netns lan; ip -n lan link set other up")
    eventually(lambda: NAME in devices(host), 30, "NetworkManager sees it")
    shell(host, f"ip link set {NAME} up")
    eventually(lambda: devices(host)[NAME] == "disconnected", 30, "it has a carrier")
    shell(host, "; ".join(f"ip address add {address} dev {NAME}" for address in addresses))
    eventually(lambda: devices(host)[NAME] == WATCHED, 30, "it is watched")


def let_go_and_watched_again(host: Host) -> None:
    shell(host, f"nmcli device set {NAME} managed no")
    eventually(lambda: devices(host)[NAME] == "unmanaged", 30, "it is let go")
    shell(host, f"nmcli device set {NAME} managed yes")
    eventually(lambda: devices(host)[NAME] == WATCHED, 30, "it is watched again")


def test_what_it_says_hangs_on_how_it_came_to_watch_it(hosts: dict[str, Host]) -> None:
    """No adoption here: the interface is the same each time, and a dump says so."""
    host = hosts["bullseye"]
    make(host, "10.66.0.3/24")
    assert "[.nmmeta]" in remembered(host)
    shell(host, f"ip address add 10.66.0.4/24 dev {NAME}")
    eventually(lambda: "10.66.0.4/24" in remembered(host), 30, "it remembers the second, too")
    before, way = seen(host), shell(host, f"cat {OWN_ADDRESSES}").strip()
    assert "method=ignore" in remembered(host)
    assert "[.nmmeta]" not in remembered(host)

    shell(host, f"nmcli device set {NAME} managed no; nmcli device set {NAME} managed yes")
    eventually(lambda: devices(host)[NAME] == "disconnected", 30, "it is let go")
    shell(host, "systemctl restart NetworkManager")
    eventually(lambda: devices(host).get(NAME) == WATCHED, 30, "it is watched again")
    shell(host, f"echo {way} > {OWN_ADDRESSES}")
    assert "method=disabled" in remembered(host)
    assert "[.nmmeta]" in remembered(host)
    assert differences(before, seen(host)) == {}

    shell(host, f"ip address add {ADDRESS} dev {NAME}")
    eventually(lambda: ADDRESS in remembered(host), 30, "it remembers that")
    assert any(key.startswith("file ") for key in differences(before, seen(host)))
    shell(host, f"ip address del {ADDRESS} dev {NAME}")
    eventually(lambda: ADDRESS not in remembered(host), 30, "it forgets that")
    assert "method=disabled" in remembered(host)
    assert "[.nmmeta]" not in remembered(host)
    assert differences(before, seen(host)) == {}


def test_in_which_order_it_says_addresses_hangs_on_that_too(hosts: dict[str, Host]) -> None:
    """No adoption here either."""
    host = hosts["trixie"]
    make(host, "10.66.0.29/24", "10.66.0.25/25 preferred_lft 0")
    before, first = seen(host), remembered(host)
    shell(host, "systemctl restart NetworkManager")
    eventually(lambda: devices(host).get(NAME) == WATCHED, 30, "it is watched again")
    let_go_and_watched_again(host)
    again = remembered(host)
    assert ("address1=10.66.0.25/25" in first) is not ("address1=10.66.0.25/25" in again)
    assert differences(before, seen(host)) == {}


def test_without_a_carrier_it_is_watched_by_who_did_not_see_it_go(hosts: dict[str, Host]) -> None:
    """Nor here. That it is seen takes NetworkManager some seconds."""
    host = hosts["bullseye"]
    make(host, "10.66.0.3/24")
    shell(host, "ip -n lan link set other down")
    eventually(lambda: devices(host)[NAME] == "unavailable", 60, "it is seen to have no carrier")
    before, way = seen(host), shell(host, f"cat {OWN_ADDRESSES}").strip()
    shell(host, "systemctl restart NetworkManager")
    eventually(lambda: devices(host).get(NAME) == WATCHED, 30, "it is watched again")
    shell(host, f"echo {way} > {OWN_ADDRESSES}")
    assert differences(before, seen(host)) == {}


def test_an_own_ipv6_address_it_says_when_it_looks_again(hosts: dict[str, Host]) -> None:
    """Nor here. The kernel has made itself another one."""
    host = hosts["trixie"]
    make(host, "10.66.0.3/24")
    shell(host, f"echo 3 > {OWN_ADDRESSES}")
    before, first = seen(host), remembered(host)
    assert "fe80" in str(before) and "method=link-local" not in first
    shell(host, f"ip address add 10.66.0.5/24 dev {NAME}")
    eventually(lambda: "method=link-local" in remembered(host), 30, "it has looked again")
    shell(host, f"ip address del 10.66.0.5/24 dev {NAME}")
    eventually(lambda: "10.66.0.5" not in remembered(host), 30, "it forgets that")
    assert "method=link-local" in remembered(host)
    assert differences(before, seen(host)) == {}


def test_of_a_mac_address_it_says_the_one_that_it_had_when_it_came_to_watch_it(hosts: dict[str, Host]) -> None:
    """Nor here."""
    host = hosts["trixie"]
    make(host, "10.66.0.3/24")
    shell(host, f"ip link set {NAME} address 02:00:00:07:74:85")
    before = seen(host)
    assert "02:00:00:07:74:85" not in remembered(host)
    let_go_and_watched_again(host)
    assert "02:00:00:07:74:85" in remembered(host)
    assert differences(before, seen(host)) == {}


def test_whoever_is_spoken_to_without_being_asked_is_a_neighbour_of_the_kernel(hosts: dict[str, Host]) -> None:
    """Nor NetworkManager here."""
    host = hosts["trixie"]
    make(host, "fd66::3/64 nodad")
    shell(host, f"ip link set {NAME} arp off")
    before = seen(host)
    shell(host, f"ping -6 -c 1 -W 1 fd66::99 -I {NAME}", check=False)
    assert "fd66::99" in shell(host, f"ip neighbor show nud noarp dev {NAME}")
    assert differences(before, seen(host)) == {}
    shell(host, f"ip neighbor add fd66::98 lladdr 02:00:00:00:04:02 nud noarp dev {NAME}")
    assert list(differences(before, seen(host))) == ["neighbour fd66::98"]


def test_what_it_takes_when_it_is_killed_it_watches_when_it_is_killed_again(hosts: dict[str, Host]) -> None:
    """Nor here. An address that expires is a lease to it."""
    host = hosts["bullseye"]
    make(host, "10.66.0.29/32 valid_lft 3000 preferred_lft 2000", "10.66.0.33/24")
    killed = TROUBLES["NetworkManager is killed"]
    shell(host, f"{killed.begins}; {killed.ends}")
    eventually(lambda: devices(host).get(NAME) == "connecting (getting IP configuration)", 30, "it is taken")
    assert remembered(host).count("[connection]") == 1

    shell(host, f"{killed.begins}; {killed.ends}")
    eventually(lambda: devices(host).get(NAME) == WATCHED, 30, "it is watched again")
    assert remembered(host).count("[connection]") == 2
