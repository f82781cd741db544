"""The project of examples/awx, run by ansible-runner as AWX runs a sliced job."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from fake_node import INSTALL, LOGIN
from launches import ANSWERED, ROOT, sent, with_variables
from rollouts import PLUGINS as CONNECTIONS
from rollouts import inventory

from playbooks import COLLECTIONS, Controller

RUNNER = Path(sys.executable).with_name("ansible-runner")
HOSTS = ["edge-1", "edge-2", "edge-3", "edge-4"]

pytestmark = pytest.mark.skipif(not RUNNER.exists(), reason="ansible-runner is not in this environment")


def slices(count):
    """As AWX deals the hosts out."""
    return [sorted(HOSTS)[number::count] for number in range(count)]


class Job:
    """One slice, in a private folder of its own."""

    def __init__(self, folder, number, variables, inventory):
        self.folder, self.number = folder / f"job-{number}", number
        shutil.copytree(ROOT / "examples" / "awx", self.folder / "project")
        (self.folder / "inventory").mkdir()
        (self.folder / "inventory" / "hosts.json").write_text(json.dumps(inventory))
        (self.folder / "env").mkdir()
        with_variables(self.folder / "env", {**variables, "awx_job_id": number, "slb_hosts": variables["slb_hosts"]})
        (self.folder / "env" / "extravars.yml").rename(self.folder / "env" / "extravars")

    def start(self, playbook):
        home = self.folder / "home"
        home.mkdir()
        environment = {
            **Controller(home).environment(),
            "PATH": f"{RUNNER.parent}:{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_CONNECTION_PLUGINS": str(CONNECTIONS),
        }
        return subprocess.Popen(
            [RUNNER, "run", self.folder, "-p", f"{playbook}.yml", "-i", "job"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def artifacts(self):
        """What AWX keeps of the job."""
        for file in (self.folder / "artifacts" / "job" / "job_events").glob("*.json"):
            event = json.loads(file.read_text())
            if event["event"] == "playbook_on_stats":
                return event["event_data"].get("artifact_data", {})
        raise AssertionError("the job has not come to its end")


def jobs(folder, node, dealt, answers, state=""):
    for number, names in enumerate(dealt, 11):
        whole = inventory(node, folder / "hosts", len(HOSTS), dict.fromkeys(HOSTS, state))
        whole["engines"]["hosts"] = {name: whole["engines"]["hosts"][name] for name in names}
        yield Job(folder, number, answers, whole)


def test_a_rollout_in_two_slices(start, tmp_path):
    node = start()
    answers = sent("rollout sliced", {})
    started = [(job, job.start("rollout")) for job in jobs(tmp_path, node, slices(2), answers)]
    outputs = [process.communicate(timeout=240)[0] for _job, process in started]
    for (job, process), output, names in zip(started, outputs, slices(2), strict=True):
        assert process.returncode == 0, output[-4000:]
        artifact = job.artifacts()[f"slb_fleet_{job.number}"]
        assert artifact["counts"]["healthy"] == len(names) == 2
        assert artifact["groups"] == []
    asked = Counter(json.loads(request.body)["name"] for request in node.to(INSTALL))
    assert asked == dict.fromkeys(HOSTS, 1)
    # Each slice is a run of its own.
    assert node.seen[LOGIN] == 2


@pytest.mark.parametrize("template", ["diagnose", "audit", "remediate", "adopt_interfaces"])
def test_the_other_templates_with_answers(start, tmp_path, template):
    answers = sent(template, ANSWERED[template])
    (job,) = jobs(tmp_path, start(), [HOSTS[:2]], answers, "verified")
    process = job.start(template)
    output = process.communicate(timeout=240)[0]
    assert process.returncode == 0, output[-4000:]
    assert (f"slb_fleet_{job.number}" in job.artifacts()) is (template == "audit")
