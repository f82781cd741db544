"""What of an interface is not as it was."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._network import differences
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state


def test_it_is_said_whether_there_is_ipv6_at_all():
    with_it, without = state(mtu=1500, ipv6={"accept_ra": "1"}), state(mtu=1000, ipv6={})
    there, gone = "IPv6 is there (was not)", "IPv6 is gone, and its settings with it"
    assert differences.between(without, with_it) == [there, "the mtu is 1500 (was 1000)"]
    assert differences.between(with_it, without) == [gone, "the mtu is 1000 (was 1500)"]
    assert differences.between(without, without) == differences.between(with_it, with_it) == []


def test_whatever_is_not_as_it_was_is_said_together_where_it_is_alike():
    had = state(
        [inet("10.9.0.2/24", label="ens9:1"), inet("10.9.0.3/24", preferred_life_time=0), inet("10.9.0.4/24")],
        [
            route("10.1.0.0/16", "10.9.0.1"),
            route("10.2.0.0/16", "10.9.0.1", metrics=[{"mtu": 1300}]),
            route("fd00::/64"),
        ],
        mac="52:54:00:00:00:01",
        token=None,
        ipv4={"rp_filter": "1"},
        ipv6={"accept_ra": "1", "forwarding": "1"},
        neighbours=[{"dst": "10.9.0.7", "lladdr": "52:54:00:00:00:07", "dev": "ens9"}],
    )
    has = state(
        [inet("10.9.0.4/24", nodad=True), inet("10.9.0.2/24", label="ens9"), inet("10.9.0.3/24", nodad=True)],
        [route("10.1.0.0/16", "10.9.0.1", protocol="4"), route("10.2.0.0/16", "10.9.0.1", protocol="4")],
        mac="52:54:00:00:00:02",
        token="::1",
        ipv4={"rp_filter": "1"},
        ipv6={"accept_ra": "0", "forwarding": "1"},
        neighbours=[],
    )
    assert differences.between(had, had) == []
    assert differences.between(had, has) == [
        "ipv6 accept_ra is 0 (was 1)",
        "the mac is 52:54:00:00:00:02 (was 52:54:00:00:00:01)",
        "the token is ::1 (was None)",
        "the label of the address 10.9.0.2/24 is ens9 (was ens9:1)",
        "the preferred lifetime of the address 10.9.0.3/24 is for ever (was over)",
        "the nodad of the address 10.9.0.3/24, 10.9.0.4/24 is on (was none)",
        "the order of its inet addresses is 10.9.0.4, 10.9.0.2, 10.9.0.3 (was 10.9.0.2, 10.9.0.3, 10.9.0.4)",
        "the protocol of the route to 10.1.0.0/16 gateway 10.9.0.1, 10.2.0.0/16 gateway 10.9.0.1 is static (was boot)",
        "the metrics of the route to 10.2.0.0/16 gateway 10.9.0.1 is none (was [{'mtu': 1300}])",
        "the route to fd00::/64 is gone",
        "the neighbour 10.9.0.7 is gone",
    ]
