"""Ansible leaves out a host, without a message, if it cannot start a process for its task."""

import resource

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long

HOSTS = 40
NEEDED = 4 * HOSTS + 64
DROPS = """
from ansible.executor.process.worker import WorkerProcess
from ansible.plugins.callback import CallbackBase

def start(self, start=WorkerProcess.start):
    if self._host.name == "edge-2" and "engine_plan" in self._task.action:
        raise OSError("too many open files")
    start(self)

class CallbackModule(CallbackBase):
    CALLBACK_VERSION, CALLBACK_TYPE, CALLBACK_NAME = 2.0, "aggregate", "drops"
    WorkerProcess.start = start
"""


@pytest.mark.parametrize(("limit", "status"), [(f"-Sn {NEEDED // 4}", 0), (f"-n {NEEDED}", 0), (f"-n {NEEDED - 1}", 1)])
def test_few_descriptors_lose_no_host(tmp_path, limit, status):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] in range(NEEDED):
        pytest.skip("the hard limit of this machine is lower")
    fleet = Canned(tmp_path, **{f"edge_{number}": "healthy" for number in range(HOSTS)})
    command = " ".join(fleet.command("slb.fleet.audit", "--forks", str(2 * HOSTS)))
    found, output = fleet.run(command=f"ulimit {limit}; {command}")
    assert found == status, output
    assert (f"{HOSTS}/{HOSTS} healthy" in output) == (status == 0), output
    assert (f"Run `ulimit -n {NEEDED}`" in output) == (status == 1), output


@pytest.mark.parametrize("playbook", ["rollout", "audit", "diagnose"])
def test_dropped_host_fails(tmp_path, playbook):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    (tmp_path / "drops.py").write_text(DROPS)
    settings = {"ANSIBLE_CALLBACK_PLUGINS": str(tmp_path), "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,drops"}
    status, output = fleet.run(f"slb.fleet.{playbook}", **settings)
    assert status == 2, output
    assert "Host not checked: Ansible could not start a process for it." in output
    assert fleet.statuses["edge-2"] in ("failed", "not_started"), output
