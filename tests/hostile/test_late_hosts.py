"""A batch that does not wait for its slowest host: what becomes of that host, and of the batches after it."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from fake_node import INSTALL, answer, for_session
from rollouts import Rollout, environment, inventory, rollout

SLOW, SECONDS = "edge-4", 14
BATCHES = {"slb_serial": [1, 5, 1, 3]}


@pytest.fixture
def fleet(start, controller):
    """Ten hosts; ``rejected`` are not installed, and ``after`` happens when the batch after the slow host has begun."""

    def make(rejected=(), after=None):
        def behave(exchange):
            name = json.loads(exchange.request.body)["name"]
            if after and name == "edge-7":
                after()
            answers = ('{"code":0,"msg":"ok"}', '{"success":false,"msg":"no credential 99"}')
            answer(200, answers[name in rejected])(exchange)

        server = start({INSTALL: [for_session(behave)]})
        hosts = inventory(server, controller.folder / "hosts", 10)
        lie = controller.folder / "lie"
        lie.write_text("{}")
        hosts["engines"]["hosts"][SLOW].update(stateful_seconds=SECONDS, stateful_lie=str(lie))
        return server, hosts, lie

    return make


def asked(server):
    return [json.loads(request.body)["name"] for request in server.to(INSTALL)]


@pytest.mark.parametrize(("percentage", "late"), [(None, [0, 1, 0, 0]), (19, [0, 0, 0, 0])])
def test_batch_ends_before_a_slow_host(fleet, controller, percentage, late):
    """Unless too many hosts of it would have failed if the slow one fails. So in a slice of a job of AWX."""
    server, hosts, _lie = fleet()
    limits = json.dumps({**BATCHES, "slb_max_fail_percentage": percentage, "awx_job_id": 7})
    seen = rollout(controller, hosts, "-e", limits, ANSIBLE_STDOUT_CALLBACK="slb.fleet.fleet")
    assert (seen.run.status, seen.counts) == (0, {"healthy": 10}), seen.run.output[-3000:]
    batches = [batch for batch in seen.document["run"]["batches"] if batch["play"] == "Deploy the engines"]
    assert [batch["late"] for batch in batches] == late
    slow = next(host for host in seen.document["hosts"] if host["name"] == SLOW)
    assert (slow["settled"] > batches[1]["ended"]) == bool(sum(late))
    assert seen.run.output.count("(1 late)") == 2 * sum(late)
    assert "\x1b[K" not in seen.run.output, "without a terminal, the line of progress is not drawn in place"
    assert len(asked(server)) == 10


def test_command_goes_on_after_a_failed_host(fleet, controller):
    """A batch with a failed host does not wait for a slow one, and Ansible does not end the command."""
    server, hosts, _lie = fleet(["edge-2"])
    plays = [
        {"ansible.builtin.import_playbook": "slb.fleet.rollout"},
        {"hosts": "engines", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {"msg": "goes on"}}]},
    ]
    limits = json.dumps({"slb_serial": [1, 6, 3]})
    run = controller.run(plays, hosts, "-e", limits, **environment(controller.folder / "reports"))
    assert (run.status, run.output.count("goes on"), len(asked(server))) == (2, 9, 10), run.output[-3000:]
    document = json.loads((controller.folder / "reports" / "report.json").read_text())
    assert [batch["late"] for batch in document["run"]["batches"]][-3:] == [0, 1, 0]


@pytest.mark.parametrize("rejected", ["edge-1", "edge-7"])
def test_failed_batch_ends_the_rollout_and_not_the_wait(fleet, controller, rejected):
    server, hosts, _lie = fleet([rejected])
    seen = rollout(controller, hosts, "-e", json.dumps(BATCHES))
    last = int(rejected.partition("-")[2])
    assert (seen.run.status, len(asked(server))) == (2, last), seen.run.output[-3000:]
    counts = (seen.counts["healthy"], seen.counts["failed"], seen.counts["not_started"])
    assert counts == (last - 1, 1, 10 - last)
    (failed,) = (host for host in seen.document["hosts"] if host["status"] == "failed")
    assert ("no credential 99" in failed["summary"], "slb_user_credential_id" in failed["fix"]) == (True, True)
    assert {host["code"] for host in seen.document["hosts"] if host["status"] == "not_started"} == {"not_started"}
    assert sum(batch["hosts"] for batch in seen.document["run"]["batches"][2:]) == last


def test_late_host_that_is_lost_fails_alone(fleet, controller):
    lose = {"instead": "", "status": 255}
    server, hosts, lie = fleet(after=lambda: lie.write_text(json.dumps(lose)))
    seen = rollout(controller, hosts, "-e", json.dumps(BATCHES))
    assert (seen.run.status, seen.counts) == (2, {"healthy": 9, "failed": 1}), seen.run.output[-3000:]
    failed = next(host for host in seen.document["hosts"] if host["name"] == SLOW)
    assert (failed["code"], failed["afterwards"], len(asked(server))) == ("host_unreachable", "unknown", 10)
    assert seen.document["run"]["batches"][-3]["failed"] == 1


def test_lost_last_host_does_not_end_the_wait_for_others(fleet, controller):
    """Ansible ends a run if all hosts of a batch are unreachable."""
    server, hosts, _lie = fleet()
    lost = controller.folder / "lost"
    lost.write_text(json.dumps({"module": "motd", "lost": True}))
    hosts["engines"]["hosts"]["edge-7"].update(stateful_lie=str(lost), slb_motd_after="restored")
    seen = rollout(controller, hosts, "-e", json.dumps(BATCHES))
    assert (seen.run.status, len(asked(server))) == (2, 7), seen.run.output[-3000:]
    assert (seen.status("edge-7"), seen.status(SLOW), seen.counts["not_started"]) == ("failed", "healthy", 3)


def test_late_host_of_an_approved_rollout_with_pauses(fleet, controller):
    """The check plans; the approved run is late as any other one."""
    server, hosts, _lie = fleet()
    assert rollout(controller, hosts, "--check").counts == {"planned": 10}
    limits = {**BATCHES, "slb_batch_pause": 1, "slb_approved_plan": str(controller.folder / "reports" / "plan.json")}
    seen = rollout(controller, hosts, "-e", json.dumps(limits))
    assert (seen.run.status, seen.counts, len(asked(server))) == (0, {"healthy": 10}, 10), seen.run.output[-3000:]
    deployed = [batch for batch in seen.document["run"]["batches"] if batch["play"] == "Deploy the engines"]
    assert (sum(batch["late"] for batch in deployed), seen.run.output.count("Pausing for")) == (1, len(deployed) - 1)


def test_role_in_a_play_of_a_user_awaits_each_host(fleet, controller):
    server, hosts, _lie = fleet()
    plays = [{"hosts": "engines", "gather_facts": False, "serial": 5, "roles": ["slb.fleet.engine_deployment"]}]
    run = controller.run(plays, hosts, **environment(controller.folder / "reports"))
    assert (run.status, len(asked(server)), set(run.of("failed").values())) == (0, 10, {0}), run.output[-3000:]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, "a worker"])
def test_run_that_is_ended_while_a_host_is_late(fleet, controller, number):
    """The next run waits for the request of this one, and sends no second one."""
    processes = []

    def end():
        pid = processes[0].pid
        if number == "a worker":
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            os.kill(int(children[-1]), signal.SIGKILL)
        else:
            os.kill(pid, number)

    server, hosts, _lie = fleet(after=end)
    plays = [{"ansible.builtin.import_playbook": "slb.fleet.rollout"}]
    # A job in the background of a shell inherits that SIGINT is ignored.
    command = ["env", "--default-signal=INT", *controller.command(plays, hosts), "-e", json.dumps(BATCHES)]
    variables = controller.environment(**environment(controller.folder / "reports"))
    processes.append(subprocess.Popen(command, env=variables, cwd=controller.folder, stdout=subprocess.DEVNULL))
    assert processes[0].wait(timeout=120) != 0
    first = json.loads((controller.folder / "reports" / "report.json").read_text())
    # A killed run leaves the report that it wrote last; on a busy machine that is one of some seconds before.
    assert Rollout(None, first).status(SLOW) in ("interrupted", *(["not_started"] if number == signal.SIGKILL else []))
    time.sleep(1)
    seen = rollout(controller, hosts, "-e", json.dumps(BATCHES))
    assert (seen.run.status, seen.counts) == (0, {"healthy": 10}), seen.run.output[-3000:]
    assert asked(server).count(SLOW) == 1
