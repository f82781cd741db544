"""What goes wrong at random between the adoption and its confirmation."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fleet import Fleet
from nic_hosts import adopting, eventually, kill, shell, status, wait_for
from slb_lab.lab import Host

CONFIRM_SECONDS = 8
# Ten are promised on a quiet machine, which this one need not be; what the bench measures is what is promised.
BACK_WITHIN = CONFIRM_SECONDS + 10 + 30
_FOLDER = "/etc/NetworkManager/system-connections"
_NOTES = "/var/lib/slb-fleet"
# As NetworkManager sees it: it may have mounts of its own.
_INSIDE = "nsenter --mount --target $(pgrep -x NetworkManager)"


@dataclass
class Struck:
    """``kernel_alone``: while it lasts, addresses and routes come back, and nothing that needs NetworkManager."""

    host: Host
    kernel_alone: bool = False
    gone: list[str] = field(default_factory=list)

    def seconds_left(self, within: float) -> float:
        since = json.loads(shell(self.host, "cat /run/slb-fleet/interfaces/status.json")).get("applied_at", 0)
        return since + within - float(shell(self.host, "cut -d' ' -f1 /proc/uptime"))

    def require_restored(self, seconds: float) -> None:
        eventually(lambda: status(self.host) in ("restored", "none"), seconds, f"restored; it is {status(self.host)}")
        if status(self.host) == "restored":
            troubles = json.loads(shell(self.host, "cat /run/slb-fleet/interfaces/status.json"))["troubles"]
            assert troubles == [], troubles


@contextlib.contextmanager
def _at(state: str, fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[None]:
    options = {"names": names, "confirm_timeout": CONFIRM_SECONDS, "dhcp_timeout": 4, "lift": lift}
    with adopting(fleet, host, **options) as controller:
        wait_for(host, state)
        kill(controller)
        yield


@contextlib.contextmanager
def controller_killed(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("applied", fleet, host, names, lift):
        yield Struck(host)


@contextlib.contextmanager
def module_killed(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("armed", fleet, host, names, lift):
        pid = json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))["applier"].split()[0]
        shell(host, f"kill -9 {pid} 2>/dev/null; true")
        yield Struck(host)


@contextlib.contextmanager
def networkmanager_hung(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("applied", fleet, host, names, lift):
        shell(host, "kill -STOP $(pgrep -x NetworkManager)")
        try:
            yield Struck(host, kernel_alone=True)
        finally:
            shell(host, "kill -CONT $(pgrep -x NetworkManager)")


@contextlib.contextmanager
def networkmanager_killed(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("applied", fleet, host, names, lift):
        shell(host, "systemctl mask --runtime NetworkManager; systemctl kill -s KILL NetworkManager")
        try:
            yield Struck(host, kernel_alone=True)
        finally:
            shell(host, "systemctl unmask --runtime NetworkManager; systemctl start NetworkManager")


@contextlib.contextmanager
def networkmanager_restarted(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("applied", fleet, host, names, lift):
        shell(host, "systemctl restart NetworkManager")
        yield Struck(host)


@contextlib.contextmanager
def disk_read_only(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    shell(host, f"{_INSIDE} sh -c 'mount --bind {_FOLDER} {_FOLDER} && mount -o remount,bind,ro {_FOLDER}'")
    try:
        _fails(fleet, host, names, lift)
    finally:
        shell(host, f"{_INSIDE} umount {_FOLDER}")
    yield Struck(host)


@contextlib.contextmanager
def disk_full(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    shell(host, f"mkdir -p {_NOTES}; mount -t tmpfs -o size=4k none {_NOTES}")
    try:
        _fails(fleet, host, names, lift)
    finally:
        shell(host, f"umount {_NOTES}")
    yield Struck(host)


def _fails(fleet: Fleet, host: Host, names: list[str], lift: bool) -> None:
    options = {"confirm_timeout": 60, "dhcp_timeout": 4, "lift_unmanaged": lift}
    failed = fleet.module(host.name, "interface", interfaces=names, **options)
    assert failed["failed"] or not failed["adopted"], failed


@contextlib.contextmanager
def interface_gone(fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[Struck]:
    with _at("applied", fleet, host, names, lift):
        shell(host, f"ip link del {names[0]}")
        yield Struck(host, gone=[names[0]])


TROUBLES: dict[str, Callable[[Fleet, Host, list[str], bool], contextlib.AbstractContextManager[Struck]]] = {
    "the controller is killed": controller_killed,
    "the module is killed": module_killed,
    "NetworkManager hangs": networkmanager_hung,
    "NetworkManager is killed": networkmanager_killed,
    "NetworkManager is restarted": networkmanager_restarted,
    "the disk is read-only": disk_read_only,
    "the disk is full": disk_full,
    "an interface is gone": interface_gone,
}
