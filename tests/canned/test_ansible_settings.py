"""Settings of Ansible change neither the report nor the outcome of a run."""

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long


def test_report_with_no_log_shows_each_host(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work", edge_3="fails", edge_4="unreachable", edge_5="breaks")
    _status, output = fleet.run("slb.fleet.audit", ANSIBLE_NO_LOG="True")
    assert fleet.hosts["edge-1"]["status"] == "healthy", output
    status, output = fleet.run("slb.fleet.rollout", ANSIBLE_NO_LOG="True")
    expected = {
        "edge-1": "healthy",
        "edge-2": "healthy",
        "edge-3": "failed",
        "edge-4": "unreachable",
        "edge-5": "failed",
    }
    assert (status, fleet.statuses) == (4, expected), output
    assert fleet.hosts["edge-3"]["code"] == "unverified_container"
    assert "no space left" in fleet.hosts["edge-5"]["summary"]
    assert fleet.hosts["edge-2"]["changes"]
