"""What is missed, and what is to be there again beside what has come since."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel_again
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state


def test_it_is_missed_whoever_put_it_there():
    before = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1"), route("fe80::/64", metric=256)])
    kept = state([inet("10.9.0.2/24", noprefixroute=True)], [route("default", "10.9.0.1", protocol="4")])
    assert kernel_again.missing(before, before) == kernel_again.missing(before, kept) == []
    assert kernel_again.missing(before, state()) == ["the address 10.9.0.2/24", "the route to default"]
    other_metric = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1", metric=100)])
    assert kernel_again.missing(before, other_metric) == ["the route to default"]


LEASED = inet("10.9.0.50/24", valid_life_time=600)
ASKED_FOR = [
    route("default", "10.9.0.1", protocol="16"),
    route("10.9.0.0/24", protocol="2", prefsrc="10.9.0.50"),
]
ADVERTISED = [
    route("default", "fe80::1", protocol="9"),
    route("fd00::/64", protocol="2", expires=600),
]


def test_what_others_had_added_is_told_from_what_was_asked_for_again():
    ours = [route("10.1.0.0/16", "10.9.0.1", protocol="4")]
    before = state([inet("10.9.0.100/32"), LEASED], [*ours, *ASKED_FOR])
    now = state([inet("10.9.0.51/24")], [route("default", "10.9.0.2")])
    wanted = kernel_again.with_what_came_since(before, now)
    assert wanted["addresses"] == [inet("10.9.0.51/24"), inet("10.9.0.100/32")]
    assert wanted["routes"] == [*ours, route("default", "10.9.0.2")]


def test_what_was_asked_for_comes_back_as_long_as_nothing_else_has_come():
    """For nobody knows whether it was: what somebody has added by hand may have a lifetime as well."""
    before = state([LEASED], [*ASKED_FOR, *ADVERTISED])
    assert kernel_again.with_what_came_since(before, state()) == before
    other = inet("10.9.0.51/24", valid_life_time=600)
    assert kernel_again.with_what_came_since(before, state([other])) == state([other], ADVERTISED)


def test_what_is_asked_for_again_may_have_other_marks():
    before = state([LEASED], [route("default", "10.9.0.1", protocol="16", metric=100)])
    renewed = state([dict(LEASED, valid_life_time=900)], [route("default", "10.9.0.1", protocol="16", metric=101)])
    assert kernel_again.with_what_came_since(before, renewed) == renewed


def test_what_is_asked_for_stays_beside_what_was_there():
    before = state([], [route("default", "10.9.0.1", protocol="4")])
    leads = route("default", "10.9.0.1", protocol="16", metric=100)
    now = state([LEASED], [*before["routes"], leads])
    assert kernel_again.with_what_came_since(before, now) == now


def test_the_rest_is_as_it_was_whatever_its_manager_makes_of_it():
    before = state(
        [inet("fd00::8/64", valid_life_time=600), inet("fd00::20/128", deprecated=True)],
        [route("fd00::20", protocol="2", metric=256), route("fd00::/64", protocol="2", metric=256)],
        ipv6={"mtu": "1300"},
        mtu=1400,
        neighbours=[{"dst": "10.9.0.7", "lladdr": "52:54:00:00:00:07", "dev": "ens9"}],
    )
    managers = [route("fd00::20", protocol="2", metric=101), route("fd00::/64", protocol="2", metric=100)]
    now = state([inet("fd00::20/128")], [*managers, before["routes"][1]], ipv6={"mtu": "1500"}, neighbours=[])
    assert kernel_again.with_what_came_since(before, now) == before


def test_more_time_may_be_left_and_all_else_of_the_address_is_as_it_was():
    before = state([dict(LEASED, nodad=False, preferred_life_time=300)])
    probed = dict(LEASED, nodad=True, valid_life_time=900, preferred_life_time=800)
    (wanted,) = kernel_again.with_what_came_since(before, state([probed]))["addresses"]
    assert (wanted["nodad"], wanted["valid_life_time"], wanted["preferred_life_time"]) == (False, 900, 800)


def test_the_mac_address_is_its_managers_choice():
    assert kernel_again.with_what_came_since(state(mac="02::1"), state(mac="02::2"))["mac"] == "02::2"


def test_what_is_on_top_of_another_gets_all_that_it_lost_and_loses_nothing():
    leased = inet("10.9.0.50/24", valid_life_time=600)
    before = state([leased], [route("default", "10.9.0.1", protocol="16")])
    now = state([inet("10.9.0.51/24")], up=False)
    wanted = kernel_again.with_lost(before, now)
    assert wanted == state([inet("10.9.0.51/24"), leased], before["routes"])


def test_what_a_router_advertises_is_not_missed_at_another_metric():
    before = state([], [route("default", "fe80::1", protocol="9", metric=1024, metrics=[{"hoplimit": 64}])])
    now = state([], [route("default", "fe80::1", protocol="9", metric=256)])
    assert kernel_again.missing(before, now) == []
    assert kernel_again.missing(before, state([], [route("default", "fe80::2", protocol="9", metric=1024)])) != []
    static = state([], [route("default", "fe80::1", protocol="3", metric=1024)])
    assert kernel_again.missing(static, now) == ["the route to default"]
