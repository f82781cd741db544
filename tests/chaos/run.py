"""Chaos: random states, faults and kills; then one undisturbed run has to converge. Ends with 1 if a promise is broken.

`tests/tools/python tests/chaos/run.py --seconds 120 --seed 1`. A seed fixes what is drawn by lot, not how fast
things happen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rounds import Chaos
from sites import Sites
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RELEASES = ("bullseye", "bookworm", "trixie")


def main() -> int:
    parser = argparse.ArgumentParser(description="Disturbs rollouts at random and sees that they converge.")
    parser.add_argument("--seconds", type=float, default=120, help="no new round begins after that time")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    hosts = {f"{release}-{number}": {"release": release} for number in (1, 2) for release in RELEASES}
    lab = Lab("chaos")
    try:
        lab.up(Topology.model_validate({"management_node": {"deploy_seconds": 2}, "hosts": hosts}))
        with tempfile.TemporaryDirectory() as folder:
            sites = Sites(lab, Path(folder))
            try:
                chaos = Chaos(sites, options.seed)
                begin = time.monotonic()
                while time.monotonic() - begin < options.seconds:
                    chaos.round()
            finally:
                sites.stop()
    finally:
        lab.down()
    print(
        f"seed {options.seed}: {chaos.rounds} rounds on {len(hosts)} hosts, {chaos.runs} runs of which {chaos.killed} "
        f"were killed, {len(chaos.violations)} violations"
    )
    return 1 if chaos.violations else 0


if __name__ == "__main__":
    sys.exit(main())
