"""The role awx_content with the argument specifications of the real modules of awx.awx."""

import re
import shutil
import sys

import pytest
import yaml
from standins import ROOT, Standins

NEEDED = {
    "slb_awx_image": "registry.example/slb-fleet:1",
    "slb_awx_project_url": "https://git.example/slb.git",
    "slb_awx_base_url": "https://console.example",
    "slb_awx_username": "admin",
    "slb_awx_password": "secret-of-console",
}
ALL = {
    **NEEDED,
    "slb_awx_approvers": ["ops"],
    "slb_awx_webhook_url": "https://hook.example/secret-address",
    "slb_awx_webhook_headers": {"Authorization": "secret-token"},
    "slb_awx_mail_to": ["ops@example.com"],
    "slb_awx_mail_from": "awx@example.com",
    "slb_awx_mail_host": "mail.example",
    "slb_awx_canary": "edge-3",
    "slb_awx_license_host": "files",
    "slb_awx_license_dest": "/srv/license",
    "slb_awx_slices": 4,
    "slb_awx_audit_schedule": "DTSTART;TZID=Europe/Berlin:20261122T030000 RRULE:FREQ=DAILY;INTERVAL=1",
    "slb_awx_inventory_source": "inventory/slb_engines.yml",
}
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
TEMPLATES = ["diagnose", "audit", "rollout", "rollout approved", "remediate", "retire", "adopt_interfaces"]
TEMPLATES += ["show_engine_list"]
OPTIONAL = ["download_license", "rollout canary", "rollout sliced"]
CREATED = [
    *("credential_type management node", "credential management node", "execution_environment", "project"),
    *("inventory engines", "inventory_source inventory"),
    *("notification_template webhook", "notification_template email"),
    *(f"job_template {name}" for name in TEMPLATES + OPTIONAL),
    "workflow_job_template approved rollout",
    "workflow_job_template_node approve",
    *("schedule audit schedule", "role approval", "role read"),
]
"""In this order."""
GONE_WITH_OTHERS = ("inventory_source", "workflow_job_template_node", "role")


@pytest.fixture
def awx(tmp_path):
    return Standins(tmp_path)


def names(awx):
    found = []
    for call in awx.calls:
        name = call.get("name") or call.get("identifier") or call["role"]
        found.append(f"{call['module']} {name.removeprefix('slb.fleet').strip()}".strip())
    return found


def test_setup_with_all_lists_creates_each_object(awx):
    run = awx.run("slb.fleet.awx_setup", ALL, "-vvv")
    run.assert_ok()
    assert names(awx) == CREATED
    assert "secret-" not in run.output
    assert "WARN" not in run.output
    calls = dict(zip(CREATED, awx.calls, strict=True))
    credential, source = calls["credential management node"], calls["inventory_source inventory"]
    inputs = {"url": "https://console.example", "username": "admin", "password": "secret-of-console"}
    assert credential["inputs"] == inputs
    assert credential["update_secrets"] is False
    assert (source["credential"], source["overwrite"]) == ("slb.fleet management node", False)
    # Other values than those that AWX returns would update these objects in each run.
    assert calls["inventory engines"]["kind"] == ""
    assert "host_filter" not in calls["inventory engines"]
    webhook = calls["notification_template webhook"]["notification_configuration"]
    assert webhook.keys() == {"url", "headers", "http_method", "username", "password", "disable_ssl_verification"}
    assert (webhook["url"], webhook["headers"]) == (ALL["slb_awx_webhook_url"], ALL["slb_awx_webhook_headers"])
    templates = {name: calls[f"job_template {name}"] for name in TEMPLATES + OPTIONAL}
    assert not any(each["allow_simultaneous"] for each in templates.values())
    canaries = {name for name, each in templates.items() if each.get("extra_vars", {}).get("slb_canary") == "edge-3"}
    assert canaries == {"rollout", "rollout approved"}
    license_of = {"slb_license_host": "files", "slb_license_dest": "/srv/license"}
    assert templates["download_license"]["extra_vars"] == license_of
    assert templates["rollout sliced"]["job_slice_count"] == 4
    assert templates["audit"]["notification_templates_error"] == ["slb.fleet webhook", "slb.fleet email"]
    assert "q('ansible.builtin.vars'" in templates["rollout approved"]["extra_vars"]["slb_approved_plan"]
    nodes = {node["identifier"]: node for node in calls["workflow_job_template approved rollout"]["workflow_nodes"]}
    assert nodes["audit"]["related"] == {"failure_nodes": [{"identifier": "approve"}]}
    assert nodes["approve"]["related"] == {"success_nodes": [{"identifier": "rollout"}]}
    assert nodes["rollout"]["related"] == {"always_nodes": [{"identifier": "audit again"}]}
    # With these, the module would update the approval in each run.
    assert nodes["approve"]["unified_job_template"] == {"name": "", "type": ""}
    assert calls["workflow_job_template_node approve"]["approval_node"]["timeout"] == 86400


