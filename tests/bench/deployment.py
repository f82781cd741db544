"""What a deployment costs the controller:
`tests/tools/python tests/bench/deployment.py [--hosts 1000] [--seconds 5] [--forks 50]`.

slb.fleet.rollout over hosts that all need an engine, without SSH: each host keeps its changes, and its engine comes up
a fixed number of seconds after the request. The management node counts. Prints the CPU time of the controller (user and
system, all processes) per deployed host, the memory of its largest process, how long all of it took and how long hosts
waited, the logins, and how often the engine list was read; and what one ansible.builtin.ping task costs on the same
hosts, as a measure of what Ansible itself takes for a task on that machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from certificates import Authority
from fake_node import INSTALL, LOGIN, FakeNode, answer, for_session, new_session
from rollouts import environment, inventory

from playbooks import Controller, play

GOAL = 0.5
LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--forks", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def listed(exchange: object) -> None:
            """An engine is listed after its request; the engines of other hosts always are."""
            asked = [json.loads(request.body) for request in server.to(INSTALL)]
            engines = [{"name": each["name"], "ip": each["manage_ip"], "status": "running"} for each in asked]
            others = [{"name": "of-others", "ip": "203.0.113.7", "status": "running"}]
            for_session(answer(200, json.dumps([*others, *engines])))(exchange)

        routes = {
            LOGIN: [new_session()],
            INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))],
            "/engines": [listed],
        }
        with FakeNode(Authority(folder).certificate("bench"), routes) as server:
            controller = Controller(folder)
            hosts = inventory(
                server, folder / "hosts", options.hosts, stateful_seconds=options.seconds, slb_engine_list=LISTING
            )
            settings = {**environment(folder / "reports"), "ANSIBLE_FORKS": str(options.forks)}
            used, wall = played(controller, [{"ansible.builtin.import_playbook": "slb.fleet.rollout"}], hosts, settings)
            pinged, _ = played(controller, [play({"ansible.builtin.ping": {}})], hosts, settings)
            document = json.loads((folder / "reports" / "report.json").read_text())
            waited = sum(host["seconds"].get("wait", 0) for host in document["hosts"])
            cpu, ping = ((each.ru_utime + each.ru_stime) / options.hosts for each in (used, pinged))
            print(f"{options.hosts} hosts, deployments of {options.seconds:.0f} s, {options.forks} forks")
            print(
                f"CPU a deployed host: {cpu:.2f} s (goal: at most {GOAL}), {cpu / ping:.1f} times a ping's {ping:.3f} s"
            )
            print(f"wall: {wall:.0f} s; memory of the largest process: {used.ru_maxrss / 1024:.0f} MB")
            print(f"waited: {waited:.0f} s of all hosts together, {waited / options.hosts:.1f} s a host")
            print(
                f"logins: {server.seen[LOGIN]}; installs: {server.seen[INSTALL]}; list read: {server.seen['/engines']}"
            )


def played(
    controller: Controller, plays: list[dict[str, Any]], hosts: dict[str, Any], settings: dict[str, str]
) -> tuple[resource.struct_rusage, float]:
    """What a run that ends well has used, and how long it took."""
    command = controller.command(plays, hosts)
    with (controller.folder / "output").open("wb") as output:
        begin = time.monotonic()
        run = subprocess.Popen(
            command,
            env=controller.environment(**settings),
            cwd=controller.folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(run.pid, 0)
        wall = time.monotonic() - begin
    if status:
        sys.exit((controller.folder / "output").read_text()[-5000:])
    return used, wall


if __name__ == "__main__":
    main()
