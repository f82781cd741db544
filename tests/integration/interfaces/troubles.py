"""What goes wrong at random between the adoption and its confirmation."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from fleet import Fleet
from nic_hosts import adopting, eventually, shell, status, wait_for
from runs import kill
from slb_lab.lab import Host

CONFIRM_SECONDS = 8
_STATUS = "/run/slb-fleet/interfaces/status.json"
_LEFT = f"cat {_STATUS}"
_NETWORKMANAGER = "$(pgrep -x NetworkManager)"
# As NetworkManager sees it: it may have mounts of its own.
_INSIDE = f"nsenter --mount --target {_NETWORKMANAGER}"
_PROFILES = "/etc/NetworkManager/system-connections"
_NOTES = "/var/lib/slb-fleet"


@dataclass(frozen=True)
class Trouble:
    """Scripts for the host. ``begins``: what happens; ``ends``: what ends it.

    ``at``: in which state of the change the controller is killed and it begins; empty where the change begins after
    it, with a controller that lives to see it fail. ``away``: NetworkManager is, while it lasts. ``takes``: how many
    of the interfaces. ``rehearsal``: it happens before the change, too, for NetworkManager has ways of its own to begin
    anew; 1.30 takes what it merely watched when it was killed, and watches what it had taken when it is killed again.
    """

    begins: str = "true"
    ends: str = "true"
    at: str = "applied"
    away: bool = False
    takes: int = 0
    rehearsal: bool = False

    @contextlib.contextmanager
    def struck(self, fleet: Fleet, host: Host, names: list[str], lift: bool) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            if self.at:
                options = {"names": names, "confirm_timeout": CONFIRM_SECONDS, "dhcp_timeout": 4, "lift": lift}
                controller = held.enter_context(adopting(fleet, host, **options))
                wait_for(host, self.at)
                kill(controller)
            held.callback(shell, host, self.ends)
            shell(host, f"gone='{' '.join(names[: self.takes])}'\n{self.begins}")
            if not self.at:
                options = {"interfaces": names, "confirm_timeout": 60, "dhcp_timeout": 4, "lift_unmanaged": lift}
                failed = fleet.module(host.name, "interface", **options)
                assert failed["failed"] or not failed["adopted"], failed
                if not failed["failed"]:
                    shell(host, f"rm {_STATUS}")  # none of them was to be adopted
            yield


TROUBLES = {
    "the controller is killed": Trouble(),
    "the module is killed": Trouble(f'kill -9 $({_LEFT} | sed -E \'s/.*"applier": "([0-9]+).*/\\1/\')', at="armed"),
    "NetworkManager hangs": Trouble(f"kill -STOP {_NETWORKMANAGER}", f"kill -CONT {_NETWORKMANAGER}", away=True),
    "NetworkManager is killed": Trouble(
        "systemctl mask --runtime NetworkManager; systemctl kill -s KILL NetworkManager",
        "systemctl unmask --runtime NetworkManager; systemctl start NetworkManager",
        away=True,
        rehearsal=True,
    ),
    "NetworkManager is restarted": Trouble("systemctl restart NetworkManager", rehearsal=True),
    "the disk is read-only": Trouble(
        f"{_INSIDE} sh -c 'mount --bind {_PROFILES} {_PROFILES} && mount -o remount,bind,ro {_PROFILES}'",
        f"{_INSIDE} umount {_PROFILES}",
        at="",
    ),
    "the disk is full": Trouble(
        f"mkdir -p {_NOTES}; mount -t tmpfs -o size=4k none {_NOTES}", f"umount {_NOTES}", at=""
    ),
    "an interface is gone": Trouble("for name in $gone; do ip link del $name; done", takes=1),
}  # fmt: skip


def require_restored(host: Host, seconds: float) -> None:
    eventually(lambda: status(host) in ("restored", "none"), seconds, f"restored; it is {status(host)}")
    if status(host) == "restored":
        troubles = json.loads(shell(host, _LEFT))["troubles"]
        assert troubles == [], troubles
