"""awx_setup as an operator meets it: made once, left alone, changed, taken away; and what it refuses beforehand."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from operators import MODULES, NEEDED, REPOSITORY, ROOT, Operator

EVERYTHING: dict[str, Any] = {
    "approvers": ["ops"],
    "webhook_url": "https://hook.example/slb?key=an_address_of_the_hook",
    "webhook_headers": {"Authorization": "Bearer a_token_of_the_hook"},
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

    first = operator.set_up("-vvv", **EVERYTHING)
    assert first.status == 0, first.output
    for secret in ("a secret of the console", "an_address_of_the_hook", "a_token_of_the_hook"):
        assert secret not in first.output
    hook = awx.one("notification_templates", "slb.fleet webhook")["notification_configuration"]
    assert (hook["url"], hook["headers"]) == (EVERYTHING["webhook_url"], EVERYTHING["webhook_headers"])
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
        ("audit", "failure_nodes", "approve"),
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
    fewer = {
        **EVERYTHING,
        "webhook_url": "",
        "webhook_headers": {},
        "audit_schedule": "",
        "approval_timeout": 3600,
        "password": "",
    }
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
    return [line.removesuffix(" => {") for line in output.splitlines() if "(item=" in line]


def schedule(
    zone: str = "Europe/Berlin", begin: str = "20270101T030000", rule: str = "FREQ=DAILY;INTERVAL=1"
) -> dict[str, Any]:
    return {"audit_schedule": f"DTSTART;TZID={zone}:{begin} RRULE:{rule}"}


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"image": ""}, "slb_awx_image (of the execution environment)"),
        ({"project_url": ""}, "slb_awx_project_url (of the git repository"),
        ({"username": ""}, "slb_awx_base_url and slb_awx_username"),
        ({"password": ""}, "slb_awx_password is not set"),
        ({"mail_to": "a@example.com"}, "slb_awx_mail_from and slb_awx_mail_host"),
        ({"mail_to": "nobody"}, "slb_awx_mail_to has the value 'nobody': it is not a list of mail addresses"),
        (
            {"execution_environment": "ee"},
            "slb_awx_image makes an execution environment, and slb_awx_execution_environment",
        ),
        ({"credential": "mine"}, "slb_awx_username is for the credential that is made, and slb_awx_credential names"),
        ({"tls_fingerprint": "3f:1a"}, "Variable slb_awx_tls_fingerprint invalid"),
        ({"ca": "/etc/ssl/ca.pem"}, "it is not certificates in PEM; of a file, give the content"),
        ({"base_url": "https://a:b@console.example"}, "Variable slb_awx_base_url invalid: it contains a user"),
        (schedule(zone="Europe/Berln"), "Europe/Berln is none (did you mean Europe/Berlin?)"),
        (schedule(begin="20270230T030000"), "20270230T030000 is none"),
        (schedule(rule="FREQ=SECONDLY;INTERVAL=1"), "FREQ AWX takes: MINUTELY, HOURLY, DAILY"),
        (schedule(rule="FREQ=DAILY;INTERVAL=1;COUNT=5000"), "COUNT is at most 999"),
        ({"slices": "many"}, "slb_awx_slices has the value 'many': it is not a whole number from 1 to 1000"),
        ({"audit_schedule": "RRULE:FREQ=DAILY"}, "DTSTART;TZID=Europe/Berlin"),
        ({"name": "2026"}, "slb_awx_name has the value '2026': it is not a name"),
        ({"name": "x" * 101}, "it is not a name: at most 100 characters"),
        ({"label": "a "}, "no spaces around"),
        ({"labels": "x"}, "There is no variable slb_awx_labels. Did you mean slb_awx_label?"),
        ({"base_url": "http://console.example"}, "Variable slb_awx_base_url invalid"),
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


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (("GET", "projects", 500, 0), "AWX itself has failed: look at its own log"),
        (("GET", "credential_types", 403, 0), "The user needs the rights of an administrator"),
        (("GET", "job_templates", 0, 3), "AWX has not answered in time"),
        (("POST", "inventories", 500, 0), "AWX did not take the inventory slb.fleet engines"),
        pytest.param(
            ("POST", "notification_templates", 403, 0),
            "The user needs the rights of an administrator",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_awx_fails_at_is_told_and_the_next_run_goes_on(
    operator: Operator, trouble: tuple[str, str, int, float], words: str
) -> None:
    method, resource, status, seconds = trouble
    operator.awx.troubles = {(method, resource): (status, seconds)}
    given = {name: f"slb_awx_{name}" for name in EVERYTHING}
    variables = {**NEEDED, **{given[name]: value for name, value in EVERYTHING.items()}}
    run = operator.run("awx_setup", variables, CONTROLLER_REQUEST_TIMEOUT="1")
    assert run.status == 2
    assert words in " ".join(run.output.split()), run.output
    if method == "GET":
        assert operator.awx.writes == []
        return
    # What it left half-made is what the next run begins with.
    operator.awx.troubles = {}
    again = operator.set_up(**EVERYTHING)
    assert again.status == 0, again.output
    assert operator.awx.names("job_templates") == TEMPLATES
    operator.awx.writes.clear()
    assert operator.set_up(**EVERYTHING).changed == 0
    assert operator.awx.writes == []


def test_an_awx_that_is_not_there_is_told(operator: Operator) -> None:
    run = operator.run("awx_setup", NEEDED, CONTROLLER_HOST="http://127.0.0.1:9")
    assert run.status == 2
    assert "Look at CONTROLLER_HOST" in " ".join(run.output.split()), run.output


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"organization": "Defualt"}, "AWX has no organization 'Defualt', which slb_awx_organization names"),
        ({"machine_credential": "hosts"}, "AWX has no credential 'hosts', which slb_awx_machine_credential names"),
        (
            {"execution_environment": "ee", "image": ""},
            "AWX has no execution environment 'ee', which slb_awx_execution",
        ),
        ({"approvers": ["ops", "opps"]}, "AWX has no team 'opps', which slb_awx_approvers names"),
        ({"machine_credential": "twice"}, "AWX has 2 objects that slb_awx_machine_credential can mean"),
    ],
)
def test_what_is_named_has_to_be_there_before_anything_is_made(
    operator: Operator, variables: dict[str, Any], words: str
) -> None:
    for number in range(2):
        operator.awx.make("credentials", {"name": "twice", "credential_type": number, "inputs": {}})
    run = operator.set_up(**variables)
    assert run.status == 2
    assert words in " ".join(run.output.split()), run.output
    assert operator.awx.writes == []


@pytest.mark.long
def test_two_organizations_do_not_touch_each_other(operator: Operator) -> None:
    awx = operator.awx
    awx.make("organizations", {"name": "Other"})
    first = operator.set_up(**EVERYTHING)
    assert first.status == 0, first.output
    # Modules find an inventory by its name alone: of two they would take neither.
    awx.writes.clear()
    same = operator.set_up(organization="Other")
    assert same.status == 2
    assert "inventory 'slb.fleet engines' of the organization 'Default'" in " ".join(same.output.split()), same.output
    assert awx.writes == []

    # Another name, and by an oversight the same label.
    fewer = {**EVERYTHING, "approvers": [], "audit_schedule": ""}
    second = operator.set_up(organization="Other", name="other", **fewer)
    assert second.status == 0, second.output
    assert awx.names("schedules") == {"slb.fleet audit schedule"}
    assert awx.names("execution_environments") == {"slb.fleet", "other"}
    assert awx.names("credential_types") == {"slb.fleet management node", "other management node"}
    gone = operator.set_up(organization="Other", state="absent")
    assert gone.status == 0, gone.output
    assert awx.names("job_templates") == TEMPLATES
    assert awx.names("execution_environments") == {"slb.fleet"}
    assert awx.names("credentials") == {"slb.fleet management node"}
    assert awx.names("schedules") == {"slb.fleet audit schedule"}


@pytest.mark.long
def test_a_type_that_others_have_made_credentials_of_stays(operator: Operator) -> None:
    awx = operator.awx
    assert operator.set_up().status == 0
    kind = awx.one("credential_types", "slb.fleet management node")["id"]
    awx.make("credentials", {"name": "mine", "credential_type": kind, "inputs": {}, "organization": awx.organization})
    gone = operator.set_up(state="absent")
    assert gone.status == 0, gone.output
    assert awx.names("credentials") == {"mine"}
    assert awx.names("credential_types") == {"slb.fleet management node"}


@pytest.mark.long
def test_names_that_are_hard_to_write(operator: Operator) -> None:
    hard = {"name": """Flötte "A" & 'B' <100%> #1""", "label": "Ü'[x]", "organization": 'R&D "Nörd"'}
    operator.awx.make("organizations", {"name": hard["organization"]})
    given = {**EVERYTHING, **hard, "approvers": []}
    first = operator.set_up(**given)
    assert first.status == 0, first.output
    assert len(operator.awx.names("job_templates")) == len(TEMPLATES)
    operator.awx.writes.clear()
    again = operator.set_up(**given)
    assert (again.status, again.changed, operator.awx.writes) == (0, 0, []), again.output
    gone = operator.set_up(**{**hard, "state": "absent"})
    assert gone.status == 0, gone.output
    assert operator.awx.names("job_templates") == set()


