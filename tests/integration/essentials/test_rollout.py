"""One real run of each promise on one shared lab: check mode, deployment, replacement, banner, interface, report."""

from __future__ import annotations

import json

from conftest import RECORD

# The tests run in this order on the same hosts: each begins where the one before ended.


def test_check_mode_plans_and_changes_nothing(rollout):
    before = rollout.snapshot()
    planned = rollout.play("slb.fleet.rollout", "--check")
    planned.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.hosts, "planned"), planned.output
    actions = {host["name"]: host["action"] for host in rollout.report["hosts"]}
    assert actions == {"clean": "install", "leftover": "replace", "noisy": "install", "podman": "replace"}
    assert rollout.snapshot() == before


def test_rollout_deploys_replaces_and_adopts(rollout):
    ended = rollout.play("slb.fleet.rollout")
    ended.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.hosts, "healthy"), ended.output
    assert rollout.listed == dict.fromkeys(rollout.hosts, "running")
    for name in rollout.hosts:
        assert rollout.containers(name)["slb"] == "running always"
        assert json.loads(rollout.shell(name, f"cat {RECORD}"))["state"] == "verified"
    for name in ("leftover", "podman"):
        (leftover,) = set(rollout.containers(name)) - {"slb"}
        assert leftover.startswith("slb-leftover-")
        assert rollout.containers(name)[leftover] == "exited no"
    assert rollout.shell("noisy", "ls /etc | grep '^motd'").startswith("motd.bak")
    assert "ens9" in rollout.profiles("noisy")
    assert rollout.lab.management_node.password not in ended.output
    metrics = (rollout.reports / "slb_fleet.prom").read_text()
    assert metrics.count("slb_fleet_host_healthy{") == len(rollout.hosts)
    assert (rollout.reports / "retry").read_text() == "!all\n"


def test_second_rollout_changes_nothing(rollout):
    before = rollout.snapshot()
    again = rollout.play("slb.fleet.rollout")
    again.assert_ok()
    assert rollout.report["counts"]["changed"] == 0, again.output
    assert rollout.snapshot() == before


def test_audit_fails_for_a_stopped_engine_only(rollout):
    assert rollout.play("slb.fleet.audit").status == 0
    rollout.shell("clean", "docker stop --time 1 slb")
    audited = rollout.play("slb.fleet.audit")
    assert audited.status != 0
    healthy = dict.fromkeys(rollout.hosts, "healthy")
    assert rollout.statuses == {**healthy, "clean": "failed"}, audited.output
    assert (rollout.reports / "retry").read_text() == "clean\n"
