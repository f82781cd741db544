"""What a host costs in a large fleet:
`tests/tools/python tests/bench/scale.py [--hosts 500,1000,2000] [--troubled] [--json]`.

Side by side in one run, over a connection that answers at once: slb.fleet.rollout over a healthy fleet, one
ansible.builtin.ping task and one ansible.builtin.assert task. Printed are, for each size, the controller's CPU time
(user and system, all processes) and wall time, the memory of its largest process, and the ratio of rollout to ping; and
the slopes of log CPU over log hosts. Ansible's own is above 1. With --troubled a tenth of the hosts has work, fails or
is unreachable.

With --gate it is a test: the slope of rollout is at most 0.05 above that of ping in the same run for a healthy fleet,
and 0.1 for a troubled one. Both are measured in turns, and again where a bound is not held, because another program on
the machine costs one of them more, never less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from math import inf, log
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
_MOST_TURNS = 3
NODE = "https://console.example"
CONTAINER = {
    "state": "running",
    "name": "slb",
    "runtime": "docker",
    "id": "c0ffee",
    "image": "slb:1",
    "restart_policy": "always",
    "restart_count": 0,
    "uptime": 1000.0,
    "exit_code": 0,
    "auto_remove": False,
    "manager": None,
    "connections": 0,
    "peers": [],
    "outbound": 0,
    "why": None,
}
RECORD = {
    "state": "verified",
    "name": "ENGINE",
    "manage_ip": "ADDRESS",
    "base_url": NODE,
    "request_id": "1",
    "container_before": None,
    "last_verified": "c0ffee",
    "verified_by": "host",
    "set_aside": None,
    "age": 5000.0,
}
PENDING = {**RECORD, "state": "requested", "last_verified": None, "verified_by": None}
PORTS = [{"port": port, "process": "httpd", "pid": 100} for port in (22, 80, 443, 8000)]


class Run(NamedTuple):
    cpu: float
    wall: float
    memory_mb: float


def look(record: dict[str, Any]) -> str:
    seen = {"engine_container": CONTAINER, "record": record, "ports": PORTS, "running_leftovers": [], "root": True}
    motd = {"path": "/etc/motd", "bytes": 0, "sources": []}
    return json.dumps(
        {"changed": False, "slb_host": {**seen, "motd": motd, "addresses": ["ADDRESS"], "machine": "ADDRESS"}}
    )


def answers(record: dict[str, Any]) -> dict[str, str]:
    """By a part of the module's name in what Ansible sends."""
    confirmed = {"changed": True, "record": RECORD}
    return {
        "slb.fleet.plugins.modules.host_info": look(record),
        "slb.fleet.plugins.modules.engine_record": json.dumps(confirmed),
        "slb.fleet.plugins.modules.engine_container": json.dumps({"changed": False, "after": CONTAINER}),
        "ansible.modules.ping": json.dumps({"ping": "pong"}),
    }


STATES = {"healthy": answers(RECORD), "work": answers(PENDING), "fails": answers({"state": "none"}), "unreachable": {}}
TROUBLED = ("work", "fails", "unreachable")
PLAYBOOKS = {
    "ping": [{"ansible.builtin.ping": {}}],
    "assert": [{"ansible.builtin.assert": {"that": "inventory_hostname is defined", "quiet": True}}],
}


def state_of(number: int, troubled: bool) -> str:
    return TROUBLED[number // 10 % 3] if troubled and number % 10 == 0 else "healthy"


def healthy(size: int, troubled: bool) -> str:
    """What a rollout says at its end: hosts that need work are done, too."""
    return f"{sum(state_of(number, troubled) in ('healthy', 'work') for number in range(size))} healthy"


def fleet(size: int, answers_file: Path, troubled: bool) -> dict[str, Any]:
    hosts = {}
    for number in range(size):
        state = state_of(number, troubled)
        address = f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}"
        hosts[f"edge-{number}"] = {"slb_manage_ip": address, "canned_state": state}
    connection = {
        "ansible_connection": "canned",
        "ansible_python_interpreter": "/usr/bin/python3",
        "canned_answers": str(answers_file),
        "slb_base_url": NODE,
        "slb_username": "admin",
        "slb_password": "not used",
    }
    return {"engines": {"hosts": hosts, "vars": connection}}


def play(inventory: Path, playbook: str, folder: Path, says: str, *, may_fail: bool) -> Run:
    """``says``: what its output has, as a run that did not come to its hosts, or ended early, would be a cheap one."""
    command = [str(BIN / "ansible-playbook"), "-i", str(inventory), "--forks", "20", playbook]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(HERE.parents[1] / ".cache" / "dev"),
        "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection_plugins"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
        "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet",
        "ANSIBLE_LOCAL_TEMP": str(folder),
    }
    with (folder / "output").open("w+b") as output:
        begin = time.monotonic()
        started = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(started.pid, 0)
        wall = time.monotonic() - begin
        output.seek(0)
        said = output.read().decode()
        if (status and not may_fail) or says not in said:
            sys.exit(said[-5000:])
    return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def prepared(size: int, troubled: bool, folder: Path) -> tuple[dict[str, str], Path]:
    """The playbooks to compare, and the inventory."""
    kept, inventory = folder / "answers.json", folder / "inventory.yml"
    kept.write_text(json.dumps(STATES))
    inventory.write_text(yaml.dump(fleet(size, kept, troubled), Dumper=yaml.CSafeDumper))
    playbooks = {"rollout": "slb.fleet.rollout"}
    for name, tasks in PLAYBOOKS.items():
        path = folder / f"{name}.yml"
        path.write_text(yaml.safe_dump([{"hosts": "engines", "gather_facts": False, "tasks": tasks}]))
        playbooks[name] = str(path)
    return playbooks, inventory