def test_setup_with_given_credential_creates_no_credential_type(awx):
    awx.objects |= {"credentials": [{"name": "mine"}], "me": [{"is_superuser": False}]}
    given = {name: value for name, value in NEEDED.items() if name in ("slb_awx_image", "slb_awx_project_url")}
    awx.run("slb.fleet.awx_setup", {**given, "slb_awx_credential": "mine"}).assert_ok()
    assert not {call["module"] for call in awx.calls} & {"credential", "credential_type"}
    assert {tuple(call["credentials"]) for call in awx.calls if call["module"] == "job_template"} == {("mine",)}


def test_setup_in_check_mode_passes_it_to_each_module(awx):
    awx.objects["projects"] = [{"name": 'Flötte "A" & <100%>', "status": "failed"}]
    name = 'Flötte "A" & <100%>'
    awx.run("slb.fleet.awx_setup", {**NEEDED, "slb_awx_name": name, "slb_awx_inventories": []}, "--check").assert_ok()
    assert not {call["module"] for call in awx.calls} & {"schedule", "notification_template", "role", "inventory"}
    assert all(call["name"].startswith(name) for call in awx.calls if "name" in call)
    assert all(call["check_mode"] for call in awx.calls)
    calls = {call["module"]: call for call in awx.calls}
    assert calls["project"]["update_project"]
    assert "credential" not in calls["project"].keys() | calls["inventory_source"].keys()


@pytest.mark.parametrize("failed", ["credential_type", "credential", "slb.fleet webhook", "slb.fleet audit"])
def test_setup_after_first_error_creates_nothing_more(awx, failed):
    run = awx.run("slb.fleet.awx_setup", ALL, "-vvv", fails=failed)
    assert run.status == 2
    last = len(awx.calls)
    assert names(awx) == CREATED[:last]
    assert failed in (awx.calls[-1]["module"], awx.calls[-1]["name"])
    assert "Unable to create it: {'name': ['Too bad.']}. Later objects unchanged." in run.words
    assert "secret-" not in run.output


@pytest.mark.parametrize(
    ("variables", "objects", "words"),
    [
        ({"slb_awx_image": ""}, {}, "set either slb_awx_image or slb_awx_execution_environment"),
        ({"slb_awx_project_url": ""}, {}, "set slb_awx_project_url"),
        ({"slb_awx_credential": "mine"}, {}, "or slb_awx_credential"),
        ({"slb_awx_base_url": "http://console.example"}, {}, "slb_awx_base_url must start with https://"),
        ({"slb_awx_ca": "/etc/ssl/ca.pem"}, {}, "slb_awx_ca must have the content of a PEM file"),
        ({"slb_awx_license_dest": "/srv/license"}, {}, "set both slb_awx_license_host and slb_awx_license_dest"),
        ({"slb_awx_mail_to": ["a@example.com"]}, {}, "set slb_awx_mail_from and slb_awx_mail_host"),
        ({"slb_awx_audit_schedule": "RRULE:FREQ=DAILY"}, {}, "slb_awx_audit_schedule must have DTSTART"),
        ({"slb_awx_password": ""}, {}, "set slb_awx_password"),
        ({"slb_awx_approvers": ["ops", "opps"]}, {}, "slb_awx_approvers is opps, and AWX returned 0 teams"),
        ({"slb_awx_organization": "Other"}, {}, "slb_awx_organization is Other"),
        ({}, {"me": [{"is_superuser": False}]}, "only a system administrator of AWX may create credential types"),
    ],
)
def test_setup_with_invalid_input_creates_nothing(awx, variables, objects, words):
    awx.objects |= objects
    run = awx.run("slb.fleet.awx_setup", {**NEEDED, **variables})
    assert run.status == 2
    assert words in run.words or words in re.sub(r"\s+|\\n", " ", run.output), run.output
    assert awx.calls == []


def test_setup_without_collection_of_awx_names_the_fix(awx):
    shutil.rmtree(awx.folder / "ansible_collections" / "awx")
    assert "ansible-galaxy collection install awx.awx" in awx.run("slb.fleet.awx_setup", NEEDED).words


