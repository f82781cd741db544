"""What was, comes back: as commands for ip, none of which touches another interface."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    kernel_again,
    kernel_commands,
    kernel_state,
)
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state

NAME = "ens9"


def lines(commands):
    return [" ".join(command) for command in commands]


def test_nothing_to_do_where_nothing_changed():
    before = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1")])
    assert kernel_commands.link_commands(NAME, before, before) == []
    assert kernel_commands.route_commands(NAME, before, before) == []
    assert kernel_again.missing(before, before) == []


def test_addresses_come_back_with_all_that_they_had():
    before = state(
        [
            inet("10.9.0.2/24", broadcast="10.9.0.255", label="ens9:1"),
            inet("10.9.0.3/24", valid_life_time=600, preferred_life_time=300, noprefixroute=True),
        ]
    )
    assert lines(kernel_commands.link_commands(NAME, before, state())) == [
        "address replace 10.9.0.2/24 broadcast 10.9.0.255 scope global label ens9:1 dev ens9",
        "address replace 10.9.0.3/24 scope global dev ens9 valid_lft 600 preferred_lft 300 noprefixroute",
    ]


def test_ipv6_addresses_are_added_so_that_the_list_is_the_same_again():
    before = state([inet("fd00::3/64"), inet("fd00::2/64")])
    assert [line.split()[2] for line in lines(kernel_commands.link_commands(NAME, before, state()))] == [
        "fd00::2/64",
        "fd00::3/64",
    ]


def test_a_point_to_point_address_keeps_its_peer():
    before = state([inet("10.9.0.2/32", address="10.9.0.1")])
    assert "10.9.0.2 peer 10.9.0.1/32" in lines(kernel_commands.link_commands(NAME, before, state()))[0]


def test_what_came_in_between_goes():
    now = state([inet("10.9.0.77/24")], [route("default", "10.9.0.254", protocol="16", metric=100)])
    assert lines(kernel_commands.link_commands(NAME, state(), now)) == ["address del 10.9.0.77/24 dev ens9"]
    assert lines(kernel_commands.route_commands(NAME, state(), now)) == [
        "-4 route del default via 10.9.0.254 dev ens9 proto 16 metric 100"
    ]


def test_routes_without_a_gateway_come_first_and_none_replaces_that_of_another_interface():
    before = state([], [route("default", "10.8.0.1", metric=5), route("10.8.0.0/24", scope="253")])
    assert lines(kernel_commands.route_commands(NAME, before, state())) == [
        "-4 route append 10.8.0.0/24 dev ens9 scope 253",
        "-4 route append default via 10.8.0.1 dev ens9 metric 5",
    ]


def test_a_route_keeps_its_table_its_source_and_its_metrics():
    before = state([], [route("fd99::/64", "fd00::1", table="100", metric=9, metrics=[{"mtu": 1300}], pref="medium")])
    assert lines(kernel_commands.route_commands(NAME, before, state())) == [
        "-6 route append fd99::/64 via fd00::1 dev ens9 table 100 metric 9 mtu 1300 pref medium"
    ]


def test_what_passes_makes_no_difference():
    before = state([], [route("default", "10.9.0.1", flags=["linkdown"])])
    now = state([], [route("default", "10.9.0.1")])
    assert kernel_commands.route_commands(NAME, before, now) == []


def test_the_link_comes_back_up_or_down():
    up, down = state(), state(up=False)
    assert lines(kernel_commands.link_commands(NAME, up, down)) == ["link set dev ens9 up"]
    assert lines(kernel_commands.link_commands(NAME, down, up)) == ["link set dev ens9 down"]
    assert lines(kernel_commands.link_commands(NAME, state(mtu=9000), up)) == ["link set dev ens9 mtu 9000"]


def test_multipath_routes_and_unknown_attributes_cannot_be_brought_back():
    plain = route("default", "10.9.0.1")
    multipath = {"dst": "10.1.0.0/16", "family": "inet", "flags": [], "nexthops": [{"dev": NAME}, {"dev": "ens10"}]}
    encapsulated = route("10.2.0.0/16", "10.9.0.1", encap="mpls")
    elsewhere = dict(encapsulated, dev="ens10")
    assert kernel_commands.unreplayable(NAME, [plain, elsewhere]) == []
    assert kernel_commands.unreplayable(NAME, [plain, multipath, encapsulated]) == ["10.1.0.0/16", "10.2.0.0/16"]


def test_it_is_missed_whoever_put_it_there():
    before = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1"), route("fe80::/64", metric=256)])
    kept = state([inet("10.9.0.2/24", noprefixroute=True)], [route("default", "10.9.0.1", protocol="4")])
    assert kernel_again.missing(before, kept) == []
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
        neighbours=[{"dst": "10.9.0.7", "lladdr": "52:54:00:00:00:07", "dev": NAME}],
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


def test_neighbours_and_the_token_come_back():
    neighbour = {"dst": "10.9.0.7", "lladdr": "52:54:00:00:00:07", "dev": NAME}
    before = state(neighbours=[neighbour], token="::7")
    assert lines(kernel_commands.addition_commands(NAME, before, state(neighbours=[]))) == [
        "token set ::7 dev ens9",
        "-4 neighbor replace 10.9.0.7 lladdr 52:54:00:00:00:07 nud permanent dev ens9",
    ]
    assert kernel_commands.addition_commands(NAME, before, before) == []
    assert kernel_commands.addition_commands(NAME, state(), before) == [], "what was not noted is not known"


def test_every_kind_of_neighbour_comes_back():
    before = state(
        neighbours=[
            {"dst": "fd00::7", "lladdr": "52:54:00:00:00:07", "dev": NAME, "router": None, "state": ["PERMANENT"]},
            {"dst": "10.9.0.8", "lladdr": "52:54:00:00:00:08", "dev": NAME, "state": ["NOARP"]},
            {"dst": "fd00::9", "dev": NAME, "proxy": True},
        ]
    )
    assert lines(kernel_commands.addition_commands(NAME, before, state(neighbours=[]))) == [
        "-6 neighbor replace fd00::7 lladdr 52:54:00:00:00:07 router nud permanent dev ens9",
        "-4 neighbor replace 10.9.0.8 lladdr 52:54:00:00:00:08 nud noarp dev ens9",
        "-6 neighbor replace proxy fd00::9 dev ens9",
    ]


def test_routes_that_go_with_an_address_come_back_wherever_they_lead():
    led = [
        route("default", "10.1.0.1", dev="ens1", prefsrc="10.9.0.2"),
        {"dst": "10.2.0.0/16", "type": "throw", "family": "inet"},
    ]
    assert lines(kernel_commands.addition_commands(NAME, state(elsewhere=led), state(elsewhere=[]))) == [
        "-4 route append default via 10.1.0.1 dev ens1 src 10.9.0.2",
        "-4 route append throw 10.2.0.0/16",
    ]


def test_what_ipv6_keeps_without_its_source_makes_room_for_the_route_that_has_it():
    led = {"dst": "fd01::/64", "type": "blackhole", "family": "inet6", "table": "300", "prefsrc": "fd00::7"}
    before, now = state(elsewhere=[led]), state(elsewhere=[])
    assert lines(kernel_commands.addition_commands(NAME, before, now)) == [
        "-6 route del blackhole fd01::/64 table 300",
        "-6 route append blackhole fd01::/64 table 300 src fd00::7",
    ]
    assert kernel_commands.addition_commands(NAME, before, before) == []


def test_metrics_are_given_as_they_are_taken():
    shown = route("10.1.0.0/16", metrics=[{"rtt": 300, "ecn": None, "congestion": "reno", "mtu": 1300}])
    (command,) = lines(kernel_commands.route_commands(NAME, state(routes=[shown]), state()))
    assert command == "-4 route append 10.1.0.0/16 dev ens9 congctl reno features ecn mtu 1300 rtt 300ms"
    assert kernel_commands.unreplayable(NAME, [shown]) == []
    assert kernel_commands.unreplayable(NAME, [dict(shown, lock=True)]) == ["10.1.0.0/16"]
    assert kernel_commands.unreplayable(NAME, [dict(shown, metrics=[{"new": 1}])]) == ["10.1.0.0/16"]


def test_a_route_lives_for_a_while_again_or_for_ever():
    for had, has in ((600, None), (None, 600)):
        subnet = route("fd00::/64", protocol="2", metric=256)
        before, now = (dict(subnet, expires=expires) if expires else subnet for expires in (had, has))
        commands = lines(kernel_commands.route_commands(NAME, state(routes=[before]), state(routes=[now])))
        words = "fd00::/64 dev ens9 proto 2 metric 256"
        assert [command.split(" expires")[0] for command in commands] == [
            f"-6 route del {words}",  # the kernel takes both for one, and would refuse the other
            f"-6 route append {words}",
        ]
        assert commands[1].endswith("expires 600") is (had == 600)
    assert kernel_commands.route_commands(NAME, state(routes=[before]), state(routes=[before])) == []


def test_what_lives_for_a_while_does_not_begin_anew():
    passing = inet("fd00::2/64", valid_life_time=600, preferred_life_time=60)
    over = inet("fd00::3/64", valid_life_time=90, preferred_life_time=0)
    before = state([passing, over, inet("fd00::4/64")], [route("fd00::/64", expires=600)], read_at=1000.0)
    now = kernel_state.aged(before, state(read_at=1100.5))
    assert now["addresses"] == [dict(passing, valid_life_time=500, preferred_life_time=0), inet("fd00::4/64")]
    assert now["routes"] == [route("fd00::/64", expires=500)]
    assert kernel_state.aged(before, state(read_at=3.0)) == before, "the host was booted in between"
    assert kernel_state.aged(state([passing]), state(read_at=3.0)) == state([passing])


def test_an_address_that_is_there_but_not_as_it_was_is_made_so():
    had = inet("10.9.0.2/24", label="ens9:1", broadcast="10.9.0.255")
    now = state([inet("10.9.0.2/24", label="ens9", broadcast="10.9.0.255", noprefixroute=True)])
    assert lines(kernel_commands.link_commands(NAME, state([had]), now)) == [
        "address del 10.9.0.2/24 dev ens9",
        "address replace 10.9.0.2/24 broadcast 10.9.0.255 scope global label ens9:1 dev ens9",
    ]
    over = inet("fd00::2/64", preferred_life_time=0, deprecated=True, metric=7)
    assert lines(kernel_commands.link_commands(NAME, state([over]), state([inet("fd00::2/64", nodad=True)]))) == [
        "address replace fd00::2/64 scope global metric 7 dev ens9 preferred_lft 0",
    ]


def test_who_made_an_address_is_said_again():
    """Where ip shows it. A replacement that does not say it takes it away."""
    had = inet("fe80::2/64", scope="link", protocol="kernel_ll")
    expected = "address replace fe80::2/64 scope link proto kernel_ll dev ens9"
    assert lines(kernel_commands.link_commands(NAME, state([had]), state([]))) == [f"{expected} nodad"]
    now = state([inet("fe80::2/64", scope="link")])
    assert lines(kernel_commands.link_commands(NAME, state([had]), now)) == [expected]


def test_an_ipv4_address_of_the_link_is_made_anew_where_networkmanager_still_has_it():
    had = inet("10.9.0.2/24", scope="link")
    now = state([inet("10.9.0.2/24", broadcast="10.9.0.255", noprefixroute=True)])
    assert lines(kernel_commands.link_commands(NAME, state([had]), now)) == [
        "address del 10.9.0.2/24 dev ens9",
        "address replace 10.9.0.2/24 scope link dev ens9",
    ]


def test_addresses_come_back_in_their_order():
    listed = [inet("fd00::3/64"), inet("fd00::2/64"), inet("fe80::1/64", scope="link")]
    now = state([listed[1], listed[0], listed[2]])
    assert lines(kernel_commands.link_commands(NAME, state(listed), now)) == [
        "address del fd00::2/64 dev ens9",
        "address del fd00::3/64 dev ens9",
        "address replace fd00::2/64 scope global dev ens9 nodad",
        "address replace fd00::3/64 scope global dev ens9 nodad",
    ]


def test_two_addresses_of_the_link_come_back_in_their_order():
    """IPv6 makes but one of them. Those of a wider scope are listed before them, however late they came."""
    listed = [inet("fd00::2/64"), inet("fe80::2/64", scope="link"), inet("fe80::1/64", scope="link")]
    now = state([listed[0], listed[2], listed[1]])
    assert lines(kernel_commands.link_commands(NAME, state(listed), now)) == [
        "address del fe80::1/64 dev ens9",
        "address del fe80::2/64 dev ens9",
        "address replace fe80::1/64 scope link dev ens9 nodad",
        "address replace fe80::2/64 scope link dev ens9 nodad",
    ]


def test_the_mac_address_comes_back():
    now = state(mac="52:54:00:00:00:02")
    assert lines(kernel_commands.link_commands(NAME, state(mac="52:54:00:00:00:01"), now)) == [
        "link set dev ens9 address 52:54:00:00:00:01"
    ]


ADDRESSES = st.lists(
    st.builds(lambda last, prefix: inet(f"10.9.0.{last}/{prefix}"), st.integers(1, 9), st.integers(24, 25)),
    max_size=4,
    unique_by=lambda address: (address["local"], address["prefixlen"]),
)
ROUTES = st.lists(
    st.builds(
        lambda net, gateway, metric: route(f"10.{net}.0.0/16", gateway, metric=metric),
        st.integers(1, 4),
        st.sampled_from([None, "10.9.0.1", "10.9.0.2"]),
        st.integers(1, 3),
    ),
    max_size=4,
    unique_by=str,
)


@given(ADDRESSES, ADDRESSES, ROUTES, ROUTES)
def test_the_commands_lead_from_any_state_to_what_was(addresses, present, routes, present_routes):
    """Played on a model of the kernel that knows nothing but adding and deleting."""
    before, now = state(addresses, routes), state(present, present_routes)
    model = {f"{each['local']}/{each['prefixlen']}" for each in present}
    for command in kernel_commands.link_commands(NAME, before, now):
        (model.add if command[1] == "replace" else model.remove)(command[2])
    assert model == {f"{each['local']}/{each['prefixlen']}" for each in addresses}
    table = {" ".join(kernel_commands._route_words(each)) for each in present_routes}
    for command in kernel_commands.route_commands(NAME, before, now):
        (table.add if command[2] == "append" else table.remove)(" ".join(command[3:]))
    assert table == {" ".join(kernel_commands._route_words(each)) for each in routes}
