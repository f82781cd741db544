"""The baseline: the documented commands, literally, on the same kinds of interface. See the table in the docs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from fleet import Fleet
from nic_hosts import addresses, devices, eventually, everywhere, profiles, routes, shell, topology
from slb_lab.lab import Host

NICS = {
    "ens10": {"kind": "no_address"},
    "ens11": {"kind": "no_address", "dhcp": "answers"},
    "ens12": {"kind": "no_address", "dhcp": "late", "dhcp_delay": 60},
    "ens13": {"kind": "unmanaged"},
    "ens14": {"kind": "static"},
    "ens15": {"kind": "external"},
    "ens16": {"kind": "ifupdown"},
    "ens17": {"kind": "auto_profile"},
    "ens19": {"kind": "strictly_unmanaged"},
    "ens21": {"kind": "no_address", "dhcp": "answers"},
}
# Less than NetworkManager gives DHCP (45 s), and far more than one that answers takes on a busy machine.
PATIENCE = 30
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-baseline", topology(NICS))


class Outcome(NamedTuple):
    """What the documented commands did to one interface. ``treated``: the second one worked; None if not reached."""

    connect: str
    treated: bool | None
    offered: bool
    keeps_addresses: bool
    keeps_routes: bool


EXPECTED = {
    "ens10": Outcome("hangs", True, True, True, True),
    "ens11": Outcome("works", None, True, True, True),
    "ens12": Outcome("hangs", True, True, True, True),
    "ens13": Outcome("hangs", True, True, True, True),
    # DHCP takes the place of what was there; the treatment then makes that lasting.
    "ens14": Outcome("hangs", True, True, False, False),
    # What NetworkManager had noted of it when it started: no routes.
    "ens15": Outcome("works", None, True, True, False),
    "ens16": Outcome("refused", None, False, True, True),
    # The profile is called "Wired connection 1".
    "ens17": Outcome("hangs", False, False, True, True),
    "ens19": Outcome("refused", None, False, True, True),
}


def literally(host: Host, name: str) -> Outcome:
    before = addresses(host, name), routes(host, name)
    # Ctrl+C, as the document says, where it hangs; someone who follows it waits a while before that.
    connect = host.exec(["timeout", "-s", "INT", str(PATIENCE), "nmcli", "d", "connect", name], check=False)
    treated = None
    if connect.returncode == 124:
        script = f'nmcli c m "{name}" ipv4.method disable ipv6.method ignore && nmcli d reapply "{name}"'
        treated = host.exec(["sh", "-c", script], check=False).returncode == 0
    if treated or connect.returncode == 0:
        eventually(lambda: devices(host)[name] == "connected", 10, f"{name} on {host.name} connected")
    return Outcome(
        connect={0: "works", 124: "hangs"}.get(connect.returncode, "refused"),
        treated=treated,
        offered=devices(host)[name] == "connected",
        keeps_addresses=set(addresses(host, name)) >= {each for each in before[0] if not each.startswith("fe80")},
        keeps_routes=set(routes(host, name)) >= set(before[1]),
    )


def test_what_the_documented_commands_do(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        with ThreadPoolExecutor(len(EXPECTED)) as hands:
            seen = hands.map(lambda name: literally(host, name), EXPECTED)
        assert dict(zip(EXPECTED, seen, strict=True)) == EXPECTED

    everywhere(fleet, scenario)


def test_a_second_connect_leaves_a_second_profile(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        shell(host, "nmcli d connect ens21 && nmcli d set ens21 managed no && nmcli d connect ens21")
        assert len(profiles(host)["ens21"]) == 2

    everywhere(fleet, scenario)
