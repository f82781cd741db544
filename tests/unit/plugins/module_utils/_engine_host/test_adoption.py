"""An adoption that is not confirmed leaves nothing; a release deletes only profiles of the collection."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, interfaces
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_networkmanager import (
    LEASE,
    SSH,
    Device,
    make_host,
)


@pytest.fixture
def host(tmp_path, monkeypatch):
    return make_host(tmp_path, monkeypatch)


def adopt(*names, token="t1", check_mode=False):
    return adoption.adopt(adoption.Wanted(list(names), False, 10, 60, token), check_mode)


def adopted(*names):
    """Adopt and confirm."""
    adopt(*names)
    adoption.confirm("t1", False)


def recorded():
    assert Path(adoption.ADOPTED).stat().st_mode & 0o777 == 0o600
    return json.loads(Path(adoption.ADOPTED).read_text())


def change_files(token="t1"):
    folder = Path(adoption.CHANGES) / token
    return {each.name for each in folder.iterdir()} if folder.exists() else set()


def assert_untouched(host):
    assert (host.profiles, host.timers) == ({}, set())
    assert "armed" not in change_files()


def test_adopt_waits_for_its_confirmation(host):
    host.devices["ens10"].flags = ["UP"]
    result = adopt("ens*")
    assert (Path(adoption.CHANGES) / "t1").stat().st_mode & 0o777 == 0o700
    (uuid,) = host.profiles
    assert (result.changed, result.values["token"], result.values["rolled_back"]) == (True, "t1", [])
    (entry,) = result.values["adopted"]
    assert (entry["name"], entry["uuid"], entry["addresses"]) == ("ens9", uuid, ["192.0.2.50/24"])
    assert host.profiles[uuid]["connection.autoconnect"] == "no"
    assert int(host.profiles[uuid]["ipv4.dhcp-timeout"]) == 220, "of the timer, and of the rollback"
    assert host.timers == {"slb-fleet-t1.timer"}
    # The time for DHCP, for the activation, and for the confirmation.
    assert "--on-active=100" in host.shell[0]
    assert {"armed", "change.json", "roll_back"} <= change_files()
    assert not Path(adoption.ADOPTED).exists()


def test_confirm_saves_profile_and_stops_timer_once(host):
    adopt("ens9")
    assert adoption.confirm("t1", False).changed
    ((uuid, profile),) = host.profiles.items()
    assert (profile["connection.autoconnect"], profile["ipv4.dhcp-timeout"], host.timers) == ("yes", "25", set())
    assert recorded()["ens9"]["uuid"] == uuid
    assert "connection.autoconnect=yes" in recorded()["ens9"]["keyfile"]
    assert "confirmed" in change_files()
    assert not adoption.confirm("t1", False).changed
    again = adopt("ens9", token="t2")
    assert (again.changed, again.values["adopted"], again.values["rolled_back"]) == (False, [], [])
    assert not change_files("t1")


def roll_back(host):
    host.attempt(["/bin/sh", str(Path(adoption.CHANGES) / "t1" / "roll_back")], 9)


def test_confirm_after_the_rollback_is_an_error(host):
    assert code_of(adoption.confirm, "unknown", False) == "rolled_back"
    adopt("ens9")
    roll_back(host)
    assert code_of(adoption.confirm, "t1", False) == "rolled_back"
    assert (host.profiles, Path(adoption.ADOPTED).exists()) == ({}, False)


@pytest.mark.parametrize("is_rolled_back", [True, False])
def test_confirm_during_a_rollback_is_an_error(host, monkeypatch, is_rolled_back):
    """NetworkManager has no such profile any more; the timer may just have deleted it."""
    adopt("ens9")
    attempt = host.attempt

    def fail(argv, timeout):
        if "modify" in argv:
            if is_rolled_back:
                roll_back(host)
            host.failing.add("modify")
        return attempt(argv, timeout)

    monkeypatch.setattr(commands, "attempt", fail)
    assert code_of(adoption.confirm, "t1", False) == ("rolled_back" if is_rolled_back else "nmcli_failed")


def test_confirm_notes_nothing_if_networkmanager_falls_silent(host, monkeypatch):
    adopt("ens9")
    attempt = host.attempt

    def fall_silent(argv, timeout):
        done = attempt(argv, timeout)
        if "modify" in argv:
            host.failing.add("device show")
        return done

    monkeypatch.setattr(commands, "attempt", fall_silent)
    assert (code_of(adoption.confirm, "t1", False), host.timers) == ("nmcli_failed", {"slb-fleet-t1.timer"})
    assert ("armed" in change_files(), Path(adoption.ADOPTED).exists()) == (True, False)


def test_confirm_that_the_timer_outruns_notes_no_adoption(host, monkeypatch):
    adopt("ens9")
    rename = os.rename

    def outrun(source, target):
        if str(source).endswith("armed") and isinstance(source, str):
            roll_back(host)
        rename(source, target)

    monkeypatch.setattr(os, "rename", outrun)
    assert (code_of(adoption.confirm, "t1", False), recorded()) == ("rolled_back", {})


def test_adopt_in_check_mode_changes_nothing(host):
    result = adopt("ens9", check_mode=True)
    assert (result.changed, result.diff["before"]) == (True, {"ens9": {"state": "disconnected"}})
    assert result.diff["after"]["ens9"] == result.values["adopted"][0]["settings"]
    assert "token" not in result.values
    assert_untouched(host)
    assert not Path(adoption.CHANGES).exists()


@pytest.mark.parametrize(
    ("failing", "is_up"),
    [
        (set(), True),
        ({"reapply", "10 connection up"}, True),
        ({"busctl"}, True),
        ({"busctl", "reapply"}, True),
        ({"busctl", "reapply", "10 connection up"}, False),
    ],
)
def test_adopt_without_lease_needs_no_address(host, failing, is_up):
    host.has_lease, host.failing = False, failing
    if is_up:
        assert adopt("ens9").values["adopted"][0]["addresses"] == []
        assert next(iter(host.profiles.values()))["ipv4.method"] == "disabled"
    else:
        assert code_of(adopt, "ens9") == "network_changed"
        assert_untouched(host)
        assert "rolled_back" in change_files()


def connecting(*names):
    """Return what leaves these interfaces without a connection."""
    return lambda host: host.devices.update({name: Device("connecting") for name in names})


def delete_profile(host):
    for uuid in [uuid for uuid, each in host.profiles.items() if each["ifname"] == "ens10"]:
        host._delete(uuid)


def add_address(name, address="203.0.113.9"):
    return lambda host: host.devices[name].addresses.append(dict(SSH, local=address))


def add_route(destination, name="ens9", **more):
    return lambda host: host.routes.append({"dst": destination, "dev": name, **more})


@pytest.mark.parametrize("wanted", [["ens*"], ["52:54:*"], ["ens9", "ens1*"]])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (connecting("ens10"), "did not come up"),
        (delete_profile, "did not come up"),
        (add_address("ens10"), "203.0.113.9"),
    ],
    ids=["not connected", "profile deleted", "another program"],
)
def test_adopt_removes_a_matched_one_that_fails(host, wanted, change, reason):
    """One that does not come up does not end the adoption of the others."""
    host.on_up = change
    result = adopt(*wanted)
    assert (result.values["token"], [each["name"] for each in result.values["adopted"]]) == ("t1", ["ens9"])
    assert reason in next(each["reason"] for each in result.values["left_alone"] if each["name"] == "ens10")
    assert result.diff["after"].keys() == {"ens9"}
    assert [profile["ifname"] for profile in host.profiles.values()] == ["ens9"]
    assert "ens10" not in (Path(adoption.CHANGES) / "t1" / "roll_back").read_text()
    assert reason[0] != "2" or host.devices["ens10"].addresses[-1]["local"] == reason, "it is not removed"
    adoption.confirm("t1", False)
    assert recorded().keys() == {"ens9"}


def test_adopt_of_matched_ones_that_all_fail_is_no_change(host):
    host.on_up = connecting("ens9", "ens10")
    result = adopt("ens*")
    assert (result.changed, result.values["adopted"], "token" in result.values) == (False, [], False)
    assert {"ens9", "ens10"} <= {each["name"] for each in result.values["left_alone"]}
    assert_untouched(host)


OVERLAP = "ens9 got 192.0.2.0/24, which overlaps 192.0.2.64/26 of eth0"


@pytest.mark.parametrize(
    ("wanted", "change", "failing", "cause"),
    [
        (["ens9"], connecting("ens9"), set(), "ens9 did not come up"),
        (["ens*", "ens10"], connecting("ens10"), set(), "ens10 did not come up"),
        (["ens*"], connecting("ens10"), {"connection delete"}, "not deleted"),
        (["ens9"], add_route("default", gateway="192.0.2.1"), set(), "."),
        (["ens9"], add_route("192.0.2.64/26", "eth0", gateway="198.51.100.1"), set(), OVERLAP),
        (["ens9"], lambda host: host.routes.clear(), set(), "."),
        (["ens9"], lambda host: host.devices["eth0"].addresses.clear(), set(), "."),
        (["ens9"], lambda host: host.failing.add("address show"), set(), "."),
        (["ens9"], add_route("192.0.2.0/24"), set(), None),
        (["ens9"], add_address("eth0", "198.51.100.8"), set(), None),
    ],
    ids=["named", "another", "not removed", "default", "overlap", "no route", "lost", "unread", "own route", "added"],
)
def test_adopt_that_changes_the_rest_is_rolled_back(host, wanted, change, failing, cause):
    host.on_up, host.failing = change, failing
    if cause is None:
        assert adopt(*wanted).changed
        return
    error = error_of(adopt, *wanted)
    assert (error.code, cause in error.summary) == ("network_changed", True)
    assert ("DHCP server" in error.fix) == (cause == OVERLAP)
    assert_untouched(host)


ADDED = {"family": "inet", "local": "192.0.2.9", "prefixlen": 24, "scope": "global"}
OF_ROUTER = {"family": "inet6", "local": "2001:db8::5", "prefixlen": 64, "scope": "global", "noprefixroute": True}


@pytest.mark.parametrize(
    ("address", "lease", "is_explained"),
    [
        (ADDED, "DHCP4.OPTION[1]:domain_name_servers = 192.0.2.9\nDHCP4.OPTION[2]:ip_address = 192.0.2.50", False),
        (ADDED, "DHCP4.OPTION[3]:ip_address = 192.0.2.9\n", True),
        (dict(OF_ROUTER, noprefixroute=False), "", False),
        (dict(OF_ROUTER, noprefixroute=False), r"DHCP6.OPTION[1]:ip6_address = 2001\:db8\:\:5", True),
        (OF_ROUTER, "", True),
        (dict(OF_ROUTER, dynamic=True), "", True),
    ],
    ids=["another program", "lease without end", "IPv6", "DHCPv6 without end", "router", "router with lifetime"],
)
def test_adopt_rolls_back_if_another_address_appears(host, address, lease, is_explained):
    """Another program sets it; the rollback would remove it in silence."""

    def add(host):
        host.devices["ens9"].addresses, host.devices["ens9"].lease = [dict(LEASE), address], lease

    host.on_up = add
    if is_explained:
        assert adopt("ens9").changed
        adoption.confirm("t1", False)
        assert adoption.release(["ens9"], False).changed
    else:
        error = error_of(adopt, "ens9")
        assert (error.code, f"ens9 got {address['local']}" in error.summary) == ("network_changed", True)
        assert_untouched(host)


@pytest.mark.parametrize("is_slow", [False, True])
def test_adopt_that_fails_for_any_reason_is_rolled_back(host, monkeypatch, is_slow):
    """By systemd, so that a rollback that takes long is not cut off."""

    def fail(*_unused):
        raise ValueError("'100' does not appear to be an IPv4 or IPv6 network")

    monkeypatch.setattr(interfaces, "find_overlap", fail)
    host.timers = {"slb-fleet-t1-now.service"} if is_slow else set()
    error = error_of(adopt, "ens9")
    assert (error.code, "being rolled back" in error.summary) == ("network_changed", is_slow)
    assert (host.profiles, "armed" in change_files()) == ({}, False)
    assert code_of(adopt, "ens9", token="t2") == ("change_in_progress" if is_slow else "network_changed")


def test_adopt_may_bring_the_first_default_route(host):
    host.routes.clear()
    host.on_up = add_route("default", gateway="192.0.2.1")
    assert "ipv4.never-default" not in adopt("ens9").values["adopted"][0]["settings"]


@pytest.mark.parametrize("change", [add_address("ens9"), lambda host: host.devices["eth0"].addresses.clear()])
def test_confirm_after_a_change_elsewhere_rolls_back(host, change):
    adopt("ens9")
    change(host)
    assert code_of(adoption.confirm, "t1", False) == "network_changed"
    assert_untouched(host)


def test_adopt_undoes_changes_whose_timer_is_gone(host):
    adopt("ens10", "ens9")
    assert code_of(adopt) == "change_in_progress"
    assert len(host.profiles) == 2
    host.timers = {"slb-fleet-t1.service"}
    armed = Path(adoption.CHANGES) / "t1" / "armed"
    armed.rename(armed.with_name("rolled_back"))  # the first that the script does
    assert code_of(adopt) == "change_in_progress"
    armed.with_name("rolled_back").rename(armed)
    host.timers.clear()
    assert adopt("ens9*", token="t2", check_mode=True).values["rolled_back"] == ["ens10", "ens9"]
    assert (len(host.profiles), bool(change_files("t1"))) == (2, True)
    result = adopt("ens10", token="t3")
    assert (result.changed, [each["name"] for each in result.values["adopted"]]) == (True, ["ens10"])
    assert result.values["rolled_back"] == ["ens10", "ens9"]
    assert len(host.profiles) == 1
    assert not change_files("t1")
    host.timers.clear()
    host.devices["ens9"].addresses = [dict(SSH, local="203.0.113.1")]
    result = adopt("ens9*", token="t4")
    assert (result.changed, result.values["rolled_back"], result.values["adopted"]) == (True, ["ens10"], [])


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        ({"has_systemd": False}, "rollback_impossible"),
        ({"networking": "disabled"}, "networking_disabled"),
        ({"failing": {"GENERAL.DEVICE"}}, "nmcli_failed"),
        ({"failing": {"address show"}}, "network_not_read"),
        ({"failing": {"connection add"}}, "nmcli_failed"),
        ({"failing": {"systemd-run"}}, "rollback_impossible"),
    ],
)
def test_adopt_on_an_unusable_host_changes_nothing(host, cause, code):
    vars(host).update(cause)
    assert code_of(adopt, "ens9") == code
    assert_untouched(host)
    assert not change_files()


def test_profile_that_disappears_meanwhile_is_left_out(host, monkeypatch):
    adopted("ens10")
    gone, attempt = list(host.profiles), host.attempt

    def delete(argv, *times):
        if gone and "802-3-ethernet.mac-address" in " ".join(argv):
            del host.profiles[gone.pop()]
        return attempt(argv, *times)

    monkeypatch.setattr(commands, "attempt", delete)
    host.has_lease = False
    assert adopt("ens9", token="t2").changed
    adoption.confirm("t2", False)
    host.failing = {"802-3-ethernet.mac-address"}
    assert code_of(adopt, "ens*") == "nmcli_failed"


def test_adopt_marks_kinds_that_are_never_adopted(host):
    host.devices["veth12"] = Device()
    host.devices["ens10"].flags = ["UP"]
    left = {each["name"]: each["never_adopted"] for each in adopt("*").values["left_alone"]}
    assert left == {"eth0": False, "ens10": False, "veth12": True}
    host.timers.clear()
    left = {each["name"]: each["never_adopted"] for each in adoption.release(["*"], True).values["left_alone"]}
    assert left == {"eth0": False, "ens9": False, "ens10": False, "veth12": True}


def test_adopt_needs_root_and_an_interface_and_the_lock(host, monkeypatch):
    error = error_of(adopt, "ens9", "ens7", "ens8", "52:54:00:00:00:77", "eth0")
    assert (error.code, "ens7 " in error.summary, "(2 more)" in error.summary) == ("interface_not_adopted", True, True)
    assert "(1 more)" in error_of(adopt, "ens7", "ens8").summary
    with adoption.locked("lock", 0, False):
        assert (code_of(adopt, "ens9"), adopt("ens9", check_mode=True).changed) == ("host_busy", True)
    assert (Path(adoption.CHANGES) / "lock").stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert code_of(adopt, "ens9") == "permission_denied"
    assert_untouched(host)


@pytest.mark.parametrize(
    ("state", "flags", "zone", "accept_ra", "commands_seen"),
    [
        ("disconnected", ["UP", "LOWER_UP"], "", "", []),
        ("disconnected", ["LOWER_UP"], "dmz", "1", ["down", "--zone=dmz", "put 1 "]),
    ],
)
def test_release_restores_the_interface(host, state, flags, zone, accept_ra, commands_seen):
    host.zone, host.devices["ens9"] = zone, Device(state, flags=flags)
    if accept_ra:
        (host.folder / "ens9-accept_ra").write_text(f"{accept_ra}\n")
    adopted("ens9")
    assert next(iter(host.profiles.values())).get("connection.zone", "") == zone
    host.shell.clear()
    planned = adoption.release(["ens9"], True)
    assert (planned.changed, len(host.profiles), host.shell) == (True, 1, [])
    result = adoption.release(["ens9"], False)
    assert (result.changed, [each["name"] for each in result.values["released"]]) == (True, ["ens9"])
    (script,) = host.shell
    assert [words for words in ("down", "--zone=dmz", "put 1 ") if words in script] == commands_seen
    assert (host.profiles, recorded()) == ({}, {})
    assert not adoption.release(["ens9"], False).changed


IPV6 = {"forwarding": "1", "accept_ra": "0", "disable_ipv6": "0"}


def kernel(host, **values):
    """Write settings of the kernel, as an administrator or NetworkManager does, and return all of ens9."""
    for key, value in values.items():
        (host.folder / f"ens9-{key}").write_text(f"{value}\n")
    return {key: (host.folder / f"ens9-{key}").read_text().strip() for key in IPV6}


@pytest.mark.parametrize(
    ("before", "has_lease", "written", "after"),
    [
        (IPV6, False, {"forwarding": "0", "accept_ra": "1"}, IPV6),
        (dict(IPV6, accept_ra="2"), False, {"forwarding": "0", "accept_ra": "1"}, dict(IPV6, accept_ra="2")),
        (dict(IPV6, accept_ra="0"), True, {"forwarding": "0", "accept_ra": "1"}, IPV6),
        (dict(IPV6, disable_ipv6="1"), False, {"forwarding": "0"}, dict(IPV6, disable_ipv6="1")),
        (IPV6, False, {"disable_ipv6": "1"}, IPV6),
    ],
    ids=["without lease", "with forwarding and routers", "with lease", "without IPv6", "IPv6 was off earlier"],
)
def test_adopt_keeps_the_ipv6_settings_of_the_kernel(host, before, has_lease, written, after):
    """NetworkManager 1.30 switches forwarding off; with a lease, it listens to routers in place of the kernel."""
    kernel(host, **before)
    host.has_lease, host.on_up = has_lease, lambda host: kernel(host, **written)
    settings = adopt("ens9").values["adopted"][0]["settings"]
    assert kernel(host) == after
    assert settings["ipv6.method"] == ("disabled" if before["disable_ipv6"] == "1" else "ignore")
    adoption.confirm("t1", False)
    assert recorded()["ens9"]["ipv6"] == before


@pytest.mark.parametrize("is_stopped", [False, True], ids=["runs", "stopped"])
@pytest.mark.parametrize("late", ["1", "2"])
def test_rollback_writes_ipv6_settings_again(host, monkeypatch, late, is_stopped):
    """NetworkManager 1.30 writes disable_ipv6 up to 2 s after its device is disconnected."""
    kernel(host, **dict(IPV6, disable_ipv6="1"))
    adopt("ens9")
    kernel(host, forwarding="0", accept_ra="1", disable_ipv6="0")
    programs = {
        "nmcli": "echo '30 (disconnected)'",
        "systemctl": "exit 3",
        "ip": f'echo "$@" >>{host.folder}/ip',
        "timeout": "exit 8" if is_stopped else 'shift 3; exec "$@"',
        "sleep": f'[ "$1" != {late} ] || echo 0 >{host.folder}/ens9-disable_ipv6',
    }
    for name, script in programs.items():
        program = host.folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    path = Path(adoption.CHANGES) / "t1" / "roll_back"
    environment = {**os.environ, "PATH": f"{host.folder}/bin:{os.environ['PATH']}"}
    subprocess.run(["sh", path], env=environment, check=False, timeout=60)
    assert "rolled_back" in change_files()
    assert kernel(host) == dict(IPV6, disable_ipv6="1")
    # What a lease has brought goes, too: NetworkManager names it, or else it is what has an end.
    assert ("dev ens9 dynamic" in (host.folder / "ip").read_text()) == is_stopped


OTHER_DEFAULTS = [
    {"dst": "default", "dev": "eth0", "table": "10"},
    {"dst": "default", "type": "unreachable", "dev": "lo"},
]


@pytest.mark.parametrize(
    "change",
    [
        lambda host, uuid: host.path(uuid).write_text("id=another"),
        lambda host, uuid: host.path(uuid).unlink(),
        lambda host, _uuid: host.devices["ens9"].addresses.append(dict(LEASE, local="192.0.2.99")),
        lambda host, _uuid: host.routes.__setitem__(slice(None), [{"dst": "default", "dev": "ens9"}]),
        lambda host, _uuid: host.routes.__setitem__(slice(None), [{"dst": "default", "dev": "ens9"}, *OTHER_DEFAULTS]),
        lambda host, _uuid: setattr(host, "second_mac", "6e:4c:e1:44:0e:25"),
    ],
    ids=[
        "profile changed",
        "profile unreadable",
        "address added",
        "only default route",
        "of its table",
        "macvlan of a container",
    ],
)
def test_release_of_an_interface_in_use_is_refused(host, change):
    adopted("ens9", "ens10")
    change(host, recorded()["ens9"]["uuid"])
    error = error_of(adoption.release, ["ens9", "ens10"], False)
    assert error.code == "interface_not_released"
    assert [each["name"] for each in error.values["released"]] == ["ens10"]
    assert recorded().keys() == {"ens9"}
    for pattern in ("ens*", "*"):  # as `retire` does
        assert code_of(adoption.release, [pattern], False) == "interface_not_released"


def test_release_ignores_leases_and_the_time_of_use(host):
    adopted("ens9")
    path = host.path(recorded()["ens9"]["uuid"])
    path.write_text(f"{path.read_text()}\ntimestamp=1790000000\n")
    host.routes.append({"dst": "default", "dev": "ens9", "protocol": "dhcp"})
    assert adoption.release(["ens9"], False).changed


def test_release_keeps_what_is_not_adopted(host):
    adopt("ens9")
    assert code_of(adoption.release, ["e*"], False) == "change_in_progress"
    host.timers.clear()
    result = adoption.release(["e*"], False)
    assert (result.changed, result.values["rolled_back"], host.profiles) == (True, ["ens9"], {})
    assert {each["name"] for each in result.values["left_alone"]} == {"eth0", "ens9", "ens10"}
    assert not adoption.release(["ens9"], False).changed
    assert code_of(adoption.release, ["ens7"], False) == "interface_not_released"


def test_release_whose_file_remains_is_a_failure(host):
    adopted("ens9")
    host.has_read_only_profiles = True
    assert (code_of(adoption.release, ["ens9"], False), recorded().keys()) == ("interface_not_released", {"ens9"})
    Path(adoption.ADOPTED).write_text("{")
    assert code_of(adoption.release, ["ens9"], False) == "record_invalid"


def test_release_restores_the_rest_if_the_profile_is_gone(host):
    host.zone = "dmz"
    adopted("ens9")
    host._delete(recorded()["ens9"]["uuid"])
    host.shell.clear()
    (released,) = adoption.release(["ens9"], False).values["released"]
    assert (released["name"], released["was_deleted"], "--zone=dmz" in host.shell[0]) == ("ens9", True, True)
    assert recorded() == {}


@pytest.mark.parametrize("is_deleted", [False, True])
@pytest.mark.parametrize("wanted", ["*", "ens9"])
@pytest.mark.parametrize("case", ["gone", "renamed", "another profile"])
def test_release_leaves_a_device_that_is_not_ours(host, case, wanted, is_deleted):
    """Its old name may be another name of it. What uses it now is not touched."""
    adopted("ens9")
    uuid = recorded()["ens9"]["uuid"]
    if is_deleted:
        host._delete(uuid)
    device = host.devices.pop("ens9")
    if case != "gone":
        device.uuid, device.state = "a-b-c", "connected"
        host.devices["lan0" if case == "renamed" else "ens9"] = device
    host.shell.clear()
    (released,) = adoption.release([wanted], False).values["released"]
    assert (released["name"], released["was_deleted"], host.profiles, recorded()) == ("ens9", is_deleted, {}, {})
    assert host.shell == []


def test_release_follows_an_interface_to_its_new_name(host):
    adopted("ens9")
    host.devices["lan0"] = host.devices.pop("ens9")
    host.shell.clear()
    others, host.routes = host.routes, [{"dst": "default", "dev": "lan0"}]
    assert code_of(adoption.release, ["*"], False) == "interface_not_released"
    host.routes = others
    assert adoption.release(["*"], False).changed
    assert "free lan0 " in host.shell[0]


@pytest.mark.parametrize("act", [lambda: adopt("ens9"), lambda: adoption.release(["ens9"], False)])
def test_profiles_that_cannot_be_written_are_seen_first(host, monkeypatch, act):
    if "release" in str(act.__code__.co_names):
        adopted("ens9")
    before = dict(host.profiles)

    def refuse():
        raise FleetError("profiles_read_only", "", "")

    monkeypatch.setattr(adoption, "_check_profiles_can_change", refuse)
    assert code_of(act) == "profiles_read_only"
    assert host.profiles == before


def test_old_networkmanager_keeps_an_address_of_another_program(host, monkeypatch):
    """Before 1.42, the command that applies a profile removes foreign addresses."""
    host.has_lease, host.failing = False, {"busctl"}
    attempt = host.attempt

    def come(argv, timeout):
        if "ipv4.method" in argv:
            host.devices["ens9"].addresses = [dict(ADDED)]
        return attempt(argv, timeout)

    monkeypatch.setattr(commands, "attempt", come)
    assert code_of(adopt, "ens9") == "network_changed"
    assert host.devices["ens9"].addresses == [ADDED]


def test_release_of_nothing_needs_no_networkmanager(host):
    host.networking = "disabled"
    assert not adoption.release(["*"], False).changed
    assert code_of(adoption.release, ["ens9"], False) == "networking_disabled"
    host.networking = "enabled"
    adopted("ens9")
    host.networking = "disabled"
    assert code_of(adoption.release, ["*"], False) == "networking_disabled"
