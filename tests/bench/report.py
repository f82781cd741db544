"""What the report costs: `tests/tools/python tests/bench/report.py [--hosts 5000] [--runs 3]`.

One slb.fleet.rollout over a simulated fleet, of which a tenth has work, fails or is unreachable, without and with the
callback slb.fleet.report, which then also writes all its files; the runs take turns. Printed are the medians of the CPU
time (user and system, all processes) and the memory of the largest process, and what the report adds to them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from scale import BIN, HERE, STATES, fleet

GOAL_CPU, GOAL_MB = 0.05, 60


def play(folder: Path, *, reported: bool) -> tuple[float, float]:
    """CPU seconds and megabytes."""
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(HERE.parents[1] / ".cache" / "dev"),
        "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection_plugins"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet",
        "SLB_REPORT_DIR": str(folder / "reports"),
    }
    environment.pop("ANSIBLE_CALLBACKS_ENABLED", None)
    if reported:
        environment["ANSIBLE_CALLBACKS_ENABLED"] = "slb.fleet.report"
    command = [BIN / "ansible-playbook", "-i", folder / "inventory.yml", "--forks", "20", "slb.fleet.rollout"]
    with (folder / "output").open("wb") as output:
        started = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, _status, used = os.wait4(started.pid, 0)
    # Its hosts in trouble make it fail; a run that did not begin is none to be measured.
    assert b"edge-" in (folder / "output").read_bytes(), (folder / "output").read_text()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3, help="of each kind; the medians count")
    options = parser.parse_args()
    seen: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "answers.json").write_text(json.dumps(STATES))
        hosts = fleet(options.hosts, folder / "answers.json", troubled=True)
        (folder / "inventory.yml").write_text(yaml.dump(hosts, Dumper=yaml.CSafeDumper))
        for number in range(2 * options.runs):
            # Neither kind always comes first.
            reported = number % 4 in (1, 2)
            seen[reported].append(play(folder, reported=reported))
            print(f"{'with' if reported else 'without':8}{seen[reported][-1][0]:9.1f} CPU s", flush=True)
        document = json.loads((folder / "reports" / "report.json").read_text())
    assert len(document["hosts"]) == options.hosts, document["counts"]
    cpu = {kind: statistics.median(each[0] for each in runs) for kind, runs in seen.items()}
    memory = {kind: statistics.median(each[1] for each in runs) for kind, runs in seen.items()}
    share, more = cpu[True] / cpu[False] - 1, memory[True] - memory[False]
    print(f"{options.hosts} hosts, medians of {options.runs} runs: the report adds")
    print(f"  {100 * share:5.1f} % of {cpu[False]:.1f} CPU s   (goal: at most {100 * GOAL_CPU:.0f} %)")
    print(f"  {more:5.1f} MB to {memory[False]:.0f} MB   (goal: at most {GOAL_MB} MB)")
    return 0 if share <= GOAL_CPU and more <= GOAL_MB else 1


if __name__ == "__main__":
    sys.exit(main())
