"""The way back does not hang on NetworkManager: hung, killed or unable to write, it keeps nothing away."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import (
    PLAYBOOK,
    adopting,
    devices,
    eventually,
    everywhere,
    kernel,
    profiles,
    said_at_the_end,
    shell,
    status,
    topology,
    wait_for,
)
from runs import kill
from slb_lab.lab import Host

STATIC = [f"ens{number}" for number in range(10, 15)]
CONFIRM_SECONDS = 6
# Ten are promised on a quiet machine, which this one need not be; while NetworkManager was waited for it were 86.
BACK_WITHIN = CONFIRM_SECONDS + 10 + 30
TIDIED_WITHIN = 120
ALL = {"names": ["eth0", *STATIC], "confirm_timeout": CONFIRM_SECONDS, "lift": True}
NOTES = "/var/lib/slb-fleet/interfaces"


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-back", topology({name: {"kind": "static"} for name in STATIC}))


class Before:
    def __init__(self, host: Host) -> None:
        self.kernel = reachable(host)
        self.devices = {name: state for name, state in devices(host).items() if name in ALL["names"]}
        self.profiles = {name: paths for name, paths in profiles(host).items() if name in ALL["names"]}
        self.resolver = shell(host, "cat /etc/resolv.conf")
        self.files = shell(host, f"cd /etc/NetworkManager; ls conf.d system-connections; ls {NOTES} 2>/dev/null; true")


def reachable(host: Host) -> dict[str, Any]:
    """Without the link's own addresses, which come and go by themselves."""
    return {
        name: ([each for each in addresses if not each.startswith("fe80")], routes)
        for name, (addresses, routes) in kernel(host, *ALL["names"]).items()
    }


def networkmanager(host: Host, signal: str) -> None:
    shell(host, f"kill -{signal} $(pgrep -x NetworkManager)")


def lose_everything(host: Host) -> None:
    for name in ALL["names"]:
        shell(host, f"ip address flush dev {name} scope global")
    assert all(not found for found, _routes in reachable(host).values())


def require_back_in_time(host: Host, before: Before) -> None:
    since = json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["applied_at"]
    left = since + BACK_WITHIN - float(shell(host, "cut -d' ' -f1 /proc/uptime"))
    eventually(lambda: reachable(host) == before.kernel, left, f"{before.kernel}; last seen: {reachable(host)}")


def require_tidied(host: Host, before: Before) -> None:
    eventually(lambda: status(host) == "restored", TIDIED_WITHIN, "restored")
    assert json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["troubles"] == []
    assert vars(Before(host)) == vars(before)
    time.sleep(2)  # nor does anything of it come alive later
    assert vars(Before(host)) == vars(before)


def test_a_networkmanager_that_hangs_does_not_keep_the_host_away(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **ALL) as controller:
            wait_for(host, "applied")
            networkmanager(host, "STOP")
            kill(controller)
            try:
                lose_everything(host)
                require_back_in_time(host, before)
                told = "does not answer"
                eventually(lambda: told in str(read_status(host).get("away")), 30, told)
                refused = fleet.module(host.name, "interface", interfaces=[STATIC[0]])
                assert refused["failed"] and "NetworkManager does not answer" in refused["msg"], refused
            finally:
                networkmanager(host, "CONT")
            require_tidied(host, before)

    everywhere(fleet, scenario)


def test_nothing_comes_alive_again_when_a_networkmanager_that_was_gone_returns(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **ALL) as controller:
            wait_for(host, "applied")
            kill(controller)
            shell(host, "systemctl mask --runtime NetworkManager; systemctl kill -s KILL NetworkManager")
            lose_everything(host)
            require_back_in_time(host, before)
            assert "slb-fleet" not in shell(host, "ls /etc/NetworkManager/conf.d")
            in_memory = "/run/NetworkManager/system-connections"
            assert shell(host, f"cd {in_memory}; grep -lE 'interface-name=(eth0|ens)' *; true") == ""
            shell(host, "systemctl unmask --runtime NetworkManager; systemctl start NetworkManager")
            require_tidied(host, before)

    everywhere(fleet, scenario)


def read_status(host: Host) -> dict[str, Any]:
    return json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))


