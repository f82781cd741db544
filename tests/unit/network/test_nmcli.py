"""What nmcli prints, read."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import nmcli
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.plugins.module_utils._system.commands import Completed


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch):
    """Lets nmcli print what is given, by the last word of its arguments' key; notes what it was asked."""
    asked: list[list[str]] = []

    def give(**by_word: tuple[int, str]):
        def run(argv: list[str], timeout: float) -> Completed:
            asked.append(argv)
            for word, (status, text) in by_word.items():
                if word in argv:
                    return Completed(argv, status, text, "its own words" if status else "")
            raise AssertionError(argv)

        monkeypatch.setattr(commands, "run", run)
        monkeypatch.setattr(commands, "find", lambda name: f"/usr/bin/{name}")
        return asked

    return give


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("ens9:connected:ens9:1-2", ["ens9", "connected", "ens9", "1-2"]),
        ("lo:unmanaged::", ["lo", "unmanaged", "", ""]),
        (r"ens9:connected:a\:b\\c:1", ["ens9", "connected", r"a:b\c", "1"]),
    ],
)
def test_terse_lines_are_split_at_colons_that_are_not_escaped(line: str, fields: list[str]) -> None:
    assert nmcli.split(line) == fields


def test_devices(answers) -> None:
    answers(device=(0, "ens9:connected:Wired connection 2:u2\nens10:connected (externally):ens10:u1\nlo:unmanaged::\n"))
    devices = nmcli.devices()
    assert devices["ens9"].connection == "Wired connection 2"
    assert devices["ens10"].external
    assert devices["lo"].unmanaged
    assert devices["lo"].uuid is None


def test_a_device_that_is_seen_between_its_state_and_its_profile_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = ["ens9:connected::", "ens9:connected::", "ens9:connected (externally):ens9:u1"]
    monkeypatch.setattr(nmcli, "query", lambda arguments: [answers.pop(0) if len(answers) > 1 else answers[0]])
    assert nmcli.devices()["ens9"].external
    answers[:] = ["ens9:connected::"]
    assert nmcli.devices()["ens9"].uuid is None, "nor for ever"


def test_profiles_are_read_at_once(answers) -> None:
    block = (
        "connection.uuid:{u}\nconnection.id:{n}\nconnection.type:{t}\nconnection.interface-name:{i}\n"
        "802-3-ethernet.mac-address:{m}\nconnection.slave-type:\nipv4.method:auto\nipv6.method:auto\nipv4.dns:\n"
        "connection.autoconnect-priority:-999\nconnection.timestamp:7\n"
    )
    ethernet = block.format(u="u1", n="a:b", t="802-3-ethernet", i="ens9", m="52:54:00:AA:BB:CC")
    bridge = block.format(u="u2", n="br0", t="bridge", i="br0", m="")
    asked = answers(
        **{"UUID,FILENAME": (0, "u1:/etc/a.nmconnection\nu2:/etc/b\n"), "uuid": (0, f"{ethernet}\n{bridge}")}
    )
    (profile,) = nmcli.profiles()
    assert (profile.uuid, profile.name, profile.interface, profile.mac) == ("u1", "a:b", "ens9", "52:54:00:aa:bb:cc")
    assert (profile.priority, profile.used_at, profile.path) == (-999, 7, "/etc/a.nmconnection")
    assert len(asked) == 2


