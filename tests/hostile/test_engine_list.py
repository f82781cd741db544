"""The engine list in real runs: in pages, empty, not configured."""

import json
import re

import pytest
import yaml
from fake_node import LOGIN, PASSWORD, answer, for_session, message

from ansible_collections.slb.fleet.tests.unit.report.canned import Canned
from playbooks import fleet, of, play

LISTING = {
    "path": "/console/engines?size=2",
    "items": "data.items",
    "name": "name",
    "address": "ip",
    "state": "status",
    "running": "running",
    "page_parameter": "page",
}
TRY = {"ansible.builtin.import_playbook": "slb.fleet.show_engine_list"}


def pages_of(*states):
    """Routes of a console that lists one engine for each state, two on a page."""
    engines = [{"name": f"edge-{n}", "ip": f"192.0.2.{n}", "status": state} for n, state in enumerate(states, 1)]

    def page(number):
        items = engines[2 * number - 2 : 2 * number]
        body = json.dumps({"code": 0, "data": {"items": items, "total": len(engines)}}).encode()

        def behave(exchange):
            exchange.send(message(200, body))

        return [for_session(behave)]

    return {f"/console/engines?size=2&page={number}": page(number) for number in range(1, 9)}


def test_what_the_inventory_lacks_is_no_host_that_cannot_be_reached(start, tmp_path):
    """Of two management nodes, one lists engines that were moved to the other one."""
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="unreachable", edge_3="healthy", edge_4="healthy")
    engines = [{"name": f"edge-{number}", "ip": f"192.0.2.{number}", "status": "running"} for number in (1, 2, 3, 4, 9)]
    north, south = (
        start({"/engines": [for_session(answer(200, json.dumps(listed)))]}) for listed in (engines, engines[2:4])
    )
    inventory = yaml.safe_load(fleet.inventory.read_text())
    listing = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}
    for number, server in enumerate((north, north, south, south), 1):
        engine = of(server, PASSWORD, slb_engine_list=listing, slb_manage_ip=f"192.0.2.{number}")
        inventory["engines"]["hosts"][f"edge-{number}"].update(engine)
    fleet.inventory.write_text(yaml.safe_dump(inventory))
    _status, output = fleet.run("slb.fleet.audit")
    expected = [{"engine": "edge-9 (192.0.2.9)", "management_node": north.base_url}]
    assert fleet.document["unknown_engines"] == expected, output


def words(run):
    return " ".join(run.output.replace("\\n", " ").split())


def test_a_list_in_pages(start, controller):
    server = start(pages_of("running", "running", "upgrading", "running", "asleep"))
    tasks = [
        {"slb.fleet.engine_info": {"engine_list": "{{ slb_engine_list }}"}, "register": "console"},
        {
            "ansible.builtin.assert": {
                "that": [
                    "console.engines | length == 5",
                    "console.engines[4].name == 'edge-5'",
                    "console.unmapped == ['asleep', 'upgrading']",
                ]
            }
        },
    ]
    # As a form gives it: what was left empty is there, and empty.
    listing = {**LISTING, "first_page": None, "page_step": "", "failed": None, "deploying": ""}
    controller.run([play(*tasks)], fleet(1, **of(server, PASSWORD, slb_engine_list=listing))).assert_ok()
    assert server.seen[LOGIN] == 1
    assert sum(count for path, count in server.seen.items() if "page=" in path) == 3


def test_trying_a_description(start, controller):
    """Without a connection to any host: those of the inventory cannot be reached."""
    server = start(pages_of("running", "asleep", "running"))
    run = controller.run([TRY], fleet(2, **of(server, PASSWORD, slb_engine_list=LISTING)), "-e", "slb_hosts=all")
    assert "edge-3" in run.output
    assert "unmapped states: asleep." in words(run)
    assert "UNREACHABLE" not in run.output


def test_trying_a_list_that_shows_nothing(start, controller):
    server = start(pages_of())
    run = controller.run([TRY], fleet(1, **of(server, PASSWORD, slb_engine_list=LISTING)), "-e", "slb_hosts=all")
    assert "Engine list empty. Check its path, the rights of the user and the filter in the query." in words(run)


@pytest.mark.parametrize("output", ["default", "slb.fleet.fleet"])
def test_each_management_node_s_list_is_shown_once(start, controller, output):
    """Of three: two with a list that is described, one of them with nothing in it, and one whose list is not."""
    one, two, three = start(pages_of("running", "asleep")), start(pages_of("abroad")), start(pages_of())
    inventory = fleet(7)
    for number, server in enumerate((one, two, three, one, two, three), 1):
        inventory["all"]["hosts"][f"edge-{number}"] = of(server, PASSWORD, slb_engine_list=LISTING)
    inventory["all"]["hosts"]["edge-7"] = of(two, PASSWORD)
    run = controller.run([TRY], inventory, "-e", "slb_hosts=all", ANSIBLE_STDOUT_CALLBACK=output)
    assert run.status == 2
    said = words(run)
    for server, its in ((one, "asleep"), (two, "abroad")):
        told = f"{server.base_url}: unmapped states: {its}."
        assert said.count(told) == 1
        assert len(re.findall(rf"{re.escape(server.base_url)}\W+ENGINE\b", said)) == 1, said
    empty = "Engine list empty. Check its path, the rights of the user and the filter in the query."
    assert len(re.findall(rf"{re.escape(three.base_url)}\W+{re.escape(empty)}", said)) == 1
    assert "Engine list not configured" in said
    assert "undefined" not in said
    for number in (1, 2, 4, 5):
        assert re.search(rf"\bedge-{number} +(yes|no:)", run.output), run.output


def test_trying_nothing(start, controller):
    server = start()
    for undescribed in ({}, {"slb_engine_list": None}, {"slb_engine_list": ""}, {"slb_engine_list": {}}):
        run = controller.run([TRY], fleet(3, **of(server, PASSWORD, **undescribed)), "-e", "slb_hosts=all")
        assert run.status == 2
        assert words(run).count('"msg": "Engine list not configured') == 1, run.output
    assert server.connections == 0
