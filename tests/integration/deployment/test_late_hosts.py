"""A host that is late and fails is restored at the end of the run: in a lab of its own, of seven hosts."""

import json

import pytest
from runs import Run, output_of, wait_until
from sites import Sites
from slb_lab.lab import Lab
from slb_lab.topology import Topology

pytestmark = pytest.mark.long
SLOW, LAST = "edge-4", "edge-7"
BATCHES = {"slb_serial": [1, 5, 1]}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    hosts = {f"edge-{number}": {"release": "bookworm"} for number in range(1, 8)}
    with Lab.new("late", Topology.model_validate({"hosts": hosts})) as lab:
        found = Sites(lab, tmp_path_factory.mktemp("late"))
        yield found
        found.leave()


@pytest.fixture(autouse=True)
def report(tmp_path, monkeypatch):
    monkeypatch.setenv("SLB_REPORT_DIR", str(tmp_path / "reports"))
    return tmp_path / "reports" / "report.json"


def test_failed_late_host_is_restored_after_a_failed_batch(sites, report):
    """Its management node ends after it has accepted the request. In the batch that follows, each host fails."""

    def leave_a_container(site):
        site.run_container()
        site.runtime("stop", "--time", "0", "slb")

    sites.prepare({SLOW: leave_a_container, LAST: lambda site: site.hold_the_port()})
    before = sites[SLOW].engine
    with sites.started("slb.fleet.rollout", **BATCHES) as process:
        wait_until(lambda: sites[SLOW].requests.get("install") == 1, "a request", 300)
        sites[SLOW].node.stop()
        run = Run(process.wait(600), output_of(sites.fleet.inventory.parent, process))
    sites[LAST].free_the_port()
    assert run.status == 2, run.output
    document = json.loads(report.read_text())
    _canary, second, _third = (each for each in document["run"]["batches"] if each["play"] == "Deploy the engines")
    statuses = {host["name"]: host["status"] for host in document["hosts"]}
    assert (second["late"], [name for name in statuses if statuses[name] != "healthy"]) == (1, [SLOW, LAST])
    assert (sites[SLOW].engine, sites[SLOW].leftovers) == (before, []), run.output