@pytest.mark.long
def test_a_label_that_was_lost_comes_back_and_a_mark_that_was_lost_too(operator: Operator) -> None:
    awx = operator.awx
    assert operator.set_up().status == 0
    template = awx.one("job_templates", "slb.fleet audit")["id"]
    awx.links["job_templates", template, "labels"].clear()
    awx.tables["job_templates"][awx.one("job_templates", "slb.fleet rollout")["id"]]["description"] = "Somebody's words"
    mended = operator.set_up()
    assert mended.status == 0, mended.output
    assert awx.linked("job_templates", "slb.fleet audit", "labels") == {"slb.fleet"}
    assert awx.one("job_templates", "slb.fleet rollout")["description"].endswith("[slb.fleet]")


def test_the_other_collection_of_the_same_modules(operator: Operator) -> None:
    (operator.folder / "ansible_collections" / "ansible").mkdir(parents=True)
    modules = MODULES / "ansible_collections" / "awx" / "awx"
    (operator.folder / "ansible_collections" / "ansible" / "controller").symlink_to(modules)
    path = f"{ROOT / '.cache' / 'dev'}:{operator.folder}"
    variables = {**NEEDED, "slb_awx_collection": "ansible.controller"}
    run = operator.run("awx_setup", variables, ANSIBLE_COLLECTIONS_PATH=path)
    assert run.status == 0, run.output
    assert operator.awx.names("workflow_job_templates") == {"slb.fleet approved rollout"}


