"""What one install request a host costs the controller:
`tests/tools/python tests/bench/client.py [--hosts 200] [--runs 3]`.

Side by side, against the same server: slb.fleet.engine, the same request with ansible.builtin.uri, that under
mitogen, and ansible.builtin.assert, which does nothing or evaluates one expression. Printed are the medians of the CPU
time (user and system) of ansible-playbook and all its children, their ratios, and the logins that the server saw.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certificates import Authority
from fake_node import INSTALL, LOGIN, FakeNode, answer, for_session, new_session

from playbooks import Controller, play

PASSWORD = "bench-password"


@dataclass(frozen=True)
class Served:
    """What the bench knows of the server, which runs in a process of its own."""

    base_url: str
    fingerprint: str
    counter: Any

    def take_logins(self) -> int:
        with self.counter.get_lock():
            logins, self.counter.value = self.counter.value, 0
        return logins


def serve(folder: Path) -> Served:
    certificate = Authority(folder).certificate("bench")
    counter = multiprocessing.Value("i", 0)
    ready: Any = multiprocessing.Queue()

    def run() -> None:
        def login(exchange: Any) -> None:
            with counter.get_lock():
                counter.value += 1
            new_session()(exchange)

        routes = {LOGIN: [login], INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))]}
        with FakeNode(certificate, routes, sessions={"bench"}) as server:
            ready.put(server.base_url)
            time.sleep(24 * 3600)

    multiprocessing.Process(target=run, daemon=True).start()
    return Served(ready.get(timeout=30), certificate.fingerprint, counter)


def engine(served: Served) -> dict[str, Any]:
    connection = {
        "base_url": served.base_url,
        "username": "admin",
        "password": PASSWORD,
        "tls_fingerprint": served.fingerprint,
    }
    return {"slb.fleet.engine": {**connection, "name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}}


def uri(served: Served) -> dict[str, Any]:
    """The same request; its session is given, so that it is spared the login."""
    body = {"name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}
    request = {
        "url": served.base_url + INSTALL,
        "method": "POST",
        "body_format": "json",
        "body": {**body, "is_change_hostname": False, "user_credential_id": 1},
        "headers": {"Cookie": "sessionid=bench"},
        "validate_certs": False,
    }
    return {"ansible.builtin.uri": request, "delegate_to": "localhost"}


def nothing(_: Served) -> dict[str, Any]:
    return {"ansible.builtin.assert": {"that": True, "quiet": True}}


def expression(_: Served) -> dict[str, Any]:
    """As every real task, the engine's has something to template; this is the floor with that."""
    return {"ansible.builtin.assert": {"that": "inventory_hostname is defined", "quiet": True}}


def mitogen() -> dict[str, str]:
    found = importlib.util.find_spec("ansible_mitogen")
    if found is None or found.origin is None:
        sys.exit("mitogen is missing: pip install mitogen")
    strategies = Path(found.origin).parent / "plugins" / "strategy"
    return {"ANSIBLE_STRATEGY_PLUGINS": str(strategies), "ANSIBLE_STRATEGY": "mitogen_linear"}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--forks", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {f"edge-{number}": {} for number in range(options.hosts)}
    inventory = {"all": {"hosts": {"localhost": {}, **hosts}, "vars": local}}
    variants: dict[str, tuple[Any, dict[str, str]]] = {
        "engine": (engine, {}),
        "uri": (uri, {}),
        "uri, mitogen": (uri, mitogen()),
        "assert": (nothing, {}),
        "assert, expr": (expression, {}),
    }
    costs: dict[str, list[float]] = {name: [] for name in variants}
    walls: dict[str, list[float]] = {name: [] for name in variants}
    logins: dict[str, list[int]] = {name: [] for name in variants}
    with tempfile.TemporaryDirectory() as folder:
        served = serve(Path(folder))
        controller = Controller(Path(folder))
        for _ in range(options.runs):
            for name, (task, environment) in variants.items():
                cpu, begin = cpu_seconds(), time.monotonic()
                plays = [play(task(served), hosts="all:!localhost")]
                controller.run(plays, inventory, "--forks", str(options.forks), **environment).assert_ok()
                costs[name].append(cpu_seconds() - cpu)
                walls[name].append(time.monotonic() - begin)
                logins[name].append(served.take_logins())
    cost = {name: statistics.median(values) for name, values in costs.items()}
    print(f"{options.hosts} hosts, {options.forks} forks, medians of {options.runs} runs, {os.cpu_count()} CPUs")
    print(f"{'task':14} {'CPU s':>7} {'wall s':>7} {'logins a run':>13}")
    for name, seconds in cost.items():
        print(f"{name:14} {seconds:7.1f} {statistics.median(walls[name]):7.1f} {json.dumps(logins[name]):>13}")
    print(f"uri / engine            {cost['uri'] / cost['engine']:5.1f}   (goal: at least 10)")
    print(f"engine / assert         {cost['engine'] / cost['assert']:5.2f}   (goal: at most 1.5)")
    print(f"engine / assert, expr   {cost['engine'] / cost['assert, expr']:5.2f}   (an assert with one expression)")
    print(f"uri, mitogen / engine   {cost['uri, mitogen'] / cost['engine']:5.1f}")


if __name__ == "__main__":
    main()
