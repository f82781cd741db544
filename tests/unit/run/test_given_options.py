"""Where the options of a task come from, and what they are taken for."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleUndefinedVariable

from ansible_collections.slb.fleet.plugins.module_utils._console import engine, engine_info, license
from ansible_collections.slb.fleet.plugins.module_utils._console.description import description
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, MissingOptionError, OptionError
from ansible_collections.slb.fleet.plugins.plugin_utils._connection import connection_params
from ansible_collections.slb.fleet.plugins.plugin_utils._options import (
    given_options,
    names_for,
    typed_options,
    with_defaults,
)

EMPTY = [None, "", "  ", "\n"]
SITE = {"slb_base_url": "https://console.example", "slb_username": "admin", "slb_password": "pass-w0rd"}


class Templar:
    def template(self, value: Any) -> Any:
        if value == "{{ nothing }}":
            raise AnsibleUndefinedVariable("'none' is undefined")
        return value


class Task:
    def __init__(self, path: str) -> None:
        self.path = path

    def get_path(self) -> str:
        return self.path


def given(arguments: dict[str, Any], variables: dict[str, Any] | None = None, **keywords: Any) -> Any:
    return given_options(CONNECTION_ARGUMENTS, arguments, variables or {}, Templar(), **keywords)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for option in CONNECTION_ARGUMENTS:
        monkeypatch.delenv(f"SLB_{option.upper()}", raising=False)


def test_the_task_then_the_host_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLB_USERNAME", "from-environment")
    assert given({}).values == {"username": "from-environment"}
    assert given({}).names == {"username": "SLB_USERNAME"}
    assert given({}, {"slb_username": "of-host"}).values == {"username": "of-host"}
    assert given({}, {"slb_username": "of-host"}).names == {"username": "slb_username"}
    of_task = given({"username": "of-task"}, {"slb_username": "of-host"})
    assert (of_task.values, of_task.names) == ({"username": "of-task"}, {})
    assert given({}, environment=False).values == {}


@pytest.mark.parametrize("empty", EMPTY)
def test_empty_is_not_set(monkeypatch: pytest.MonkeyPatch, empty: Any) -> None:
    monkeypatch.setenv("SLB_TLS_FINGERPRINT", " ")
    monkeypatch.setenv("SLB_VALIDATE_CERTS", "")
    monkeypatch.setenv("SLB_CA_PATH", "/from/environment")
    of_host = {"slb_timeout": 7, "slb_retries": empty, "slb_ca_path": empty}
    found = given(dict.fromkeys(CONNECTION_ARGUMENTS, empty), of_host)
    assert found.values == {"timeout": 7, "ca_path": "/from/environment"}
    params = connection_params({**SITE, **of_host, "slb_validate_certs": empty}, Templar())
    assert params["timeout"] == 7
    assert params["retries"] == 3
    assert params["validate_certs"] is True
    monkeypatch.delenv("SLB_CA_PATH")
    assert Connection.from_params(connection_params(SITE, Templar())).base_url == "https://console.example"


def test_a_connection_of_which_nothing_is_stated_is_told_when_it_is_needed() -> None:
    params = connection_params({}, Templar())
    with pytest.raises(MissingOptionError, match="variable slb_base_url or the environment variable SLB_BASE_URL"):
        Connection.from_params(params)


def test_a_variable_that_cannot_be_evaluated_is_named() -> None:
    with pytest.raises(FleetError, match="slb_password"):
        connection_params({**SITE, "slb_password": "{{ nothing }}"}, Templar())


def test_no_host_decides_where_credentials_go() -> None:
    facts = {"slb_base_url": "https://evil.example"}
    with pytest.raises(FleetError, match=r"slb_base_url.*no host decides"):
        connection_params({**SITE, **facts, "ansible_facts": facts}, Templar())
    # Also where something outranks it: nobody sees which of the two is meant.
    with pytest.raises(FleetError, match=r"slb_base_url.*no host decides"):
        connection_params({**SITE, "ansible_facts": facts}, Templar())


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("timeout", "soon", "not a whole number"),
        ("timeout", True, "not a whole number"),
        ("timeout", 1.5, "not a whole number"),
        ("retries", [3], "not a whole number"),
        ("timeout", "\u0663", "not a whole number"),
        ("retries", "1_0", "not a whole number"),
        ("validate_certs", "maybe", "neither true nor false"),
        ("base_url", ["https://console.example"], "not text"),
        ("username", {"a": "b"}, "not text"),
        ("ca_path", ["/etc/ssl"], "not text"),
    ],
)
def test_wrong_types_in_our_own_words(option: str, value: Any, why: str) -> None:
    with pytest.raises(OptionError) as caught:
        typed_options(CONNECTION_ARGUMENTS, {option: value})
    assert f"The option {option!r} has the value {value!r}: it is {why}" in str(caught.value)
    assert caught.value.remedy


def test_a_password_of_a_wrong_type_is_not_shown() -> None:
    with pytest.raises(OptionError, match="hidden") as caught:
        typed_options(CONNECTION_ARGUMENTS, {"password": ["pass-w0rd"]})
    assert "pass-w0rd" not in str(caught.value)


def test_right_types() -> None:
    values = {"timeout": "7", "retries": 2.0, "validate_certs": "no", "password": 12345, "ca_path": "~/ca"}
    typed = typed_options(CONNECTION_ARGUMENTS, values)
    assert typed["timeout"] == 7
    assert typed["retries"] == 2
    assert typed["validate_certs"] is False
    assert typed["password"] == "12345"
    assert not typed["ca_path"].startswith("~")
    assert with_defaults(license.ARGUMENTS, {})["mode"] == "0600"


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (engine.ARGUMENTS, "name"),
        (license.ARGUMENTS, "dest"),
        (engine_info.ARGUMENTS, "listing"),
    ],
)
def test_what_is_required_is_missed_in_our_own_words(arguments: Any, missing: str) -> None:
    with pytest.raises(MissingOptionError, match=f"The option '{missing}' is missing. Set '{missing}'"):
        typed_options(arguments, given_options(arguments, {missing: " "}, {}, Templar()).values)


def test_an_option_that_there_is_not() -> None:
    with pytest.raises(FleetError, match=r"no option 'basurl'\. Did you mean 'base_url'"):
        given({"basurl": None})
    with pytest.raises(FleetError, match="The options are: base_url, "):
        given({"zzz": 1})


def test_a_description_is_checked_where_it_is_given() -> None:
    readers = {"listing": description}
    with pytest.raises(OptionError, match="not a mapping"):
        typed_options(engine_info.ARGUMENTS, {"listing": "nonsense"}, readers)


def test_tasks_of_the_collection_are_set_by_variables() -> None:
    root = engine_root()
    own = {"timeout": "slb_timeout"}
    assert names_for(Task("/home/me/site.yml:3"), own) == own
    assert names_for(Task(""), own) == own
    assert names_for(Task(f"{root}/plugins/x.yml:1"), {}) == {}
    for folder in ("roles/engine_deployment/tasks/main.yml", "playbooks/rollout.yml"):
        assert names_for(Task(f"{root}/{folder}:12"), {})["name"] == "slb_engine_name"
    assert names_for(Task(f"{root}/playbooks/x.yml:1"), {"username": "SLB_USERNAME"})["username"] == "SLB_USERNAME"


def engine_root() -> str:
    """Under the name by which Ansible finds the collection, which may be a link."""
    return str(engine.__file__).partition("/plugins/")[0]
