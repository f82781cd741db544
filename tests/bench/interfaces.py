"""How much longer 20 interfaces take than one: `tests/tools/python tests/bench/interfaces.py [--release bookworm]`.

In a lab of one host, without a DHCP server. Status 1 if 20 take more than twice as long as one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from fleet import Fleet
from slb_lab.lab import Lab
from slb_lab.topology import Topology

NAMES = [f"ens{number}" for number in range(10, 30)]
MOST = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="bookworm")
    nics = {name: {"kind": "no_address"} for name in NAMES}
    lab = Lab("bench-interfaces")
    try:
        lab.down()
        lab.up(Topology.model_validate({"hosts": {"nic": {"release": parser.parse_args().release, "nics": nics}}}))
        with tempfile.TemporaryDirectory() as folder:
            fleet = Fleet(lab, Path(folder))
            one, twenty = seconds(fleet, NAMES[:1]), seconds(fleet, NAMES)
    finally:
        lab.down()
    print(f"one interface {one:.1f} s, 20 interfaces {twenty:.1f} s: ratio {twenty / one:.2f}, at most {MOST}")
    return int(twenty > MOST * one)


def seconds(fleet: Fleet, names: list[str]) -> float:
    began = time.monotonic()
    adopted = fleet.module("nic", "interface", interfaces=names)
    took = time.monotonic() - began
    assert len(adopted["adopted"]) == len(names), adopted
    fleet.module("nic", "interface", interfaces=names, state="absent")
    return took


if __name__ == "__main__":
    sys.exit(main())
