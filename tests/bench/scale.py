"""What a host costs in a large fleet: `tests/tools/python tests/bench/scale.py [--hosts 500,1000,2000] [--troubled]`.

Side by side, over a connection that answers at once: slb.fleet.rollout and one ansible.builtin.ping task. Prints for
each size the controller's CPU time (user and system, all processes), the wall time, the memory of its largest process
and the ratio of rollout to ping; and the slopes of log CPU over log hosts, which Ansible's own is above 1. With
--troubled, a tenth of the hosts has work, fails or is unreachable. With --report, prints instead the part of the
callback slb.fleet.report, with its files, in the CPU time of rollout: for a healthy fleet of the last size.

With --gate it is a test. For a healthy fleet, the slope of rollout is at most 0.05 above that of ping, and the ratio at
most 1.2 in the largest; for a troubled one, the slope is at most 0.1 above. If a bound is exceeded, both are measured
again, because another program on the machine adds costs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from math import inf, log
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
TROUBLED = ("pending", "live", "unreachable")


class Run(NamedTuple):
    cpu: float
    wall: float
    memory_mb: float


def state_of(number: int, troubled: bool) -> str:
    return TROUBLED[number // 10 % 3] if troubled and number % 10 == 0 else "verified"


def fleet(size: int, troubled: bool) -> dict[str, Any]:
    hosts = {}
    for number in range(size):
        address = f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}"
        hosts[f"edge-{number}"] = {"slb_manage_ip": address, "stateful_state": state_of(number, troubled)}
    variables = {
        "ansible_connection": "stateful",
        "ansible_python_interpreter": "/usr/bin/python3",
        "slb_base_url": "https://console.example",
        "slb_username": "admin",
        "slb_password": "not used",
    }
    return {"engines": {"hosts": hosts, "vars": variables}}


def measured(command: list[Any], output: Path, is_good: Callable[[int, str], bool], **how: Any) -> Run:
    """Run a command to its end. A bad run ends the bench: one that stops early would be a cheap one."""
    with output.open("wb") as file:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, **how)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
    text = output.read_text()
    if not is_good(status, text):
        sys.exit(text[-5000:])
    return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def prepare(size: int, troubled: bool, folder: Path) -> dict[str, str]:
    """Write an inventory to the folder, and return the environment of its runs."""
    (folder / "inventory.yml").write_text(yaml.dump(fleet(size, troubled), Dumper=yaml.CSafeDumper))
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(HERE.parents[1] / ".cache" / "dev"),
        "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection_plugins"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
        "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet",
        "ANSIBLE_LOCAL_TEMP": str(folder),
        "ANSIBLE_FORKS": "20",
    }


def measure(size: int, troubled: bool, folder: Path) -> dict[str, Run]:
    inventory, ping = folder / "inventory.yml", folder / "ping.yml"
    environment = prepare(size, troubled, folder)
    ping.write_text(json.dumps([{"hosts": "engines", "gather_facts": False, "tasks": [{"ansible.builtin.ping": {}}]}]))
    # A pending host is healthy at the end.
    healthy = sum(state_of(number, troubled) in ("verified", "pending") for number in range(size))
    return {
        name: measured(
            [BIN / "ansible-playbook", "-i", inventory, playbook],
            folder / "output",
            lambda status, output, text=text: (troubled or not status) and text in output,  # type: ignore[misc]
            env=environment,
        )
        for name, playbook, text in (("rollout", "slb.fleet.rollout", f"{healthy} healthy"), ("ping", ping, "edge-0"))
    }


def cost_of_report(arguments: list[str]) -> None:
    """Run ansible-playbook in this process, and print the callback's part of its CPU time."""
    from ansible.cli import playbook
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    from ansible_collections.slb.fleet.plugins.callback.report import CallbackModule

    spent = 0.0

    def timed(method: Callable[..., None]) -> Callable[..., None]:
        @wraps(method)
        def run(*values: Any, **named: Any) -> None:
            nonlocal spent
            begin = time.thread_time()
            method(*values, **named)
            spent += time.thread_time() - begin

        return run

    for name, method in list(vars(CallbackModule).items()):
        # All others run within these.
        if name.startswith("v2_") or name == "_keep_files":
            setattr(CallbackModule, name, timed(method))
    try:
        playbook.main(["ansible-playbook", *arguments])
    except SystemExit as ended:
        if ended.code:
            raise  # its cost would be too low
    cpu = sum(os.times()[:4])
    print(f"The report takes {spent:.2f} s of {cpu:.0f} s of CPU: {spent / cpu:.1%}")


def slope(costs: dict[int, dict[str, Run]], name: str) -> float:
    """Return that of log CPU over log hosts, by least squares."""
    sizes, seconds = [log(size) for size in costs], [log(runs[name].cpu) for runs in costs.values()]
    return statistics.linear_regression(sizes, seconds).slope


def show(costs: dict[int, dict[str, Run]]) -> None:
    print("    hosts rollout CPU s ping CPU s ratio  wall s largest MB")
    for size, (rollout, ping) in ((size, (runs["rollout"], runs["ping"])) for size, runs in costs.items()):
        figures = f"{rollout.cpu:13.2f} {ping.cpu:10.2f} {rollout.cpu / ping.cpu:5.2f}"
        print(f"{size:9} {figures} {rollout.wall:7.1f} {rollout.memory_mb:10.0f}", flush=True)
    if len(costs) > 1:
        rollout_slope, ping_slope = slope(costs, "rollout"), slope(costs, "ping")
        print(f"slope of log CPU over log hosts: rollout {rollout_slope:.3f}, ping {ping_slope:.3f}", flush=True)


def gate(sizes: list[int], troubled: bool, folder: Path) -> bool:
    """Return whether a host costs little, in a large fleet as well: by the lowest costs of up to five turns."""
    most, most_ratio = (0.1, inf) if troubled else (0.05, 1.2)
    least: dict[int, dict[str, Run]] = {}
    for _turn in range(5):
        for size in sizes:
            seen = measure(size, troubled, folder)
            least[size] = {name: min(run, least.get(size, seen)[name]) for name, run in seen.items()}
        show(least)
        rollout, ping = least[sizes[-1]].values()
        if slope(least, "rollout") - slope(least, "ping") <= most and rollout.cpu <= most_ratio * ping.cpu:
            return True
    print(f"The slope of rollout is more than {most} above that of ping, or its ratio to ping more than {most_ratio}.")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="", help="the sizes, with commas between")
    parser.add_argument("--troubled", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    sizes = [int(text) for text in (options.hosts or ("200,800" if options.gate else "500,1000,2000")).split(",")]
    with tempfile.TemporaryDirectory() as folder:
        if options.gate:
            results = [gate(sizes, troubled, Path(folder)) for troubled in (False, True)]
            return int(not all(results))
        if options.report:
            os.environ.update(prepare(sizes[-1], False, Path(folder)), SLB_REPORT_DIR=f"{folder}/reports")
            cost_of_report(["-i", f"{folder}/inventory.yml", "slb.fleet.rollout"])
            return 0
        show({size: measure(size, options.troubled, Path(folder)) for size in sizes})
    return 0


if __name__ == "__main__":
    sys.exit(main())
