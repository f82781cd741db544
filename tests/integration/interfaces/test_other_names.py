"""An interface is not its name: what one had, no other gets, and what others have done since is not lost in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dumped
import pytest
from compared import differences
from fleet import Fleet
from nic_hosts import HOSTS, addresses, adopting, devices, eventually, everywhere, routes, shell, status, wait_for
from runs import kill
from slb_lab.lab import Host

DUMP = Path(dumped.__file__).read_text()
AWAY = "/etc/NetworkManager/conf.d/zz-away.conf"


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-names", {"hosts": {host: {"release": release} for release, host in HOSTS.items()}})
    for host in fleet.lab.hosts.values():
        shell(host, "ip netns add lan")  # out of NetworkManager's sight
    return fleet


def make(host: Host, name: str, net: str) -> None:
    """One that NetworkManager leaves alone, with an address and a route."""
    shell(host, f"ip link add {name} type veth peer name p-{name} netns lan; ip -n lan link set p-{name} up")
    eventually(lambda: name in devices(host), 30, "NetworkManager sees it")
    shell(host, f"nmcli device set {name} managed no; ip link set {name} up")
    shell(host, f"ip address add {net}.2/24 dev {name}; ip route add {net}0.0/24 via {net}.1 dev {name}")


def named_again(host: Host, name: str, new: str) -> None:
    """As whoever renames an interface does it, and gives it back the route that it loses while it is down."""
    shell(host, f"ip link set {name} down; ip link set {name} name {new}; ip link set {new} up")


def swapped(host: Host, one: str, other: str) -> None:
    named_again(host, one, "between")
    named_again(host, other, one)
    named_again(host, "between", other)


def seen(host: Host, *names: str) -> dict[str, dict[str, str]]:
    return json.loads(host.exec(["python3", "-", "--settled", *names], stdin=DUMP, timeout=180).stdout)


def mac(host: Host, name: str) -> str:
    return shell(host, f"cat /sys/class/net/{name}/address").strip()


def module(fleet: Fleet, host: Host, *names: str, check: bool = False, **options: Any) -> dict[str, Any]:
    return fleet.module(host.name, "interface", check, interfaces=list(names), confirm_timeout=120, **options)


def given_back(fleet: Fleet, host: Host, *names: str, check: bool = False) -> dict[str, Any]:
    return module(fleet, host, *names, check=check, state="absent")


def reason(result: dict[str, Any], name: str) -> str:
    (found,) = [each["reason"] for each in result["left_alone"] if each["name"] == name]
    return found


def test_a_name_that_another_has_now_gives_that_one_nothing(fleet: Fleet) -> None:
    one, other = "sw-one", "sw-other"

    def scenario(host: Host) -> None:
        make(host, one, "10.71.1")
        make(host, other, "10.71.2")
        assert [each["name"] for each in module(fleet, host, one)["adopted"]] == [one]
        swapped(host, one, other)
        before = seen(host, one, other)
        for check in (True, False):
            result = given_back(fleet, host, one, check=check)
            assert (result["changed"], result["given_back"]) == (False, []), result
            assert f"is called {other} now" in reason(result, one)
            assert f"is called {other} now" in " ".join(result["remarks"])
        changed = {name: differences(before[name], found) for name, found in seen(host, one, other).items()}
        assert not any(changed.values()), changed
        assert mac(host, one) != mac(host, other)
        swapped(host, one, other)
        assert [each["name"] for each in given_back(fleet, host, one)["given_back"]] == [one]
        assert addresses(host, one)[0] == "10.71.1.2/24"
        assert "10.71.10.0/24 via 10.71.1.1 metric 0" in routes(host, one)

    everywhere(fleet, scenario)


@pytest.mark.parametrize("taken", [False, True])
def test_the_way_back_finds_an_interface_by_whichever_name(fleet: Fleet, taken: bool) -> None:
    one, other = f"wb-one{taken:d}", f"wb-other{taken:d}"

    def scenario(host: Host) -> None:
        make(host, one, f"10.72.{1 + taken}")
        card, had = mac(host, one), routes(host, one)
        if taken:
            make(host, other, "10.72.3")
        with adopting(fleet, host, names=[one], confirm_timeout=20) as controller:
            wait_for(host, "applied")
            kill(controller)
            if taken:
                swapped(host, one, other)
                another = (mac(host, one), addresses(host, one), routes(host, one))
            else:
                named_again(host, one, other)
            eventually(lambda: status(host) == "restored", 120, f"restored; it is {status(host)}")
        assert json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["troubles"] == []
        assert mac(host, other) == card
        assert f"10.72.{1 + taken}.2/24" in addresses(host, other)
        assert routes(host, other) == had
        if taken:
            assert (mac(host, one), addresses(host, one), routes(host, one)) == another

    everywhere(fleet, scenario)


def test_a_card_in_the_place_of_another_does_not_get_what_that_one_had(fleet: Fleet) -> None:
    name = "replaced"

    def scenario(host: Host) -> None:
        make(host, name, "10.73.1")
        assert module(fleet, host, name)["adopted"]
        shell(host, f"ip link del {name}")
        eventually(lambda: name not in devices(host), 30, "NetworkManager sees that it is gone")
        gone = given_back(fleet, host, name)
        assert "is not there" in reason(gone, name)
        make(host, name, "10.73.2")
        card = mac(host, name)
        result = given_back(fleet, host, name)
        assert "is not there, and no other gets what it had" in reason(result, name)
        assert (mac(host, name), result["given_back"]) == (card, [])
        rest = reason(result, name).partition("remove ")[2]
        assert f"/var/lib/slb-fleet/interfaces/{name}.json" in rest

    everywhere(fleet, scenario)


def test_what_everything_hangs_on_is_given_back_by_its_name_alone(fleet: Fleet) -> None:
    name = "carries"

    def scenario(host: Host) -> None:
        make(host, name, "10.74.1")
        assert module(fleet, host, name)["adopted"]
        shell(host, f"ip route add default via 10.74.1.1 dev {name} metric 9999")
        for check in (True, False):
            result = given_back(fleet, host, "carr*", check=check)
            assert reason(result, name).startswith("it carries the default route; name it exactly")
            assert (result["changed"], result["given_back"]) == (False, [])
        result = given_back(fleet, host, name)
        assert "the route to default gateway 10.74.1.1 metric 9999 is new" in " ".join(result["remarks"]), result

    everywhere(fleet, scenario)


def test_what_has_been_done_to_it_since_goes_and_is_said(fleet: Fleet) -> None:
    name, calm = "changed", "calm"
    done = (
        "ip address add 10.200.0.5/24 dev {0}; ip -6 address add fd20::5/64 dev {0}; ip link set {0} mtu 1400;"
        "ip route add 10.201.0.0/24 via 10.200.0.1 dev {0} table 77; echo 1 > /proc/sys/net/ipv4/conf/{0}/proxy_arp;"
        "ip neighbor add 10.200.0.9 lladdr 02:00:00:00:00:09 nud permanent dev {0}"
    )
    words = ("10.200.0.5/24", "fd20::5/64", "mtu is 1400", "10.201.0.0/24", "proxy_arp is 1", "10.200.0.9")

    def scenario(host: Host) -> None:
        make(host, name, "10.75.1")
        make(host, calm, "10.75.2")
        assert len(module(fleet, host, name, calm)["adopted"]) == 2
        shell(host, done.format(name))
        for check in (True, False):
            result = given_back(fleet, host, name, calm, check=check)
            lost = {each["name"]: each["not_kept"] for each in result["given_back"]}
            assert lost[calm] == []
            for word in words:
                assert word in " ".join(lost[name]), (word, lost)
                assert word in " ".join(result["remarks"])

    everywhere(fleet, scenario)


def test_networkmanager_does_not_take_later_what_was_given_back_while_it_had_to_leave_it_alone(fleet: Fleet) -> None:
    name = "later"

    def scenario(host: Host) -> None:
        lines = "\\n".join(["[device-later]", f"match-device=interface-name:{name}", "managed=0"])
        shell(host, f"printf '{lines}\\n' >/etc/NetworkManager/conf.d/later.conf; systemctl reload NetworkManager")
        shell(host, f"ip link add {name} type veth peer name p-{name} netns lan; ip -n lan link set p-{name} up")
        eventually(lambda: devices(host).get(name) == "unmanaged", 30, "NetworkManager leaves it alone")
        shell(host, f"ip link set {name} up; ip address add 10.76.1.2/24 dev {name}")
        had = addresses(host, name)
        assert module(fleet, host, name, lift_unmanaged=True)["adopted"]
        shell(
            host,
            f"printf '[keyfile]\nunmanaged-devices=interface-name:{name}\n' >{AWAY}; systemctl restart NetworkManager",
        )
        eventually(lambda: devices(host).get(name) == "unmanaged", 60, "it has to leave it alone")
        assert given_back(fleet, host, name)["given_back"]
        shell(host, f"rm {AWAY}; systemctl reload NetworkManager")
        assert seen(host, name)[name]["networkmanager state"] == "unmanaged"
        assert addresses(host, name) == had

    everywhere(fleet, scenario)


def test_nothing_is_given_back_that_is_not_named(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        result = given_back(fleet, host)
        assert result["failed"]
        assert "Name the interfaces to give back" in result["msg"]

    everywhere(fleet, scenario)
