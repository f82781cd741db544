"""The bounds of docs/interfaces.md, measured: `tests/tools/python tests/bench/interfaces.py [--release bookworm]`.

In a lab of one host: how soon what a host needs to be reached is back while NetworkManager hangs, how long interfaces
take that wait for a DHCP server that there is not, and how long giving twenty back takes. Status 1 where one is not
kept: on a quiet machine, that is; on a busy one it proves nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from fleet import Fleet
from nic_hosts import adopting, eventually, kernel, shell, wait_for
from runs import kill
from slb_lab.lab import Host, Lab
from slb_lab.topology import Topology

DHCP_SECONDS = 15.0
CONFIRM_SECONDS = 6
STATIC = ["ens50", "ens51"]
EMPTY = [f"ens{number}" for number in range(10, 30)]


class Measured(NamedTuple):
    what: str
    seconds: float
    bound: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="bookworm")
    release = parser.parse_args().release
    nics = {**{name: {"kind": "no_address"} for name in EMPTY}, **{name: {"kind": "static"} for name in STATIC}}
    lab = Lab("bench-interfaces")
    try:
        lab.down()
        lab.up(Topology.model_validate({"hosts": {"nic": {"release": release, "nics": nics}}}))
        with tempfile.TemporaryDirectory() as folder:
            fleet, host = Fleet(lab, Path(folder)), lab.host("nic")
            kept = [
                said(way_back(fleet, host)),
                *(said(without_dhcp(fleet, host, number)) for number in (8, 20)),
                said(given_back(fleet, host)),
            ]
    finally:
        lab.down()
    return int(not all(kept))


def said(measured: Measured) -> bool:
    """At once: what was measured is not lost where the next fails. Whether its bound is kept."""
    kept = measured.seconds <= measured.bound
    status = "" if kept else "  NOT KEPT"
    print(f"{measured.what:68} {measured.seconds:6.1f} s of {measured.bound:5.1f} s{status}", flush=True)
    return kept


def way_back(fleet: Fleet, host: Host) -> Measured:
    """From when the change waits for its confirmation."""
    before = reachable(host)
    with adopting(fleet, host, names=STATIC, confirm_timeout=CONFIRM_SECONDS) as controller:
        wait_for(host, "applied")
        shell(host, "kill -STOP $(pgrep -x NetworkManager)")
        try:
            kill(controller)
            for name in STATIC:
                shell(host, f"ip address flush dev {name}")
            eventually(lambda: reachable(host) == before, 300, "addresses and routes are back")
            seconds = uptime(host) - status(host)["applied_at"]
        finally:
            shell(host, "kill -CONT $(pgrep -x NetworkManager)")
        eventually(lambda: status(host)["state"] == "restored", 300, "restored")
    return Measured("addresses and routes back while NetworkManager hangs", seconds, CONFIRM_SECONDS + 10)


def without_dhcp(fleet: Fleet, host: Host, number: int) -> Measured:
    """From when the guard watches until the change waits for its confirmation."""
    adopted = fleet.module(host.name, "interface", interfaces=EMPTY[:number], dhcp_timeout=DHCP_SECONDS)
    assert len(adopted["adopted"]) == number, adopted
    seen = status(host)
    if number < len(EMPTY):
        give_back(fleet, host, number)
    bound = DHCP_SECONDS * (1.3 if number == 8 else 2)
    what = f"{number} interfaces without DHCP, at a time-out of {DHCP_SECONDS:g} s"
    return Measured(what, seen["applied_at"] - seen["armed_at"], bound)


def given_back(fleet: Fleet, host: Host) -> Measured:
    """The whole task, as whoever runs it sees it."""
    begin = time.monotonic()
    give_back(fleet, host, len(EMPTY))
    return Measured(f"{len(EMPTY)} interfaces given back, the whole task", time.monotonic() - begin, 20)


def give_back(fleet: Fleet, host: Host, number: int) -> None:
    returned = fleet.module(host.name, "interface", interfaces=EMPTY[:number], state="absent")
    assert len(returned["given_back"]) == number, returned


def reachable(host: Host) -> dict[str, object]:
    """Without the link's own addresses, which come and go by themselves."""
    return {
        name: ([each for each in addresses if not each.startswith("fe80")], routes)
        for name, (addresses, routes) in kernel(host, *STATIC).items()
    }


def status(host: Host) -> dict[str, float]:
    return json.loads(shell(host, "cat /run/slb-fleet/interfaces/status.json"))


def uptime(host: Host) -> float:
    return float(shell(host, "cut -d' ' -f1 /proc/uptime"))


if __name__ == "__main__":
    sys.exit(main())
