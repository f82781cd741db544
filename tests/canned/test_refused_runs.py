"""A run that is refused before a host is contacted shows its reason alone, with each ansible-core."""

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("playbook", "options", "reason"),
    [
        ("rollout", ("-e", "slb_hosts=nosuch"), "No host matches 'nosuch'. Nothing was done. Groups: engines."),
        ("audit", ("-e", "slb_hosts=nosuch", "-e", "awx_job_id=7"), "No host matches 'nosuch'. Nothing was done."),
        ("rollout", ("-e", "slb_serial=10.5%"), "Variable slb_serial invalid: '10.5%' is not a number of hosts"),
        ("remediate", ("--limit", "engines"), "Hosts not named: this playbook sets engines aside on named hosts only"),
        ("diagnose", ("--skip-tags", "always"), "Option --skip-tags always rejected"),
    ],
)
def test_refused_run_shows_its_reason_alone(tmp_path, playbook, options, reason):
    fleet = Canned(tmp_path, edge_1="healthy")
    status, output = fleet.run(f"slb.fleet.{playbook}", *options)
    assert status == 1, output
    assert [line for line in output.splitlines() if line and "Could not match" not in line] == [
        line for line in output.splitlines() if reason in line
    ], output
    assert output.count(reason) == 1
    assert fleet.document["run"]["status"] == "interrupted"
