"""A run that is refused before a host is contacted shows its reason alone, with each ansible-core."""

import json
import shlex

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long


# What is typed, and of the answer: the value that is wrong, the place where it stands, and the fix.
RUNS = [
    ("rollout -e slb_hosts=nosuch", "'nosuch'", "slb_hosts", "Groups: engines."),
    ("audit -e slb_hosts=nosuch -e awx_job_id=7", "'nosuch'", "slb_hosts", "Groups: engines."),
    ("audit -e slb_hosts=edge-1,ghost", "ghost", "slb_hosts", "`ansible-inventory --graph` shows the hosts"),
    ("rollout --limit edge-1,ghost", "ghost", "--limit", "`ansible-inventory --graph` shows the hosts"),
    ("rollout -e slb_serial=10.5%", "'10.5%'", "slb_serial", "Correct slb_serial"),
    ("rollout -e slb_max_fail_percentage=101", "'101'", "slb_max_fail_percentage", "Correct slb_max_fail_percentage"),
    ("rollout -e slb_batch_pause=-1", "'-1'", "slb_batch_pause", "Correct the value."),
    ("rollout -e slb_canary=ghost", "ghost", "slb_canary", "Correct slb_canary"),
    ("remediate --limit engines", "Hosts not named", "--limit", "--limit HOST,HOST"),
    ("retire", "Hosts not named", "--limit", "--limit HOST,HOST"),
    ("audit -e slb_plan=x", "slb_plan", "set by the run itself", "Remove it from -e."),
    ("rollout -e @own.json", "__slb_failure", "set by the run itself", "Remove it from -e."),
    ("diagnose --skip-tags always", "always", "--skip-tags", "Run again without it."),
    ("rollout --tags web", "web", "--tags", "Run again without it."),
    ("audit -i missing.yml", "missing.yml", "Inventory", "Correct -i."),
    ("audit -i broken.yml", "broken.yml", "(line 2)", "Correct its YAML."),
]


@pytest.mark.parametrize(("typed", "value", "place", "fix"), RUNS, ids=lambda text: text[:30])
def test_refused_run_shows_its_reason_alone(tmp_path, typed, value, place, fix):
    fleet = Canned(tmp_path, edge_1="healthy")
    (tmp_path / "own.json").write_text('{"__slb_failure": ""}')
    (tmp_path / "broken.yml").write_text("engines: {hosts: [\n")
    status, output = fleet.run(*f"slb.fleet.{typed}".split())
    assert status == 1, output
    (shown,) = (line for line in output.splitlines() if "Nothing was done." in line)
    assert [each for each in (value, place, fix) if each not in shown] == []
    own = [line for line in output.splitlines() if line.startswith(("[ERROR]", "ERROR!", "fatal", "Result"))]
    assert own == [shown], output
    assert fleet.document["run"]["status"] == "interrupted"


LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": ["running"]}
VALUE = "Correct the value."
HOSTS = [
    ("timeout", "abc", "'abc'", VALUE), ("timeout", 3601, "1 to 3600", VALUE), ("retries", 21, "0 to 20", VALUE),
    ("base_url", "http://x", "https://", "Set an address such as"), ("base_url", "https://u@x", "user", "Remove"),
    ("base_url", "https://x/account/login/", "/account/login", "Remove that path."),
    ("validate_certs", "perhaps", "'perhaps'", VALUE), ("username", True, "True", "Quote the value"),
    ("tls_fingerprint", "zz", "'zz'", "that openssl prints"), ("ca_path", "/none.pem", "/none.pem", "Set "),
    ("engine_name", 342391, "342391", "Quote"), ("engine_name", " x", "blanks", "Choose another name."),
    ("manage_ip", "host", "'host'", "IP"), ("manage_ip", "127.0.0.1", "127.0.0.1", "Set the address"),
    ("user_credential_id", "99x", "'99x'", VALUE), ("user_credential_id", 0, "'0'", VALUE),
    ("is_change_hostname", "no!", "'no!'", VALUE), ("success_codes", "a", "'a'", VALUE),
    ("exists_patterns", "(", "'('", "Correct it."), ("engine_list", {"path": "/e"}, ".name missing", "Set slb_"),
    ("engine_list", {**LISTING, "path": "https://x/y"}, "whole address", "Set the path of the request, such as"),
    ("engine_list", {**LISTING, "totl": "x"}, "'totl'", "Did you mean total?"),
    ("unverified_engine", "adpot", "'adpot'", VALUE), ("stopped_engine", "run", "'run'", VALUE),
    ("max_replaced", "200%", "'200%'", "Correct slb_max_replaced"), ("remove_leftovers", "maybe", "'maybe'", VALUE),
    ("wait_timeout", 5, "60 to 86400", VALUE), ("settle", -1, "0 to 3600", VALUE), ("throttle", "x", "'x'", VALUE),
    ("host_timeout", 0, "1 to 86400", VALUE), ("stop_timeout", -1, "0 to 3600", VALUE), ("motd", "x", "'x'", VALUE),
    ("motd_max_bytes", -1, "0 to 1000000", VALUE), ("motd_after", "gone", "'gone'", VALUE),
    ("interfaces_state", "gone", "'gone'", VALUE), ("dhcp_timeout", 0, "1 to 3600", VALUE),
    ("confirm_timeout", 1, "5 to 3600", VALUE), ("license_host", "x", " x ", "Set a host of the inventory"),
    ("serial", 5, "inventory", "-e slb_serial=VALUE"), ("hosts", "x", "inventory", "-e slb_hosts=VALUE"),
    *((name, "x", "'x' is", VALUE) for name in (
        "retries", "manage_ip_translated", "user_credential_id", "engine_list_may_be_empty", "stop_timeout", "settle",
        "wait_timeout", "host_timeout", "motd_max_bytes", "allow_established", "license_backup", "adopt_interfaces",
        "dhcp_timeout", "confirm_timeout",
    )),
    *((name, 5, "5 was read as a number", "Quote") for name in (
        "username", "ca_path", "base_url", "license_dest", "license_host", "stopped_engine", "unverified_engine",
        "motd",
    )),
    *((name, value, "IP address", "Set the IPv4") for name, value in (
        ("manage_ip", "10.0.0.300"), ("manage_ip", "10.0.0.1/24"), ("manage_ip", ""),
    )),
    ("timeout", "1e9", "'1e9'", VALUE), ("timeout", [1], "'[1]'", VALUE), ("validate_certs", 2, "'2'", VALUE),
    ("base_url", "https://x/?a=1", "a query", "such as"), ("base_url", "https://x:99999", "not a URL", "such as"),
    ("password", 5, "the value was read", "Quote"), ("tls_fingerprint", ["zz"], "a list", "Quote"),
    ("engine_name", "x" * 300, "1 to 255", "Choose another"), ("manage_ip", "0.0.0.0", "0.0.0.0", "Set the address"),
    ("engine_list", "x", "not a mapping", "Set its keys: path"), ("success_codes", ["x"], "'x'", VALUE),
    ("engine_list", {**LISTING, "path": "engines"}, "not a path", "such as /api"),
    ("port_in_use_patterns", ["["], "'['", "Correct it."), ("in_progress_patterns", 5, "not a list", "Set a list"),
    ("ignored_starters", 5, "not a list", "Set a list"), ("max_replaced", 1.5, "1.5", "Correct slb_max_replaced"),
    ("interfaces", [5], "5 was read", "Quote"), ("canary", "x", "inventory", "-e slb_canary=VALUE"),
]  # fmt: skip


