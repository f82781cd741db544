"""One lab for all tests of this folder: a host of each release with Docker, and one with Podman."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fleet import BIN, LISTING, ROOT, Fleet
from runs import Run, run
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RECORD = "/etc/ansible/facts.d/slb_engine.fact"
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
HOSTS = {
    "clean": {"release": "bullseye"},
    "leftover": {"release": "bookworm", "leftover": "running"},
    "noisy": {"release": "trixie", "motd_lines": 400, "nics": {"ens9": {"kind": "no_address"}}},
    "podman": {"release": "trixie", "runtime": "podman", "leftover": "running"},
}
OLD_PODMAN = {"podman": {"release": "bookworm", "runtime": "podman"}}
VARIABLES = {
    "slb_host_timeout": 300,  # for a busy machine
    "slb_engine_list": LISTING,
    "slb_engine_list_may_be_empty": True,
    "slb_max_replaced": "100%",
    "slb_stop_timeout": 1,
    "slb_adopt_interfaces": True,
    "slb_interfaces": ["ens9*"],
    "slb_dhcp_timeout": 3,
    "slb_serial": [1, "100%"],
}
# The host as the lab made it: no engine, record or profile, the banner in its place, and the leftover.
RESET = """
{runtime} stop --time 0 $({runtime} ps --quiet) >/dev/null 2>&1
{runtime} ps --all --quiet | xargs --no-run-if-empty {runtime} rm --force
rm -rf {record} /var/lib/slb-fleet
for banner in /etc/motd.bak*; do [ ! -e "$banner" ] || mv "$banner" /etc/motd; done
nmcli --get-values NAME connection show | grep '^ens' | xargs --no-run-if-empty nmcli connection delete
rm -f /var/lib/slb-lab-leftover-made
systemctl restart slb-lab-leftover.service
"""


class Rollout:
    """The lab, and runs of the playbooks against it."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.hosts = lab, lab.hosts
        self.fleet, self.reports = Fleet(lab, folder), folder / "reports"

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
        return self.hosts[host].exec(["sh", "-c", script]).stdout.strip()

    def containers(self, host: str) -> dict[str, str]:
        """Return state and restart policy of the containers by their name."""
        runtime = self.hosts[host].spec.runtime
        form = "{{.Name}} {{.State.Status}} {{.HostConfig.RestartPolicy.Name}}"
        listed = f"{runtime} ps --all --quiet | xargs --no-run-if-empty {runtime} inspect --format '{form}'"
        lines = (line.lstrip("/").split() for line in self.shell(host, listed).splitlines())
        return {name: " ".join(rest) for name, *rest in lines}

    def profiles(self, host: str) -> list[str]:
        return self.shell(host, "nmcli --get-values NAME connection show").splitlines()

    @property
    def listed(self) -> dict[str, str]:
        return {engine["name"]: engine["status"] for engine in self.lab.management_node.state()["engines"]}

    def snapshot(self) -> dict[str, Any]:
        """Return what a rollout would change on the hosts and the management node."""
        files = f"cat /etc/motd {RECORD} 2>/dev/null; ls /etc/motd*"
        seen = {name: (self.containers(name), self.shell(name, files), self.profiles(name)) for name in self.hosts}
        return {**seen, "installs": self.lab.management_node.state()["counters"].get("install", 0)}

    def reset(self, host: str) -> None:
        self.shell(host, RESET.format(runtime=self.hosts[host].spec.runtime, record=RECORD))


@contextmanager
def lab_of(name: str, hosts: dict[str, Any], folder: Path) -> Iterator[Rollout]:
    lab = Lab(name)
    lab.down()
    lab.up(Topology.model_validate({"management_node": {"deploy_seconds": 1}, "hosts": hosts}))
    try:
        yield Rollout(lab, folder)
    finally:
        lab.down()


@pytest.fixture(scope="session")
def rollout(tmp_path_factory):
    with lab_of(os.environ.get("SLB_TEST_LAB", "essentials"), HOSTS, tmp_path_factory.mktemp("essentials")) as made:
        yield made


@pytest.fixture(scope="session")
def old_podman(tmp_path_factory):
    with lab_of("essentials-podman", OLD_PODMAN, tmp_path_factory.mktemp("old")) as made:
        yield made
