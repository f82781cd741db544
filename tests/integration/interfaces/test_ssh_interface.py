"""The interface that everything hangs on: adopted while a transfer runs, put back where nothing confirms it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import (
    PLAYBOOK,
    addresses,
    adopting,
    devices,
    eventually,
    everywhere,
    offered,
    profiles,
    reaches,
    reboot,
    routes,
    said_at_the_end,
    shell,
    status,
    topology,
    wait_for,
)
from runs import kill
from slb_lab.lab import Host

# ifupdown has it: it is configured by whoever installed the host.
NAMED = {"names": ["eth0"], "confirm_timeout": 8, "lift": True}
# Where it is to be confirmed, a busy machine must have the time to.
CONFIRMED = dict(NAMED, confirm_timeout=120)
# The interface, its activation and the way back, beyond the time for the confirmation.
RESTORED_WITHIN = 90


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-ssh", topology({}))


class Before:
    def __init__(self, host: Host) -> None:
        self.addresses = addresses(host, "eth0")
        self.routes = routes(host, "eth0")
        self.state = devices(host)["eth0"]
        self.resolver = shell(host, "cat /etc/resolv.conf")
        self.profiles = profiles(host).get("eth0", [])


def require_restored(fleet: Fleet, host: Host, before: Before) -> None:
    """The host is as it was, by itself, and can be reached."""
    eventually(lambda: status(host) == "restored", RESTORED_WITHIN, f"restored; last seen: {status(host)}")
    assert vars(Before(host)) == vars(before)
    assert json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["troubles"] == []
    assert reaches(fleet, host)


def test_a_controller_that_is_killed_leaves_the_host_as_it_was(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **NAMED) as controller:
            wait_for(host, "applied")
            kill(controller)
            require_restored(fleet, host, before)

    everywhere(fleet, scenario)


def test_a_module_that_dies_half_way_leaves_the_host_as_it_was(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **NAMED) as controller:
            wait_for(host, "armed")
            pid = json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["applier"].split()[0]
            shell(host, f"kill -9 {pid}")
            require_restored(fleet, host, before)
            output = said_at_the_end(fleet, controller, 120)
            assert controller.returncode == 2, output

    everywhere(fleet, scenario)


def test_a_host_whose_sshd_is_gone_puts_everything_back_and_the_play_says_so(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **NAMED) as controller:
            wait_for(host, "armed")
            shell(host, "systemctl stop ssh.socket ssh.service 2>/dev/null; true")
            try:
                eventually(lambda: status(host) == "restored", RESTORED_WITHIN, "restored")
            finally:
                shell(host, "systemctl start ssh.service")
            output = said_at_the_end(fleet, controller, 180)
            assert controller.returncode == 2, output
            assert "The host has put everything back as it was." in " ".join(output.split())
            require_restored(fleet, host, before)

    everywhere(fleet, scenario)


def test_a_host_whose_link_is_cut_puts_everything_back(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **NAMED):
            wait_for(host, "armed")
            shell(host, "iptables -I INPUT -i eth0 -j DROP; iptables -I OUTPUT -o eth0 -j DROP")
            try:
                eventually(lambda: status(host) == "restored", RESTORED_WITHIN, "restored")
            finally:
                shell(host, "iptables -D INPUT -i eth0 -j DROP; iptables -D OUTPUT -o eth0 -j DROP")
            require_restored(fleet, host, before)

    everywhere(fleet, scenario)


def test_a_reboot_in_between_leaves_the_host_as_it_was(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with adopting(fleet, host, **NAMED) as controller:
            wait_for(host, "applied")
            kill(controller)
        reboot(fleet, host)
        assert status(host) == "none"
        assert vars(Before(host)) == vars(before)

    everywhere(fleet, scenario)


def test_without_systemd_a_process_of_its_own_puts_everything_back(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        shell(host, "mv /usr/bin/systemd-run /usr/bin/systemd-run.away")
        try:
            with adopting(fleet, host, **NAMED) as controller:
                wait_for(host, "applied")
                kill(controller)
                assert shell(host, "systemctl list-units --no-legend 'slb-fleet-rollback-*'") == ""
                require_restored(fleet, host, before)
        finally:
            shell(host, "mv /usr/bin/systemd-run.away /usr/bin/systemd-run")

    everywhere(fleet, scenario)


def test_it_is_adopted_and_given_back_while_transfers_run(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = Before(host)
        with Transfer(fleet, host) as transfer:
            adopted = fleet.play(PLAYBOOK, "-l", host.name, variables=CONFIRMED)
            assert adopted.status == 0, adopted.output
            now = Before(host)
            assert set(now.addresses) >= set(before.addresses)
            assert set(now.routes) >= set(before.routes)
            servers = [line for line in before.resolver.splitlines() if line.startswith("nameserver")]
            assert servers and all(line in now.resolver for line in servers)
            assert offered(fleet, host) == ["eth0"]
            returned = fleet.play(PLAYBOOK, "-l", host.name, variables=dict(CONFIRMED, state="absent"))
            assert returned.status == 0, returned.output
            assert vars(Before(host)) == vars(before)
            transfer.require_complete()

    everywhere(fleet, scenario)


def test_a_reboot_while_it_is_given_back_leaves_it_adopted(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        adopted = fleet.play(PLAYBOOK, "-l", host.name, variables=CONFIRMED)
        assert adopted.status == 0, adopted.output
        kept = on_disk(host)
        assert "99-slb-fleet-eth0.conf" in kept and "eth0.nmconnection" in kept
        with adopting(fleet, host, **dict(NAMED, state="absent", confirm_timeout=60)) as controller:
            wait_for(host, "applied")
            kill(controller)
            assert "eth0.nmconnection" not in on_disk(host)
        reboot(fleet, host)
        assert on_disk(host) == kept
        returned = fleet.play(PLAYBOOK, "-l", host.name, variables=dict(CONFIRMED, state="absent"))
        assert returned.status == 0, returned.output

    everywhere(fleet, scenario)


def on_disk(host: Host) -> str:
    """The profile and the file that lifts, with their contents."""
    return shell(host, "cd /etc/NetworkManager; grep -rv timestamp system-connections conf.d | sort")


class Transfer:
    """A download over SSH, in one TCP connection: numbered lines of 64 KiB, until it is told that it is enough."""

    def __init__(self, fleet: Fleet, host: Host) -> None:
        self._host = host
        variables = fleet.lab.inventory()["engines"]["vars"]
        lines = "i=0; until [ -e /run/enough ]; do printf '%065535d\\n' $i; i=$((i+1)); sleep 0.02; done; echo end"
        self._command = [
            "ssh",
            *variables["ansible_ssh_common_args"].split(),
            *("-o", "ControlPath=none", "-i", variables["ansible_ssh_private_key_file"]),
            f"root@{host.address}",
            f"rm -f /run/enough; {lines}",
        ]

    def __enter__(self) -> Transfer:
        self._received = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(self._command, stdout=self._received)
        eventually(lambda: self._received.seek(0, 2) > 0, 20, "the transfer's first bytes")
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.kill()
        self._process.wait()
        self._received.close()

    def require_complete(self) -> None:
        """It went on to its end, and nothing is missing."""
        assert self._process.poll() is None, "the connection broke"
        shell(self._host, "touch /run/enough")
        assert self._process.wait(timeout=60) == 0
        self._received.seek(0)
        *numbers, end = self._received.read().splitlines()
        assert end == "end"
        assert [int(number.lstrip("0") or "0") for number in numbers] == list(range(len(numbers)))
