"""Eight interfaces without DHCP wait side by side; and what is said where NetworkManager is not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import devices, eventually, offered, shell
from slb_lab.lab import Host

EIGHT = [f"ens{number}" for number in range(10, 18)]
UNPLUGGED = "ens30"
NICS = {name: {"kind": "no_address"} for name in [*EIGHT, UNPLUGGED]}
HOST = "nic-k"
DHCP_SECONDS = 10


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-many", {"hosts": {HOST: {"release": "bookworm", "nics": NICS}}})


@pytest.fixture
def host(fleet: Fleet) -> Host:
    return fleet.lab.host(HOST)


def adopt(fleet: Fleet, **options: Any) -> dict[str, Any]:
    return fleet.module(HOST, "interface", interfaces=["ens1?"], dhcp_timeout=DHCP_SECONDS, **options)


def test_a_stopped_networkmanager_is_named(fleet: Fleet, host: Host) -> None:
    shell(host, "systemctl stop NetworkManager")
    try:
        refused = adopt(fleet)
        seen = fleet.module(HOST, "host_info", subset=["interfaces"])["slb_host"]["interfaces"]
    finally:
        shell(host, "systemctl start NetworkManager")
        eventually(lambda: devices(host).get("ens10") == "disconnected", 30, "NetworkManager is back")
    assert refused["failed"]
    assert "NetworkManager does not run on the engine host" in refused["msg"]
    ens10 = next(each for each in seen if each["name"] == "ens10")
    assert ens10["offered"] is False
    assert "does not run" in ens10["why"]


def test_an_absent_networkmanager_is_named(fleet: Fleet, host: Host) -> None:
    shell(host, "mv /usr/bin/nmcli /usr/bin/nmcli.away")
    try:
        refused = adopt(fleet)
    finally:
        shell(host, "mv /usr/bin/nmcli.away /usr/bin/nmcli")
    assert refused["failed"]
    assert "NetworkManager is not installed" in refused["msg"]


def test_eight_interfaces_take_little_more_than_one_timeout(fleet: Fleet, host: Host) -> None:
    adopted = adopt(fleet)
    assert not adopted["failed"], adopted
    assert [entry["name"] for entry in adopted["adopted"]] == EIGHT
    events = json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))
    assert DHCP_SECONDS <= events["applied_at"] - events["armed_at"] < 2 * DHCP_SECONDS
    assert offered(fleet, host) == EIGHT


def test_an_interface_without_a_cable_does_not_wait(fleet: Fleet, host: Host) -> None:
    shell(host, f"ip -n lan link set {UNPLUGGED} down")
    eventually(lambda: devices(host)[UNPLUGGED] == "unavailable", 20, "no carrier")
    adopted = fleet.module(HOST, "interface", interfaces=[UNPLUGGED, "ens77"], dhcp_timeout=60)
    assert [entry["name"] for entry in adopted["adopted"]] == [UNPLUGGED], adopted
    assert adopted["remarks"] == ["There is no interface that 'ens77' names."]
    events = json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))
    assert events["applied_at"] - events["armed_at"] < 30
    assert UNPLUGGED in offered(fleet, host)
    fleet.module(HOST, "interface", interfaces=[UNPLUGGED], state="absent")
    assert devices(host)[UNPLUGGED] == "unavailable"


def test_host_info_says_what_is_offered_and_what_depends_on_what(fleet: Fleet, host: Host) -> None:
    seen = fleet.module(HOST, "host_info", subset=["interfaces"])["slb_host"]["interfaces"]
    by_name = {each["name"]: each for each in seen}
    assert {name for name, each in by_name.items() if each["offered"]} == set(EIGHT), "and not what was given back"
    assert [name for name, each in by_name.items() if each["carries_ssh"]] == ["eth0"]
    assert [name for name, each in by_name.items() if each["carries_default_route"]] == ["eth0"]
    assert by_name["docker0"]["kind"] == "bridge"
    assert by_name["eth0"]["managed_by"] == "ifupdown"
