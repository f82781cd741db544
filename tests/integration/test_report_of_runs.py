"""What a run says of itself, held against what the hosts and the console have. The tests go on from each other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from fleet import BIN, RECORD, ROOT, Fleet
from reported import COMMON, Reported
from slb_lab import docker

pytestmark = pytest.mark.long
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())


@pytest.fixture(scope="module")
def reported(lab, tmp_path_factory):
    reported = Reported(lab, tmp_path_factory.mktemp("report"))
    reported.clean()
    return reported


def see_that_proofs_are_true(reported: Reported) -> None:
    """Every rendering has the document's statuses, and who is healthy runs, on the host and in the console."""
    document = reported.document
    jsonschema.validate(document, SCHEMA)
    for name, status in reported.statuses.items():
        assert status != "healthy" or reported.runs(name), document
    if document["run"]["status"] == "running":
        return
    metrics = (reported.folder / "slb_fleet.prom").read_text()
    page = (reported.folder / "report.html").read_text()
    for name, status in reported.statuses.items():
        assert f'host="{name}"}} {int(status == "healthy")}\n' in metrics
        assert f'<tr data-v="{status}"><th scope="row">{name}</th>' in page


def test_check_mode_is_a_plan_and_changes_nothing(reported):
    run = reported.play("slb.fleet.rollout", "--check")
    assert run.status == 0, run.output
    assert "Plan: 3 to install" in run.output
    assert reported.console == {}
    assert [reported.containers(name) for name in reported.names] == [{}] * 3
    assert [each["changes"] for each in reported.document["hosts"]] == [[]] * 3
    see_that_proofs_are_true(reported)


def test_what_was_approved_is_done_and_nothing_else(reported):
    plan = reported.folder / "plan.json"
    limit = ("--limit", "bookworm,bullseye")
    reported.play("slb.fleet.rollout", *limit, "--check", slb_serial="100%")
    run = reported.play("slb.fleet.rollout", slb_approved_plan=str(plan), slb_serial="100%")
    # A host that the plan does not have keeps all others from being changed.
    assert {each["code"] for each in reported.document["hosts"]} == {"not_in_approved_plan"}, run.output
    assert [reported.containers(name) for name in reported.names] == [{}] * 3
    run = reported.play("slb.fleet.rollout", *limit, slb_approved_plan=str(plan), slb_serial="100%")
    assert reported.statuses == {"bookworm": "healthy", "bullseye": "healthy"}, run.output
    assert "trixie" not in reported.console
    see_that_proofs_are_true(reported)


def test_a_digest_is_of_the_whole_fleet(reported):
    run = reported.play("slb.fleet.rollout", slb_approved_plan=f"sha256:{'0' * 64}")
    assert reported.host("trixie")["code"] == "not_in_approved_plan", run.output
    assert reported.containers("trixie") == {}
    reported.play("slb.fleet.rollout", "--check")
    run = reported.play("slb.fleet.rollout", slb_approved_plan=reported.document["plan"]["digest"])
    assert run.status == 0, run.output
    assert reported.runs("trixie")


def test_audit_passes_and_names_engines_without_a_host(reported, tmp_path, monkeypatch):
    reported.play("slb.fleet.rollout", slb_serial="100%")
    run = reported.play("slb.fleet.audit")
    assert run.status == 0, run.output
    assert reported.document["counts"]["healthy"] == 3
    limited = reported.play("slb.fleet.audit", slb_hosts="bookworm,bullseye")
    assert (limited.status, reported.document["unknown_engines"]) == (0, []), limited.output
    monkeypatch.setattr(reported.fleet, "inventory", Fleet(reported.lab, tmp_path, "bullseye", "bookworm").inventory)
    smaller = reported.play("slb.fleet.audit")
    assert smaller.status == 0, smaller.output
    assert [each["engine"].split()[0] for each in reported.document["unknown_engines"]] == ["trixie"]
    assert "1 in the engine list only: trixie" in smaller.output


