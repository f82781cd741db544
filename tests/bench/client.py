"""What one install request per host costs the controller:
`tests/tools/python tests/bench/client.py [--hosts 200] [--forks 20] [--runs 3]`.

Side by side, against the same server: slb.fleet.engine, the same request with ansible.builtin.uri, that under mitogen,
and ansible.builtin.assert with one expression. Prints the medians of the CPU time (user and system, all processes),
their ratios, and the logins that the server has seen.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from certificates import Authority
from fake_node import INSTALL, LOGIN, FakeNode, answer, for_session, new_session

from playbooks import Controller, play

PASSWORD = "bench-password"


def serve(folder: Path, address: Any, logins: Any) -> None:
    """Serve in a process of its own, whose CPU time is not that of the controller."""

    def login(exchange: Any) -> None:
        with logins.get_lock():
            logins.value += 1
        new_session()(exchange)

    certificate = Authority(folder).certificate("bench")
    routes = {LOGIN: [login], INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))]}
    with FakeNode(certificate, routes, sessions={"bench"}) as server:
        address.put((server.base_url, certificate.fingerprint))
        time.sleep(24 * 3600)


def engine(base_url: str, fingerprint: str) -> dict[str, Any]:
    connection = {"base_url": base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": fingerprint}
    return {"slb.fleet.engine": {**connection, "name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}}


def uri(base_url: str, _fingerprint: str) -> dict[str, Any]:
    """Return the same request. Its session is given, so that it needs no login."""
    body = {"name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}
    request = {
        "url": base_url + INSTALL,
        "method": "POST",
        "body_format": "json",
        "body": {**body, "is_change_hostname": False, "user_credential_id": 1},
        "headers": {"Cookie": "sessionid=bench"},
        "validate_certs": False,
    }
    return {"ansible.builtin.uri": request, "delegate_to": "localhost"}


def expression(*_unused: str) -> dict[str, Any]:
    """Return the cheapest task that templates something, as each real task does."""
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
        "assert": (expression, {}),
    }
    costs: dict[str, list[float]] = {name: [] for name in variants}
    logins, address = multiprocessing.Value("i", 0), multiprocessing.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.Process(target=serve, args=(Path(folder), address, logins), daemon=True).start()
        served = address.get()
        controller = Controller(Path(folder))
        for _run in range(options.runs):
            for name, (task, environment) in variants.items():
                before = cpu_seconds()
                plays = [play(task(*served), hosts="all:!localhost")]
                controller.run(plays, inventory, "--forks", str(options.forks), **environment).assert_ok()
                costs[name].append(cpu_seconds() - before)
    cost = {name: statistics.median(values) for name, values in costs.items()}
    print(f"{options.hosts} hosts, {options.forks} forks, medians of {options.runs} runs, {os.cpu_count()} CPUs")
    for name, seconds in cost.items():
        print(f"{name:14} {seconds:7.1f} CPU s")
    print(f"logins: {logins.value} in {options.runs} runs of engine")
    print(f"uri / engine           {cost['uri'] / cost['engine']:5.1f}   (goal: at least 10)")
    print(f"engine / assert        {cost['engine'] / cost['assert']:5.2f}   (goal: at most 1.5)")
    print(f"uri, mitogen / engine  {cost['uri, mitogen'] / cost['engine']:5.1f}")


if __name__ == "__main__":
    main()
