"""The role does the same in each everyday form of a play of one's own."""

import shlex
from typing import Any

import pytest
import yaml
from fake_node import INSTALL
from runs import run
from ways import WAYS, Way

ROLE = "slb.fleet.engine_deployment"
NOTE = {"ansible.builtin.debug": {"msg": "done"}}
IMPORT, INCLUDE = ({f"ansible.builtin.{how}_role": {"name": ROLE}} for how in ("import", "include"))
TAGGED = {"name": ROLE, "apply": {"tags": ["engine"], "become": True}}
PLAYS: dict[str, dict[str, Any]] = {
    "gather_facts": {"roles": [ROLE], "gather_facts": True},
    "serial": {"roles": [ROLE], "serial": ["1", "50%", "100%"], "max_fail_percentage": 0, "order": "reverse_sorted"},
    "any_errors_fatal": {"roles": [ROLE], "any_errors_fatal": True},
    "collections": {"roles": ["engine_deployment"], "collections": ["slb.fleet"]},
    "tags of a role": {"roles": [{"role": ROLE, "tags": ["engine"]}]},
    "tags of a play": {"roles": [ROLE], "tags": ["engine"]},
    "tags of an include": {"tasks": [{"ansible.builtin.include_role": TAGGED, "tags": ["engine"]}]},
    "import with a condition": {"tasks": [{**IMPORT, "when": "inventory_hostname != 'edge-4'", "throttle": 1}]},
    "loop": {"tasks": [{**INCLUDE, "loop": [1, 2]}]},
    "block": {"tasks": [{"block": [INCLUDE], "rescue": [{"ansible.builtin.fail": {}}], "always": [NOTE]}]},
    "proxy": {"roles": [ROLE], "environment": {"https_proxy": "http://127.0.0.1:9"}},
    "module_defaults": {"roles": [ROLE], "module_defaults": {"group/slb.fleet.management_node": {"timeout": 7}}},
    "twice": {"roles": [ROLE, {"role": ROLE, "vars": {"slb_settle": 3}}]},
    "around": {"pre_tasks": [NOTE], "roles": [ROLE], "post_tasks": [{"slb.fleet.host_info": {}}]},
    "no_log": {"roles": [ROLE], "no_log": True},
    "templates": {"roles": [ROLE], "vars": {"slb_wait_timeout": "{{ 60 * 3 }}", "slb_settle": "2"}},
    # Ansible allows no role in a handler.
    "handler": {
        "tasks": [{"ansible.builtin.include_role": {"name": ROLE, "apply": {"notify": "Check again"}}}],
        "handlers": [{"name": "Check again", "slb.fleet.engine_plan": {}}],
    },
    "ignored errors": {"roles": [ROLE], "ignore_errors": True, "ignore_unreachable": True},
}


def play(folder, start, content):
    """Return the run, and the number of its install requests."""
    server = start()
    way = Way({name: values[0] for name, values in WAYS.items()}, folder, server)
    (folder / "own.yml").write_text(yaml.safe_dump([{"hosts": "engines", "gather_facts": False, **content}]))
    tags = ["--tags", "engine"] if "engine" in str(content).replace("engine_", "") else []
    command = ["ansible-playbook", *way.sources, *way.options, *tags, "own.yml"]
    done = run(shlex.join(command), shell=True, cwd=folder, env=way.environment)
    return done, len(server.to(INSTALL))


@pytest.mark.long
@pytest.mark.parametrize("name", PLAYS)
def test_own_play_deploys_what_is_missing(name, tmp_path, start):
    done, requests = play(tmp_path, start, PLAYS[name])
    assert (done.status, requests, "WARN" in done.output) == (0, 2, False), done.output


@pytest.mark.parametrize("form", [{"roles": [ROLE], "check_mode": True}, {"tasks": [{**IMPORT, "check_mode": True}]}])
def test_own_play_in_check_mode_sends_nothing(form, tmp_path, start):
    done, requests = play(tmp_path, start, form)
    assert (done.status, requests, "failed=1" in done.output) == (0, 0, False), done.output


@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.host_pinned"])
def test_own_play_that_does_not_compare_its_hosts_is_refused(strategy, tmp_path, start):
    done, requests = play(tmp_path, start, {"roles": [ROLE], "strategy": strategy})
    assert (done.status, requests, "Set strategy: linear" in done.output) == (2, 0, True), done.output


@pytest.mark.parametrize(
    ("condition", "hosts", "requests"), [("false", 0, 0), ("inventory_hostname != 'edge-2'", 3, 1)]
)
def test_condition_of_an_import_leaves_hosts_out(condition, hosts, requests, tmp_path, start):
    server = start()
    way = Way({**{name: values[0] for name, values in WAYS.items()}, "launcher": "site.yml"}, tmp_path, server)
    way.keywords = {"when": condition}
    done = way.run()
    statuses = [host["status"] for host in way.document["hosts"]]
    assert (done.status, statuses, len(server.to(INSTALL))) == (0, ["healthy"] * hosts, requests), done.output
    assert ("left out" in done.output, "FAILED" in done.output) == (True, False), done.output
