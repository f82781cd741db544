"""Every kind of interface, on every release: adopted, kept, offered, still there after a reboot, given back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import (
    HOSTS,
    addresses,
    devices,
    eventually,
    kernel,
    offered,
    profiles,
    reboot,
    result,
    routes,
    shell,
    topology,
)
from runs import Run
from slb_lab.lab import Host

NICS = {
    "ens10": {"kind": "no_address"},
    "ens11": {"kind": "no_address", "dhcp": "answers"},
    "ens12": {"kind": "no_address", "dhcp": "late", "dhcp_delay": 3},
    "ens13": {"kind": "unmanaged"},
    "ens14": {"kind": "static"},
    "ens15": {"kind": "external"},
    "ens16": {"kind": "ifupdown"},
    "ens17": {"kind": "auto_profile"},
    "ens18": {"kind": "auto_profile", "dhcp": "answers"},
    "ens19": {"kind": "strictly_unmanaged"},
}
WITH_ADDRESS = ("ens14", "ens15", "ens16")
LEASED = ("ens11", "ens12")
ADOPTED_WITHOUT_LIFTING = {"ens10", "ens11", "ens12", "ens13", "ens14", "ens15", "ens17"}
PLAYBOOK = str(Path(__file__).with_name("adopt.yml"))
PATIENT = {"names": ["ens*"], "dhcp_timeout": 14}


class Before:
    """What a host was like before anything was adopted."""

    def __init__(self, host: Host) -> None:
        self.kernel = kernel(host, *WITH_ADDRESS, "eth0", "docker0")
        self.devices = devices(host)
        self.default = shell(host, "ip route show default dev eth0")
        self.resolver = shell(host, "cat /etc/resolv.conf")


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-kinds", topology(NICS, noise_veth=True))
    for host in fleet.lab.hosts.values():
        eventually(lambda host=host: devices(host)["ens18"] == "connected", 30, "the lab's own DHCP")
    return fleet


@pytest.fixture(scope="module")
def before(fleet: Fleet) -> dict[str, Before]:
    return {name: Before(host) for name, host in fleet.lab.hosts.items()}


@pytest.fixture(scope="module")
def planned(fleet: Fleet, before: dict[str, Before]) -> Run:
    return fleet.play(PLAYBOOK, "--check", "--diff", variables=PATIENT)


@pytest.fixture(scope="module")
def adoption(fleet: Fleet, planned: Run) -> Run:
    return fleet.play(PLAYBOOK, variables=PATIENT)


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, fleet: Fleet) -> Host:
    return fleet.lab.host(HOSTS[request.param])


def names(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["name"] for entry in entries}


def test_check_mode_shows_the_plan_and_touches_nothing(planned: Run, before: dict[str, Before]) -> None:
    assert planned.of("changed") == dict.fromkeys(HOSTS.values(), 1), planned.output
    assert "DHCP for 14 seconds, then without an address" in planned.output
    assert "keeps 10.77.5.2/24" in planned.output
    for name in HOSTS.values():
        assert names(result(planned.output, name)["adopted"]) == ADOPTED_WITHOUT_LIFTING


def test_everything_that_may_be_adopted_is(adoption: Run, host: Host) -> None:
    assert adoption.status == 0, adoption.output
    assert names(result(adoption.output, host.name)["adopted"]) == ADOPTED_WITHOUT_LIFTING
    assert result(adoption.output, host.name)["pending"] == []


def test_what_is_left_alone_has_its_reason(adoption: Run, host: Host) -> None:
    reasons = {entry["name"]: entry["reason"] for entry in result(adoption.output, host.name)["left_alone"]}
    assert set(reasons) == {"lo", "eth0", "docker0", "veth5d0c2f1", "vethb81e6a9", "ens16", "ens18", "ens19"}
    assert "ifupdown has it in /etc/network/interfaces.d/ens16" in reasons["ens16"]
    assert "unmanaged-devices=interface-name:ens19" in reasons["ens19"]
    assert "; lift_unmanaged: true lifts that" in reasons["ens19"]
    assert "under NetworkManager's control already" in reasons["ens18"]


def test_the_console_offers_them(fleet: Fleet, adoption: Run, host: Host) -> None:
    assert set(offered(fleet, host)) == ADOPTED_WITHOUT_LIFTING | {"ens18"}


def test_what_had_addresses_keeps_them_and_its_routes(adoption: Run, host: Host, before: dict[str, Before]) -> None:
    for name in WITH_ADDRESS:
        kept_addresses, kept_routes = before[host.name].kernel[name]
        assert set(addresses(host, name)) >= set(kept_addresses), name
        assert set(routes(host, name)) >= set(kept_routes), name
    assert "1 received" in shell(host, "ping -c 1 -W 2 10.99.5.1")


def test_a_dhcp_server_that_answers_is_heard_and_one_that_is_late_is_waited_for(adoption: Run, host: Host) -> None:
    for number, name in ((2, "ens11"), (3, "ens12")):
        assert any(address.startswith(f"10.77.{number}.") for address in addresses(host, name)), name


def test_where_none_answers_it_is_without_an_address(adoption: Run, host: Host) -> None:
    for name in ("ens10", "ens13", "ens17"):
        assert not any("." in address for address in addresses(host, name)), name


def test_the_rest_of_the_host_is_as_it_was(adoption: Run, host: Host, before: dict[str, Before]) -> None:
    now = Before(host)
    assert now.kernel["eth0"] == before[host.name].kernel["eth0"]
    assert now.kernel["docker0"] == before[host.name].kernel["docker0"]
    assert now.default == before[host.name].default
    assert now.resolver == before[host.name].resolver
    for name in ("eth0", "docker0", "lo", "veth5d0c2f1", "vethb81e6a9", "ens16", "ens18", "ens19"):
        assert now.devices[name] == before[host.name].devices[name], name


def test_each_interface_has_one_profile_on_disk(adoption: Run, host: Host) -> None:
    there = profiles(host)
    for name in ADOPTED_WITHOUT_LIFTING:
        (path,) = there[name]
        assert path.startswith("/etc/NetworkManager/system-connections/"), path
        assert path.endswith(f"/{name}.nmconnection") or name == "ens17", path
        assert "autoconnect=false" not in shell(host, f"cat '{path}'")


def test_a_second_run_changes_nothing(fleet: Fleet, adoption: Run) -> None:
    again = fleet.play(PLAYBOOK, variables=PATIENT)
    assert again.of("changed") == dict.fromkeys(HOSTS.values(), 0), again.output


@pytest.fixture(scope="module")
def lifted(fleet: Fleet, adoption: Run) -> Run:
    return fleet.play(PLAYBOOK, variables={"names": ["ens*"], "dhcp_timeout": 4, "lift": True})


def test_lifting_takes_the_others_too_and_makes_all_last(
    fleet: Fleet, lifted: Run, host: Host, before: dict[str, Before]
) -> None:
    assert lifted.status == 0, lifted.output
    # ens13, ens14 and ens15 were adopted already, but only until the next boot.
    made_lasting = {"ens13"} if host.name == HOSTS["bullseye"] else {"ens13", "ens14", "ens15"}
    assert names(result(lifted.output, host.name)["adopted"]) == made_lasting | {"ens16", "ens19"}
    assert set(offered(fleet, host)) == set(NICS)
    kept_addresses, kept_routes = before[host.name].kernel["ens16"]
    assert set(addresses(host, "ens16")) >= set(kept_addresses)
    assert set(routes(host, "ens16")) >= set(kept_routes)


@pytest.fixture(scope="module")
def rebooted(fleet: Fleet, lifted: Run) -> dict[str, list[str]]:
    """What the console offers after a reboot."""
    reboot(fleet, *fleet.lab.hosts.values())
    for host in fleet.lab.hosts.values():
        for name in ("ens11", "ens12", "ens18"):
            eventually(lambda host=host, name=name: devices(host)[name] == "connected", 60, f"DHCP on {name}")
    return {name: offered(fleet, host) for name, host in fleet.lab.hosts.items()}


def test_a_reboot_keeps_what_it_was_said_to_keep(
    adoption: Run, lifted: Run, rebooted: dict[str, list[str]], host: Host, before: dict[str, Before]
) -> None:
    said = {entry["name"]: entry["returns_at_boot"] for entry in result(adoption.output, host.name)["adopted"]}
    said.update({entry["name"]: entry["returns_at_boot"] for entry in result(lifted.output, host.name)["adopted"]})
    assert {name for name in said if name in rebooted[host.name]} == {name for name, stays in said.items() if stays}
    # NetworkManager 1.30 cannot be told to use a profile where it finds addresses at boot.
    gone = {"ens14", "ens15", "ens16"} if host.name == HOSTS["bullseye"] else set()
    assert {name for name, stays in said.items() if not stays} == gone
    for name in WITH_ADDRESS:
        kept = [address for address in before[host.name].kernel[name][0] if not address.startswith("fe80")]
        assert set(addresses(host, name)) >= set(kept), name


def test_absent_gives_them_back(fleet: Fleet, rebooted: dict[str, list[str]], before: dict[str, Before]) -> None:
    returned = fleet.play(PLAYBOOK, variables={"names": ["ens*"], "state": "absent"})
    assert returned.status == 0, returned.output
    for host in fleet.lab.hosts.values():
        now = Before(host)
        for name in set(NICS) - {"ens15", "ens17"}:
            assert now.devices[name] == before[host.name].devices[name], (host.name, name)
        for name in WITH_ADDRESS:
            kept = [address for address in before[host.name].kernel[name][0] if not address.startswith("fe80")]
            assert [each for each in now.kernel[name][0] if not each.startswith("fe80")] == kept, (host.name, name)
            assert now.kernel[name][1] == before[host.name].kernel[name][1], (host.name, name)
        assert now.default == before[host.name].default
        assert now.resolver == before[host.name].resolver
        assert shell(host, "ls /etc/NetworkManager/conf.d | grep slb-fleet || true") == ""
        assert shell(host, "ls /var/lib/slb-fleet/interfaces") == ""
    again = fleet.play(PLAYBOOK, variables={"names": ["ens*"], "state": "absent"})
    assert again.of("changed") == dict.fromkeys(HOSTS.values(), 0), again.output
