"""What makes an interface what it is, in NetworkManager's words, or why no profile can hold it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import kinds, plan
from ansible_collections.slb.fleet.plugins.module_utils._network.resolver import Resolver
from ansible_collections.slb.fleet.tests.unit.network.shown import VLAN, inet, interface, nic, profile, state


def of(**known: Any) -> Any:
    found = nic("top", **known)
    return kinds.of(found).settings(found)


def vlan(**details: Any) -> Any:
    return of(**dict(VLAN, details=dict(VLAN["details"], **details)))


def test_an_ethernet_device_is_nothing_special() -> None:
    assert of() == of(kind="veth", physical=False) == {}


def test_a_vlan() -> None:
    assert vlan() == {
        "vlan.parent": "ens9",
        "vlan.id": "5",
        "vlan.flags": "1",
        "vlan.ingress-priority-map": "",
        "vlan.egress-priority-map": "",
    }
    special = vlan(
        flags=["REORDER_HDR", "GVRP", "LOOSE_BINDING", "MVRP"],
        ingress_qos=[{"from": 1, "to": 2}, {"from": 3, "to": 4}],
        egress_qos=[{"from": 0, "to": 7}],
    )
    assert special["vlan.flags"] == "15"
    assert special["vlan.ingress-priority-map"] == "1:2,3:4"
    assert special["vlan.egress-priority-map"] == "0:7"


@pytest.mark.parametrize(
    "unlike",
    [
        {"details": {"protocol": "802.1ad", "id": 5, "flags": []}},
        {"details": {"protocol": "802.1Q", "id": 5, "flags": ["BRIDGE_BINDING"]}},
        {"details": {}},
        {"lower": []},  # the device below it is in another network namespace
    ],
)
def test_a_vlan_that_no_profile_holds_is_left_alone(unlike: dict[str, Any]) -> None:
    assert "cannot be put into a profile" in of(**{**VLAN, **unlike})


@pytest.mark.parametrize(("mode", "number"), [("vepa", "1"), ("bridge", "2"), ("private", "3"), ("passthru", "4")])
def test_a_macvlan(mode: str, number: str) -> None:
    found = of(kind="macvlan", lower=["ens9"], details={"mode": mode})
    assert found == {"macvlan.parent": "ens9", "macvlan.mode": number}


@pytest.mark.parametrize("details", [{"mode": "source"}, {"mode": "passthru", "flags": ["nopromisc"]}])
def test_a_macvlan_that_no_profile_holds_is_left_alone(details: dict[str, Any]) -> None:
    assert "cannot be put into a profile" in of(kind="macvlan", lower=["ens9"], details=details)


def test_a_bond_would_lose_its_ports() -> None:
    assert "bond, which would lose its ports" in of(kind="bond", lower=["ens1", "ens2"], details={"mode": "802.3ad"})


def made(*profiles: Any) -> Any:
    found = interface("ens9.5", "unmanaged", nic=VLAN)
    host = plan.Host([1, 42], [], list(profiles), Resolver([], []), False, [], {})
    return plan.make(found, state([inet("10.5.0.2/24")], mtu=1496), host, plan.Policy(15, False, False))


def test_a_new_profile_is_of_its_kind_and_keeps_what_it_has() -> None:
    adopted = made()
    assert adopted.kind == "vlan"
    assert {key: adopted.settings[key] for key in ("vlan.parent", "vlan.id", "ipv4.addresses")} == {
        "vlan.parent": "ens9",
        "vlan.id": "5",
        "ipv4.addresses": "10.5.0.2/24",
    }
    assert adopted.settings["802-3-ethernet.mtu"] == "1496"
    assert adopted.settings["802-3-ethernet.cloned-mac-address"] == "preserve"


def test_a_profile_of_another_kind_is_not_for_it() -> None:
    assert made(profile("u1", "ens9.5")).profile is None
    own = profile("u2", "ens9.5", type="vlan")
    assert made(profile("u1", "ens9.5", priority=9), own).profile == own
