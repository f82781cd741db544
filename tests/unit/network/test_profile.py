"""What an interface has, its profile says."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import profile as profiles
from ansible_collections.slb.fleet.plugins.module_utils._network.profile import Surroundings
from ansible_collections.slb.fleet.plugins.module_utils._network.resolver import Resolver
from ansible_collections.slb.fleet.tests.unit.network.shown import MAC, inet, route, state

NOBODY = Resolver([], [])
LINK_LOCAL = inet("fe80::5054:ff:fe12:3456/64", scope="link")


def keeping(addresses, routes=(), resolver=NOBODY, **known):
    return profiles.keeping(MAC, state(addresses, list(routes), **known), resolver)


def test_addresses_keep_their_order():
    settings = keeping([inet("10.9.0.2/24"), inet("10.9.0.12/24"), inet("fd00::3/64"), inet("fd00::2/64")])
    assert settings["ipv4.method"] == settings["ipv6.method"] == "manual"
    assert settings["ipv4.addresses"] == "10.9.0.2/24,10.9.0.12/24"
    assert settings["ipv6.addresses"] == "fd00::3/64,fd00::2/64"


def test_a_gateway_with_the_metric_of_the_network_is_the_gateway():
    settings = keeping(
        [inet("10.9.0.2/24")],
        [route("10.9.0.0/24", protocol="2", prefsrc="10.9.0.2"), route("default", "10.9.0.1")],
    )
    assert settings["ipv4.gateway"] == "10.9.0.1"
    assert settings["ipv4.route-metric"] == "0"
    assert settings["ipv4.routes"] == ""


def test_a_gateway_with_another_metric_keeps_it():
    settings = keeping(
        [inet("10.9.0.2/24")], [route("10.9.0.0/24", protocol="2"), route("default", "10.9.0.1", metric=500)]
    )
    assert settings["ipv4.gateway"] == ""
    assert settings["ipv4.routes"] == "0.0.0.0/0 10.9.0.1 500"


def test_the_second_of_two_gateways_is_a_route():
    settings = keeping([inet("10.9.0.2/24")], [route("default", "10.9.0.1"), route("default", "10.9.0.9")])
    assert settings["ipv4.gateway"] == "10.9.0.1"
    assert settings["ipv4.routes"] == "0.0.0.0/0 10.9.0.9 0"


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (route("10.1.0.0/16", "10.9.0.1", metric=50), "10.1.0.0/16 10.9.0.1 50"),
        (route("10.1.0.7", "10.9.0.1"), "10.1.0.7/32 10.9.0.1 0"),
        (route("10.1.0.0/16"), "10.1.0.0/16 0"),
        (
            route("10.1.0.0/16", "10.9.0.1", table="100", prefsrc="10.9.0.2"),
            "10.1.0.0/16 10.9.0.1 0 table=100 src=10.9.0.2",
        ),
        (route("10.1.0.0/16", "10.9.0.1", metrics=[{"mtu": 1300}]), "10.1.0.0/16 10.9.0.1 0 mtu=1300"),
        (route("default", "10.9.0.1", flags=["onlink"]), "0.0.0.0/0 10.9.0.1 0 onlink=true"),
    ],
)
def test_routes_keep_their_attributes(seen, said):
    assert keeping([inet("10.9.0.2/24")], [seen])["ipv4.routes"] == said


def test_ipv6_routes_and_metrics():
    settings = keeping(
        [inet("fd00::2/64"), LINK_LOCAL],
        [
            route("fd00::/64", protocol="2", metric=256),
            route("fe80::/64", protocol="2", metric=1024),
            route("default", "fd00::1", metric=1024),
        ],
    )
    assert settings["ipv6.route-metric"] == "256"
    assert settings["ipv6.routes"] == "::/0 fd00::1 1024"
    assert settings["ipv4.method"] == "disabled"


def test_an_address_from_a_router_is_asked_for_again():
    settings = keeping([inet("fd00::5054:ff:fe12:3456/64", valid_life_time=3600), LINK_LOCAL])
    assert settings["ipv6.method"] == "auto"
    assert settings["ipv6.addr-gen-mode"] == "eui64"
    assert settings["ipv6.addresses"] == ""


def test_a_default_route_from_a_router_is_asked_for_again():
    advertised = route("default", "fe80::1", protocol="9", metric=1024, metrics=[{"hoplimit": 64}], expires=1800)
    present = state([inet("fd00::5054:ff:fe12:3456/64", valid_life_time=3600), LINK_LOCAL], [advertised])
    assert profiles.unrepresentable(present) is None
    settings = profiles.keeping(MAC, present, NOBODY)
    assert settings["ipv6.method"] == "auto"
    assert settings["ipv6.routes"] == ""
    fixed = keeping([inet("fd00::2/64"), LINK_LOCAL], [advertised])
    assert (fixed["ipv6.method"], fixed["ipv6.addresses"]) == ("auto", "fd00::2/64")


def test_an_address_from_a_router_that_is_not_made_of_the_mac_is_kept_as_well():
    settings = keeping([inet("fd00::1234/64", valid_life_time=3600)])
    assert settings["ipv6.method"] == "auto"
    assert settings["ipv6.addresses"] == "fd00::1234/64"


def test_temporary_addresses_pass():
    settings = keeping([inet("fd00::2/64"), inet("fd00::99/64", temporary=True, valid_life_time=60)])
    assert settings["ipv6.addresses"] == "fd00::2/64"
    assert settings["ipv6.method"] == "manual"


def test_a_link_local_address_alone_stays():
    settings = keeping([inet("10.9.0.2/24"), LINK_LOCAL])
    assert settings["ipv6.method"] == "link-local"


def test_without_ipv6_it_is_ignored():
    assert keeping([inet("10.9.0.2/24")])["ipv6.method"] == "ignore"


def test_mtu_and_name_servers_go_into_the_profile():
    resolver = Resolver(["192.0.2.1", "2001:db8::1"], ["example.org", "example.net"])
    settings = keeping([inet("10.9.0.2/24")], resolver=resolver, mtu=9000)
    assert settings["802-3-ethernet.mtu"] == "9000"
    assert settings["ipv4.dns"] == "192.0.2.1"
    assert settings["ipv4.dns-search"] == "example.org,example.net"
    assert settings["ipv6.dns"] == ""  # the interface has no IPv6 that could carry it
    assert profiles.without_a_place(resolver, settings) == ["2001:db8::1"]


def test_dhcp_takes_over_neither_the_default_route_nor_the_name_servers():
    alone = profiles.by_dhcp(state(), 15, Surroundings(False, False))
    assert alone["ipv4.never-default"] == "no"
    assert alone["ipv4.ignore-auto-dns"] == "no"
    beside = profiles.by_dhcp(state(), 15, Surroundings(True, True))
    assert beside["ipv4.never-default"] == beside["ipv6.never-default"] == "yes"
    assert beside["ipv4.ignore-auto-dns"] == "yes"
    silent = profiles.by_dhcp(state(), 15, Surroundings(has_name_servers=True, has_way_out=False))
    assert silent["ipv4.ignore-auto-dns"] == silent["ipv6.ignore-auto-dns"] == "yes"
    assert silent["ipv4.never-default"] == "no"


def test_where_the_host_has_its_way_out_no_lease_brings_name_servers_or_an_mtu():
    beside = profiles.by_dhcp(state(), 15, Surroundings(has_name_servers=False, has_way_out=True))
    assert beside["ipv4.ignore-auto-dns"] == beside["ipv6.ignore-auto-dns"] == "yes"
    assert beside["802-3-ethernet.mtu"] == "1500"


def test_networkmanager_waits_longer_for_dhcp_than_we_do():
    assert profiles.by_dhcp(state(), 120, Surroundings(False, False))["ipv4.dhcp-timeout"] == "135"


def test_what_is_kept_takes_back_what_a_profile_said_before():
    kept = keeping([inet("10.9.0.2/24")])
    assert kept["ipv6.addresses"] == kept["ipv6.routes"] == kept["ipv4.routes"] == ""


def test_where_no_dhcp_answers_nothing_but_the_methods_is_changed():
    assert profiles.without_address() == {"ipv4.method": "disabled", "ipv6.method": "ignore"}


def test_name_servers_of_a_profile_that_was_there_stay_where_they_may():
    spared = profiles.sparing_name_servers(keeping([inet("10.9.0.2/24")]))
    assert "ipv4.dns" not in spared
    assert "ipv4.ignore-auto-dns" not in spared
    assert spared["ipv6.dns"] == ""  # a family that is ignored may have none
    ours = profiles.sparing_name_servers(keeping([inet("10.9.0.2/24")], resolver=Resolver(["192.0.2.1"], [])))
    assert ours["ipv4.dns"] == "192.0.2.1"


@pytest.mark.parametrize(
    ("present", "word"),
    [
        (state([inet("10.9.0.2/32", address="10.9.0.1")]), "point-to-point"),
        (state([], [route("10.1.0.0/16", metrics=[{"mtu": 1300, "initcwnd": 10}])]), "initcwnd"),
        (state([inet("10.9.0.2/24", valid_life_time=600)]), "another DHCP client has leased the address 10.9.0.2"),
        (state([inet("ff05::7/128", autojoin=True)]), "ff05::7 joins its multicast group (autojoin)"),
        (state([], [route("10.1.0.0/16")]), "10.1.0.0/16 leads over it without an address"),
        (state([inet("10.9.0.2/24")], [route("2001:db8::/32")]), "2001:db8::/32 leads over it without an address"),
    ],
)
def test_what_no_profile_can_hold_is_said(present, word):
    assert word in profiles.unrepresentable(present)


def test_routes_by_way_of_a_link_local_address_are_kept():
    present = state([LINK_LOCAL], [route("2001:db8::/32", "fe80::1", metric=1024), route("fe80::/64", protocol="2")])
    assert profiles.unrepresentable(present) is None
    settings = profiles.keeping(MAC, present, NOBODY)
    assert settings["ipv6.method"] == "link-local"
    assert settings["ipv6.routes"] == "2001:db8::/32 fe80::1 1024"


def test_ipv6_addresses_are_named_backwards_to_a_networkmanager_that_gives_them_so():
    present = state([inet("fd00::3/64"), inet("fd00::2/64")])
    assert profiles.keeping(MAC, present, NOBODY)["ipv6.addresses"] == "fd00::3/64,fd00::2/64"
    assert profiles.keeping(MAC, present, NOBODY, backwards=True)["ipv6.addresses"] == "fd00::2/64,fd00::3/64"