def test_what_cannot_be_made_lasting_is_undone_with_its_notes_and_says_why(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        folder = "/etc/NetworkManager/system-connections"
        names = STATIC[:2]
        # As NetworkManager sees it: it may have mounts of its own.
        inside = "nsenter --mount --target $(pgrep -x NetworkManager)"
        shell(host, f"{inside} sh -c 'mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}'")
        try:
            failed = fleet.module(host.name, "interface", interfaces=names, confirm_timeout=30)
        finally:
            shell(host, f"{inside} umount {folder}")
        assert failed["failed"], failed
        assert "could not be made lasting" in failed["msg"], failed["msg"]
        assert "The host has put everything back as it was." in failed["msg"], failed["msg"]
        require_tidied(host, before)
        returned = fleet.module(host.name, "interface", interfaces=names, state="absent")
        assert not returned["failed"] and not returned["changed"], returned

    everywhere(fleet, scenario)


def test_two_interfaces_that_lead_out_are_given_back_with_their_name_servers(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        shell(host, f"ip route add default via 10.77.1.1 dev {STATIC[0]} metric 900")
        before = Before(host)
        assert "nameserver" in before.resolver
        names = ["eth0", STATIC[0]]
        for state in ("present", "absent"):
            done = fleet.play(
                PLAYBOOK, "-l", host.name, variables=dict(ALL, names=names, state=state, confirm_timeout=120)
            )
            assert done.status == 0, done.output
        assert vars(Before(host)) == vars(before)
        shell(host, f"ip route del default via 10.77.1.1 dev {STATIC[0]}")

    everywhere(fleet, scenario)


_RULE = "priority 4711 from 10.66.0.0/24"


def test_a_change_that_never_began_is_not_put_back_over_what_was_done_since(fleet: Fleet) -> None:
    """It was killed before anything guarded it, so that nothing was changed."""

    def scenario(host: Host) -> None:
        tool = shell(host, "command -v systemd-run").strip()
        shell(
            host,
            f"printf '#!/bin/sh\\nexec sleep 600\\n' > /run/hangs; chmod 755 /run/hangs; "
            f"mount --bind /run/hangs {tool}",
        )
        try:
            with adopting(fleet, host, **ALL) as controller:
                wait_for(host, "planned")
                kill(controller)
                shell(host, f"kill -9 {read_status(host)['applier'].split()[0]}")
        finally:
            shell(host, f"umount {tool}")
        shell(host, f"ip route add 10.66.0.0/24 dev {STATIC[0]}; ip rule add {_RULE} lookup 100")
        shell(host, f"ip address del $(ip -4 -o address show dev {STATIC[1]} | awk '{{print $4}}') dev {STATIC[1]}")
        before = Before(host), shell(host, "ip rule")
        looked = fleet.module(host.name, "interface", interfaces=["none-of-this-name"])
        assert not looked["failed"], looked
        assert vars(Before(host)) == vars(before[0]) and shell(host, "ip rule") == before[1]
        shell(host, f"ip rule del {_RULE} lookup 100")

    everywhere(fleet, scenario)


# Freezes whoever holds the lock as soon as the note of an adoption is there: by then it was seen to be in time.
_FREEZE = f"""
import os, signal, time
while "{STATIC[0]}.json" not in (os.listdir("{NOTES}") if os.path.isdir("{NOTES}") else []):
    time.sleep(0.001)
lock = str(os.stat("/run/slb-fleet/interfaces/lock").st_ino)
locks = [line.split() for line in open("/proc/locks")]
(holder,) = [int(each[4]) for each in locks if each[5].endswith(":" + lock)][:1]
os.kill(holder, signal.SIGSTOP)
open("/run/test-frozen", "w").write(str(holder))
"""


def test_a_confirmation_that_hangs_neither_holds_the_way_back_up_nor_comes_late(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        shell(host, "rm -f /run/test-frozen")
        host.exec(["systemd-run", "--collect", "--unit", "test-freeze", "python3", "-c", _FREEZE])
        with adopting(fleet, host, **ALL | {"confirm_timeout": 20}) as controller:
            eventually(lambda: shell(host, "cat /run/test-frozen 2>/dev/null; true") != "", 120, "frozen")
            require_tidied(host, before)
            holder = shell(host, "cat /run/test-frozen")
            assert shell(host, f"ls -d /proc/{holder} 2>/dev/null; true") == "", "it could go on later"
            output = said_at_the_end(fleet, controller, 180)
            assert controller.returncode == 2, output
            assert "everything back" in " ".join(output.split()), output
            assert vars(Before(host)) == vars(before)

    everywhere(fleet, scenario)


@pytest.mark.parametrize("ended", ["kill -TERM {guard}", "kill -STOP {guard}", "systemctl isolate multi-user.target"])
def test_whoever_ends_the_guard_does_not_leave_the_change_unguarded(fleet: Fleet, ended: str) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **ALL | {"confirm_timeout": 30}) as controller:
            wait_for(host, "applied")
            kill(controller)
            guard = json.loads(shell(host, "cat /run/slb-fleet/interfaces/guard.json"))["process"].split()[0]
            shell(host, ended.format(guard=guard))
            require_tidied(host, before)

    everywhere(fleet, scenario)
