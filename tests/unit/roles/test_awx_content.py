"""The content of AWX as data: surveys, and messages rendered as AWX renders them."""

import configparser
import functools
import itertools
import json

import pytest
import yaml
from jinja2 import ChainableUndefined, StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, sandbox
from jinja2.exceptions import SecurityError

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import DEFAULTS, KNOWN, RANGES, SPECS
from ansible_collections.slb.fleet.tests.awx.launches import CONTENT, ROOT, SURVEYS, TEMPLATES

STALLS_NOT = (TemplateSyntaxError, UndefinedError, SecurityError)
"""AWX shows these errors. Any other error stalls all workflows."""
EMAIL, WEBHOOK = (CONTENT[f"__slb_awx_{kind}"][0]["messages"] for kind in ("email", "webhook"))
OF_A_JOB = (EMAIL["error"]["message"], EMAIL["error"]["body"], WEBHOOK["error"]["body"])
OF_AN_APPROVAL = (*EMAIL["workflow_approval"]["running"].values(), *WEBHOOK["workflow_approval"]["running"].values())
HOSTILE = "ed\"ge'{{ 7*7 }}{% x %}\\</script>\r\nBcc: x@example.com\u202e已存在"
GROUP = {"code": "leftover", "status": "failed", "count": 12, "hosts": ["e1", HOSTILE], "summary": HOSTILE}
GROUP["fix"] = "Set."
OUTCOME = {"counts": {"healthy": 3, "failed": 12}, "groups": [GROUP], "groups_left_out": 2, "complete": False}
ODD = [None, 7, 1.5, True, "", "text", HOSTILE, [], [None, 7, [], {}], {}, {"a": 1}, {1: []}]


@functools.cache
def compiled(template, undefined):
    return sandbox.ImmutableSandboxedEnvironment(undefined=undefined).from_string(template)


def render(template, undefined=Undefined, **fields):
    job = {"id": 7, "name": "audit", "status": "failed", "started": "2027-01-01", "finished": None, **fields}
    known = {"job": job, "job_friendly_name": "Job", "url": "https://awx.example/7", "job_metadata": "{}"}
    approval = {"approval_status": "requested", "approval_node_name": "n", "workflow_url": "u"}
    return compiled(template, undefined).render(**known, **approval)


def test_message_of_failed_job_names_hosts_and_codes():
    subject, body, posted = (render(each, artifacts={"slb_fleet_7": OUTCOME}) for each in OF_A_JOB)
    assert subject == "Job #7 audit: failed"
    assert "3 healthy\n12 failed\n" in body
    assert f"12 failed (leftover): {HOSTILE} Set.\n  e1, {HOSTILE}, ...\n" in body
    assert "The run ended early." in body
    assert "And 2 more reasons." in body
    assert json.loads(posted)["outcome"]["slb_fleet_7"] == OUTCOME


@pytest.mark.parametrize("undefined", [Undefined, ChainableUndefined, StrictUndefined])
def test_message_with_odd_artifacts_stalls_no_workflow(undefined):
    groups = [{**GROUP, name: odd} for name, odd in itertools.product(GROUP, ODD)]
    outcomes = [{**OUTCOME, name: odd} for name, odd in itertools.product(OUTCOME, ODD)]
    outcomes += [{**OUTCOME, "groups": [group]} for group in (*groups, *ODD)]
    artifacts = [*ODD, "$hidden due to Ansible no_log flag$", *({"slb_fleet_7": each} for each in (*outcomes, *ODD))]
    shown = []
    for each, template in itertools.product(artifacts, OF_A_JOB):
        try:
            text = render(template, undefined, artifacts=each, job_explanation="x" * 100_000)
        except STALLS_NOT:
            continue
        shown.append(template)
        assert len(text) < 5000
        if template == OF_A_JOB[2]:
            json.loads(text)
    # Only a body may miss a member of the artifacts, and only if AWX is strict.
    complete = [template for template in OF_A_JOB if shown.count(template) == len(artifacts)]
    assert set(OF_A_JOB) - set(complete) <= ({OF_A_JOB[1]} if undefined is StrictUndefined else set())
    assert shown.count(OF_A_JOB[1]) > 0.9 * len(artifacts)