def test_batches_of_ansible_runner_are_told_as_they_were(reported, tmp_path):
    reported.clean()
    (tmp_path / "inventory").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text(reported.fleet.inventory.read_text())
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "extravars").write_text(yaml.safe_dump({**COMMON, "awx_job_id": 77, "slb_serial": 1}))
    done = subprocess.run(
        [BIN / "ansible-runner", "run", tmp_path, "-p", "slb.fleet.rollout"],
        env={**reported.environment(), "PATH": f"{BIN}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3/3 healthy" in done.stdout
    reported.see_that_no_secret_is_told(done.stdout)
    assert "\x1b[K" not in done.stdout, "the line of progress is not drawn in place without a terminal"
    batches = [each for each in reported.document["run"]["batches"] if each["play"].startswith("Deploy")]
    assert [batch["hosts"] for batch in batches] == [1, 1, 1]
    see_that_proofs_are_true(reported)
    artifact = artifact_of(tmp_path)
    assert artifact["slb_fleet_77"]["counts"]["healthy"] == 3
    assert len(json.dumps(artifact)) < 100_000


def artifact_of(folder: Path) -> dict[str, Any]:
    """What AWX takes for the job's artifacts."""
    events = (json.loads(path.read_text()) for path in folder.glob("artifacts/*/job_events/*.json"))
    return next(each["event_data"]["artifact_data"] for each in events if each["event"] == "playbook_on_stats")


@pytest.mark.parametrize("strategy", ["linear", "free"])
def test_the_failed_and_the_unreachable(reported, strategy):
    reported.play("slb.fleet.rollout", slb_serial="100%")
    reported.clean("trixie")
    reported.lab.hosts["bookworm"].exec(["docker", "rm", "--force", "slb"])
    port = {"bullseye": {"ansible_port": 1}}
    extra = reported.fleet.inventory.parent / "closed.yml"
    extra.write_text(yaml.safe_dump({"engines": {"hosts": port}}))
    run = reported.play("slb.fleet.rollout", "-i", str(extra), env={"ANSIBLE_STRATEGY": strategy},
                        slb_max_fail_percentage=0)  # fmt: skip
    assert run.status != 0
    assert (reported.statuses["bookworm"], reported.host("bookworm")["code"]) == ("failed", "listed_but_not_running"), (
        run.output
    )
    assert reported.statuses["bullseye"] == "unreachable"
    assert reported.statuses["trixie"] == "healthy", "a host that is not deployed does not count for the limit"
    assert reported.retry == ["bookworm", "bullseye"]
    assert "slb.fleet.rollout --limit bookworm,bullseye" in run.output
    see_that_proofs_are_true(reported)


def test_of_a_run_that_is_killed_is_on_disk_what_was_known(reported):
    reported.clean()
    with reported.started("slb.fleet.rollout", slb_serial=1) as process:
        reported.wait_for_a_request("bookworm")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reported.see_that_no_secret_is_told(reported.output_of(process))
    assert (reported.document["run"]["status"], reported.document["run"]["ended"]) == ("running", None)
    assert reported.statuses == {"bookworm": "interrupted", "bullseye": "not_started", "trixie": "not_started"}
    assert json.loads(reported.lab.hosts["bookworm"].exec(["cat", RECORD]).stdout)["state"] == "requested"
    see_that_proofs_are_true(reported)
    run = reported.play("slb.fleet.rollout", "--limit", f"@{reported.folder}/retry", slb_serial="100%")
    assert run.status == 0, run.output
    assert reported.statuses == {"bookworm": "healthy", "bullseye": "healthy", "trixie": "healthy"}
    see_that_proofs_are_true(reported)


def test_a_frozen_host_fails_and_the_others_are_verified(reported):
    reported.clean("bookworm")
    reported.play("slb.fleet.rollout", slb_serial="100%")
    container = reported.lab.hosts["bullseye"].container
    docker.run(["pause", container])
    try:
        run = reported.play("slb.fleet.rollout", slb_host_timeout=15)
    finally:
        docker.run(["unpause", container])
    assert (reported.statuses["bookworm"], reported.statuses["trixie"]) == ("healthy", "healthy"), run.output
    # A connection that was open before lets the task begin.
    assert (reported.statuses["bullseye"], reported.host("bullseye")["code"]) in (
        ("failed", "host_timeout"),
        ("unreachable", "host_unreachable"),
    )
    see_that_proofs_are_true(reported)


def test_other_playbooks_have_no_report(reported, tmp_path):
    before = (reported.folder / "report.json").stat().st_mtime_ns
    other = tmp_path / "other.yml"
    other.write_text("- hosts: engines\n  gather_facts: false\n  tasks: [{ansible.builtin.ping: {}}]\n")
    run = reported.play(str(other))
    assert run.status == 0, run.output
    assert "Result:" not in run.output
    assert (reported.folder / "report.json").stat().st_mtime_ns == before


def test_at_a_terminal_changes_and_failures_alone_are_told(reported):
    reported.clean("bookworm")
    quiet = reported.play("slb.fleet.rollout", env={"ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet"})
    assert quiet.status == 0, quiet.output
    assert "bookworm  installation requested" in quiet.output
    assert "TASK" not in quiet.output
    assert "PLAY" not in quiet.output
    loud = reported.play("slb.fleet.rollout", "-v", env={"ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet"})
    assert "PLAY RECAP" in loud.output