def test_wrong_variable_of_a_host_names_value_and_fix(tmp_path):
    fleet = Canned(tmp_path, **{f"edge_{number}": "healthy" for number in range(len(HOSTS))})
    (tmp_path / "host_vars").mkdir()
    for number, (name, value, *_shown) in enumerate(HOSTS):
        listing = {"slb_engine_list": LISTING} if name in ("tls_fingerprint", "ca_path") else {}
        text = json.dumps({**listing, f"slb_{name}": value})
        (tmp_path / "host_vars" / f"edge-{number}.yml").write_text(text)
    _status, output = fleet.run("slb.fleet.audit")
    for number, (name, _value, shown, fix) in enumerate(HOSTS):
        host = fleet.hosts[f"edge-{number}"]
        assert host["code"] in ("invalid_variable", "missing_variable"), host
        assert f"Variable slb_{name}" in host["summary"], output
        assert (shown in host["summary"], fix in host["fix"]) == (True, True), host


LIST = json.dumps({"slb_engine_list": {**LISTING, "path": "https://x/y"}})
KEYLESS = '{"slb_engine_list": {"path": "/e"}}'
VAULT = VaultLib().encrypt("a: 1", VaultSecret(b"right"), salt="0" * 32).decode()
COMMANDS = [
    ("rollout -e slb_timeout=abc", "'abc'", "Variable slb_timeout", "an integer from 1 to 3600."),
    ("rollout -e slb_base_url=", "missing", "slb_base_url", "Set slb_base_url or SLB_BASE_URL."),
    (f"rollout -e {shlex.quote(LIST)}", "whole address", "slb_engine_list.path", "Set the path of the request"),
    (
        f"remediate --limit edge-1 -e {shlex.quote(KEYLESS)}",
        "missing",
        "slb_engine_list.name",
        "Set slb_engine_list.name",
    ),
    ("rollout -e slb_approved_plan=sha256:0000", "sha256:0000", "slb_approved_plan", "plan.json"),
    ("rollout -e slb_approved_plan=inventory.yml", "inventory.yml", "slb_approved_plan", "it is not JSON"),
    ("rollout -e slb_approved_plan=none.json", "none.json", "Approved plan", "plan.json"),
    ("download_license", "missing", "Variable slb_license_dest", "such as /srv/fleet/license"),
    ("download_license -e slb_license_dest=x -e slb_license_host=y", "y is not", "slb_license_host", "unset it"),
    ("rollout", "bad: [1,\n", "File group_vars/engines.yml not read", "Correct its YAML"),
    ("rollout", VAULT, "File group_vars/engines.yml not read", "Pass the vault password"),
    ("rollout --vault-password-file=wrong", VAULT, "File group_vars/engines.yml not read", "vault password"),
]


@pytest.mark.parametrize(("typed", "value", "place", "fix"), COMMANDS, ids=lambda text: text[:30])
def test_wrong_input_names_value_place_and_fix(tmp_path, typed, value, place, fix):
    fleet = Canned(tmp_path, edge_1="healthy")
    (tmp_path / "wrong").write_text("wrong\n")
    if is_file := value.endswith("\n"):
        (tmp_path / "group_vars").mkdir()
        (tmp_path / "group_vars" / "engines.yml").write_text(value)
    status, output = fleet.run(*shlex.split(f"slb.fleet.{typed}"))
    assert status != 0
    host = fleet.hosts["edge-1"]
    for shown in (" ".join(output.replace("Fix:", "").split()), f"{host['summary']} {host['fix']}"):
        assert [each for each in (value, place, fix)[is_file:] if each not in shown] == []
    assert host["code"] != "task_failed"


def test_report_of_a_refused_address_has_no_secret(tmp_path):
    fleet = Canned(tmp_path, edge_1="work")
    secret = ("-e", "slb_base_url=https://adm:S3cret@console.example", "-e", "slb_license_dest=https://u:S3cret@x/y")
    _status, output = fleet.run("slb.fleet.audit", *secret)
    assert "S3cret" not in output
    for file in fleet.reports.iterdir():
        assert "S3cret" not in file.read_text(), file
