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
        ("retire", (), "Name the hosts whose engines the web console does not list: --limit HOST,HOST."),
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


LIST = '{"slb_engine_list": {"path": "https://x/y", "name": "n", "address": "a", "state": "s", "running": ["r"]}}'
VAULT = "$ANSIBLE_VAULT;1.1;AES256\n" + "6162" * 20 + "\n"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("slb_timeout=abc", "Variable slb_timeout invalid: 'abc' is not an integer from 1 to 3600."),
        ("slb_timeout=3601", "Variable slb_timeout invalid: '3601' is not an integer from 1 to 3600."),
        ("slb_retries=21", "Variable slb_retries invalid: '21' is not an integer from 0 to 20."),
        ('{"slb_base_url": "", "slb_base_ulr": "x"}', "Rename slb_base_ulr, which is unknown, to slb_base_url."),
        (LIST, "it is a whole address. Set the path of the request, such as /api/engines?page_size=1000."),
        ("bad: [1,\n", "File group_vars/engines.yml not read: "),
        (VAULT, "File group_vars/engines.yml not read: it cannot be decrypted. Pass the vault password"),
    ],
)
def test_wrong_input_names_value_and_fix(tmp_path, given, words):
    fleet = Canned(tmp_path, edge_1="healthy")
    if is_file := given.endswith("\n"):
        (tmp_path / "group_vars").mkdir()
        (tmp_path / "group_vars" / "engines.yml").write_text(given)
    status, output = fleet.run("slb.fleet.rollout", *([] if is_file else ["-e", given]))
    assert status != 0
    assert words in " ".join(output.replace("Fix:", "").split())
    assert words in f"{fleet.hosts['edge-1']['summary']} {fleet.hosts['edge-1']['fix']}"


def test_inventory_that_is_missing_is_named(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy")
    fleet.inventory.unlink()
    status, output = fleet.run("slb.fleet.audit")
    assert (status, "inventory.yml contains no host." in output) == (1, True), output


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