@pytest.mark.long
def test_who_is_taken_off_the_list_of_approvers_cannot_approve(operator: Operator) -> None:
    awx = operator.awx
    other = awx.make("teams", {"name": "ops 2", "organization": awx.organization})
    assert operator.set_up(approvers=["ops", "ops 2"]).status == 0
    assert {tuple(teams) for teams in awx.granted.values()} == {(awx.team, other)}
    foretold = operator.set_up("--check", approvers=["ops 2"])
    assert (foretold.status, foretold.changed) == (0, 1), foretold.output
    fewer = operator.set_up(approvers=["ops 2"])
    assert (fewer.status, fewer.changed) == (0, 1), fewer.output
    assert {tuple(teams) for teams in awx.granted.values()} == {(other,)}
    # Read for another reason: not ours to take.
    audit = awx.one("job_templates", "slb.fleet audit")["summary_fields"]["object_roles"]["read_role"]["id"]
    awx.granted[audit].append(awx.team)
    assert operator.set_up().status == 0
    assert {number: teams for number, teams in awx.granted.items() if teams} == {audit: [awx.team]}
    assert operator.set_up().changed == 0


@pytest.mark.long
def test_what_others_have_put_on_what_is_ours_is_not_taken_away_with_it(operator: Operator) -> None:
    awx = operator.awx
    assert operator.set_up(slices=4).status == 0
    sliced = awx.one("job_templates", "slb.fleet rollout sliced")["id"]
    nightly = awx.make("schedules", {"name": "my nightly", "unified_job_template": sliced, "rrule": ""})
    fewer = operator.set_up(slices=1)
    assert fewer.status == 2
    assert "schedule 'my nightly' (on slb.fleet rollout sliced)" in " ".join(fewer.output.split())
    awx.delete("schedules", nightly)
    assert operator.set_up(slices=1).status == 0

    audit = awx.one("job_templates", "slb.fleet audit")["id"]
    inventory = awx.one("inventories", "slb.fleet engines")["id"]
    workflow = awx.make("workflow_job_templates", {"name": "mine", "organization": awx.organization})
    node = {"identifier": "my node", "unified_job_template": audit, "workflow_job_template": workflow}
    others = [
        ("schedules", awx.make("schedules", {"name": "my nightly", "unified_job_template": audit, "rrule": ""})),
        ("hosts", awx.make("hosts", {"name": "my host", "inventory": inventory, "has_inventory_sources": False})),
        ("inventory_sources", awx.make("inventory_sources", {"name": "my source", "inventory": inventory})),
        ("job_templates", awx.make("job_templates", {"name": "my job", "inventory": inventory, "project": 0})),
        ("workflow_job_template_nodes", awx.make("workflow_job_template_nodes", node)),
    ]
    awx.make("hosts", {"name": "of the source", "inventory": inventory, "has_inventory_sources": True})
    awx.writes.clear()
    refused = operator.set_up("--check", state="absent")
    assert refused.status == 2
    words = " ".join(refused.output.split())
    for name in ("my nightly", "my host", "my source", "my job", "my node"):
        assert f"'{name}'" in words
    assert "of the source" not in words
    assert awx.writes == []
    for resource, number in others:
        del awx.tables[resource][number]
    gone = operator.set_up(state="absent")
    assert gone.status == 0, gone.output
    assert awx.names("job_templates") == set()


