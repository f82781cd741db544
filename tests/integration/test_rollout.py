"""One real run of each promise on the shared lab: check mode, deployment, replacement, banner, interface, report."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fleet import BIN, LISTING, RECORD, ROOT, Fleet
from runs import Run, run

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
VARIABLES = {
    "slb_host_timeout": 300,  # for a busy machine
    "slb_engine_list": LISTING,
    "slb_engine_list_may_be_empty": True,
    "slb_max_replaced": "100%",
    "slb_stop_timeout": 1,
    "slb_adopt_interfaces": True,
    "slb_interfaces": ["ens10*"],
    "slb_dhcp_timeout": 3,
    "slb_serial": [1, "100%"],
}


class Rollout(Fleet):
    """Runs of the playbooks against the lab."""

    def __init__(self, lab, folder: Path) -> None:
        super().__init__(lab, folder)
        self.reports = folder / "reports"

    def playbook(self, name: str, *arguments: str) -> Run:
        command = [BIN / "ansible-playbook", "-i", self.inventory, name, *arguments, "-e", json.dumps(VARIABLES)]
        return run(command, 900, env={**self.environment(), "SLB_REPORT_DIR": str(self.reports)})

    @property
    def report(self) -> dict[str, Any]:
        document = json.loads((self.reports / "report.json").read_text())
        jsonschema.validate(document, SCHEMA)
        return dict(document)

    @property
    def statuses(self) -> dict[str, str]:
        return {host["name"]: host["status"] for host in self.report["hosts"]}

    def profiles(self, host: str) -> list[str]:
        return sorted(self.shell(host, "nmcli --get-values NAME connection show").splitlines())  # shown by activity

    @property
    def listed(self) -> dict[str, str]:
        return {engine["name"]: engine["status"] for engine in self.lab.management_node.state()["engines"]}

    def snapshot(self) -> dict[str, Any]:
        """Return what a rollout would change on the hosts and the management node."""
        files = f"cat /etc/motd {RECORD} 2>/dev/null; ls /etc/motd*"
        seen = {name: (self.containers(name), self.shell(name, files), self.profiles(name)) for name in self.hosts}
        return {**seen, "installs": self.lab.management_node.state()["counters"].get("install", 0)}


@pytest.fixture(scope="module")
def rollout(lab, tmp_path_factory):
    return Rollout(lab, tmp_path_factory.mktemp("rollout"))


# The tests run in this order on the same hosts: each begins where the one before ended.


def test_check_mode_plans_and_changes_nothing(rollout):
    before = rollout.snapshot()
    planned = rollout.playbook("slb.fleet.rollout", "--check")
    planned.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.hosts, "planned"), planned.output
    actions = {host["name"]: host["plan"]["action"] for host in rollout.report["hosts"]}
    assert actions == {"bullseye": "install", "bookworm": "replace", "trixie": "install", "podman": "replace"}
    assert rollout.snapshot() == before


def test_rollout_deploys_replaces_and_adopts(rollout):
    ended = rollout.playbook("slb.fleet.rollout")
    ended.assert_ok()
    assert rollout.statuses == dict.fromkeys(rollout.hosts, "healthy"), ended.output
    assert rollout.listed == dict.fromkeys(rollout.hosts, "running")
    for name in rollout.hosts:
        assert rollout.containers(name)["slb"] == "running always"
        assert json.loads(rollout.shell(name, f"cat {RECORD}"))["state"] == "verified"
    for name in ("bookworm", "podman"):
        (leftover,) = set(rollout.containers(name)) - {"slb"}
        assert leftover.startswith("slb-leftover-")
        assert rollout.containers(name)[leftover] == "exited no"
    assert rollout.shell("trixie", "ls /etc | grep '^motd'").startswith("motd.slb-fleet")
    assert "ens10" in rollout.profiles("trixie")
    written = [path.read_text() for path in rollout.reports.iterdir()]
    assert not [text for text in (ended.output, *written) if rollout.lab.management_node.password in text]
    metrics = (rollout.reports / "slb_fleet.prom").read_text()
    assert metrics.count("slb_fleet_host_healthy{") == len(rollout.hosts)
    assert (rollout.reports / "retry").read_text() == "!all\n"


def test_second_rollout_changes_nothing(rollout):
    before = rollout.snapshot()
    again = rollout.playbook("slb.fleet.rollout")
    again.assert_ok()
    assert rollout.report["counts"]["changed"] == 0, again.output
    assert rollout.snapshot() == before


def test_audit_fails_for_a_stopped_engine_only(rollout):
    assert rollout.playbook("slb.fleet.audit").status == 0
    rollout.shell("bullseye", "docker stop --time 1 slb")
    audited = rollout.playbook("slb.fleet.audit")
    assert audited.status != 0
    healthy = dict.fromkeys(rollout.hosts, "healthy")
    assert rollout.statuses == {**healthy, "bullseye": "failed"}, audited.output
    assert (rollout.reports / "retry").read_text() == "bullseye\n"
