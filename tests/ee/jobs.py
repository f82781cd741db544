"""Jobs as AWX runs them, in an execution environment: not as root, over a project that cannot be written, with the
credential of the management node in the environment and what came with the launch marked as such.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from launches import ROOT, playbook_of, with_variables
from runs import run
from slb_lab.lab import Lab

USER = 1000
RUNNER = Path(sys.executable).with_name("ansible-runner")


@dataclass(frozen=True)
class Ended:
    number: int
    status: int
    output: str
    artifacts: Mapping[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = self.artifacts[f"slb_fleet_{self.number}"]
        return summary


class Jobs:
    """All that are launched over one lab, each with a number of its own."""

    def __init__(self, folder: Path, lab: Lab, image: str) -> None:
        self.folder, self.lab, self.image = folder, lab, image
        self.last = 0
        self.reports = folder / "reports"
        self.reports.mkdir()
        os.chown(self.reports, USER, 0)

    def launch(self, template: str, variables: Mapping[str, Any], hosts: Sequence[str], slices: int = 1) -> list[Ended]:
        """AWX deals the hosts out by their names, and starts a job for each slice."""
        dealt = [sorted(hosts)[number::slices] for number in range(slices)]
        first, self.last = self.last + 1, self.last + slices
        with ThreadPoolExecutor(slices) as side_by_side:
            return list(
                side_by_side.map(
                    lambda names, number: self._one(template, variables, names, number),
                    dealt,
                    range(first, first + slices),
                )
            )

    def cancel(self, number: int) -> None:
        """End the container of a job, as AWX does."""
        subprocess.run(["docker", "kill", f"ansible_runner_{self._ident(number)}"], capture_output=True, check=True)

    def _ident(self, number: int) -> str:
        return f"job-{os.getpid()}-{number}"

    def _one(self, template: str, variables: Mapping[str, Any], hosts: Sequence[str], number: int) -> Ended:
        # The container is named after it.
        ident = self._ident(number)
        folder = self.folder / ident
        self._prepare(folder, {**variables, **_of_awx(template, number)}, hosts, number)
        done = run(
            [
                RUNNER, "run", folder, "-p", f"{playbook_of(template)}.yml", "-i", ident,
                "--process-isolation", "--process-isolation-executable", "docker", "--container-image", self.image,
                "--container-volume-mount", f"{folder / 'project'}:/runner/project:ro",
                "--container-volume-mount", f"{self.reports}:/reports:rw",
                "--container-option=--network=host", f"--container-option=--user={USER}:0",
            ],
            400,
        )  # fmt: skip
        return Ended(number, done.status, done.output, _artifacts(folder))

    def _prepare(self, folder: Path, variables: Mapping[str, Any], hosts: Sequence[str], number: int) -> None:
        for name in ("env", "inventory", f"artifacts/{folder.name}/job_events"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(ROOT / "examples" / "awx", folder / "project")
        with (folder / "project" / "ansible.cfg").open("a") as settings:
            settings.write("\n[slb_fleet]\nreport_dir = /reports/%(awx_job_id)s\n")
        inventory = self.lab.inventory()
        group = inventory["engines"]
        group["hosts"] = {name: group["hosts"][name] for name in hosts}
        shutil.copy(group["vars"]["ansible_ssh_private_key_file"], folder / "env" / "key")
        group["vars"]["ansible_ssh_private_key_file"] = "/runner/env/key"
        known = group["vars"].pop("ansible_ssh_common_args").partition("UserKnownHostsFile=")[2].split()[0]
        shutil.copy(known, folder / "env" / "known_hosts")
        group["vars"]["ansible_ssh_common_args"] = "-o UserKnownHostsFile=/runner/env/known_hosts"
        credential = {
            name.upper(): group["vars"].pop(name) for name in sorted(group["vars"]) if name.startswith("slb_")
        }
        (folder / "env" / "password").write_text(credential.pop("SLB_PASSWORD"))
        (folder / "env" / "password").chmod(0o600)
        credential["SLB_PASSWORD_FILE"] = "/runner/env/password"
        (folder / "inventory" / "hosts.json").write_text(json.dumps(inventory))
        (folder / "env" / "envvars").write_text(yaml.safe_dump({**credential, "JOB_ID": str(number)}))
        with_variables(folder / "env", variables)
        (folder / "env" / "extravars.yml").rename(folder / "env" / "extravars")
        # The runner is root's here and its container is not: AWX's are one user's.
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, 0)
        (folder / "env" / "key").chmod(0o600)


def _of_awx(template: str, number: int) -> dict[str, Any]:
    """What AWX adds to each job's variables."""
    own = {"job_id": number, "job_template_id": 7, "job_template_name": template, "job_launch_type": "manual",
           "user_name": "operator", "user_id": 1, "inventory_id": 2, "project_revision": "0" * 40}  # fmt: skip
    return {f"{prefix}_{name}": value for name, value in own.items() for prefix in ("awx", "tower")}


def _artifacts(folder: Path) -> Mapping[str, Any]:
    for file in (folder / "artifacts" / folder.name / "job_events").glob("*.json"):
        event = json.loads(file.read_text())
        if event["event"] == "playbook_on_stats":
            return event["event_data"].get("artifact_data", {})  # type: ignore[no-any-return]
    return {}
