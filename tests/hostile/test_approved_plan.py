"""A run does exactly the approved plan."""

import pytest
from fake_node import INSTALL
from rollouts import inventory, rollout


@pytest.mark.parametrize("by", ["file", "digest"])
@pytest.mark.parametrize("trouble", ["blocked", "unreachable", "needs an install"])
def test_healthy_host_that_breaks_after_the_approval_blocks_all(start, controller, by, trouble):
    server = start()
    states = {"edge-1": "", "edge-2": "verified"}
    planned = rollout(controller, inventory(server, controller.folder / "planned", 2, states), "--check")
    plan = planned.document["plan"]["digest"] if by == "digest" else str(controller.folder / "reports" / "plan.json")
    states["edge-2"] = "" if trouble == "needs an install" else "verified"
    hosts = inventory(server, controller.folder / "later", 2, states)
    if trouble != "needs an install":
        closed = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
        broken = closed if trouble == "unreachable" else {"slb_is_change_hostname": True, "slb_engine_name": "no name"}
        hosts["engines"]["hosts"]["edge-2"].update(broken)
    later = rollout(controller, hosts, "-e", f"slb_approved_plan={plan}")
    assert server.seen[INSTALL] == 0, later.run.output[-4000:]
    assert later.run.status != 0
    assert {each["name"]: each["code"] for each in later.document["hosts"]}["edge-1"] == "not_in_approved_plan"
