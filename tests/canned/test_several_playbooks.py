"""Several playbooks of the collection in one command: each has its own result, next command and files."""

import json
import re

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long

OWN = {"hosts": "engines", "gather_facts": False, "tasks": [{"debug": {"msg": "a task of the user"}}]}


def site(fleet, *playbooks):
    """Write a site.yml of these playbooks, or plays; a name may have the hosts behind a blank."""
    plays = []
    for each in playbooks:
        name, _blank, hosts = each.partition(" ") if isinstance(each, str) else ("", "", "")
        named = {"import_playbook": f"slb.fleet.{name}", "vars": {"slb_hosts": hosts.split(",")} if hosts else {}}
        plays.append(named if name else each)
    (fleet.folder / "site.yml").write_text(json.dumps(plays))
    return "site.yml"


def reports(fleet):
    documents = {path.parent: json.loads(path.read_text()) for path in fleet.reports.rglob("report.json")}
    return {str(path.relative_to(fleet.folder)): document for path, document in documents.items()}


def results(output):
    return re.findall(r"^slb\.fleet\.(\w+):\nResult:  (\w+)   (\S+ \w+)", output, re.MULTILINE)


def test_audit_after_rollout_keeps_report_of_rollout(tmp_path):
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy")
    status, output = fleet.run("slb.fleet.rollout", "slb.fleet.audit")
    assert status == 0, output
    assert results(output) == [("rollout", "OK", "2/2 healthy"), ("audit", "OK", "2/2 healthy")]
    found = reports(fleet)
    assert {path: document["run"]["playbook"] for path, document in found.items()} == {
        "reports": "slb.fleet.rollout",
        "reports/audit": "slb.fleet.audit",
    }
    assert {document["run"]["status"] for document in found.values()} == {"finished"}
    assert [document["counts"]["changed"] for document in found.values()] == [1, 0]
    for path, document in found.items():
        metrics = (tmp_path / path / "slb_fleet.prom").read_text()
        name = document["run"]["playbook"]
        assert f'slb_fleet_run_complete{{playbook="{name}",check="false"}} 1' in metrics


def test_import_with_tag_never_is_refused(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    (tmp_path / "site.yml").write_text(json.dumps([{"import_playbook": "slb.fleet.rollout", "tags": ["never"]}]))
    status, output = fleet.run("site.yml")
    assert status != 0, output
    assert fleet.statuses == {"edge-1": "failed"}, output


def test_site_with_imports_has_each_result(tmp_path):
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy", edge_3="work")
    name = site(fleet, "diagnose", "rollout edge-1", OWN, "rollout edge-2,edge-3", "audit", "audit")
    status, output = fleet.run(name)
    assert status == 0, output
    assert "Plan: 2 to record, 1 healthy" in output
    assert results(output) == [
        ("rollout", "OK", "1/1 healthy"),
        ("rollout", "OK", "2/2 healthy"),
        ("audit", "OK", "3/3 healthy"),
        ("audit", "OK", "3/3 healthy"),
    ]
    # The end of a playbook stands before the play that follows.
    assert output.index("1/1 healthy") < output.index("PLAY [engines]") < output.index("a task of the user")
    changed = {path: document["counts"]["changed"] for path, document in reports(fleet).items()}
    assert changed == {"reports": 1, "reports/rollout": 1, "reports/audit": 0, "reports/audit-2": 0}


def test_host_failed_before_is_not_started_later(tmp_path):
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy", edge_3="unreachable")
    status, output = fleet.run(site(fleet, "audit edge-2,edge-3", "rollout"))
    assert status == 4, output
    assert results(output)[1] == ("rollout", "FAILED", "2 healthy")
    lost = fleet.hosts["edge-3"]
    assert (lost["status"], lost["code"]) == ("not_started", "not_started")
    assert "Host failed in slb.fleet.audit." in lost["summary"]
    assert fleet.document["counts"]["hosts"] == 3


def test_playbook_that_never_begins_is_named(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    status, output = fleet.run(site(fleet, "audit", "rollout"))
    assert status == 2, output
    assert "Not started: slb.fleet.rollout." in output


def test_refused_playbook_leaves_earlier_one_finished(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    status, output = fleet.run(site(fleet, "rollout", "rollout nosuch"))
    assert status == 1, output
    assert "No host matches" in output
    assert results(output) == [("rollout", "OK", "1/1 healthy")]
    assert fleet.document["run"]["status"] == "finished"


@pytest.mark.parametrize("callback", ["default", "slb.fleet.fleet"])
def test_license_of_a_rollout_is_part_of_it(tmp_path, callback):
    fleet = Canned(tmp_path, edge_1="work")
    _status, output = fleet.run(
        *("slb.fleet.rollout", "-e", f"slb_license_dest={tmp_path}/license"), ANSIBLE_STDOUT_CALLBACK=callback
    )
    assert output.count("Result:") == 1, output
    assert fleet.document["run"]["playbook"] == "slb.fleet.rollout"
