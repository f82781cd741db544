"""Which interfaces are adopted, and the reason for each that is not."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import selection
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import Cause
from ansible_collections.slb.fleet.tests.unit.network.shown import MAC, VLAN, interface

STRICT = Cause("unmanaged-devices", True, True, "unmanaged-devices=interface-name:ens9")
FOR_GOOD = Cause("NM_CONTROLLED=no", True, False, "NM_CONTROLLED=no in ifcfg-ens9")
AT_RUN_TIME = Cause("device section", False, True, "managed=0 in the section [device]")


def chosen(found, wanted=(), lift=False, passing=(), fleeting=()):
    return [each.nic.name for each in selection.choose([found], list(wanted), lift, passing, fleeting).chosen]


def reason(found, wanted=(), lift=False):
    return selection.choose([found], list(wanted), lift).skipped.get(found.nic.name, "")


def reason_of(name, found, wanted):
    return selection.choose([found], list(wanted), False).skipped[name]


def test_by_default_physical_ethernet_devices_without_an_active_connection():
    assert chosen(interface()) == ["ens9"]
    assert chosen(interface(state="connected (externally)")) == ["ens9"]
    assert chosen(interface(state="connecting (getting IP configuration)")) == ["ens9"]


@pytest.mark.parametrize("kind", ["bridge", "bond", "tun", "wireguard", "vxlan", "loopback", "wlan", "type 776"])
@pytest.mark.parametrize("wanted", [(), ("ens9",), ("*",)])
def test_never_what_is_no_ethernet_device(kind, wanted):
    found = interface(nic={"kind": kind, "physical": False})
    assert chosen(found, wanted) == []
    assert kind in reason(found, wanted)


@pytest.mark.parametrize("name", ["docker0", "veth5d0c2f1", "lo"])
@pytest.mark.parametrize("kind", ["ethernet", "veth"])
def test_never_interfaces_of_containers_even_if_they_are_named(name, kind):
    assert chosen(interface(name, nic={"kind": kind}), (name,)) == []


@pytest.mark.parametrize("wanted", [(), ("*",), ("ens9.*",), (MAC,), ("ens9",)])
def test_a_vlan_has_to_be_named_exactly(wanted):
    """Not by the MAC address either, which is that of the device below it."""
    found = interface("ens9.5", nic=VLAN)
    assert chosen(found, wanted) == []
    assert "vlan; name it exactly in O(interfaces)" in reason_of("ens9.5", found, wanted)
    assert chosen(found, ("ens9.5",)) == ["ens9.5"]


def test_never_ports():
    found = interface(nic={"master": "br0"})
    assert chosen(found, ("ens9",)) == []
    assert "port of br0" in reason(found, ("ens9",))


def test_a_veth_has_to_be_named():
    found = interface(nic={"kind": "veth", "physical": False})
    assert chosen(found) == []
    assert "O(interfaces)" in reason(found)
    assert chosen(found, ("ens*",)) == ["ens9"]


@pytest.mark.parametrize("item", ["ens9", "ens*", MAC, MAC.upper(), "52:54:00:*"])
def test_named_by_name_mac_or_pattern(item):
    assert chosen(interface(), (item,)) == ["ens9"]
    assert chosen(interface(), ("ens1", item)) == ["ens9"]


def test_an_item_that_names_nothing_is_reported():
    assert selection.on_missing([interface()], ["ens9", "ens77"]) == ["There is no interface that 'ens77' names."]


@pytest.mark.parametrize("carries", ["carries_ssh", "carries_default_route"])
def test_what_everything_hangs_on_has_to_be_named_exactly(carries):
    found = interface(**{carries: True})
    assert chosen(found) == []
    assert chosen(found, ("*",)) == []
    assert chosen(found, ("ens*", "52:54:*")) == []
    assert "name it exactly" in reason(found, ("*",))
    assert chosen(found, ("ens9",)) == ["ens9"]
    assert chosen(found, (MAC.upper(),)) == ["ens9"]


def test_what_is_under_control_already_is_left_alone():
    found = interface(state="connected", connection="ens9")
    assert chosen(found) == []
    assert "already (ens9)" in reason(found)


def test_lifting_takes_up_what_was_adopted_until_the_next_boot_only():
    found = interface(state="connected")
    assert chosen(found, lift=True, passing=["ens9"]) == ["ens9"]
    assert chosen(found, lift=False, passing=["ens9"]) == []


def test_control_by_a_profile_that_does_not_last_is_none():
    found = interface(state="connected", connection="ens9")
    assert chosen(found, fleeting=["ens9"]) == ["ens9"]
    assert chosen(found, ("ens1",), fleeting=["ens9"]) == []


def test_a_name_that_would_mean_other_devices_is_not_lifted():
    found = interface("a;b", state="unmanaged", unmanaged=STRICT)
    assert chosen(found, lift=True) == []
    assert "cannot be written" in selection.choose([found], [], True).skipped["a;b"]


def test_strictly_unmanaged_only_where_it_may_be_lifted():
    found = interface(state="unmanaged", unmanaged=STRICT)
    assert chosen(found) == []
    assert "O(lift_unmanaged): true" in reason(found)
    assert chosen(found, lift=True) == ["ens9"]


def test_what_no_file_can_lift_is_never_taken():
    found = interface(state="unmanaged", unmanaged=FOR_GOOD)
    assert chosen(found, lift=True) == []
    assert "ifcfg-ens9" in reason(found, lift=True)


def test_what_gives_in_at_run_time_is_taken():
    assert chosen(interface(state="unmanaged", unmanaged=AT_RUN_TIME)) == ["ens9"]


def test_two_managers_never_share_one():
    assert "systemd-networkd" in reason(interface(networkd=True), ("ens9",))


def test_what_networkmanager_does_not_know_is_left_alone():
    assert "does not know" in reason(interface(state=None))