def test_profiles_that_are_gone_before_they_are_shown_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of interfaces that are merely watched come and go."""
    block = "connection.uuid:{}\nconnection.id:a\nconnection.type:802-3-ethernet\n"
    block += "connection.autoconnect-priority:0\nconnection.timestamp:0\n"
    there = ["u1", "u2", "u3"]

    def run(argv: list[str], timeout: float) -> Completed:
        if "UUID,FILENAME" in argv:
            return Completed(argv, 0, "".join(f"{uuid}:/run/{uuid}\n" for uuid in there), "")
        asked = [uuid for uuid in ("u1", "u2", "u3") if uuid in argv]
        if len(there) > 1:
            there.pop()
        if asked != there:
            return Completed(argv, 10, "", "no such connection profile")
        return Completed(argv, 0, "\n".join(block.format(uuid) for uuid in asked), "")

    monkeypatch.setattr(commands, "run", run)
    monkeypatch.setattr(commands, "find", lambda name: f"/usr/bin/{name}")
    assert [profile.uuid for profile in nmcli.profiles()] == ["u1"]
    there = ["u1", "u2"]
    nmcli.delete(["u1", "u2", "u4"])
    assert there == ["u1"]


def test_profiles_that_are_never_there_when_they_are_shown_are_told(answers) -> None:
    answers(**{"UUID,FILENAME": (0, "u1:/etc/a\n"), "uuid": (10, "")})
    with pytest.raises(HostError, match="ended with status 10"):
        nmcli.profiles()


@pytest.mark.parametrize(
    ("path", "autoconnect", "fleeting"),
    [
        ("/run/NetworkManager/system-connections/a", "no", True),
        ("/run/NetworkManager/system-connections/netplan-a", "yes", False),
        ("/etc/NetworkManager/system-connections/a", "no", False),
    ],
)
def test_a_profile_lasts_or_does_not(answers, path: str, autoconnect: str, fleeting: bool) -> None:
    block = "connection.uuid:u1\nconnection.id:a\nconnection.type:802-3-ethernet\n"
    block += f"connection.autoconnect-priority:0\nconnection.timestamp:0\nconnection.autoconnect:{autoconnect}\n"
    answers(**{"UUID,FILENAME": (0, f"u1:{path}\n"), "uuid": (0, block)})
    assert nmcli.profiles()[0].fleeting is fleeting


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("ipv4.method:auto", False),
        ("ipv4.method:manual", True),
        ("ipv4.method:shared", True),
        ("ipv6.method:manual", True),
        ("ipv6.method:ignore", False),
        ("ipv4.routes:", False),
        ("ipv4.routes:{ ip = 10.1.0.0/16, nh = 10.9.0.1 }", True),
        ("ipv6.dns:2001\\:db8\\:\\:1", True),
    ],
)
def test_a_profile_has_settings_of_its_own_or_has_not(answers, line: str, own: bool) -> None:
    block = f"connection.uuid:u1\nconnection.id:a\nconnection.type:802-3-ethernet\n{line}\n"
    block += "connection.autoconnect-priority:0\nconnection.timestamp:0\n"
    answers(**{"UUID,FILENAME": (0, "u1:/etc/a\n"), "uuid": (0, block)})
    (profile,) = nmcli.profiles()
    assert profile.own is own


@pytest.mark.parametrize(("version", "enough"), [("1.30.6", True), ("1.22.0", True), ("1.20.4", False), ("0.9", False)])
def test_an_old_networkmanager_is_refused(answers, monkeypatch, version: str, enough: bool) -> None:
    answers(general=(0, f"{version}\n"))
    monkeypatch.setattr(nmcli.os, "geteuid", lambda: 0)
    if enough:
        assert nmcli.require()[0] == 1
    else:
        with pytest.raises(HostError, match=f"{version}, too old"):
            nmcli.require()


def test_root_is_needed(answers, monkeypatch) -> None:
    answers(general=(0, "1.42.4\n"))
    monkeypatch.setattr(nmcli.os, "geteuid", lambda: 1000)
    with pytest.raises(HostError, match="become: true"):
        nmcli.require()


def test_a_failure_is_told_in_nmclis_own_words(answers) -> None:
    answers(up=(4, ""))
    with pytest.raises(HostError, match=r"status 4: its own words"):
        nmcli.up("u1", "ens9", 5)


def test_the_new_profiles_uuid_is_read_and_it_stays_in_memory(answers) -> None:
    uuid = "9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f"
    asked = answers(add=(0, f"Connection 'ens9' ({uuid}) successfully added.\n"))
    assert nmcli.add("ens9", "vlan", {"ipv4.method": "auto"}) == uuid
    assert asked[0][asked[0].index("type") + 1] == "vlan"
    assert asked[0][asked[0].index("save") + 1] == "no"
    assert asked[0][asked[0].index("autoconnect") + 1] == "no"
