"""Everything is put back as far as it can be, whatever fails on the way; what remains is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    ip_commands,
    kernel,
    kernel_state,
    kernel_way_back,
    nmcli,
    profile_files,
    resolver,
    snapshot,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.nmcli import Device
from ansible_collections.slb.fleet.tests.unit.network.shown import MAC, inet, nic, profile, route, state


class Host:
    """A host of plain data: ``kernel`` by interface, ``asked``: what ip and nmcli were."""

    def __init__(self) -> None:
        self.kernel: dict[str, Any] = {}
        self.devices: dict[str, Device] = {}
        self.asked: list[str] = []
        self.refused: tuple[str, ...] = ()

    def ip(self, wanted: list[list[str]]) -> list[str]:
        return [said for arguments in wanted if (said := self._ip(arguments))]

    def _ip(self, arguments: list[str]) -> str:
        line = " ".join(arguments)
        self.asked.append(line)
        if any(word in line for word in self.refused):
            return f"{line}: refused"
        name = arguments[arguments.index("dev") + 1]
        now = self.kernel[name]
        if "address replace" in line:
            now["addresses"].append(inet(arguments[2]))
        elif "route append" in line:
            gateway = arguments[arguments.index("via") + 1] if "via" in arguments else None
            now["routes"].append(route(arguments[3], gateway))
        return ""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    monkeypatch.setattr(kernel_state, "read", lambda names: {n: s for n, s in host.kernel.items() if n in names})
    monkeypatch.setattr(ip_commands, "run", host.ip)
    monkeypatch.setattr(nmcli, "require_sign_of_life", lambda: None)
    monkeypatch.setattr(nmcli, "devices", lambda: host.devices)
    monkeypatch.setattr(nmcli, "profile_paths", dict)
    monkeypatch.setattr(nmcli, "command", lambda arguments, wait=0: host.asked.append(" ".join(arguments)))
    monkeypatch.setattr(nmcli, "up", lambda uuid, name, wait: host.asked.append(f"up {uuid} {name}"))
    monkeypatch.setattr(resolver, "read", lambda: None)
    monkeypatch.setattr(kernel_way_back, "_SETTLE_SECONDS", 60)
    monkeypatch.setattr(kernel_way_back, "_LOOK_SECONDS", 0.01)
    return host


LOOKED_AT_ANEW = ["device set ens9 managed no", "device set ens9 managed yes"]


@pytest.mark.parametrize(
    ("former", "present", "asked"),
    [
        ("unmanaged", "connected", ["device set ens9 managed no"]),
        ("disconnected", "connecting (getting IP configuration)", ["--wait 10 device disconnect ens9"]),
        ("unavailable", "connected", ["--wait 10 device disconnect ens9", *LOOKED_AT_ANEW]),
        ("unavailable", "disconnected", LOOKED_AT_ANEW),
        ("unavailable", "unavailable", []),
        ("disconnected", "disconnected", []),
        ("connected (externally)", "connected (externally)", []),
    ],
)
def test_an_interface_that_had_no_connection_has_none_again(
    host: Host, former: str, present: str, asked: list[str]
) -> None:
    host.kernel = {"ens9": state()}
    host.devices = {"ens9": Device("ens9", present, None, None)}
    was = dict(before(ens9=state()), devices={"ens9": {"state": former, "uuid": None}})
    assert snapshot.put_back(was, []) == []
    assert host.asked == asked


def test_at_a_shutdown_the_files_on_disk_come_back(host: Host, tmp_path: Path) -> None:
    """As while an interface is given back, which removes its profile and its file."""
    for name in ("kept", "rewritten", "file", ".removed.0123456789abcdef", ".file.0123456789abcdef"):
        (tmp_path / name).write_text(name)
    was = dict(
        before(),
        profiles={
            "u1": {"path": str(tmp_path / "removed"), "content": "removed"},
            "u2": {"path": str(tmp_path / "rewritten"), "content": "as it was"},
            "u3": {"path": str(tmp_path / "kept"), "content": "kept"},
            "u4": {"path": "/run/NetworkManager/system-connections/x", "content": "a reboot forgets it"},
            "u5": {"path": str(tmp_path / "unread"), "content": None},
        },
        files={str(tmp_path / "file"): None, str(tmp_path / "kept" / "x"): "refused"},
    )
    troubles = snapshot.put_files_back(was)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"kept": "kept", "rewritten": "as it was", "removed": "removed"}
    assert (tmp_path / "removed").stat().st_mode & 0o777 == 0o600
    assert len(troubles) == 1


CONNECTED = {"devices": {"ens9": {"state": "connected", "uuid": "u1"}}}
VIRTUAL = state([inet("10.9.0.2/24"), inet("10.9.0.100/32")], [route("default", "10.9.0.1")])


def test_what_is_connected_as_it_was_is_not_activated_again(host: Host) -> None:
    host.kernel = {"ens9": VIRTUAL}
    host.devices = {"ens9": Device("ens9", "connected", "ens9", "u1")}
    assert snapshot.put_back(dict(before(ens9=VIRTUAL), **CONNECTED), []) == []
    assert host.asked == []


def test_the_kernels_settings_for_ipv6_come_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """NetworkManager listens to routers itself, and has the kernel not do it."""
    host.kernel = {name: state(ipv6={"accept_ra": "0", "use_tempaddr": "0"}) for name in ("ens9", "ens10")}

    def set_setting(name: str, family: str, setting: str, value: str) -> None:
        host.asked.append(f"{name} {setting} {value}")
        host.kernel[name][family][setting] = value

    monkeypatch.setattr(kernel, "set_setting", set_setting)
    was = before(ens9=state(ipv6={"accept_ra": "1", "use_tempaddr": "0"}), ens10=state())
    assert snapshot.put_back(was, []) == []
    assert host.asked == ["ens9 accept_ra 1"]


def test_vlans_lose_nothing_with_the_link_below_them(host: Host) -> None:
    vlan = state([inet("10.5.0.2/24")], [route("default", "10.5.0.1", dev="ens9.5")])
    host.kernel = {"ens9": state(), "ens9.5": state([inet("10.5.0.2/24"), inet("10.5.0.9/24")])}
    was = dict(before(**{"ens9": state(), "ens9.5": vlan}), uppers={"ens9": ["ens9.5"]})
    assert snapshot.put_back(was, []) == []
    assert [each["dst"] for each in host.kernel["ens9.5"]["routes"]] == ["default"]
    assert all(" del " not in line for line in host.asked), "what came in between is not ours"


def test_the_snapshot_has_what_is_on_top(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.kernel = {name: state(mtu=number) for number, name in enumerate(("br0", "ens10", "ens9", "ens9.5"))}
    layers = [nic("br0", lower=["ens9.5"]), nic("ens10"), nic("ens9"), nic("ens9.5", lower=["ens9"])]
    monkeypatch.setattr(kernel, "nics", lambda: layers)
    monkeypatch.setattr(nmcli, "profiles", list)
    taken = snapshot.take(["ens9", "ens10"], [], [], [])
    assert list(taken["kernel"]) == ["ens9", "ens10", "ens9.5", "br0"]
    assert taken["uppers"] == {"ens9": ["ens9.5", "br0"], "ens10": []}
    own = snapshot.part(taken, "ens9", [], [])
    assert list(own["kernel"]) == ["ens9"]
    assert snapshot.with_uppers(own, taken, "ens9")["kernel"] == {
        name: taken["kernel"][name] for name in ("ens9", "ens9.5", "br0")
    }


@pytest.mark.parametrize("present", ["u1", "u2"])
def test_what_others_had_added_comes_back_after_an_activation(
    host: Host, monkeypatch: pytest.MonkeyPatch, present: str
) -> None:
    """Because another profile is active, or because this one had been changed."""
    host.kernel = {"ens9": VIRTUAL}
    host.devices = {"ens9": Device("ens9", "connected", "ens9", present)}
    monkeypatch.setattr(snapshot, "_put_profiles_back", lambda _: ["u1"] if present == "u1" else [])

    def up(uuid: str, name: str, wait: int) -> None:
        host.devices = {"ens9": Device("ens9", "connected", "ens9", uuid)}
        host.kernel = {"ens9": state([inet("10.9.0.2/24"), inet("10.9.0.7/24")], [route("default", "10.9.0.1")])}

    monkeypatch.setattr(nmcli, "up", up)
    assert snapshot.put_back(dict(before(ens9=VIRTUAL), **CONNECTED), []) == []
    assert host.asked == ["address replace 10.9.0.100/32 scope global dev ens9"]


def test_what_was_added_does_not_wait_for_networkmanager_to_be_done(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may wait long for a router, and may come to nothing."""
    monkeypatch.setattr(snapshot, "_ACTIVATION_SECONDS", 0)
    host.kernel = {"ens9": state()}
    host.devices = {"ens9": Device("ens9", "connecting (getting IP configuration)", "ens9", "u1")}
    troubles = snapshot.put_back(dict(before(ens9=VIRTUAL), **CONNECTED), [])
    assert host.asked[0] == "up u1 ens9"
    assert "address replace 10.9.0.100/32 scope global dev ens9" in host.asked
    assert troubles == ["NetworkManager does not take ens9 back: it is not connected."]