def measured(size: int, runs: int, troubled: bool, folder: Path) -> dict[str, Any]:
    playbooks, inventory = prepared(size, troubled, folder)
    seen: dict[str, list[Run]] = {name: [] for name in playbooks}
    for _ in range(runs):
        for name, playbook in playbooks.items():
            says = healthy(size, troubled) if name == "rollout" else "edge-0"
            seen[name].append(play(inventory, playbook, folder, says, may_fail=troubled))
    cpu = {name: statistics.median(run.cpu for run in some) for name, some in seen.items()}
    return {
        "hosts": size,
        "rollout_cpu": round(cpu["rollout"], 2),
        "ping_cpu": round(cpu["ping"], 2),
        "assert_cpu": round(cpu["assert"], 2),
        "rollout_wall": round(statistics.median(run.wall for run in seen["rollout"]), 2),
        "rollout_rss_mb": round(max(run.memory_mb for run in seen["rollout"]), 1),
    }


def slope(sizes: list[dict[str, Any]], key: str) -> float | None:
    """Of log CPU over log hosts, by least squares; None for one size."""
    points = [(log(each["hosts"]), log(each[key])) for each in sizes]
    if len(points) == 1:
        return None
    return round(statistics.linear_regression(*zip(*points, strict=True)).slope, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="", help="the sizes, with commas between")
    parser.add_argument("--runs", type=int, default=1, help="of each; the medians count")
    parser.add_argument("--troubled", action="store_true")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    hosts = options.hosts or ("200,800" if options.gate else "500,1000,2000")
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        if options.gate:
            sys.exit(gate([int(text) for text in hosts.split(",")], Path(folder)))
        for size in (int(text) for text in hosts.split(",")):
            sizes.append(measured(size, options.runs, options.troubled, Path(folder)))
            if not options.json:
                show(sizes[-1], is_first=len(sizes) == 1)
    slopes = {key: slope(sizes, f"{key}_cpu") for key in ("rollout", "ping")}
    if options.json:
        print(json.dumps({"sizes": sizes, "slope": slopes["rollout"], "ping_slope": slopes["ping"]}))
    elif slopes["rollout"] is not None:
        print(f"slope of log CPU over log hosts: rollout {slopes['rollout']}, ping {slopes['ping']}")


def gate(hosts: list[int], folder: Path) -> int:
    """The exit status: 0 where the cost of a host does not grow with the fleet."""
    failed = 0
    for name, troubled, most in (("healthy", False, 0.05), ("a tenth troubled", True, 0.1)):
        least: dict[int, dict[str, float]] = {size: {} for size in hosts}
        turns, above = 0, inf
        while above > most and turns < _MOST_TURNS:
            turns += 1
            for size in hosts:
                playbooks, inventory = prepared(size, troubled, folder)
                for playbook, says in (("rollout", healthy(size, troubled)), ("ping", "edge-0")):
                    run = play(inventory, playbooks[playbook], folder, says, may_fail=troubled)
                    least[size][playbook] = min(run.cpu, least[size].get(playbook, run.cpu))
            points = [{"hosts": size, **costs} for size, costs in least.items()]
            slopes = {playbook: slope(points, playbook) or 0.0 for playbook in ("rollout", "ping")}
            above = slopes["rollout"] - slopes["ping"]
        ratios = " ".join(f"{size}: {costs['rollout'] / costs['ping']:.2f}" for size, costs in least.items())
        status = "ok" if above <= most else "TOO STEEP"
        print(
            f"{name}: slope of rollout {slopes['rollout']:.3f}, of ping {slopes['ping']:.3f}, {above:+.3f} above it "
            f"(at most {most}); rollout/ping at {ratios}; measured in {turns} turns: {status}",
            flush=True,
        )
        failed += above > most
    return 1 if failed else 0


def show(size: dict[str, Any], *, is_first: bool) -> None:
    if is_first:
        heads = ("hosts", "rollout CPU s", "ping CPU s", "assert CPU s", "rollout/ping", "wall s", "largest MB")
        print("".join(f"{head:>15}" for head in heads))
    ratio = round(size["rollout_cpu"] / size["ping_cpu"], 2)
    values = (*list(size.values())[:4], ratio, size["rollout_wall"], size["rollout_rss_mb"])
    print("".join(f"{value:>15}" for value in values), flush=True)


if __name__ == "__main__":
    main()
