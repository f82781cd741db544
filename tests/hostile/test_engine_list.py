"""The engine list in real runs: shown once for each management node, and compared with the inventory."""

import json
import re

import pytest
import yaml
from fake_node import PASSWORD, answer, for_session

from ansible_collections.slb.fleet.tests.canned.canned import Canned
from playbooks import fleet, of

LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}


def lists(*engines):
    """Return the routes of a management node that lists engines, each with number and state."""
    items = [{"name": f"edge-{number}", "ip": f"192.0.2.{number}", "status": state} for number, state in engines]
    return {"/engines": [for_session(answer(200, json.dumps(items)))]}


def test_audit_reports_engines_that_no_inventory_has(start, tmp_path):
    """Of two management nodes, one still lists engines that were moved to the other one."""
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="unreachable", edge_3="healthy", edge_4="healthy")
    north = start(lists(*((number, "running") for number in (1, 2, 3, 4, 9))))
    south = start(lists((3, "running"), (4, "running")))
    inventory = yaml.safe_load(fleet.inventory.read_text())
    for number, server in enumerate((north, north, south, south), 1):
        engine = of(server, PASSWORD, slb_engine_list=LISTING, slb_manage_ip=f"192.0.2.{number}")
        inventory["engines"]["hosts"][f"edge-{number}"].update(engine)
    fleet.inventory.write_text(yaml.safe_dump(inventory))
    _status, output = fleet.run("slb.fleet.audit")
    expected = [{"engine": "edge-9 (192.0.2.9)", "management_node": north.base_url}]
    assert fleet.document["unknown_engines"] == expected, output
    assert "1 in the engine list only: edge-9" in output


@pytest.mark.parametrize("output", ["default", "slb.fleet.fleet"])
def test_engine_list_is_shown_once_for_each_management_node(start, controller, output):
    """Two lists have engines in unmapped states, one is empty, and one host has no list configured."""
    one, two, empty = start(lists((1, "running"), (2, "asleep"))), start(lists((1, "abroad"))), start(lists())
    inventory = fleet(7)
    for number, server in enumerate((one, two, empty, one, two, empty), 1):
        inventory["all"]["hosts"][f"edge-{number}"] = of(server, PASSWORD, slb_engine_list=LISTING)
    inventory["all"]["hosts"]["edge-7"] = of(two, PASSWORD)
    show = {"ansible.builtin.import_playbook": "slb.fleet.show_engine_list"}
    run = controller.run([show], inventory, "-e", "slb_hosts=all", ANSIBLE_STDOUT_CALLBACK=output)
    assert run.status == 2
    text = " ".join(run.output.replace("\\n", " ").split())
    for server, state in ((one, "asleep"), (two, "abroad")):
        assert text.count(f"{server.base_url}: unmapped states: {state}.") == 1, run.output
        assert len(re.findall(rf"{re.escape(server.base_url)}\W+ENGINE\b", text)) == 1, run.output
    assert len(re.findall(rf"{re.escape(empty.base_url)}\W+Engine list empty\.", text)) == 1, run.output
    assert "Engine list not configured" in text
    for number in (1, 2, 4, 5):
        assert re.search(rf"\bedge-{number} +(yes|no:)", run.output), run.output


@pytest.mark.parametrize("form", ["mapping", "extra variable", "extra JSON"])
def test_engine_list_with_only_a_path_is_proposed_once(start, controller, form):
    """All hosts of a management node share one proposal. No value of the answer is shown."""
    engines = [{"n": f"edge-{each}", "ip": f"192.0.2.{each}", "st": "Running", "psk": "hunter2"} for each in (1, 2)]
    document = json.dumps({"data": engines, "total": 2, "sid": "Z9"})
    node = start({"/engines?size=9": [for_session(answer(200, document))]})
    inventory, given = fleet(3), {"path": "/engines?size=9"}
    for number in (1, 2, 3):
        more = {"slb_engine_list": given} if form == "mapping" else {}
        inventory["all"]["hosts"][f"edge-{number}"] = of(node, PASSWORD, slb_manage_ip=f"192.0.2.{number}", **more)
    extra = {
        "mapping": (),
        "extra variable": ("-e", f"slb_engine_list='{json.dumps(given)}'"),
        "extra JSON": ("-e", json.dumps({"slb_engine_list": given})),
    }[form]
    show = {"ansible.builtin.import_playbook": "slb.fleet.show_engine_list"}
    run = controller.run([show], inventory, "-e", "slb_hosts=all", *extra, ANSIBLE_STDOUT_CALLBACK="slb.fleet.fleet")
    assert run.status == 0, run.output
    proposal = "path: /engines?size=9 items: data name: n address: ip state: st running: [Running]"
    text = " ".join(run.output.split())
    assert (
        text.count(f"slb_engine_list: {proposal} deploying: [] failed: [] total: total Hosts in the list: 2 of 3.") == 1
    )
    assert [request.path for request in node.requests].count("/engines?size=9") == 1
    assert not {word for word in ("hunter2", "Z9") if word in run.output}
