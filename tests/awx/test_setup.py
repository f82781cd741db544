"""awx_setup as an operator meets it: made once, left alone, changed, taken away; and what it refuses beforehand."""

from __future__ import annotations

from typing import Any

import pytest
from operators import NEEDED, REPOSITORY, Operator

EVERYTHING: dict[str, Any] = {
    "approvers": ["ops"],
    "webhook_url": "https://hook.example/slb",
    "mail_to": ["ops@example.com"],
    "mail_from": "awx@example.com",
    "mail_host": "mail.example",
    "slices": 4,
    "audit_schedule": "DTSTART;TZID=Europe/Berlin:20261122T030000 RRULE:FREQ=DAILY;INTERVAL=1",
    "inventory_source": "inventory/slb_engines.yml",
}
TEMPLATES = {
    f"slb.fleet {name}"
    for name in (
        *("diagnose", "audit", "rollout", "rollout approved", "rollout canary", "rollout sliced"),
        *("remediate", "adopt_interfaces", "download_license"),
    )
}


def test_from_an_empty_awx_and_back(operator: Operator) -> None:
    awx = operator.awx
    foretold = operator.set_up("--check", **EVERYTHING)
    assert foretold.status == 0, foretold.output
    assert awx.writes == []

    first = operator.set_up(**EVERYTHING)
    assert first.status == 0, first.output
    assert "a secret of the console" not in first.output
    assert items(first.output) == items(foretold.output)
    assert awx.names("job_templates") == TEMPLATES
    assert awx.names("schedules") == {"slb.fleet audit schedule"}
    assert awx.tokens == set(), "what logged in has logged out"

    rollout = awx.one("job_templates", "slb.fleet rollout sliced")
    assert rollout["job_slice_count"] == 4
    assert awx.one("job_templates", "slb.fleet rollout canary")["job_slice_count"] == 1
    assert awx.linked("job_templates", "slb.fleet rollout", "credentials") == {"slb.fleet management node"}
    assert awx.linked("job_templates", "slb.fleet audit", "notification_templates_error") == {
        "slb.fleet webhook",
        "slb.fleet email",
    }
    hosts = awx.surveys[awx.one("job_templates", "slb.fleet remediate")["id"]]["spec"][0]
    assert (hosts["variable"], hosts["required"], hosts["min"]) == ("slb_hosts", True, 1)
    source = awx.one("inventory_sources", "slb.fleet engine list")
    assert source["credential"] == awx.one("credentials", "slb.fleet management node")["id"]
    secret = awx.tables["credentials"][source["credential"]]["inputs"]["password"]
    assert secret == "a secret of the console"

    nodes = {node["identifier"]: node for node in awx.all("workflow_job_template_nodes")}
    paths = {
        (name, path, other["identifier"])
        for name, node in nodes.items()
        for path in ("always_nodes", "success_nodes", "failure_nodes")
        for other in nodes.values()
        if other["id"] in node[path]
    }
    assert paths == {
        ("audit", "always_nodes", "approve"),
        ("approve", "success_nodes", "rollout"),
        ("rollout", "always_nodes", "audit again"),
    }
    reading = awx.one("job_templates", "slb.fleet audit")["summary_fields"]["object_roles"]["read_role"]["id"]
    approving = awx.one("workflow_job_templates", "slb.fleet approved rollout")
    assert set(awx.granted) == {reading, approving["summary_fields"]["object_roles"]["approval_role"]["id"]}

    awx.writes.clear()
    second = operator.set_up(**EVERYTHING)
    assert second.status == 0, second.output
    assert second.changed == 0, second.output
    assert awx.writes == []

    # What is no longer asked for goes; what others have beside it stays.
    awx.make("job_templates", {"name": "mine", "project": 0, "playbook": "rollout.yml"})
    awx.make("credentials", {"name": "mine", "credential_type": 0, "inputs": {}})
    fewer = {**EVERYTHING, "webhook_url": "", "audit_schedule": "", "approval_timeout": 3600, "password": ""}
    third = operator.set_up(**fewer)
    assert third.status == 0, third.output
    assert awx.names("schedules") == set()
    assert awx.names("notification_templates") == {"slb.fleet email"}
    assert [each["timeout"] for each in awx.all("workflow_approval_templates")][-1] == 3600
    assert awx.tables["credentials"][source["credential"]]["inputs"]["password"] == secret

    gone = operator.set_up(state="absent")
    assert gone.status == 0, gone.output
    without_names = ("workflow_job_template_nodes", "workflow_approval_templates")
    left = {resource: awx.names(resource) for resource in awx.tables if resource not in without_names}
    assert {resource: names for resource, names in left.items() if names} == {
        "organizations": {"Default"},
        "teams": {"ops"},
        # AWX itself takes away a label that nothing carries.
        "labels": {"slb.fleet"},
        "job_templates": {"mine"},
        "credentials": {"mine"},
    }
    awx.writes.clear()
    again = operator.set_up(state="absent")
    assert (again.status, again.changed, awx.writes) == (0, 0, []), again.output


