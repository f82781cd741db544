"""The artifact of a job: real runs of the playbooks over hosts with recorded answers, with a limit."""

import json

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long

SHOWN = {"ANSIBLE_STDOUT_CALLBACK": "default", "ANSIBLE_SHOW_CUSTOM_STATS": "1"}
REFUSED = "slb_approved_plan=sha256:" + "0" * 64


def artifact(fleet, playbook, *options):
    _status, output = fleet.run(f"slb.fleet.{playbook}", "--limit", "engines", "-e", "awx_job_id=77", *options, **SHOWN)
    assert "errantly" not in output
    published, _end = json.JSONDecoder().raw_decode(output.partition("\tRUN: ")[2])
    return dict(published["slb_fleet_77"])


@pytest.mark.parametrize(
    ("playbook", "states", "options", "complete"),
    [
        ("rollout", {"edge_1": "breaks", "edge_2": "healthy"}, (), True),
        ("rollout", {"edge_1": "breaks"}, (), True),
        ("rollout", {"edge_1": "healthy", "edge_2": "work"}, ("-e", REFUSED), True),
        ("rollout", {"edge_1": "healthy"}, ("-e", "slb_license_dest=/license"), True),
        ("rollout", {"edge_1": "unreachable", "edge_2": "unreachable"}, (), False),
        ("audit", {"edge_1": "healthy", "edge_2": "work"}, (), True),
        ("audit", {"edge_1": "unreachable"}, (), False),
    ],
    ids=["failed", "all-failed", "refused", "license", "unreachable", "audit", "audit-unreachable"],
)
def test_artifact_with_limit_shows_outcome_of_job(tmp_path, playbook, states, options, complete):
    fleet = Canned(tmp_path, **states)
    published = artifact(fleet, playbook, *options)
    assert published["complete"] is complete, published
    if complete:
        assert published["counts"] == fleet.document["counts"]
        assert published["counts"]["failed"] > 0
    else:
        assert published["counts"]["not_started"] > 0
