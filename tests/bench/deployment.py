"""What a deployment costs the controller:
`tests/tools/python tests/bench/deployment.py [--hosts 1000] [--seconds 5] [--forks 50]`.

slb.fleet.rollout over hosts that all need an engine, without SSH: each engine runs a fixed number of seconds after the
request. Prints the CPU time of the controller (user and system, all processes) per deployed host and in
ansible.builtin.ping tasks on the same hosts, the memory of its largest process, the time of the run, and the
requests that the management node has seen.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from certificates import Authority
from fake_node import INSTALL, LOGIN, FakeNode, answer, for_session, new_session
from rollouts import environment, inventory
from scale import measured

from playbooks import Controller, play

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
            rollout, ping = (
                measured(
                    controller.command(plays, hosts),
                    folder / "output",
                    lambda status, _output: not status,
                    env=controller.environment(**settings),
                    cwd=folder,
                )
                for plays in (
                    [{"ansible.builtin.import_playbook": "slb.fleet.rollout"}],
                    [play({"ansible.builtin.ping": {}})],
                )
            )
            print(f"{options.hosts} hosts, deployments of {options.seconds:.0f} s, {options.forks} forks")
            print(f"CPU per deployed host: {rollout.cpu / options.hosts:.2f} s (goal: at most 0.5), or")
            print(f"{rollout.cpu / ping.cpu:.1f} ping tasks of {ping.cpu / options.hosts:.3f} s")
            print(f"wall: {rollout.wall:.0f} s; memory of the largest process: {rollout.memory_mb:.0f} MB")
            seen = server.seen
            print(f"logins: {seen[LOGIN]}; installs: {seen[INSTALL]}; fetches of the list: {seen['/engines']}")


if __name__ == "__main__":
    main()
