"""What runs say of themselves: real ones of the playbooks, over hosts whose answers are kept."""

import json
import os
import re
import signal
import textwrap
import time
from functools import partial

import jsonschema
import pytest

from ansible_collections.slb.fleet.tests.canned.canned import ROOT, Canned
from ansible_collections.slb.fleet.tests.tools.runs import output_of, started, wait_until

pytestmark = pytest.mark.long

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())


def next_of(output: str) -> str:
    found = re.findall(r"^Next: (?:.*(?:, then|this command:)\n)* *(.*)$", output, re.MULTILINE)
    assert len(found) == 1, output
    return str(found[0])


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ({"restored": True}, ["container_restored"]),  # by the step and by the rescue, and once
        ({"set_aside_as": "slb-leftover-1"}, ["container_set_aside", "container_set_aside"]),
        ({}, []),
    ],
)
def test_what_a_failed_step_has_changed_is_in_the_report(tmp_path, values, changes):
    """Ansible takes the member ``failed`` away from the results that callbacks get."""
    fleet = Canned(tmp_path, edge_1="fails")
    failed = {"failed": True, "changed": False, "code": "record_not_writable", "msg": "Record not writable."}
    answer = {**failed, "restored": False, "set_aside_as": None, **values}
    (tmp_path / "lie.json").write_text(json.dumps({"module": "_engine_step", "merge": answer}))
    lie = f"stateful_lie={tmp_path}/lie.json"
    status, output = fleet.run("slb.fleet.remediate", "--limit", "edge-1", "-e", lie)
    assert status == 2, output
    assert [each["code"] for each in fleet.hosts["edge-1"]["changes"]] == changes, output
    assert ("Changed: nothing" in output) == (not changes)


