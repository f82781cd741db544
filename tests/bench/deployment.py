"""What a deployment costs the controller, and what a slow host costs the others:
`tests/tools/python tests/bench/deployment.py [--hosts 1000] [--seconds 5] [--forks 50] [--uneven]`.

slb.fleet.rollout over hosts that all need an engine, without SSH: each engine runs a fixed number of seconds after the
request. Prints the CPU time of the controller (user and system, all processes) per deployed host and in
ansible.builtin.ping tasks on the same hosts, the memory of its largest process, the events and the time of the run, and
the requests that the management node has seen.

With --uneven, deployments take 20 to 40 s, and one in ten 120 s. Prints the time of the run divided by the ideal one:
no task costs anything, and after the canary a tenth, then a quarter of the hosts are in progress at any time.
"""

import argparse
import heapq
import json
import random
import re
import tempfile
import time
from datetime import datetime
from pathlib import Path

from certificates import Authority
from fake_node import INSTALL, LOGIN, FakeNode, answer, for_session, new_session
from rollouts import environment, inventory
from scale import measured

from playbooks import Controller, play

LISTING = {
    **{"path": "/engines", "name": "name", "address": "ip", "state": "status"},
    **{"running": "running", "deploying": "deploying"},
}
SLOW_SECONDS, USUAL_SECONDS = 120, (20, 40)


def durations(hosts: int, seconds: float, *, is_uneven: bool) -> list[float]:
    """Return how long each deployment takes: the same in each run."""
    order = random.Random(1)
    if not is_uneven:
        return [seconds] * hosts
    return [SLOW_SECONDS if number % 10 == 5 else order.uniform(*USUAL_SECONDS) for number in range(hosts)]


def ideal(seconds: list[float]) -> float:
    """Return the time of a run whose next deployment begins when one ends, after the canary alone."""
    now, done, ends = seconds[0], 1, list[float]()
    for each in seconds[1:]:
        while len(ends) >= max(1, len(seconds) // (10 if done <= len(seconds) // 10 else 4)):
            now, done = heapq.heappop(ends), done + 1
        heapq.heappush(ends, now + each)
    return max([now, *ends])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--forks", type=int, default=50)
    parser.add_argument("--uneven", action="store_true")
    options = parser.parse_args()
    takes = durations(options.hosts, options.seconds, is_uneven=options.uneven)
    with tempfile.TemporaryDirectory() as name:
        folder, asked_at = Path(name), dict[str, float]()

        def listed(exchange: object) -> None:
            """An engine is listed after its request, and runs after its time; one of other hosts always does."""
            for request in server.to(INSTALL):
                asked_at.setdefault(request.body.decode(), time.monotonic())
            engines = [{"name": "of-others", "ip": "203.0.113.7", "status": "running"}]
            for body, start in asked_at.items():
                asked = json.loads(body)
                is_due = time.monotonic() >= start + takes[int(asked["name"].partition("-")[2]) - 1]
                status = "running" if is_due else "deploying"
                engines.append({"name": asked["name"], "ip": asked["manage_ip"], "status": status})
            for_session(answer(200, json.dumps(engines)))(exchange)

        routes = {
            LOGIN: [new_session()],
            INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))],
            "/engines": [listed],
        }
        with FakeNode(Authority(folder).certificate("bench"), routes) as server:
            controller = Controller(folder)
            hosts = inventory(server, folder / "hosts", options.hosts, slb_engine_list=LISTING)
            for host, seconds in zip(hosts["engines"]["hosts"].values(), takes, strict=True):
                host["stateful_seconds"] = seconds
            settings = {
                **environment(folder / "reports"),
                "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,events",
                "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callback_plugins"),
                "ANSIBLE_FORKS": str(options.forks),
            }
            rollout, ping = (
                measured(
                    controller.command(plays, hosts),
                    folder / f"output-{number}",
                    lambda status, _output: not status,
                    env=controller.environment(**settings),
                    cwd=folder,
                )
                for number, plays in enumerate(
                    ([{"ansible.builtin.import_playbook": "slb.fleet.rollout"}], [play({"ansible.builtin.ping": {}})])
                )
            )
            longest = f"{max(takes):.0f} s, one in ten" if options.uneven else f"{options.seconds:.0f} s"
            print(f"{options.hosts} hosts, deployments of at most {longest}, {options.forks} forks")
            print(f"CPU per deployed host: {rollout.cpu / options.hosts:.2f} s, or")
            print(f"{rollout.cpu / ping.cpu:.1f} ping tasks of {ping.cpu / options.hosts:.3f} s")
            (events,) = re.findall(r"EVENTS (\d+)", (folder / "output-0").read_text())
            print(f"events: {events}; memory of the largest process: {rollout.memory_mb:.0f} MB")
            print(f"wall: {rollout.wall:.0f} s", end="")
            print(f", {rollout.wall / ideal(takes):.2f} of the ideal {ideal(takes):.0f} s" if options.uneven else "")
            for batch in json.loads((folder / "reports" / "report.json").read_text())["run"]["batches"]:
                began, ended = (datetime.fromisoformat(batch[key].removesuffix("Z")) for key in ("began", "ended"))
                late = f", {batch['late']} late" if batch.get("late") else ""
                print(f"  {batch['play']}: {batch['hosts']} hosts, {(ended - began).seconds} s{late}")
            seen = server.seen
            print(f"logins: {seen[LOGIN]}; installs: {seen[INSTALL]}; fetches of the list: {seen['/engines']}")


if __name__ == "__main__":
    main()
