"""The work of the controller needs no connection to it: wherever become is set, nothing there calls sudo."""

import json

import pytest
import yaml
from fake_node import INSTALL
from rollouts import inventory, rollout

from playbooks import COLLECTIONS

ROOT = COLLECTIONS.parents[1]
BECOME = {
    "none": ((), {}),
    "-b": (("-b",), {}),
    "-e": (("-e", "ansible_become=true"), {}),
    "environment": ((), {"ANSIBLE_BECOME": "true"}),
    "all": ((), {}),
}


@pytest.mark.parametrize("place", BECOME)
def test_pause_between_batches_needs_no_sudo(start, controller, place):
    server, (options, settings) = start(), BECOME[place]
    folder = controller.folder / "bin"
    folder.mkdir()
    sudo = folder / "sudo"
    sudo.write_text(f'#!/bin/sh\necho "$@" >> {folder}/calls\nexit 1\n')
    sudo.chmod(0o755)
    hosts = inventory(server, controller.folder / "hosts", 3)
    everywhere = {"ansible_become": True} if place == "all" else {}
    hosts["all"] = {"vars": {**everywhere, "ansible_become_exe": str(sudo)}}
    # Tests may run as root.
    settings = {**settings, "ANSIBLE_BECOME_ALLOW_SAME_USER": "true"}
    limits = json.dumps({"slb_serial": [1, 2], "slb_batch_pause": 1})
    seen = rollout(controller, hosts, "-e", limits, *options, **settings)
    assert seen.run.status == 0, seen.run.output[-3000:]
    assert (seen.counts["healthy"], len(server.to(INSTALL))) == (3, 3)
    began = [batch["began"] for batch in seen.document["run"]["batches"] if batch["play"] == "Deploy the engines"]
    assert len(set(began)) == 2
    assert not (folder / "calls").exists(), (folder / "calls").read_text()


def test_no_task_is_delegated_to_the_controller():
    def tasks(items):
        for each in items:
            yield each
            for part in ("tasks", "block", "rescue", "always"):
                yield from tasks(each.get(part, ()))

    files = [*ROOT.glob("playbooks/**/*.yml"), *ROOT.glob("roles/*/tasks/*.yml")]
    found = {(path.stem, task.get("delegate_to")) for path in files for task in tasks(yaml.safe_load(path.read_text()))}
    # The action writes a license of the controller itself.
    assert {each for each in found if each[1]} == {("download_license", "{{ __slb_host }}")}
    local = {path.stem for path in files for each in yaml.safe_load(path.read_text()) if each.get("connection")}
    # Both run actions in the process of Ansible; awx.awx has modules, which need the connection.
    assert local == {"awx_setup", "merge_reports"}
