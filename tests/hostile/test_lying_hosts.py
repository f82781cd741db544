"""Engine hosts that lie in what their modules return, with two that do not: they gain nothing, and no host loses."""

import json
import unicodedata

import pytest
from fake_node import INSTALL, LOGIN, PASSWORD
from rollouts import inventory, rollout

ESCAPES = "\x1b[2J\x1b[1;1H\x9b31m\r\u202egnp.\u2066\u2028\u200f\x07"
FORGED = "\nedge-2  healthy  (verified in the engine list, 3 s)\r\nok: [edge-2] => {}\n"
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def variables(evil, folder):
    """Return what says where credentials go, which file is written, and what Ansible runs."""
    program = f"{folder}/program"
    return {
        **{"slb_base_url": evil, "slb_validate_certs": False, "slb_username": "evil", "slb_password": "evil"},
        **{"slb_license_dest": f"{folder}/license", "slb_engine_name": "edge-1", "slb_unverified_engine": "replace"},
        **{"slb_plan": {"plan": {"action": "none", "verified_by": "engine_list"}}},
        **{"ansible_connection": "local", "ansible_host": "127.0.0.1", "ansible_python_interpreter": program},
        **{"ansible_become": True, "ansible_become_exe": program, "ansible_remote_tmp": f"{folder}/remote"},
    }


def lies(evil, folder):
    """Return lies that are dropped, and lies that end their own host."""
    facts = variables(evil, folder)
    template = f"{{{{ lookup('ansible.builtin.pipe', 'touch {folder}/touched') }}}}"

    def look(**values):
        return {"module": "host_info", "merge": {"slb_host": values}}

    dropped = {
        "facts": {"merge": {"ansible_facts": {**facts, **{f"ansible_{name}": 1 for name in facts}}}},
        "groups": {"merge": {"add_host": {"host_name": "edge-1", "host_vars": facts}, "add_group": "slb_work"}},
        "internal": {
            "merge": {
                **{"_ansible_no_log": True, "_ansible_notify": ["all"], "include": f"{folder}/program"},
                "_ansible_delegated_vars": {"ansible_host": "edge-1", "ansible_facts": facts},
                "ansible_stats": {"data": facts, "per_host": False, "aggregate": False},
            }
        },
        "outcomes": {"merge": {"skipped": True, "results": [{"failed": True, "ansible_facts": facts}], "retries": 9}},
        "words": {"merge": {"warnings": [ESCAPES, FORGED], "msg": FORGED + ESCAPES, "diff": {"before": ESCAPES}}},
        "keys": {"merge": {ESCAPES: FORGED, template: template}},
        "template": look(engine_container={"image": template, "why": template, "peers": [template]}),
        "record": {"module": "_engine_step", "merge": {"set_aside_as": template, "before": {template: template}}},
        "noise": {"before": FORGED, "after": FORGED},
    }
    ending = {
        "nothing": {"module": "host_info", "instead": "{}"},
        "list": {"module": "host_info", "merge": {"slb_host": [1]}},
        "text": look(engine_container="running"),
        "state": look(engine_container={"state": "sleeping" + ESCAPES}),
        "record of no kind": look(record={"state": template}),
        "empty": {"instead": ""},
        "only noise": {"instead": ESCAPES + FORGED},
        "cut": {"instead": '{"slb_host"', "status": 255},
        "failed": {"merge": {"failed": True, "msg": FORGED + ESCAPES, "code": ESCAPES}},
    }
    return dropped, ending


@pytest.mark.parametrize("playbook", ["rollout", "diagnose", "audit", "remediate", "adopt_interfaces"])
def test_lies_gain_nothing(start, controller, playbook):
    server, evil = start(), start()
    folder = controller.folder / "trap"
    folder.mkdir()
    (folder / "program").write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    (folder / "program").chmod(0o755)
    dropped, ending = lies(evil.base_url, folder)
    told = {**dropped, **ending}
    # An audit fails for a host without a verified engine.
    states = dict.fromkeys(map("edge-{}".format, range(1, len(told) + 3)), "verified" if playbook == "audit" else "")
    hosts = inventory(server, controller.folder / "hosts", len(told) + 2, states)
    liars = {}
    for number, (name, lie) in enumerate(told.items(), 3):
        file = controller.folder / f"lie-{number}"
        file.write_text(json.dumps(lie))
        hosts["engines"]["hosts"][f"edge-{number}"]["stateful_lie"] = str(file)
        liars[f"edge-{number}"] = name
    before = sorted(path.name for path in folder.iterdir())
    cache = controller.folder / "cache"
    options = ["-e", "slb_serial=100%", *(["--limit", ",".join(states)] if playbook == "remediate" else [])]
    kept = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(cache)}
    # Ansible's own callback shows the warnings of a module as they are, from ansible-core 2.21 on.
    kept["ANSIBLE_STDOUT_CALLBACK"] = "slb.fleet.fleet"
    seen = rollout(controller, hosts, *options, playbook=playbook, **kept)
    statuses = {host["name"]: host["status"] for host in seen.document["hosts"]}
    assert statuses.keys() == states.keys()
    expected = {"rollout": "healthy", "audit": "healthy", "diagnose": "planned"}.get(playbook, "done")
    assert statuses["edge-1"] == statuses["edge-2"] == expected, seen.run.output[-4000:]
    for host, name in liars.items():
        if name in ending and (playbook != "adopt_interfaces" or ending[name].get("module") is None):
            assert statuses[host] in ("failed", "unreachable"), (name, statuses[host], seen.run.output[-4000:])
    assert evil.connections == 0
    assert sorted(path.name for path in folder.iterdir()) == before
    assert server.seen[LOGIN] <= 1
    asked = [json.loads(request.body) for request in server.to(INSTALL)]
    assert all(each["manage_ip"] == hosts["engines"]["hosts"][each["name"]]["slb_manage_ip"] for each in asked)
    facts = [fact for file in cache.glob("*edge-*") for fact in json.loads(file.read_text())]
    assert not [fact for fact in facts if not fact.startswith("_")], "a result has left a fact"
    text = seen.run.output + json.dumps(seen.document, ensure_ascii=False)
    assert {char for char in text if char not in "\n\t" and unicodedata.category(char) in HIDDEN} == set()
    assert "Traceback" not in text
    assert PASSWORD not in text
