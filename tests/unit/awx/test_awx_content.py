"""What is made in AWX: held against what AWX takes, and against what is told of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.plugin_utils._awx import content, files, settings, standing
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.surveys import SURVEYS
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import KNOWN

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "tests" / "awx" / "schema.json").read_text())
EVERYTHING = {
    "slb_awx_image": "registry.example/slb-fleet:1",
    "slb_awx_project_url": "https://git.example/slb.git",
    "slb_awx_base_url": "https://console.example",
    "slb_awx_username": "admin",
    "slb_awx_password": "a secret",
    "slb_awx_approvers": ["ops"],
    "slb_awx_webhook_url": "https://hook.example",
    "slb_awx_mail_to": "a@example.com, b@example.com",
    "slb_awx_mail_from": "awx@example.com",
    "slb_awx_mail_host": "mail.example",
    "slb_awx_slices": "3",
    "slb_awx_audit_schedule": "DTSTART;TZID=Europe/Berlin:20261122T030000 RRULE:FREQ=DAILY;INTERVAL=1",
}


@pytest.fixture
def wanted() -> dict[str, Any]:
    return settings.settings_of(EVERYTHING)


@pytest.fixture
def objects(wanted: dict[str, Any]) -> list[content.Object]:
    return content.content(wanted)


def test_names_and_texts_are_as_long_as_awx_takes_them(objects: list[content.Object]) -> None:
    for each in objects:
        fields = SCHEMA[standing.ENDPOINTS[each.kind]]["fields"] if each.kind in standing.ENDPOINTS else {}
        for name, value in each.args.items():
            rule = fields.get(name, {})
            assert len(str(value)) <= rule.get("max_length", 10**6), (each.name, name)
            assert not rule.get("choices") or value in rule["choices"], (each.name, name)
        assert {name for name, rule in fields.items() if rule.get("required")} - set(each.args) <= {"credential_type"}


def test_what_cannot_carry_a_label_carries_the_mark(objects: list[content.Object]) -> None:
    for each in objects:
        if each.kind not in ("label", "role"):
            assert each.args["description"].endswith("[slb.fleet]"), each.name


def test_no_question_is_about_a_secret_or_an_unknown_variable() -> None:
    secrets = {f"slb_{name}" for name, rules in CONNECTION_ARGUMENTS.items() if rules.get("no_log")}
    for questions in SURVEYS.values():
        variables = [question["variable"] for question in questions]
        assert len(set(variables)) == len(variables)
        assert set(variables) <= KNOWN - secrets
        for question in questions:
            assert question["type"] in ("text", "multiplechoice", "integer")
            assert question["default"] == ""


def test_a_template_runs_once_at_a_time(objects: list[content.Object]) -> None:
    templates = [each for each in objects if each.kind in ("job_template", "workflow_job_template")]
    assert len(templates) == 10
    assert not any(each.args["allow_simultaneous"] for each in templates)


def test_an_older_ansible_core_is_told_by_ansible_itself() -> None:
    assert yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"] == ">=2.16.0"


def test_a_heal_wants_its_hosts_named() -> None:
    (hosts,) = [question for question in SURVEYS["remediate"] if question["variable"] == "slb_hosts"]
    assert hosts["required"]
    assert hosts["min"] == 1


def test_every_variable_of_the_connection_comes_from_the_credential() -> None:
    injected = set(content.INJECTORS["env"])
    taken = {
        names[0] for rules in CONNECTION_ARGUMENTS.values() for names in [rules.get("fallback", (None, []))[1]] if names
    }
    assert injected <= taken
    assert not any(name.startswith("ANSIBLE_") for name in injected)


def test_all_is_off_unless_it_is_asked_for() -> None:
    few = {name: EVERYTHING[name] for name in list(EVERYTHING)[:5]}
    kinds = {each.kind for each in content.content(settings.settings_of(few))}
    assert not kinds & {"schedule", "notification_template", "role"}


def test_the_data_for_another_collection_are_the_same_objects(objects: list[content.Object]) -> None:
    text = files.data(objects)
    assert "a secret" not in text
    assert "password: '{{ slb_awx_password }}'" in text

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))
    data = yaml.load(text, Loader)
    written = [(item.get("name", ""), item) for items in data.values() for item in items]
    assert [name for name, _item in written] == [each.name for each in objects]
    for (_name, item), each in zip(written, objects, strict=True):
        told = dict(item)
        for place, variable in each.secrets.items():
            option, field = place.split(".")
            assert told[option][field] == f"{{{{ {variable} }}}}"
            told[option] = {key: value for key, value in told[option].items() if key != field}
        assert told == each.args


def test_the_specification_of_the_role_has_every_variable() -> None:
    specs = yaml.safe_load((ROOT / "roles" / "awx_content" / "meta" / "argument_specs.yml").read_text())[
        "argument_specs"
    ]
    told = {name: rules for entry in specs.values() for name, rules in entry["options"].items()}
    assert set(told) == {f"slb_awx_{name}" for name in settings.VARIABLES}
    for name, rules in told.items():
        default = settings.VARIABLES[name.removeprefix("slb_awx_")][1]
        assert rules.get("default", "") == default or not default, name


def test_what_is_there_is_left_and_what_is_another_s_is_refused(
    objects: list[content.Object], wanted: dict[str, Any]
) -> None:
    ours = [{"id": 1, "name": "slb.fleet", "description": "x [slb.fleet]", "status": "failed"}]
    done = standing.steps(objects, {"project": ours}, [], wanted)
    (project,) = [each for each in done["make"] if each["kind"] == "project"]
    assert project["args"]["update_project"], "its last sync has failed"
    assert not project["foretold"]
    with pytest.raises(FleetError, match=r"something else under a name that is needed: project 'slb\.fleet'"):
        standing.steps(objects, {"project": [{"id": 1, "name": "slb.fleet", "description": ""}]}, [], wanted)


def test_the_page_shows_the_execution_environment_as_it_is() -> None:
    shown = re.findall(r"```yaml\n(version: 3\n.*?)```", (ROOT / "docs" / "awx.md").read_text(), re.DOTALL)
    assert [yaml.safe_load(each) for each in shown] == [
        yaml.safe_load((ROOT / "execution-environment.yml").read_text())
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slb_awx_webhook_url": "https://hook.example/a b"}, "of visible ASCII signs"),
        ({"slb_awx_webhook_url": "https://hook.example/\n"}, "of visible ASCII signs"),
        ({"slb_awx_webhook_headers": {"X\nY": "a"}}, "a mapping of headers, each of one line"),
        ({"slb_awx_webhook_headers": {"X": "a\r\nY: b"}}, "a mapping of headers, each of one line"),
        ({"slb_awx_webhook_headers": {"": "a"}}, "a mapping of headers, each of one line"),
    ],
)
def test_a_webhook_that_cannot_work_is_told(given: dict[str, Any], words: str) -> None:
    with pytest.raises(FleetError, match=words):
        settings.settings_of({**EVERYTHING, **given})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slb_awx_webhook_url": ""}, "slb_awx_webhook_url (where the headers are sent)"),
        ({"slb_awx_mail_to": ""}, "slb_awx_mail_to (who gets a mail)"),
        ({"slb_awx_mail_to": [], "slb_awx_mail_from": None}, "slb_awx_mail_to (who gets a mail)"),
    ],
)
def test_what_would_do_nothing_is_told(given: dict[str, Any], words: str) -> None:
    all_of_it = settings.settings_of({**EVERYTHING, "slb_awx_webhook_headers": {"X-Key": "k"}})
    settings.check_for_content(all_of_it)
    with pytest.raises(FleetError) as raised:
        settings.check_for_content(
            settings.settings_of({**EVERYTHING, "slb_awx_webhook_headers": {"X-Key": "k"}, **given})
        )
    assert words in str(raised.value)
    assert "Nothing was changed in AWX." in str(raised.value)


OF_OTHERS = ("organization", "execution_environment", "project_credential", "machine_credential", "credential")


@pytest.mark.parametrize("variable", [*OF_OTHERS, "approvers"])
def test_others_have_named_what_they_have_as_they_like(variable: str) -> None:
    for name in ("R+D, Nord", "x" * 512, "Ünï/cödé? & 'quotes' \"{{ 1 }}\" %41", "1_000 hosts", "A\u00a0B"):
        given = [name] if variable == "approvers" else name
        assert settings.settings_of({f"slb_awx_{variable}": given})[variable] == given
    for name in ("2026", "\u0663", "a++b", "x" * 513):
        given = [name] if variable == "approvers" else name
        with pytest.raises(FleetError, match=rf"slb_awx_{variable} has the value .*: it is not a name of AWX"):
            settings.settings_of({f"slb_awx_{variable}": given})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("name", f"a{sign}b") for sign in "\u2028\u0085\u200b\u202e\x7f"),
        *(("label", f"a{sign}b") for sign in "\u2028\u0085\u200b\u202e\x7f"),
        *((each, "a b") for each in ("image", "project_url", "project_branch", "mail_host", "collection_source")),
        *((each, "a\nb") for each in ("image", "project_url", "mail_host", "mail_from", "collection_version")),
        *((each, "\u0663") for each in ("slices", "approval_timeout", "mail_port")),
        *((each, "1e2") for each in ("slices", "approval_timeout", "mail_port")),
        ("audit_schedule", "DTSTART;TZID=Europe/Berlin:20270101T030000 RRULE:FREQ=DAILY;INTERVAL=\u0663"),
        ("audit_schedule", "DTSTART;TZID=Europe/Berlin:20270101T030000 RRULE:FREQ=DAILY;INTERVAL=1;COUNT=many"),
    ],
)
def test_what_awx_would_stumble_over_is_told(variable: str, value: str) -> None:
    with pytest.raises(FleetError, match=rf"The variable slb_awx_{variable} has the value .*: it is not a ") as raised:
        settings.settings_of({f"slb_awx_{variable}": value})
    assert "invalid literal" not in str(raised.value)