def test_check_mode_without_earlier_run_fails_with_the_fix(awx):
    run = awx.run("slb.fleet.awx_setup", NEEDED, "--check")
    assert "Run once without --check." in run.words
    assert awx.calls == []


def test_absent_removes_objects_in_reverse_order(awx):
    awx.objects["credential_types"] = [{"name": "slb.fleet management node"}]
    awx.objects["schedules"] = [{"name": "slb.fleet audit schedule", "unified_job_template__name": "slb.fleet audit"}]
    awx.run("slb.fleet.awx_setup", {**ALL, "slb_awx_state": "absent"}, "-vvv").assert_ok()
    assert {call["state"] for call in awx.calls} == {"absent"}
    removed = [name for name in reversed(CREATED) if not name.startswith(GONE_WITH_OTHERS)]
    assert sorted(names(awx)) == sorted(removed)
    order = [name.partition(" ")[0] for name in names(awx)]
    assert order.index("schedule") < order.index("workflow_job_template") < order.index("job_template")
    assert order.index("job_template") < order.index("inventory") < order.index("project") < order.index("credential")
    assert order[-1] == "credential_type"


def test_absent_with_objects_of_others_removes_nothing(awx):
    def of_workflow(name):
        return {"summary_fields": {"workflow_job_template": {"name": name}}}

    awx.objects |= {
        "job_templates": [
            {"name": "my job", "project__name": "slb.fleet"},
            {"name": "other", "project__name": "other"},
            {"name": "slb.fleet audit", "credentials__name": "slb.fleet management node"},
            {"name": "job with credential", "credentials__name": "slb.fleet management node"},
            {"name": "job with image", "execution_environment__name": "slb.fleet"},
        ],
        "inventory_sources": [
            {"name": "source with credential", "credentials__name": "slb.fleet management node"},
            {"name": "source with image", "execution_environment__name": "slb.fleet"},
        ],
        "projects": [{"name": "my project", "default_environment__name": "slb.fleet"}],
        "organizations": [{"name": "my organization", "default_environment__name": "slb.fleet"}],
        "schedules": [
            {"name": "my schedule", "unified_job_template__name": "slb.fleet audit"},
            {"name": "schedule with image", "execution_environment__name": "slb.fleet"},
        ],
        "hosts": [
            {"name": "my host", "inventory__name": "slb.fleet engines", "has_inventory_sources": False},
            {"name": "synced", "inventory__name": "slb.fleet engines", "has_inventory_sources": True},
        ],
        "workflow_job_template_nodes": [
            {**of_workflow("my workflow"), "unified_job_template__name": "slb.fleet rollout"},
            {**of_workflow("node with credential"), "credentials__name": "slb.fleet management node"},
        ],
    }
    run = awx.run("slb.fleet.awx_setup", {**ALL, "slb_awx_state": "absent"})
    assert run.status == 2
    for name in (
        *("my job", "my schedule", "my host", "my workflow", "my project", "my organization"),
        *("job with credential", "job with image", "source with credential", "source with image"),
        *("node with credential", "schedule with image"),
    ):
        assert f"of others use the content: {name}. Nothing was removed." in run.words
    assert "synced" not in run.words
    assert awx.calls == []


def test_lists_for_aap_configuration_have_the_same_content(awx):
    page = (ROOT / "docs" / "awx.md").read_text()
    (awx.folder / "play.yml").write_text((ROOT / "examples" / "aap_configuration.yml").read_text())
    (shown,) = re.findall(r"^```yaml\n# awx.yml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    more = {name: value for name, value in ALL.items() if name.startswith(("slb_awx_license", "slb_awx_slices"))}
    awx.run("play.yml", {**yaml.safe_load(shown), **more, **LOCAL}).assert_ok()
    lists = yaml.safe_load((awx.folder / "calls").read_text())
    items = [item for each in lists for item in each]
    found = [item.get("name", item.get("role", "")).removeprefix("slb.fleet").strip() for item in items]
    created = [name.partition(" ")[2] for name in CREATED if "template_node" not in name]
    assert sorted(found) == sorted(created)


def test_readme_example_creates_the_content(awx):
    page = (ROOT / "roles" / "awx_content" / "README.md").read_text()
    (awx.folder / "play.yml").write_text(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0])
    awx.run("play.yml", {**LOCAL, "vault_slb_password": "x"}).assert_ok()
    assert len([call for call in awx.calls if call["module"] == "job_template"]) == len(TEMPLATES)