def test_message_without_optional_fields_is_accepted_by_awx():
    for template in (*OF_A_JOB, *OF_AN_APPROVAL):
        render(template, StrictUndefined)
    assert json.loads(render(OF_AN_APPROVAL[2])) == {"job": {}}


def test_survey_asks_for_known_variables_and_no_secret():
    secrets = {f"slb_{name}" for name, rules in CONNECTION_ARGUMENTS.items() if rules.get("no_log")}
    for questions in SURVEYS.values():
        variables = [question["variable"] for question in questions]
        assert len(set(variables)) == len(variables)
        assert set(variables) <= KNOWN - secrets
        for question in questions:
            assert question["type"] in ("text", "multiplechoice", "integer")
            # A default, also an empty one, replaces a variable of the job template.
            assert "default" not in question
            # AWX refuses an empty answer only if there is a minimum length.
            assert question["required"] is (question["type"] == "text" and question["min"] == 1)
    assert SURVEYS["remediate"][0]["required"]


def test_survey_has_the_ranges_and_choices_of_the_variables():
    for question in itertools.chain.from_iterable(SURVEYS.values()):
        name = question["variable"].removeprefix("slb_")
        if question["type"] == "integer":
            least, most = RANGES[name]
            assert (question["min"], question["max"]) == (least, most)
            assert question["question_description"].startswith(
                f"{least} to {most}. Default: {DEFAULTS[f'slb_{name}']}."
            )
        if question["type"] == "multiplechoice":
            accepted = {"true", "false"} if SPECS[name]["type"] == "bool" else {*SPECS[name]["choices"]} - {""}
            assert set(question["choices"]) == accepted
        if question["type"] == "text" and name in RANGES:
            pytest.fail(f"{name} is a number")


def test_survey_asks_for_no_place_to_connect_or_to_write():
    asked = {question["variable"] for questions in SURVEYS.values() for question in questions}
    places = ("_host", "_dest", "_dir", "_path", "_url", "_har", "_ip", "_name")
    assert [variable for variable in asked if variable.endswith(places)] == []
    launched = {name for each in TEMPLATES.values() for name in each if name.startswith("ask_")}
    assert launched == {"ask_limit_on_launch", "ask_job_type_on_launch", "ask_verbosity_on_launch"}


def test_credential_injects_options_but_no_password():
    (kind,) = CONTENT["__slb_awx_credential_types"]
    injected, files = kind["injectors"]["env"], kind["injectors"]["file"]
    taken = {name for rules in CONNECTION_ARGUMENTS.values() for name in rules.get("fallback", (None, ()))[1]}
    assert injected.keys() <= taken
    secrets = {field["id"] for field in kind["inputs"]["fields"] if field.get("secret")}
    assert secrets == {"password"}
    tower = {"filename": {name.removeprefix("template."): f"/runner/env/{name}" for name in files}}
    inputs = {"url": "https://n", "username": "u", "password": "s3cret", "ca": "PEM", "tower": tower}
    environment = {name: compiled(template, StrictUndefined).render(**inputs) for name, template in injected.items()}
    assert "s3cret" not in str(environment)
    assert environment["SLB_PASSWORD_FILE"] == "/runner/env/template.password"
    assert compiled(files["template.password"], StrictUndefined).render(**inputs) == "s3cret"


def test_project_has_each_playbook_and_no_interpreter_warnings():
    project = ROOT / "examples" / "awx"
    assert {each["playbook"] for each in TEMPLATES.values()} <= {path.name for path in project.glob("*.yml")}
    settings = configparser.ConfigParser()
    settings.read(project / "ansible.cfg")
    assert settings["defaults"]["interpreter_python"] == "auto_silent"


def test_role_specification_has_each_default():
    specs = yaml.safe_load((ROOT / "roles/awx_content/meta/argument_specs.yml").read_text())["argument_specs"]
    defaults = {name: value for name, value in CONTENT.items() if name.startswith("slb_awx_")}
    for spec in specs.values():
        assert spec["options"].keys() == defaults.keys()
    for name, option in specs["main"]["options"].items():
        if option["type"] != "dict" and option.get("elements") != "dict":
            assert option.get("default", "") == defaults[name], name
