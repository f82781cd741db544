"""One real run of each promise on one shared lab: check mode, deployment, replacement, banner, interface, report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fleet import BIN, ROOT, Fleet
from runs import Run, run
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RECORD = "/etc/ansible/facts.d/slb_engine.fact"
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
TOPOLOGY = {
    "management_node": {"deploy_seconds": 1},
    "hosts": {
        "clean": {"release": "bookworm"},
        "leftover": {"release": "trixie", "leftover": "running"},
        "noisy": {"release": "trixie", "motd_lines": 400, "nics": {"ens9": {"kind": "no_address"}}},
    },
}
ENGINE_LIST = {
    "path": "/console/engines",
    "items": "data.items",
    "name": "engine_name",
    "address": "ip",
    "state": "status",
    "running": ["running"],
    "deploying": ["deploying"],
    "failed": ["failed"],
}
VARIABLES = {
    "slb_engine_list": ENGINE_LIST,
    "slb_engine_list_may_be_empty": True,
    "slb_max_replaced": "100%",
    "slb_stop_timeout": 1,
    "slb_adopt_interfaces": True,
    "slb_interfaces": ["ens9*"],
    "slb_dhcp_timeout": 3,
    "slb_serial": [1, "100%"],
}


class Rollout:
    """The lab, and runs of the playbooks against it."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.fleet, self.reports = lab, Fleet(lab, folder), folder / "reports"

    def play(self, playbook: str, *arguments: str) -> Run:
        command = [BIN / "ansible-playbook", "-i", self.fleet.inventory, playbook, *arguments]
        environment = {**self.fleet.environment(), "SLB_REPORT_DIR": str(self.reports)}
        return run([*command, "-e", json.dumps(VARIABLES)], 900, env=environment)

    @property
    def report(self) -> dict[str, Any]:
        document = json.loads((self.reports / "report.json").read_text())
        jsonschema.validate(document, SCHEMA)
        return dict(document)

    @property
    def statuses(self) -> dict[str, str]:
        return {host["name"]: host["status"] for host in self.report["hosts"]}

    def shell(self, host: str, script: str) -> str:
        return self.lab.hosts[host].exec(["sh", "-c", script]).stdout.strip()

    def containers(self, host: str) -> dict[str, str]:
        lines = self.shell(host, "docker ps --all --format '{{.Names}} {{.State}}'").splitlines()
        return dict(line.split() for line in lines)

    def profiles(self, host: str) -> list[str]:
        return self.shell(host, "nmcli --get-values NAME connection show").splitlines()

    @property
    def listed(self) -> dict[str, str]:
        return {engine["name"]: engine["status"] for engine in self.lab.management_node.state()["engines"]}

    def snapshot(self) -> dict[str, Any]:
        """Return what a rollout would change on the hosts and the management node."""
        files = f"cat /etc/motd {RECORD} 2>/dev/null; ls /etc/motd*"
        seen = {name: (self.containers(name), self.shell(name, files), self.profiles(name)) for name in self.lab.hosts}
        return {**seen, "installs": self.lab.management_node.state()["counters"].get("install", 0)}


@pytest.fixture(scope="module")
def rollout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rollout]:
    lab = Lab("essentials")
    lab.down()
    lab.up(Topology.model_validate(TOPOLOGY))
    try:
        yield Rollout(lab, tmp_path_factory.mktemp("essentials"))
    finally:
        lab.down()


# The tests run in this order on the same hosts: each begins where the one before ended.


def test_check_mode_plans_and_changes_nothing(rollout: Rollout) -> None:
    before = rollout.snapshot()
    planned = rollout.play("slb.fleet.rollout", "--check")
    planned.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.lab.hosts, "planned"), planned.output
    actions = {host["name"]: host["action"] for host in rollout.report["hosts"]}
    assert actions == {"clean": "install", "leftover": "replace", "noisy": "install"}
    assert rollout.snapshot() == before


def test_rollout_deploys_replaces_and_adopts(rollout: Rollout) -> None:
    ended = rollout.play("slb.fleet.rollout")
    ended.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.lab.hosts, "healthy"), ended.output
    assert rollout.listed == dict.fromkeys(rollout.lab.hosts, "running")
    for name in rollout.lab.hosts:
        assert rollout.containers(name)["slb"] == "running"
        assert json.loads(rollout.shell(name, f"cat {RECORD}"))["state"] == "verified"
    (leftover,) = set(rollout.containers("leftover")) - {"slb"}
    assert leftover.startswith("slb-leftover-")
    assert rollout.containers("leftover")[leftover] == "exited"
    assert rollout.shell("noisy", "ls /etc | grep '^motd'").startswith("motd.bak")
    assert "ens9" in rollout.profiles("noisy")
    assert rollout.lab.management_node.password not in ended.output
    metrics = (rollout.reports / "slb_fleet.prom").read_text()
    assert metrics.count("slb_fleet_host_healthy{") == len(rollout.lab.hosts)
    assert (rollout.reports / "retry").read_text() == "!all\n"


def test_second_rollout_changes_nothing(rollout: Rollout) -> None:
    before = rollout.snapshot()
    again = rollout.play("slb.fleet.rollout")
    again.assert_ok()
    assert rollout.report["counts"]["changed"] == 0, again.output
    assert rollout.snapshot() == before


def test_audit_fails_for_a_stopped_engine_only(rollout: Rollout) -> None:
    assert rollout.play("slb.fleet.audit").status == 0
    rollout.shell("clean", "docker stop --time 1 slb")
    audited = rollout.play("slb.fleet.audit")
    assert audited.status != 0
    assert rollout.statuses == {"clean": "failed", "leftover": "healthy", "noisy": "healthy"}, audited.output
    assert (rollout.reports / "retry").read_text() == "clean\n"
