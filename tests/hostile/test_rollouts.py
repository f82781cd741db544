"""Failures that end a run: too many failed hosts of a batch, and a controller without requests."""

import json

import pytest
from fake_node import INSTALL
from rollouts import installed, inventory, rejecting, rollout


@pytest.mark.parametrize(("percentage", "started"), [(33, 3), (34, 8)])
def test_too_many_failed_hosts_end_the_run_after_the_batch(start, controller, percentage, started):
    server = start(rejecting("edge-2"))
    limits = {"slb_serial": [3, 2, 3], "slb_max_fail_percentage": percentage}
    seen = rollout(controller, inventory(server, controller.folder / "hosts", 8), "-e", json.dumps(limits))
    assert seen.run.status != 0
    assert len(installed(server)) == started, seen.run.output[-4000:]
    assert (seen.counts["failed"], seen.counts["healthy"]) == (1, started - 1)
    assert seen.counts["not_started"] == 8 - started


def test_execution_environment_without_requests_changes_nothing(start, controller):
    (controller.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['requests'] = sys.modules['urllib3'] = None\n"
    )
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 2)
    seen = rollout(controller, hosts, PYTHONPATH=str(controller.folder))
    assert seen.run.status != 0
    assert "Python package requests missing" in seen.run.words
    assert (seen.run.changed, server.seen[INSTALL]) == (0, 0)


def test_hosts_of_the_inventory_are_rejected(start, controller):
    """Plays do not see them: a run would adopt interfaces of each host of the group engines."""
    hosts = inventory(start(), controller.folder / "hosts", 2, slb_hosts="edge-2")
    seen = rollout(controller, hosts, playbook="adopt_interfaces")
    assert {host["code"] for host in seen.document["hosts"]} == {"invalid_variable"}, seen.run.output[-3000:]
    assert "Variable slb_hosts has no effect in the inventory" in seen.run.words
    assert seen.run.changed == 0