@pytest.mark.long
def test_a_template_that_only_has_the_label_stays(operator: Operator) -> None:
    awx = operator.awx
    assert operator.set_up().status == 0
    label = next(iter(awx.tables["labels"]))
    project = awx.make("projects", {"name": "mine", "organization": awx.organization})
    mine = awx.make("job_templates", {"name": "my report", "project": project, "playbook": "audit.yml"})
    awx.links["job_templates", mine, "labels"] = [label]
    assert operator.set_up().changed == 0
    assert operator.set_up(state="absent").status == 0
    assert awx.names("job_templates") == {"my report"}


def test_the_project_is_written_where_the_command_is_run(operator: Operator) -> None:
    variables = {**NEEDED, "slb_awx_dest": "slb"}
    written = operator.run("awx_files", variables)
    assert written.status == 0, written.output
    folder = operator.folder / "slb"
    assert (folder / "project" / "rollout.yml").is_file()
    assert (folder / "aap_configuration.yml").is_file()
    assert f"push the content of {folder}/project" in " ".join(written.output.split())
    (folder / "project" / "inventory" / "hosts.yml").write_text("mine")
    assert operator.run("awx_files", variables).changed == 0
    assert (folder / "project" / "inventory" / "hosts.yml").read_text() == "mine"


def test_the_variables_that_the_documentation_shows(operator: Operator) -> None:
    page = (ROOT / "docs" / "awx.md").read_text()
    (shown,) = re.findall(r"```yaml\n# awx.yml\n(.*?)```", page, re.DOTALL)
    operator.awx.make("credentials", {"name": "engine hosts", "credential_type": 0, "inputs": {}})
    operator.awx.make("teams", {"name": "operations", "organization": operator.awx.organization})
    done = operator.run("awx_setup", yaml.safe_load(shown), SLB_PASSWORD="a secret of the console")
    assert done.status == 0, done.output
