"""What a healthy fleet costs: `tests/tools/python tests/bench/healthy_fleet.py [--hosts 20] [--runs 5]`.

Side by side, on the same lab hosts whose engines run: a second slb.fleet.rollout, one ansible.builtin.ping task, and a
plain playbook of core modules that follows the document rule by rule. Printed are the medians of the controller's CPU
time (user and system, with all children) and of the wall time, and their ratios.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from slb_lab.lab import Lab
from slb_lab.topology import Topology

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
RELEASES = ("bullseye", "bookworm", "trixie")
PING = [{"hosts": "engines", "gather_facts": False, "tasks": [{"ansible.builtin.ping": {}}]}]


def make_room(hosts: int) -> None:
    """Each host takes about ten inotify instances, and the kernel gives a user 128 by default."""
    setting = Path("/proc/sys/fs/inotify/max_user_instances")
    wanted = 128 + 16 * hosts
    if int(setting.read_text()) < wanted:
        print(f"Raising fs.inotify.max_user_instances of this machine to {wanted}, until it is booted")
        setting.write_text(str(wanted))


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def play(inventory: Path, *arguments: str) -> None:
    command = [BIN / "ansible-playbook", "-i", inventory, "--forks", "20", *arguments]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(HERE.parents[1] / ".cache" / "dev"),
        "ANSIBLE_PIPELINING": "1",
        # Nothing is kept from one run to the next: each makes its own connections.
        "ANSIBLE_SSH_ARGS": "-o ControlMaster=no -o ControlPath=none",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    make_room(options.hosts)
    lab = Lab("bench")
    names = [f"edge-{number}" for number in range(1, options.hosts + 1)]
    hosts = {name: {"release": RELEASES[number % 3]} for number, name in enumerate(names)}
    lab.up(Topology.model_validate({"hosts": hosts, "management_node": {"deploy_seconds": 1}}))
    try:
        with tempfile.TemporaryDirectory() as folder:
            inventory = Path(folder) / "inventory.yml"
            inventory.write_text(yaml.safe_dump(lab.inventory()))
            ping = Path(folder) / "ping.yml"
            ping.write_text(yaml.safe_dump(PING))
            measure(inventory, ping, folder, options.runs)
    finally:
        lab.down()


def measure(inventory: Path, ping: Path, folder: str, runs: int) -> None:
    play(inventory, "slb.fleet.rollout", "-e", "slb_serial=100%")
    license_folder = f"license_folder={folder}"
    variants = {
        "rollout": ["slb.fleet.rollout"],
        "ping": [str(ping)],
        "by the document": [str(HERE / "by_the_document.yml"), "-e", license_folder],
    }
    cpu: dict[str, list[float]] = {name: [] for name in variants}
    wall: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(runs):
        for name, arguments in variants.items():
            used, begin = cpu_seconds(), time.monotonic()
            play(inventory, *arguments)
            cpu[name].append(cpu_seconds() - used)
            wall[name].append(time.monotonic() - begin)
    print(f"medians of {runs} runs, {os.cpu_count()} CPUs")
    print(f"{'':20} {'CPU s':>7} {'wall s':>7}")
    for name in variants:
        print(f"{name:20} {statistics.median(cpu[name]):7.2f} {statistics.median(wall[name]):7.2f}")
    for one, other, goal in (
        ("rollout", "ping", "at most 1.5"),
        ("by the document", "rollout", "at least 5"),
    ):
        ratios = [statistics.median(table[one]) / statistics.median(table[other]) for table in (cpu, wall)]
        print(f"{one} / {other}: CPU {ratios[0]:.2f}, wall {ratios[1]:.2f}   (goal: {goal})")


if __name__ == "__main__":
    main()
