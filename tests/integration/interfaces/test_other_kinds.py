"""Interfaces that are made on top of others. The lab's kernel has macvlans, no VLANs and no bonds.

So a macvlan goes the whole way; of a VLAN each NetworkManager takes the profile that would be made of a model.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest
from fleet import Fleet
from nic_hosts import (
    addresses,
    adopting,
    devices,
    eventually,
    everywhere,
    kernel,
    profiles,
    reboot,
    shell,
    status,
    topology,
)
from runs import kill
from slb_lab.lab import Host

from ansible_collections.slb.fleet.plugins.module_utils._network import kinds, profile
from ansible_collections.slb.fleet.tests.unit.network.shown import VLAN, nic

BELOW, ON_TOP = "ens10", "on-top"
MACVLAN = "10.79.0.2/24"


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-other-kinds", topology({BELOW: {"kind": "external"}}))
    everywhere(fleet, make_macvlan)
    return fleet


def make_macvlan(host: Host) -> None:
    shell(host, f"ip link add {ON_TOP} link {BELOW} type macvlan mode bridge; ip link set {ON_TOP} up")
    shell(host, f"ip address add {MACVLAN} dev {ON_TOP}; ip route add 10.80.0.0/16 via 10.79.0.1 dev {ON_TOP}")
    eventually(lambda: "externally" in devices(host)[ON_TOP], 20, "it is watched")


def adopt(fleet: Fleet, host: Host, name: str, state: str = "present") -> dict:
    return fleet.module(host.name, "interface", interfaces=[name], state=state, confirm_timeout=120)


def test_a_pattern_does_not_name_it(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        said = adopt(fleet, host, "on-*")
        assert said["adopted"] == []
        (reason,) = [each["reason"] for each in said["left_alone"] if each["name"] == ON_TOP]
        assert "macvlan; name it exactly" in reason

    everywhere(fleet, scenario)


def test_what_nobody_confirms_is_watched_again(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        had = kernel(host, ON_TOP, BELOW)
        with adopting(fleet, host, names=[ON_TOP], confirm_timeout=5) as controller:
            eventually(lambda: status(host) in ("armed", "applied"), 60, "the change is under way")
            kill(controller)
            eventually(lambda: status(host) == "restored", 60, "it is put back")
        assert kernel(host, ON_TOP, BELOW) == had
        eventually(lambda: "externally" in devices(host)[ON_TOP], 20, "it is watched")

    everywhere(fleet, scenario)


def test_adopted_kept_and_given_back(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        had = kernel(host, ON_TOP, BELOW)
        adopted = adopt(fleet, host, ON_TOP)
        assert [each["name"] for each in adopted["adopted"]] == [ON_TOP], adopted
        assert devices(host)[ON_TOP] == "connected"
        assert kernel(host, ON_TOP, BELOW) == had
        given_back = adopt(fleet, host, ON_TOP, "absent")
        assert not given_back["failed"], given_back
        assert kernel(host, ON_TOP, BELOW) == had
        eventually(lambda: "externally" in devices(host)[ON_TOP], 20, "it is watched")
        assert not [path for path in profiles(host).get(ON_TOP, []) if path.startswith("/etc/")]

    everywhere(fleet, scenario)


def test_after_a_reboot_networkmanager_makes_it(fleet: Fleet) -> None:
    """Nobody else does on these hosts: all of it is in the profile."""
    everywhere(fleet, lambda host: adopt(fleet, host, ON_TOP) and None)
    reboot(fleet, *fleet.lab.hosts.values())

    def scenario(host: Host) -> None:
        eventually(lambda: devices(host).get(ON_TOP) == "connected", 30, "NetworkManager has made it")
        assert MACVLAN in addresses(host, ON_TOP)

    everywhere(fleet, scenario)


def test_every_networkmanager_takes_the_profile_of_a_vlan(fleet: Fleet) -> None:
    vlan = nic("ens10.5", **dict(VLAN, lower=[BELOW]))
    kind = kinds.of(vlan)
    settings = profile.new({"802-3-ethernet.mtu": "1496"}, dict(kind.settings(vlan)))
    words = shlex.join(word for pair in settings.items() for word in pair)

    def scenario(host: Host) -> None:
        shell(
            host,
            f"nmcli connection add save no type {kind.word} ifname {vlan.name} con-name model autoconnect no {words}",
        )
        said = shell(host, "nmcli --get-values connection.type,vlan.parent,vlan.id,vlan.flags connection show model")
        assert said.split() == [kind.profile, BELOW, "5", "1"], said

    everywhere(fleet, scenario)
