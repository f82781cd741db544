"""A run does exactly the approved plan."""

import json

import pytest
from fake_node import INSTALL
from rollouts import environment, inventory, rollout


@pytest.mark.parametrize("by", ["file", "digest"])
def test_another_management_node_is_another_plan(start, controller, by):
    meant, other = start(), start()

    def fleet(server, hosts):
        """Return the plan of untouched hosts; those of the tests note a request in check mode, too."""
        return inventory(server, controller.folder / hosts, 2)

    planned = rollout(controller, fleet(meant, "planned"), "--check")
    assert planned.counts == {"planned": 2}, planned.run.output[-4000:]
    plan = planned.document["plan"]
    file = controller.folder / "plan.json"
    file.write_text(json.dumps(planned.document))

    approved = {"slb_approved_plan": plan["digest"] if by == "digest" else str(file), "slb_serial": "100%"}
    refused = rollout(controller, fleet(other, "rejected"), "-e", json.dumps(approved))
    assert (other.seen[INSTALL], refused.counts) == (0, {"failed": 2}), refused.run.output[-4000:]
    assert {host["code"] for host in refused.document["hosts"]} == {"not_in_approved_plan"}

    done = rollout(controller, fleet(meant, "done"), "-e", json.dumps(approved))
    assert (done.counts, meant.seen[INSTALL]) == ({"healthy": 2}, 2), done.run.output[-4000:]


@pytest.mark.parametrize(
    "otherwise",
    [{"slb_user_credential_id": 2}, {"slb_is_change_hostname": True}, {"slb_remove_leftovers": True}],
    ids=lambda otherwise: next(iter(otherwise)),
)
def test_asked_for_otherwise_it_is_another_plan(start, controller, otherwise):
    server = start()
    planned = rollout(controller, inventory(server, controller.folder / "planned", 1), "--check")
    hosts = inventory(server, controller.folder / "rejected", 1, **otherwise)
    refused = rollout(controller, hosts, "-e", f"slb_approved_plan={planned.document['plan']['digest']}")
    assert (server.seen[INSTALL], refused.counts) == (0, {"failed": 1}), refused.run.output[-4000:]
    assert refused.document["hosts"][0]["code"] == "not_in_approved_plan"


def test_no_interface_is_adopted_where_the_fleet_is_not_as_approved(start, controller):
    hosts = inventory(start(), controller.folder / "hosts", 2, slb_adopt_interfaces=True)
    refused = rollout(controller, hosts, "-e", f"slb_approved_plan=sha256:{64 * '0'}")
    assert (refused.counts, refused.run.changed) == ({"failed": 2}, 0), refused.run.output[-4000:]


def test_no_other_interface_is_adopted_than_was_approved(start, controller):
    server, adopt = start(), {"slb_adopt_interfaces": True, "slb_interfaces": ["ens9"]}
    planned = rollout(controller, inventory(server, controller.folder / "planned", 1, **adopt), "--check")
    more = inventory(server, controller.folder / "rejected", 1, **{**adopt, "slb_interfaces": ["ens9", "eth0"]})
    refused = rollout(controller, more, "-e", f"slb_approved_plan={planned.document['plan']['digest']}")
    assert (refused.counts, refused.run.changed) == ({"failed": 1}, 0), refused.run.output[-4000:]
    assert refused.document["hosts"][0]["code"] == "not_in_approved_plan"


def test_what_an_audit_shows_can_be_approved(start, controller):
    """With a container to set aside, which the plan names."""
    server = start()
    hosts = inventory(
        server, controller.folder / "hosts", 1, {"edge-1": "live"}, slb_unverified_engine="replace", slb_stop_timeout=1
    )
    reports = controller.folder / "audited"
    audit = [{"ansible.builtin.import_playbook": "slb.fleet.audit"}]
    assert controller.run(audit, hosts, **environment(reports)).status != 0
    plan = json.loads((reports / "report.json").read_text())["plan"]
    assert [wants.split(":")[0] for wants in plan["hosts"].values()] == ["replace"]
    done = rollout(controller, hosts, "-e", f"slb_approved_plan={plan['digest']}")
    assert (done.counts, server.seen[INSTALL]) == ({"healthy": 1}, 1), done.run.output[-4000:]
