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
    shell(host, f"ip link add {NAME} type veth peer name other netns lan; ip -n lan link set other up")
    eventually(lambda: NAME in devices(host), 30, "NetworkManager sees it")
    shell(host, f"ip link set {NAME} up")
    eventually(lambda: devices(host)[NAME] == "disconnected", 30, "it has a carrier")
    shell(host, "; ".join(f"ip address add {address} dev {NAME}" for address in addresses))
    eventually(lambda: devices(host)[NAME] == WATCHED, 30, "it is watched")


def test_what_it_says_hangs_on_how_it_came_to_watch_it(hosts: dict[str, Host]) -> None:
    """No adoption here: the interface is the same each time, and a dump says so."""
    host = hosts["bullseye"]
    make(host, "10.66.0.3/24", "10.66.0.4/24")
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
    shell(host, f"nmcli device set {NAME} managed no")
    eventually(lambda: devices(host)[NAME] == "unmanaged", 30, "it is let go")
    shell(host, f"nmcli device set {NAME} managed yes")
    eventually(lambda: devices(host)[NAME] == WATCHED, 30, "it is watched once more")
    again = remembered(host)
    assert ("address1=10.66.0.25/25" in first) is not ("address1=10.66.0.25/25" in again)
    assert differences(before, seen(host)) == {}


def test_without_a_carrier_it_is_watched_by_who_did_not_see_it_go(hosts: dict[str, Host]) -> None:
    """Nor here. That it is seen takes NetworkManager some seconds."""
    host = hosts["bullseye"]
    shell(host, f"ip link del {NAME}")
    make(host, "10.66.0.3/24")
    shell(host, "ip -n lan link set other down")
    eventually(lambda: devices(host)[NAME] == "unavailable", 60, "it is seen to have no carrier")
    before, way = seen(host), shell(host, f"cat {OWN_ADDRESSES}").strip()
    shell(host, "systemctl restart NetworkManager")
    eventually(lambda: devices(host).get(NAME) == WATCHED, 30, "it is watched again")
    shell(host, f"echo {way} > {OWN_ADDRESSES}")
    assert differences(before, seen(host)) == {}
