"""The role in plays of a user's own: in a loop, with other variables, after a rescue, with a handler."""

import json

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

ROLE = {"name": "slb.fleet.engine_deployment"}
PLAYS = {
    "in a loop": [{"include_role": ROLE, "loop": ["first", "second"]}],
    "with other variables": [
        {"include_role": ROLE, "vars": {"slb_motd": "keep", "slb_wait_timeout": 400}},
        {"include_role": ROLE, "vars": {"slb_motd": "aside"}},
    ],
    "after a rescue": [
        {"block": [{"include_role": ROLE, "vars": {"slb_wait_timeout": 10}}], "rescue": [{"include_role": ROLE}]}
    ],
    # Ansible allows no role in a handler.
    "with a handler": [
        {"include_role": {**ROLE, "apply": {"notify": "Check again"}}},
        {"meta": "flush_handlers"},
        {"assert": {"that": "slb_again.plan.code == 'healthy'"}, "when": "inventory_hostname == 'edge-1'"},
        {"include_role": ROLE},
    ],
}
HANDLERS = [{"name": "Check again", "slb.fleet.engine_plan": {}, "register": "slb_again"}]


@pytest.mark.parametrize("name", PLAYS)
def test_role_ends_with_a_healthy_engine(tmp_path, name):
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy")
    check = {"assert": {"that": "slb_plan.plan.action == 'none'"}}
    play = {"hosts": "engines", "gather_facts": False, "handlers": HANDLERS, "tasks": [*PLAYS[name], check]}
    (tmp_path / "own.json").write_text(json.dumps([play]))
    status, output = fleet.run("own.json")
    assert status == 0, output
    assert "FAILED" not in output or name == "after a rescue", output