def test_check_mode_without_a_report_is_refused(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    status, output = fleet.run("slb.fleet.rollout", "--check", ANSIBLE_CALLBACKS_ENABLED="")
    assert status != 0
    assert "Callback slb.fleet.report not enabled" in output
    assert "edge-1" not in output
    status, output = fleet.run("slb.fleet.rollout", ANSIBLE_CALLBACKS_ENABLED="")
    assert status == 0, output
    assert output.count("Callback slb.fleet.report not enabled") == 1


def test_time_limit_of_a_host_holds_for_its_check(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy after 20", edge_3="healthy", edge_4="work")
    folder = tmp_path / "host_vars"
    folder.mkdir()
    for name, limit in (("edge-2", 10), ("edge-3", "90"), ("edge-4", 300)):
        (folder / name).write_text(f"slb_host_timeout: {limit!r}")
    status, output = fleet.run("slb.fleet.rollout")
    assert status == 2, output
    assert fleet.statuses == {"edge-1": "healthy", "edge-2": "failed", "edge-3": "healthy", "edge-4": "healthy"}, output
    assert fleet.hosts["edge-2"]["code"] == "host_timeout"
    assert [each["code"] for each in fleet.hosts["edge-4"]["changes"]] == ["record_verified"]


@pytest.mark.parametrize(
    ("arguments", "words", "lacking"),
    [
        (("diagnose",), ["Plan: 1 healthy"], "unchanged"),
        (
            ("retire", "--check"),
            ["1. container set aside as", "deployment record removed", "Plan: 1 to retire\n"],
            "leftovers",
        ),
        (("retire",), ["1 container set aside", "1 deployment record removed", "inventory: edge-1"], "leftover set"),
        (
            ("retire", "-e", "slb_remove_leftovers=true"),
            ["edge-1  container deleted", "1 container deleted"],
            "set aside",
        ),
        (
            ("remediate", "--check", "-e", "slb_remove_leftovers=true"),
            ["edge-1  delete  ", "Plan: 1 to delete"],
            "aside",
        ),
        (("audit", "-e", "slb_settle=-1", "-e", "slb_password=x"), ["into this command:\n  "], "then\n  ansible"),
    ],
)
def test_run_says_what_is_true(tmp_path, arguments, words, lacking):
    fleet = Canned(tmp_path, edge_1="healthy")
    _status, output = fleet.run(f"slb.fleet.{arguments[0]}", "--limit", "edge-1", *arguments[1:])
    assert [each for each in words if each not in output] == []
    assert lacking not in output


def test_approved_plan_is_a_file_of_its_own(tmp_path):
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy")
    _status, output = fleet.run("slb.fleet.rollout", "--check")
    written = (fleet.reports / "plan.json").read_bytes()
    assert set(json.loads(written)["hosts"]) == {"edge-1", "edge-2"}, output
    for arguments in (("audit",), ("diagnose",), ("rollout", "--check", "-e", "slb_settle=-1")):
        fleet.run(f"slb.fleet.{arguments[0]}", *arguments[1:])
        assert (fleet.reports / "plan.json").read_bytes() == written
    fleet.run("slb.fleet.rollout", "-e", "slb_approved_plan=reports/report.json")
    assert "it is the report of slb.fleet.rollout of 2" in fleet.hosts["edge-1"]["summary"]
    assert fleet.hosts["edge-1"]["code"] == "approved_plan_invalid"
    status, output = fleet.run("slb.fleet.rollout", "-e", "slb_approved_plan=reports/plan.json")
    assert (status, fleet.statuses) == (0, {"edge-1": "healthy", "edge-2": "healthy"}), output
    assert (fleet.reports / "plan.json").read_bytes() == written


def test_diagnose_shows_hosts_with_work_and_with_v_all(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    _status, output = fleet.run("slb.fleet.diagnose")
    planned = [line.split()[:3] for line in output.splitlines() if line.startswith("  ~ ")]
    assert planned == [["~", "edge-2", "record"]]
    assert "1. record the engine" in output
    assert ("edge-1" in output, "TASK" in output, "PLAY" in output) == (False, False, False)
    assert "Plan: 1 to record, 1 healthy" in output
    assert output.count("edge-2") == 1 + output.partition("Next:")[2].count("edge-2"), output
    _status, output = fleet.run("slb.fleet.diagnose", "-v")
    assert ("edge-1" in output, "PLAY RECAP" in output) == (True, True)


@pytest.mark.parametrize("playbook", ["rollout", "diagnose", "audit", "remediate"])
def test_a_variable_that_does_not_exist_is_told_once(tmp_path, playbook):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    _status, output = fleet.run(f"slb.fleet.{playbook}", "-e", "slb_wait_timout=5", "-e", "slb_hosts=edge-1", "--check")
    words = " ".join(output.split())
    assert words.count("Variable slb_wait_timout unknown (did you mean slb_wait_timeout?)") == 1, output


def test_undecryptable_variable_asks_for_the_vault_password(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy")
    secret = "$ANSIBLE_VAULT;1.1;AES256\n" + "6162" * 20
    (tmp_path / "vaulted.yml").write_text("slb_engine_name: !vault |\n" + textwrap.indent(secret, "  ") + "\n")
    _status, output = fleet.run("slb.fleet.audit", "-e", "@vaulted.yml")
    words = " ".join(output.split())
    # ansible-core up to 2.18 ends the task before it reads the variable.
    if "not evaluated" in words or "Attempting to decrypt but no vault secrets found" not in words:
        assert "--ask-vault-password" in words
    assert "slb.fleet.audit" in next_of(output)


def test_default_callback_shows_a_message_once_with_its_code(tmp_path):
    fleet = Canned(tmp_path, edge_1="breaks", edge_2="healthy")
    _status, output = fleet.run("slb.fleet.rollout", ANSIBLE_STDOUT_CALLBACK="ansible.builtin.default")
    failures = re.findall("^fatal: .*", output, re.MULTILINE)
    assert [failure.count("no space left") for failure in failures] == [1, 0], output
    assert "Plan not compared: see the failure above." in failures[1], output


def test_a_run_about_no_host_leaves_the_report_of_the_one_before(tmp_path):
    """It may be the very report that it is to merge."""
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    fleet.run("slb.fleet.audit")
    before = {path.name: path.read_bytes() for path in fleet.reports.iterdir()}
    status, output = fleet.run(
        "slb.fleet.merge_reports", "-e", '{"slb_reports": ["reports"]}', "-e", "slb_merged_dir=whole"
    )
    assert status == 0, output
    assert {path.name: path.read_bytes() for path in fleet.reports.iterdir()} == before
    assert (tmp_path / "whole" / "retry").read_text() == "edge-2\n"
    assert "Result:  FAILED   1 healthy, 1 failed" in output


def test_a_list_of_no_hosts_is_a_limit_to_none(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    fleet.run("slb.fleet.rollout")
    status, output = fleet.run("slb.fleet.rollout", "--limit", "@reports/retry")
    assert status != 0
    assert "leaves us with no hosts to target" in output


def test_run_limited_to_its_retry_file_keeps_its_hosts(tmp_path):
    """The list is replaced during the run, and finally has the hosts for a next run."""
    fleet = Canned(tmp_path, edge_1="work", edge_2="work", edge_3="work")
    fleet.reports.mkdir()
    expected = "ansible-playbook -i inventory.yml slb.fleet.rollout --limit edge-1"
    for arguments in (("slb.fleet.diagnose",), ("slb.fleet.rollout", "--check")):
        (fleet.reports / "retry").write_text("edge-1\n")
        _status, output = fleet.run(*arguments, "--limit", f"@{fleet.reports}/retry")
        assert list(fleet.statuses) == ["edge-1"], output
        assert next_of(output) == expected
    status, output = fleet.run(command=expected)
    assert (status, fleet.statuses) == (0, {"edge-1": "healthy"}), output
    (fleet.reports / "retry").write_text("edge-1\nedge-2\n")
    status, output = fleet.run("slb.fleet.remediate", "--limit", "@reports/retry")
    assert (status, list(fleet.statuses)) == (0, ["edge-1", "edge-2"]), output


@pytest.mark.parametrize(
    "options", [("--step",), ("--start-at-task", "Publish the counts, and the groups of hosts by reason")]
)
def test_audit_is_refused_without_some_tasks(tmp_path, options):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    status, output = fleet.run("slb.fleet.audit", *options)
    assert status != 0, output
    assert not {name for name, each in fleet.statuses.items() if each not in ("not_started", "failed")}


def test_run_without_hosts_replaces_the_earlier_report(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy")
    fleet.run("slb.fleet.rollout")
    assert fleet.document["counts"]["healthy"] == 1
    (fleet.reports / "retry").write_text("edge-7\n")
    status, output = fleet.run("slb.fleet.rollout", "-e", "slb_hosts=absent")
    assert status != 0
    assert "No host matches" in output
    assert (fleet.document["run"]["status"], fleet.document["hosts"]) == ("interrupted", [])
    assert "slb_fleet_run_complete{" in (fleet.reports / "slb_fleet.prom").read_text()
    assert 'host="edge-1"' not in (fleet.reports / "slb_fleet.prom").read_text()
    # The hosts that an earlier run left are still to be done.
    assert (fleet.reports / "retry").read_text() == "edge-7\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_report_of_a_killed_run_is_whole(tmp_path, number):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy after 300")
    so_far = {"edge-1": "healthy", "edge-2": "interrupted"}
    command, how = fleet.command("slb.fleet.rollout"), {"cwd": tmp_path, "env": fleet.environment()}
    with started(command, tmp_path, **how) as process:
        written = fleet.reports / "report.json"
        wait_until(lambda: written.exists() and fleet.statuses == so_far, partial(output_of, tmp_path, process), 300)
        process.send_signal(number)
        assert process.wait(120) != 0
    jsonschema.validate(fleet.document, SCHEMA)
    assert fleet.document["run"]["status"] in ("running", "interrupted")
    assert fleet.statuses == so_far


def test_files_of_a_killed_run_are_removed(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy")
    fleet.reports.mkdir()
    old, new = fleet.reports / ".slb-fleet-0123456789abcdef.part", fleet.reports / ".slb-fleet-fedcba9876543210.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    fleet.run("slb.fleet.rollout")
    assert not old.exists()
    assert new.exists()


def test_next_command_can_be_pasted(tmp_path):
    (tmp_path / "vault password").write_text("x\n")
    fleet = Canned(tmp_path, **{"2001:db8::1": "work", "edge*": "work", "edge_1": "healthy", "a,b": "work"})
    options = ("--vault-id", "prod@vault password", "-b", "--ssh-common-args=-o ServerAliveInterval=5")
    _status, output = fleet.run("slb.fleet.audit", *options)
    assert "1 not in Next and retry, because --limit cannot contain the name: a,b" in output
    command = next_of(output)
    assert "slb.fleet.rollout --limit '2001:db8::1,edge*'" in command
    assert "--become --vault-id 'prod@vault password'" in command
    assert "'--ssh-common-args=-o ServerAliveInterval=5'" in command
    status, output = fleet.run(command=command)
    assert (status, fleet.statuses) == (0, {"2001:db8::1": "healthy", "edge*": "healthy"}), output