def items(output: str) -> list[str]:
    return [line for line in output.splitlines() if "(item=" in line]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"image": ""}, "slb_awx_image (of the execution environment)"),
        ({"project_url": ""}, "slb_awx_project_url (of the git repository"),
        ({"username": ""}, "slb_awx_base_url and username"),
        ({"password": ""}, "slb_awx_password is not set"),
        ({"mail_to": "a@example.com"}, "slb_awx_mail_from and mail_host"),
        ({"slices": "many"}, "slb_awx_slices has the value 'many': it is not a whole number from 1 to 1000"),
        ({"audit_schedule": "RRULE:FREQ=DAILY"}, "DTSTART;TZID=Europe/Berlin"),
        ({"labels": "x"}, "There is no variable slb_awx_labels. Did you mean slb_awx_label?"),
        ({"base_url": "http://console.example"}, "begins with https://"),
        ({"collection": "ansible.controller"}, "The collection ansible.controller is not installed"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_made(
    operator: Operator, variables: dict[str, Any], words: str
) -> None:
    run = operator.set_up(**variables)
    assert run.status == 2
    assert words in " ".join(run.output.split()), run.output
    assert NEEDED["slb_awx_password"] not in run.output
    assert operator.awx.writes == []


def test_a_name_that_somebody_else_has_is_left_alone(operator: Operator) -> None:
    operator.awx.make("projects", {"name": "slb.fleet", "organization": operator.awx.organization, "scm_url": "x"})
    run = operator.set_up()
    assert run.status == 2
    assert "AWX has something else under a name that is needed: project 'slb.fleet'" in " ".join(run.output.split())
    assert operator.awx.writes == []


def test_wrong_credentials_of_awx_are_told(operator: Operator) -> None:
    run = operator.run("awx_setup", NEEDED, CONTROLLER_PASSWORD="wrong")
    assert run.status == 2
    assert "Look at CONTROLLER_USERNAME and CONTROLLER_PASSWORD" in " ".join(run.output.split())


def test_a_project_that_cannot_be_synced_and_one_without_playbooks_are_told(operator: Operator) -> None:
    operator.awx.repositories.clear()
    run = operator.set_up()
    assert run.status == 2
    assert "The project could not be synced: look at the output of its last update" in " ".join(run.output.split())
    operator.awx.repositories[REPOSITORY] = ["README.md"]
    run = operator.set_up()
    assert run.status == 2
    assert "Push what slb.fleet.awx_files writes to its repository" in " ".join(run.output.split())


def test_a_survey_that_awx_refuses_is_told_and_mended_by_the_next_run(operator: Operator) -> None:
    operator.awx.refuse_surveys = True
    run = operator.set_up()
    assert run.status == 2
    assert "the template is there without them" in " ".join(run.output.split())
    operator.awx.refuse_surveys = False
    assert operator.set_up().status == 0
    assert len(operator.awx.surveys) == 6
