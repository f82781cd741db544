"""The kernel's interfaces, which come and go while they are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel
from ansible_collections.slb.fleet.plugins.module_utils._system import commands


def test_settings_that_are_not_there_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_SETTINGS", str(tmp_path / "{}-{}-{}"))
    for kind in ("conf", "neigh"):
        (tmp_path / f"ipv6-{kind}-ens9").mkdir()
    kernel.set_setting("ens9", "ipv6", "accept_ra", "2")
    kernel.set_setting("ens9", "ipv6", "neigh gc_stale_time", "7000")
    (tmp_path / "ipv6-conf-ens9" / "stable_secret").write_text("::1")
    assert kernel.settings("ens9", "ipv6") == {"accept_ra": "2", "neigh gc_stale_time": "7000"}
    assert kernel.settings("ens9", "ipv4") == kernel.settings("ens10", "ipv6") == {}


def test_tokens_are_the_same_however_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"token": "::", "ifname": "a"}, {"token": "::0:1", "ifname": "b"}, {}]
    monkeypatch.setattr(kernel, "ip_json", lambda *_: said)
    assert kernel.tokens() == {"b": "::1"}


def test_routes_of_any_type_are_seen_but_for_those_that_the_kernel_makes_of_addresses(monkeypatch) -> None:
    plain = {"dst": "10.1.0.0/16", "dev": "ens9", "protocol": "3"}
    typed = {
        "type": "multicast", "dst": "239.0.0.0/8", "dev": "ens9", "protocol": "3", "metrics": [{"mtu": 1300}],
    }  # fmt: skip
    of_address = {"type": "local", "dst": "10.9.0.2", "dev": "ens9", "protocol": "2", "table": "255"}
    by_hand = {"type": "9", "dst": "10.3.0.0/16", "protocol": "2", "prefsrc": "10.9.0.2"}
    nowhere = {"type": "6", "dst": "10.2.0.0/16", "protocol": "3"}
    monkeypatch.setattr(
        kernel, "ip_json", lambda *words: [plain, typed, of_address, by_hand, nowhere] if "-4" in words else []
    )
    monkeypatch.setattr(
        kernel, "_ip_lines", lambda *_: [["multicast", "239.0.0.0/8", "dev", "ens9", "mtu", "lock", "1300"]]
    )
    assert kernel.routes() == [
        dict(plain, family="inet"),
        dict(typed, family="inet", lock=True),
        dict(by_hand, family="inet", type="throw"),
        dict(nowhere, family="inet", type="blackhole"),
    ]


def test_rules_are_told_in_the_words_that_add_them(monkeypatch) -> None:
    printed = {"-4": "0:\tfrom all lookup 255\n1000:\tnot from all iif ens9 [detached] lookup 100 proto 4\n", "-6": ""}
    monkeypatch.setattr(kernel.commands, "find", lambda name: name)
    monkeypatch.setattr(
        kernel.commands, "check", lambda argv, seconds: commands.Completed(argv, 0, printed[argv[1]], "")
    )
    assert [" ".join(words) for words in kernel.rules()] == [
        "-4 priority 0 from all lookup 255",
        "-4 priority 1000 not from all iif ens9 lookup 100 proto 4",
    ]


def test_an_interface_that_vanishes_while_it_is_looked_at_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ens9").mkdir()
    (tmp_path / "ens9" / "lower_ens1").touch()
    (tmp_path / "veth7").mkdir()
    monkeypatch.setattr(kernel, "_CLASS", str(tmp_path))
    monkeypatch.setattr(kernel, "ip_json", lambda *_: [])
    listed = kernel.os.listdir

    def listdir(folder: str) -> list[str]:
        if folder.endswith("veth7"):
            raise FileNotFoundError(folder)
        return listed(folder)

    monkeypatch.setattr(kernel.os, "listdir", listdir)
    assert {nic.name: nic.lower for nic in kernel.nics()} == {"ens9": ["ens1"], "veth7": []}


def ip_prints(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(kernel.commands, "find", lambda name: name)
    monkeypatch.setattr(kernel.commands, "check", lambda argv, seconds: commands.Completed(argv, 0, text, ""))


@pytest.mark.parametrize(
    "printed",
    [
        # iproute2 5.9 and 6.15, of the same alias; an escape, as it stands, is of both.
        r"""[{"ifname":"ens10","ifalias":"uplink \'x\' \\\' \"q\" back\\slash\t"}]""",
        r"""[{"ifname":"ens10","ifalias":"uplink 'x' \\' \"q\" back\\slash\t"}]""",
    ],
)
def test_an_alias_is_read_whatever_its_characters_are(monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    ip_prints(monkeypatch, printed.replace("slash", "slash\x1b"))
    (link,) = kernel.ip_json("address", "show")
    assert link["ifalias"] == "uplink 'x' \\' \"q\" back\\slash\x1b\t"


def test_a_route_through_a_tunnel_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As iproute2 5.9 and 6.1 print it; 6.15 has the tunnel's fields in an object of their own."""
    printed = (
        '[{"dst":"10.50.0.0/24","encap":"ip","id":7,"src":"10.77.2.2","dst":"10.1.1.1","ttl":0,"tos":0,'
        '"gateway":"10.77.2.1","dev":"ens10","flags":[]}]'
    )
    ip_prints(monkeypatch, printed)
    (route,) = kernel.ip_json("-N", "-4", "route", "show", "table", "all")
    assert route["dst"] == "10.50.0.0/24"
    assert list(route)[:3] == ["dst", "encap", "id"]


def test_neighbours_are_those_that_somebody_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As iproute2 6.15 prints them."""
    permanent = {"dst": "10.77.2.81", "dev": "ens10", "lladdr": "02:00:00:00:00:81", "state": ["PERMANENT"]}
    learned = {"dst": "10.77.2.82", "dev": "ens10", "lladdr": "02:00:00:00:00:82", "extern_learn": None}
    by_itself = {"dst": "10.77.2.91", "dev": "ens10", "lladdr": "02:00:00:00:00:91", "protocol": "static"}
    managed = {"dst": "10.77.2.83", "dev": "ens10", "managed": None, "protocol": "99"}
    shown = [
        dict(by_itself, state=["REACHABLE"]),
        dict(learned, state=["REACHABLE"]),
        dict(permanent, protocol="static"),
        {"dst": "10.77.2.88", "dev": "ens10"},
        {"dst": "224.0.0.22", "dev": "ens10", "lladdr": "01:00:5e:00:00:16", "state": ["NOARP"]},
        {"dst": "10.77.2.94", "dev": "ens10", "state": ["INCOMPLETE"]},
        dict(managed, lladdr="02:00:00:00:00:83", router=None, state=["REACHABLE"]),
    ]
    proxy = {"dst": "10.77.2.89", "dev": "ens10", "router": None, "proxy": None, "extern_learn": None}
    monkeypatch.setattr(kernel, "ip_json", lambda *words: [proxy] if "proxy" in words else shown)
    assert kernel.neighbours() == [
        dict(learned, state=["REACHABLE"]),
        dict(permanent, protocol="static"),
        managed,
        dict(proxy, proxy=True),
    ]
