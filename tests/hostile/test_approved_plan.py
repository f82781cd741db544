"""A run does exactly the approved plan."""

import pytest
from fake_node import INSTALL
from rollouts import inventory, rollout


@pytest.mark.parametrize(("by", "limit"), [("file", ()), ("digest", ()), ("file", ("--limit", "edge-*"))])
@pytest.mark.parametrize("trouble", ["blocked", "unreachable", "needs an install"])
def test_healthy_host_that_breaks_after_the_approval_blocks_all(start, controller, by, limit, trouble):
    server = start()
    states = {"edge-1": "", "edge-2": "verified"}
    planned = rollout(controller, inventory(server, controller.folder / "planned", 2, states), "--check", *limit)
    plan = planned.document["plan"]["digest"] if by == "digest" else str(controller.folder / "reports" / "plan.json")
    states["edge-2"] = "" if trouble == "needs an install" else "verified"
    hosts = inventory(server, controller.folder / "later", 2, states)
    if trouble != "needs an install":
        closed = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
        broken = closed if trouble == "unreachable" else {"slb_is_change_hostname": True, "slb_engine_name": "no name"}
        hosts["engines"]["hosts"]["edge-2"].update(broken)
    later = rollout(controller, hosts, "-e", f"slb_approved_plan={plan}", *limit)
    assert server.seen[INSTALL] == 0, later.run.output[-4000:]
    assert later.run.status != 0
    assert {each["name"]: each["code"] for each in later.document["hosts"]}["edge-1"] == "not_in_approved_plan"


@pytest.mark.parametrize("by", ["file", "digest"])
def test_hosts_that_only_the_comparison_blocks_can_be_approved(start, controller, by):
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 3)
    hosts["engines"]["hosts"]["edge-2"]["slb_engine_name"] = "edge-3"
    planned = rollout(controller, hosts, "--check")
    assert planned.document["plan"]["hosts"]["edge-2"] == planned.document["plan"]["hosts"]["edge-3"]
    plan = planned.document["plan"]["digest"] if by == "digest" else str(controller.folder / "reports" / "plan.json")
    later = rollout(controller, hosts, "-e", f"slb_approved_plan={plan}")
    assert (later.counts, later.status("edge-1")) == ({"healthy": 1, "failed": 2}, "healthy"), later.run.output[-4000:]


@pytest.mark.parametrize("state", ["pending", "verified"])
def test_rest_of_an_approved_plan_is_done_after_a_run_that_ended(start, controller, state):
    server = start()
    rollout(controller, inventory(server, controller.folder / "planned", 2), "--check")
    hosts = inventory(server, controller.folder / "later", 2, {"edge-1": state})
    later = rollout(controller, hosts, "-e", f"slb_approved_plan={controller.folder / 'reports' / 'plan.json'}")
    assert (later.run.status, later.counts) == (0, {"healthy": 2}), later.run.output[-4000:]
    assert server.seen[INSTALL] == 1