def test_what_the_kernel_refused_is_told_though_networkmanager_is_gone_by_then(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(names: list[str]) -> list[str]:
        raise nmcli.NoAnswerError("It is gone.", "Start it.")

    monkeypatch.setattr(snapshot, "_not_connected", gone)
    monkeypatch.setattr(kernel_way_back, "put_back", lambda states, ways: ["ens9 is not as it was."])
    troubles = snapshot.put_back(dict(before(ens9=VIRTUAL), **CONNECTED), [])
    assert any("It is gone." in trouble for trouble in troubles)
    assert "ens9 is not as it was." in troubles


def test_it_is_waited_for_until_networkmanager_has_taken_away_what_is_there(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.kernel = {"ens9": VIRTUAL}
    states = ["connected", "deactivating", "connecting (getting IP configuration)"]

    def devices() -> dict[str, Device]:
        if len(states) == 1:
            host.kernel = {"ens9": state()}
        return {"ens9": Device("ens9", states[0] if len(states) == 1 else states.pop(0), "ens9", "u1")}

    monkeypatch.setattr(nmcli, "devices", devices)
    was = {"devices": {"ens9": {"state": "connecting (getting IP configuration)", "uuid": "u1"}}}
    assert snapshot.put_back(dict(before(ens9=VIRTUAL), **was), []) == []
    assert "address replace 10.9.0.100/32 scope global dev ens9" in host.asked


def test_settings_and_neighbours_come_back_after_an_activation(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    neighbour = {"dst": "10.9.0.7", "lladdr": "52:54:00:00:00:07", "dev": "ens9"}
    had = state(ipv6={"mtu": "1300"}, neighbours=[neighbour])
    host.kernel = {"ens9": state(ipv6={"mtu": "1500"}, neighbours=[])}
    host.devices = {"ens9": Device("ens9", "connected", "ens9", "u1")}
    monkeypatch.setattr(kernel, "set_setting", lambda *words: host.kernel.update(ens9=had) or host.asked.append(words))
    assert snapshot.put_back(dict(before(ens9=had), **CONNECTED), []) == []
    assert host.asked == [
        ("ens9", "ipv6", "mtu", "1300"),
    ]


def test_when_networkmanager_is_done_with_the_addresses_they_are_looked_at_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.kernel = {"ens9": state()}
    host.devices = {"ens9": Device("ens9", "connecting (getting IP configuration)", "ens9", "u1")}

    def waited(*_: Any) -> bool:
        if any("address replace" in asked for asked in host.asked):
            host.devices = {"ens9": Device("ens9", "connected", "ens9", "u1")}
            host.kernel = {"ens9": state([inet("10.9.0.2/24")], [route("default", "10.9.0.1")])}
            host.asked.clear()
        return True

    monkeypatch.setattr(snapshot, "wait_for", waited)
    assert snapshot.put_back(dict(before(ens9=VIRTUAL), **CONNECTED), []) == []
    assert host.asked == ["address replace 10.9.0.100/32 scope global dev ens9"]


def test_a_profile_that_is_bound_by_mac_is_kept_as_well(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    there = [profile("by-name"), profile("by-mac", "", mac=MAC), profile("other", "ens10")]
    monkeypatch.setattr(nmcli, "profiles", lambda: there)
    monkeypatch.setattr(kernel, "nics", lambda: [nic()])
    host.kernel = {"ens9": state()}
    monkeypatch.setattr(snapshot, "_content", lambda path: "content")
    kept = snapshot.take(["ens9"], ["by-mac"], [], [])["profiles"]
    assert set(kept) == {"by-name", "by-mac"}
    assert kept["by-mac"]["content"] == "content"


def test_what_networkmanager_remembers_of_an_interface_that_it_watches_is_not_kept(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile on disk is somebody's all the same."""
    memory = "/run/NetworkManager/system-connections/ens9.nmconnection"
    monkeypatch.setattr(kernel, "nics", lambda: [nic()])
    monkeypatch.setattr(snapshot, "_content", lambda path: "content")
    host.kernel = {"ens9": state()}
    host.devices = {"ens9": Device("ens9", "connected (externally)", "ens9", "watched")}
    for path, expected in ((memory, {"own"}), ("/etc/NetworkManager/ens9", {"own", "watched"})):
        there = [profile("own", path=memory), profile("watched", path=path)]
        monkeypatch.setattr(nmcli, "profiles", lambda there=there: there)
        assert set(snapshot.take(["ens9"], [], [], [])["profiles"]) == expected


def before(**kernel: Any) -> dict[str, Any]:
    return {"kernel": kernel, "devices": {}, "profiles": {}, "uuids": [], "files": {}, "resolver": None}


class LettingGo:
    """NetworkManager is about to let go of an interface, and looks again when an address comes.

    ``sees``: whether it then takes that for one to watch.
    """

    def __init__(self, host: Host, sees: bool = True) -> None:
        self._host, self._sees, self._looks = host, sees, 0

    def devices(self) -> dict[str, Device]:
        self._looks += 1
        poked = any("address del" in line for line in self._host.asked)
        calm = "connected (externally)" if poked and self._sees else "disconnected"
        return {"ens9": Device("ens9", "deactivating" if self._looks < 3 else calm, None, None)}


WATCHED = {"devices": {"ens9": {"state": "connected (externally)", "uuid": None}}}


@pytest.mark.parametrize(
    ("sees", "words"), [(True, []), (False, ["NetworkManager does not watch ens9 again, as it did before."])]
)
def test_what_is_let_go_of_a_moment_later_is_watched_again(
    host: Host, monkeypatch: pytest.MonkeyPatch, sees: bool, words: list[str]
) -> None:
    """A busy NetworkManager 1.30 was still about to let go of it when its state was looked at."""
    monkeypatch.setattr(snapshot, "_WATCH_SECONDS", 0.3)
    monkeypatch.setattr(nmcli, "devices", LettingGo(host, sees).devices)
    had = state([inet("10.9.0.2/24")])
    host.kernel = {"ens9": state([inet("10.9.0.2/24")])}
    was = dict(before(ens9=had), **WATCHED)
    assert snapshot.put_back(was, []) == []
    assert host.asked == ["address del 10.9.0.2/24 dev ens9"]
    assert snapshot.not_watched_again(was) == words


def test_an_address_that_is_refused_does_not_keep_the_routes_away(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_way_back, "_SETTLE_SECONDS", 0.5)
    host.kernel = {"ens9": state(mtu=1400)}
    host.refused = ("mtu", "10.9.0.3")
    was = state([inet("10.9.0.2/24"), inet("10.9.0.3/24")], [route("default", "10.9.0.1")])
    (trouble,) = snapshot.put_back(before(ens9=was), [])
    assert [each["local"] for each in host.kernel["ens9"]["addresses"]] == ["10.9.0.2"]
    assert [each["dst"] for each in host.kernel["ens9"]["routes"]] == ["default"]
    assert trouble.startswith("ens9 is not as it was: link set dev ens9 mtu 1500: refused; address replace 10.9.0.3")


def away(*_: Any, **__: Any) -> None:
    raise nmcli.NoAnswerError("NetworkManager does not answer.", "Look at it.")


def test_where_networkmanager_is_away_the_kernel_is_put_right_and_nothing_else_is_asked_of_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.kernel = {"ens9": state()}
    monkeypatch.setattr(nmcli, "require_sign_of_life", away)
    was = state([inet("10.9.0.2/24")], [route("default", "10.9.0.1")])
    snap = dict(before(ens9=was), devices={"ens9": {"state": "connected", "uuid": "u1"}})
    (trouble,) = snapshot.put_back(snap)
    assert "was not told" in trouble and "does not answer" in trouble
    assert host.asked == [
        "address replace 10.9.0.2/24 scope global dev ens9",
        "-4 route append default via 10.9.0.1 dev ens9",
    ]


def test_one_that_hangs_half_way_is_asked_nothing_more(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.kernel = {"ens9": state(), "ens10": state()}
    monkeypatch.setattr(nmcli, "delete", away)
    was = before(ens9=state([inet("10.9.0.2/24")]), ens10=state([inet("10.9.1.2/24")]))
    was["devices"] = {name: {"state": "connected", "uuid": name} for name in ("ens9", "ens10")}
    host.devices = {name: Device(name, "disconnected", None, None) for name in ("ens9", "ens10")}
    assert len(snapshot.put_back(was, ["u1"])) == 1
    assert not any(line.startswith("up ") for line in host.asked)
    assert all(each["addresses"] for each in host.kernel.values())


def test_where_networkmanager_is_away_nothing_of_an_undone_change_is_left_for_it(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk, memory = tmp_path / "etc", tmp_path / "run"
    monkeypatch.setattr(profile_files, "ON_DISK", str(disk))
    monkeypatch.setattr(profile_files, "IN_MEMORY", str(memory))
    monkeypatch.setattr(nmcli, "require_sign_of_life", away)
    for path, words in {
        memory / "made": "uuid=new\ntype=ethernet\ninterface-name=ens9",
        disk / "made lasting": "uuid=new2\ntype=ethernet\ninterface-name=ens9",
        memory / "changed": "uuid=u1\ntype=ethernet\ninterface-name=ens9",
        memory / "watched": "uuid=new3\ntype=ethernet\ninterface-name=ens9\n[ethernet]\nmac-address=" + MAC,
        memory / "watched VLAN": "uuid=new6\ntype=vlan\ninterface-name=ens9\n[.nmmeta]\nnm-generated=true",
        memory / "other": "uuid=new4\ntype=ethernet\ninterface-name=ens10",
        memory / "bridge": "uuid=new5\ntype=bridge\ninterface-name=ens9",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"[connection]\nid=x\n{words}\n")
    note = tmp_path / "note"
    note.write_text("{}")
    host.kernel = {"ens9": state()}
    was = dict(
        before(ens9=state()),
        profiles={"u1": {"path": str(disk / "own"), "content": "as it was"}},
        uuids=["u1"],
        notes={str(note): None},
    )
    assert len(snapshot.put_back(was)) == 1
    left = {path.name: path for path in (*disk.iterdir(), *memory.iterdir())}
    assert set(left) == {"own", "watched", "watched VLAN", "other", "bridge"}
    assert left["own"].read_text() == "as it was"
    assert left["own"].stat().st_mode & 0o777 == 0o600
    assert not note.exists()


def test_what_networkmanager_makes_of_an_interface_that_it_watches_is_left_to_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [profile("old"), profile("new"), profile("watched", mac=MAC), profile("other", "ens10")]
    there.append(profile("of a VLAN"))  # which no MAC address tells
    host.devices = {"ens9": Device("ens9", "connected (externally)", "ens9", "of a VLAN")}
    monkeypatch.setattr(nmcli, "profiles", lambda: there)
    assert snapshot.made_since(dict(before(ens9=state()), uuids=["old"])) == ["new"]


def test_what_is_lost_comes_back_at_once_and_nothing_is_taken_away(host: Host) -> None:
    host.kernel = {"ens9": state([inet("10.9.0.77/24")])}
    snapshot.put_lost_back(before(ens9=state([inet("10.9.0.2/24")], [route("default", "10.9.0.1")])))
    assert host.asked == [
        "address replace 10.9.0.2/24 scope global dev ens9",
        "-4 route append default via 10.9.0.1 dev ens9",
    ]


def test_ipv6_that_was_switched_off_is_on_again_before_its_addresses_are_set(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses them until then. Where it cannot be switched on, the others are put back all the same."""

    def set_setting(name: str, family: str, setting: str, value: str) -> None:
        host.asked.append(f"{name} {family} {setting} {value}")
        if name == "ens9":
            raise OSError(30, "Read-only file system")

    monkeypatch.setattr(kernel, "set_setting", set_setting)
    was = state([inet("10.9.0.2/24")], ipv6={"disable_ipv6": "0"})
    host.kernel = {name: state(ipv6={"disable_ipv6": "1"}) for name in ("ens9", "ens10")}
    snapshot.put_lost_back(before(ens9=was, ens10=was))
    assert host.asked == [
        "ens9 ipv6 disable_ipv6 0",
        "ens10 ipv6 disable_ipv6 0",
        "address replace 10.9.0.2/24 scope global dev ens9",
        "address replace 10.9.0.2/24 scope global dev ens10",
    ]


def test_an_interface_that_has_vanished_keeps_nothing_from_the_others(host: Host) -> None:
    host.kernel = {"ens9": state()}
    was = before(ens9=state([inet("10.9.0.2/24")]), ens10=state([inet("10.9.1.2/24")]))
    was["devices"] = {name: {"state": "unmanaged", "uuid": None} for name in ("ens9", "ens10")}
    assert snapshot.put_back(was, []) == []
    assert host.asked == ["address replace 10.9.0.2/24 scope global dev ens9"]


def test_several_are_put_back_as_one_and_each_gets_what_it_had_itself(host: Host) -> None:
    """One of them is on top of the other."""
    own = {name: dict(before(**{name: state(mtu=1400)}), uppers={}) for name in ("ens9", "ens9.5")}
    own["ens9"]["kernel"].update({"ens9.5": state(mtu=1), "ens9.6": state(mtu=2)})
    own["ens9"]["uppers"] = {"ens9": ["ens9.5", "ens9.6"]}
    together = snapshot.merged(own, "nameserver 192.0.2.1")
    assert {name: each["mtu"] for name, each in together["kernel"].items()} == {
        "ens9": 1400,
        "ens9.5": 1400,
        "ens9.6": 2,
    }
    assert together["uppers"] == {"ens9": ["ens9.6"], "ens9.5": []}
    assert together["resolver"] == "nameserver 192.0.2.1"


def test_what_fails_unforeseen_is_noted_and_the_rest_goes_on(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanished(*_: Any) -> None:
        raise FileNotFoundError("veth7")

    host.kernel = {"ens9": state()}
    monkeypatch.setattr(nmcli, "profile_paths", vanished)
    monkeypatch.setattr(nmcli, "devices", vanished)
    was = dict(before(ens9=state([inet("10.9.0.2/24")])), devices={"ens9": {"state": "unmanaged", "uuid": None}})
    troubles = snapshot.put_back(was, ["u1"])
    assert [each["local"] for each in host.kernel["ens9"]["addresses"]] == ["10.9.0.2"]
    assert len(troubles) == 3
    assert all("veth7" in trouble for trouble in troubles)


def test_rules_that_are_gone_come_back_and_only_networkmanagers_new_ones_go(host, monkeypatch) -> None:
    def rule(priority: int, *more: str) -> list[str]:
        return ["-4", "priority", str(priority), "from", "all", "lookup", "100", *more]

    now = [rule(0), rule(3, "proto", "4"), rule(4, "proto", "186"), rule(5), rule(6), rule(7), rule(8, "proto", "186")]
    monkeypatch.setattr(kernel, "rules", lambda: now)
    host.asked.clear()
    ran: list[list[str]] = []
    monkeypatch.setattr(ip_commands, "run", lambda wanted: ran.extend(wanted) or [])
    content = "".join(
        f"[{family}]\n" + "".join(f"routing-rule{n}=priority {n} from 10.0.0.0/8 table 100\n" for n in priorities)
        for family, priorities in (("ipv4", (6, 8)), ("ipv6", (7,)))
    )
    profiles = {"u1": {"path": "one", "content": content}, "u2": {"path": "two", "content": None}}
    had = {"kernel": {}, "uppers": {}, "rules": [rule(0), rule(1)], "devices": {}, "profiles": profiles, "uuids": []}
    snapshot.put_lost_back(dict(had, files={}, notes={}, resolver=None))
    assert [" ".join(words) for words in ran] == [
        "-4 rule add priority 1 from all lookup 100",
        "-4 rule del priority 3 from all lookup 100 proto 4",
        # NetworkManager 1.30 does not say that it is its own.
        "-4 rule del priority 6 from all lookup 100",
    ]


def test_an_address_that_ipv6_makes_of_a_secret_is_made_by_it_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand it would lack the mark. Where IPv6 does not make it, it is set all the same."""
    own = inet("fe80::7/64", scope="link")
    host.kernel = {name: state([own], ipv6={"addr_gen_mode": "3"}) for name in ("ens9", "ens10")}

    def set_setting(name: str, family: str, setting: str, value: str) -> None:
        host.asked.append(f"{name} {setting} {value}")
        if name == "ens9" and value == "3":
            host.kernel[name]["addresses"] = [{**own, "stable-privacy": True}]

    monkeypatch.setattr(kernel, "set_setting", set_setting)
    was = state([{**own, "stable-privacy": True}], ipv6={"addr_gen_mode": "3"})
    assert snapshot.put_back(before(ens9=was, ens10=was), []) == []
    once = ["address del fe80::7/64 dev {}", "{} addr_gen_mode 1", "{} addr_gen_mode 3"]
    assert [line for line in host.asked if "ens9" in line] == [line.format("ens9") for line in once]
    assert [line for line in host.asked if "ens10" in line] == 2 * [line.format("ens10") for line in once]
