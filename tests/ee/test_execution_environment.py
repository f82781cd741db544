"""The collection in an execution environment that ansible-builder made of it, run by ansible-runner in a container.

As AWX does it: not as root, with a project that cannot be written, and the credential of the management node in the
environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from slb_lab.lab import Lab
from slb_lab.topology import Topology

from ansible_collections.slb.fleet.plugins.plugin_utils._awx import files, settings

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "slb-lab-ee:test"
USER = 1000


@pytest.fixture(scope="module")
def image() -> str:
    built = subprocess.run(
        [ROOT / "tests" / "tools" / "execution-environment", IMAGE],
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    return IMAGE


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    lab = Lab("ee")
    lab.down()
    lab.up(Topology.model_validate({"management_node": {"deploy_seconds": 2}, "hosts": {"h1": {}}}))
    try:
        yield lab
    finally:
        lab.down()


class Job:
    """What AWX puts together for one job."""

    def __init__(self, folder: Path, lab: Lab) -> None:
        self.folder, self.project = folder / "private", folder / "project"
        for path, text in files.project(settings.settings_of({})).items():
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        inventory = lab.inventory()
        variables = inventory["engines"]["vars"]
        (self.folder / "env").mkdir(parents=True)
        shutil.copy(variables["ansible_ssh_private_key_file"], self.folder / "env" / "key")
        variables["ansible_ssh_private_key_file"] = "/runner/env/key"
        known = variables.pop("ansible_ssh_common_args").partition("UserKnownHostsFile=")[2].split()[0]
        shutil.copy(known, self.folder / "env" / "known_hosts")
        variables["ansible_ssh_common_args"] = "-o UserKnownHostsFile=/runner/env/known_hosts"
        self.environment = {name.upper(): variables.pop(name) for name in sorted(variables) if name.startswith("slb_")}
        (self.folder / "inventory").mkdir()
        (self.folder / "inventory" / "hosts.json").write_text(json.dumps(inventory))

    def run(
        self, playbook: str, image: str, variables: dict[str, Any], **environment: str
    ) -> subprocess.CompletedProcess[str]:
        (self.folder / "env" / "envvars").write_text(yaml.safe_dump({**self.environment, **environment}))
        (self.folder / "env" / "extravars").write_text(yaml.safe_dump(variables))
        shutil.rmtree(self.folder / "artifacts", ignore_errors=True)
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, USER, 0)
        (self.folder / "env" / "key").chmod(0o600)
        runner = Path(sys.executable).with_name("ansible-runner")
        return subprocess.run(
            [
                runner, "run", self.folder, "-p", f"{playbook}.yml", "-i", "job",
                "--process-isolation", "--process-isolation-executable", "docker", "--container-image", image,
                "--container-volume-mount", f"{self.project}:/runner/project:ro",
                "--container-option=--network=host", f"--container-option=--user={USER}:0",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=400, check=False,
        )  # fmt: skip

    def artifact(self) -> dict[str, Any]:
        for file in (self.folder / "artifacts" / "job" / "job_events").glob("*.json"):
            event = json.loads(file.read_text())
            if event["event"] == "playbook_on_stats":
                return event["event_data"]["artifact_data"]
        raise AssertionError("the job has not come to its end")


def test_a_rollout_and_its_audit(image: str, lab: Lab, tmp_path: Path) -> None:
    job = Job(tmp_path, lab)
    wanted = {"awx_job_id": 5, "slb_settle": 2, "slb_hosts": "", "slb_serial": ""}
    rollout = job.run("rollout", image, wanted, JOB_ID="5")
    assert rollout.returncode == 0, rollout.stdout[-5000:]
    assert job.artifact()["slb_fleet_5"]["counts"]["proven"] == 1
    assert lab.management_node.password not in rollout.stdout
    assert [each["name"] for each in lab.management_node.state()["engines"]] == ["h1"]

    audit = job.run("audit", image, {**wanted, "awx_job_id": 6}, JOB_ID="6")
    assert audit.returncode == 0, audit.stdout[-5000:]
    assert "changed=0" in audit.stdout

    lost = job.run("download_license", image, {"slb_license_dest": "/tmp/license"}, JOB_ID="7")
    assert lost.returncode != 0
    assert "/tmp/license would be gone with it. Nothing was downloaded." in " ".join(lost.stdout.split())
    kept = job.run(
        "download_license", image, {"slb_license_dest": "/root/license", "slb_license_host": "h1"}, JOB_ID="8"
    )
    assert kept.returncode == 0, kept.stdout[-5000:]
    assert lab.hosts["h1"].exec(["stat", "-c", "%a %U", "/root/license"]).stdout.split() == ["600", "root"]
