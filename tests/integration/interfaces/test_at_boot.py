"""What is said to return at boot does, and what was given back does not, whatever else is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import addresses, devices, eventually, everywhere, kernel, profiles, reboot, routes, shell, topology
from slb_lab.lab import Host

KEPT, SOMEBODYS = "ens10", "ens11"
OF_NETWORKMANAGER = "/etc/NetworkManager"
FOLDER = f"{OF_NETWORKMANAGER}/system-connections"
NOTES = "/var/lib/slb-fleet/interfaces"
# NetworkManager may have mounts of its own.
EVERYWHERE = 'for where in "" "nsenter --mount --target $(pgrep -x NetworkManager)"; do $where sh -c "{}"; done'
READ_ONLY = EVERYWHERE.format(
    "touch {0}/probe 2>/dev/null || exit 0; rm {0}/probe; mount --bind {0} {0} && mount -o remount,bind,ro {0}"
)
WRITABLE = EVERYWHERE.format("while umount {0} 2>/dev/null; do :; done")


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-boot", topology({KEPT: {"kind": "static"}, SOMEBODYS: {"kind": "no_address"}}))


def interface(fleet: Fleet, host: Host, *names: str, **options: Any) -> dict[str, Any]:
    return fleet.module(host.name, "interface", interfaces=list(names), dhcp_timeout=4, **options)


def state(host: Host) -> tuple[Any, ...]:
    states = {name: devices(host).get(name) for name in (KEPT, SOMEBODYS)}
    files = shell(host, f"cd {OF_NETWORKMANAGER}; grep -rsv timestamp= conf.d system-connections; ls {NOTES}", False)
    return states, kernel(host, KEPT, SOMEBODYS), "\n".join(sorted(files.splitlines()))


def has(host: Host) -> tuple[list[str], list[str]]:
    """Without the link's own address: the device may be another after a reboot."""
    return [each for each in addresses(host, KEPT) if not each.startswith("fe80")], routes(host, KEPT)


@pytest.mark.parametrize(("folder", "lift"), [(FOLDER, False), (OF_NETWORKMANAGER, True)])
def test_what_cannot_be_given_back_stays_adopted_and_says_so(fleet: Fleet, folder: str, lift: bool) -> None:
    """NetworkManager merely hides a profile that it cannot remove, and has it again after the next boot."""

    def scenario(host: Host) -> None:
        before = state(host)
        adopted = interface(fleet, host, KEPT, lift_unmanaged=lift)
        assert not adopted["failed"], adopted
        between = state(host)
        shell(host, READ_ONLY.format(folder))
        try:
            failed = interface(fleet, host, KEPT, state="absent")
            assert failed["failed"] and "could not be given back" in failed["msg"], failed
            assert f"{FOLDER}/{KEPT}.nmconnection" in failed["msg"], failed["msg"]
            assert "has put everything back as it was" in failed["msg"], failed["msg"]
            assert not failed.get("given_back"), failed
            assert state(host) == between
        finally:
            shell(host, WRITABLE.format(folder))
        assert "nmmeta" not in shell(host, "ls /run/NetworkManager/system-connections")
        returned = interface(fleet, host, KEPT, state="absent")
        assert not returned["failed"], returned
        assert state(host) == before

    everywhere(fleet, scenario)


def test_what_is_said_to_return_at_boot_does(fleet: Fleet) -> None:
    said: dict[str, dict[str, dict[str, Any]]] = {}
    before: dict[str, Any] = {}

    def adopt(host: Host) -> None:
        shell(
            host,
            f"""
            add='nmcli connection add type ethernet ipv6.method disabled ipv4.method manual'
            $add con-name somebodys ifname {SOMEBODYS} connection.permissions user:nobody ipv4.addresses 10.66.7.2/24
            $add con-name any ifname '*' match.interface-name {KEPT} connection.multi-connect multiple \
                connection.autoconnect-priority 50 ipv4.addresses 10.66.6.6/24
            """,
        )
        before[host.name] = has(host)
        result = interface(fleet, host, KEPT, SOMEBODYS, lift_unmanaged=True)
        assert not result["failed"], result
        said[host.name] = {each["name"]: each for each in result["adopted"]}
        assert has(host) == before[host.name]

    everywhere(fleet, adopt)
    reboot(fleet, *fleet.lab.hosts.values())

    def look(host: Host) -> None:
        kept, somebodys = (said[host.name][name] for name in (KEPT, SOMEBODYS))
        assert not somebodys["returns_at_boot"] and "user:nobody" in " ".join(somebodys["notes"])
        # 1.30 may find it configured already, and only watch it.
        assert kept["returns_at_boot"] is (host.spec.release != "bullseye")
        if kept["returns_at_boot"]:
            eventually(lambda: shell(host, f"nmcli -g GENERAL.CONNECTION device show {KEPT}").strip() == KEPT, 60, KEPT)
            eventually(lambda: has(host) == before[host.name], 30, f"{before[host.name]}; {has(host)}")
        assert devices(host)[SOMEBODYS] == "disconnected"
        returned = interface(fleet, host, KEPT, SOMEBODYS, state="absent")
        assert not returned["failed"], returned
        assert sorted(name for name in profiles(host) if name.startswith("ens")) == [SOMEBODYS]

    everywhere(fleet, look)
