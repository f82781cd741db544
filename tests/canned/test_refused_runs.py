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
        ("audit", ("-e", "slb_plan=x"), "Variable slb_plan is set by the run itself."),
        ("rollout", ("-e", "@own.json"), "Variable __slb_failure is set by the run itself."),
        ("rollout", ("--limit", "edge-1,ghost"), "Element ghost of --limit matches no host."),
        ("audit", ("-e", "slb_hosts=edge-1,ghost"), "Element ghost of slb_hosts matches no host."),
        ("diagnose", ("--skip-tags", "always"), "Option --skip-tags always rejected"),
        ("rollout", ("--tags", "web"), "Option --tags web rejected"),
    ],
)
def test_refused_run_shows_its_reason_alone(tmp_path, playbook, options, reason):
    fleet = Canned(tmp_path, edge_1="healthy")
    (tmp_path / "own.json").write_text('{"__slb_failure": ""}')
    status, output = fleet.run(f"slb.fleet.{playbook}", *options)
    assert status == 1, output
    assert [line for line in output.splitlines() if line and "Could not match" not in line] == [
        line for line in output.splitlines() if reason in line
    ], output
    assert output.count(reason) == 1
    assert fleet.document["run"]["status"] == "interrupted"


def test_result_in_the_inventory_is_refused(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars" / "edge-2.yml").write_text("slb_plan: {plan: {action: none}}")
    status, output = fleet.run("slb.fleet.audit")
    assert (status, fleet.statuses) == (2, {"edge-1": "healthy", "edge-2": "failed"}), output
    assert fleet.hosts["edge-2"]["summary"] == "Variable slb_plan is set by the run itself."


def test_report_of_a_refused_address_has_no_secret(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    secret = ("-e", "slb_base_url=https://adm:S3cret@console.example", "-e", "slb_license_dest=https://u:S3cret@x/y")
    _status, output = fleet.run("slb.fleet.audit", *secret)
    assert "S3cret" not in output
    for file in fleet.reports.iterdir():
        assert "S3cret" not in file.read_text(), file
