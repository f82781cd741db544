"""What one install request per host costs the controller: slb.fleet.engine, the same request with ansible.builtin.uri,
and ansible.builtin.assert, in turns, against one server. Prints medians of CPU time, and their ratios.
"""

import argparse
import multiprocessing
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

BODY = {"name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}


def serve(folder: Path, address: Any) -> None:
    """Serve in a process of its own, whose CPU time is not that of the controller."""
    certificate = Authority(folder).certificate("bench")
    accepted = for_session(answer(200, '{"code":0,"msg":"installation started"}'))
    with FakeNode(certificate, {LOGIN: [new_session()], INSTALL: [accepted]}, sessions={"bench"}) as server:
        address.put((server.base_url, certificate.fingerprint))
        time.sleep(24 * 3600)


def tasks(base_url: str, fingerprint: str) -> dict[str, dict[str, Any]]:
    """Return a task of each kind; uri gets its session, so that it needs no login."""
    node = {"base_url": base_url, "username": "admin", "password": "bench", "tls_fingerprint": fingerprint}
    request = {
        **{"url": base_url + INSTALL, "method": "POST", "body_format": "json", "validate_certs": False},
        "body": {**BODY, "is_change_hostname": False, "user_credential_id": 1},
        "headers": {"Cookie": "sessionid=bench"},
    }
    return {
        "engine": {"slb.fleet.engine": {**node, **BODY}},
        "uri": {"ansible.builtin.uri": request, "delegate_to": "localhost"},
        "assert": {"ansible.builtin.assert": {"that": "inventory_hostname is defined", "quiet": True}},
    }


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {"localhost": {}, **{f"edge-{number}": {} for number in range(options.hosts)}}
    costs: dict[str, list[float]] = {"engine": [], "uri": [], "assert": []}
    address = multiprocessing.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.Process(target=serve, args=(Path(folder), address), daemon=True).start()
        kinds, controller = tasks(*address.get()), Controller(Path(folder))
        for _run in range(options.runs):
            for name, task in kinds.items():
                before = cpu_seconds()
                plays = [play(task, hosts="all:!localhost")]
                controller.run(plays, {"all": {"hosts": hosts, "vars": local}}, "--forks", "20").assert_ok()
                costs[name].append(cpu_seconds() - before)
    cost = {name: statistics.median(values) for name, values in costs.items()}
    for name, seconds in cost.items():
        print(f"{name:7} {seconds:7.1f} CPU s for {options.hosts} hosts, {seconds / cost['assert']:5.2f} x assert")
    print(f"uri / engine {cost['uri'] / cost['engine']:.1f}")


if __name__ == "__main__":
    main()
