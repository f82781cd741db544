"""What was, comes back: as commands for ip, none of which touches another interface."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel_commands
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state

NAME = "ens9"


def lines(commands):
    return [" ".join(command) for command in commands]


def test_nothing_to_do_where_nothing_changed():
    before = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1")])
    assert kernel_commands.link_commands(NAME, before, before) == []
    assert kernel_commands.route_commands(NAME, before, before) == []


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


def test_neighbours_keep_who_made_them_and_none_becomes_permanent():
    hardware = {"lladdr": "52:54:00:00:00:07", "dev": NAME}
    learned = dict(hardware, dst="10.9.0.8", state=["REACHABLE"], extern_learn=None, protocol="bgp")
    before = state(
        neighbours=[
            dict(hardware, dst="10.9.0.7", state=["PERMANENT"], protocol="static"),
            learned,
            {"dst": "10.9.0.9", "dev": NAME, "managed": None, "protocol": "99"},
            {"dst": "fd00::9", "dev": NAME, "proxy": True, "router": None, "protocol": "static"},
        ]
    )
    assert lines(kernel_commands.addition_commands(NAME, before, state(neighbours=[]))) == [
        "-4 neighbor replace 10.9.0.7 lladdr 52:54:00:00:00:07 protocol static nud permanent dev ens9",
        "-4 neighbor replace 10.9.0.8 lladdr 52:54:00:00:00:07 extern_learn protocol bgp nud stale dev ens9",
        "-4 neighbor replace 10.9.0.9 managed protocol 99 dev ens9",
        "-6 neighbor replace proxy fd00::9 router protocol static dev ens9",
    ]
    by_now = state(neighbours=[dict(learned, state=["STALE"])])
    assert kernel_commands.addition_commands(NAME, state(neighbours=[learned]), by_now) == []


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


def test_an_address_joins_its_group_again_and_has_its_other_marks():
    """Those of IPv6 can be set of one that is there; who joins is told as it is made."""
    joins = inet("239.1.2.3/32", autojoin=True)
    again = "address replace 239.1.2.3/32 scope global dev ens9 autojoin"
    assert lines(kernel_commands.link_commands(NAME, state([joins]), state())) == [again]
    assert lines(kernel_commands.link_commands(NAME, state([joins]), state([inet("239.1.2.3/32")]))) == [
        "address del 239.1.2.3/32 dev ens9",
        again,
    ]
    for mark in ("home", "mngtmpaddr"):
        before, now = state([inet("fd00::2/64", **{mark: True})]), state([inet("fd00::2/64")])
        assert lines(kernel_commands.link_commands(NAME, before, now)) == [
            f"address replace fd00::2/64 scope global dev ens9 {mark}"
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
