"""Three rollouts of one user at the same time, on a console that keeps only the newest session."""

import json
import threading
import time

import pytest
from fake_node import INSTALL, LOGIN, answer, for_session, new_session
from rollouts import inventory, rollout
from scenarios import ENGINE_LIST, LIST

from playbooks import Controller

RUNS, HOSTS, SECONDS = 3, 3, 60
WORDS = {"running": ["up"], "deploying": ["deploying"]}


@pytest.mark.long
def test_rollouts_that_end_each_others_session_all_succeed(start, tmp_path):
    installed, accepted = {}, []

    def log_in(exchange):
        exchange.server.sessions.clear()
        new_session()(exchange)

    def install(exchange):
        body = json.loads(exchange.request.body)
        accepted.append(body["name"])
        installed[body["name"]] = (body["manage_ip"], time.monotonic())
        answer(200, '{"code":0,"msg":"installation started"}')(exchange)

    def list_engines(exchange):
        now = time.monotonic()
        items = [
            {"n": name, "ip": address, "st": "up" if now - at >= SECONDS else "deploying"}
            for name, (address, at) in dict(installed).items()
        ]
        answer(200, json.dumps({"items": items, "total": len(items)}))(exchange)

    node = start({LOGIN: [log_in], INSTALL: [for_session(install)], LIST: [for_session(list_engines)]})
    results = {}

    def run(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        listed = {**ENGINE_LIST, **WORDS}
        fleet = inventory(node, folder / "hosts", HOSTS, stateful_seconds=SECONDS, slb_engine_list=listed)
        hosts = fleet["engines"]["hosts"]
        fleet["engines"]["hosts"] = {
            f"run-{number}-{name}": {**values, "slb_manage_ip": values["slb_manage_ip"].replace("10.9", f"10.{number}")}
            for name, values in hosts.items()
        }
        more = {"slb_serial": "100%", "slb_engine_list_may_be_empty": True}
        results[number] = rollout(Controller(folder), fleet, "-e", json.dumps(more))

    runs = [threading.Thread(target=run, args=(number,)) for number in range(RUNS)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    for done in results.values():
        assert (done.run.status, done.counts) == (0, {"healthy": HOSTS}), done.run.output[-4000:]
    assert len(results) == RUNS
    assert len(accepted) == len(installed) == RUNS * HOSTS
    assert node.seen[LOGIN] > RUNS
