"""Messages for users of playbooks name variables."""

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS,
    Connection,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._options import read_options, refuse_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import trust_as_template
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of

SPEC = {**CONNECTION_ARGUMENTS, "dest": {"type": "str", "required": True}, "max_size": {"type": "int"}}


def error_of_task(task, variables=None, *, spec=SPEC):
    known = {
        name: trust_as_template(value) if isinstance(value, str) else value for name, value in (variables or {}).items()
    }
    templar = Templar(loader=DataLoader(), variables=known)
    arguments = {name: templar.template(trust_as_template(value)) for name, value in task.items()}
    return error_of(lambda: Connection.from_options(read_options(spec, arguments, task, known, templar)))


@pytest.mark.parametrize(
    ("task", "variables", "environment", "code", "words"),
    [
        ({"dest": "d", "timeout": "soon"}, {}, {}, "invalid_option", "Option timeout invalid"),
        ({}, {"slb_timeout": "soon"}, {}, "invalid_variable", "Variable slb_timeout invalid"),
        ({}, {}, {"SLB_VALIDATE_CERTS": "x"}, "invalid_variable", "Environment variable SLB_VALIDATE_CERTS invalid"),
        ({"dest": "d", "max_size": "{{ slb_most }}"}, {"slb_most": "x"}, {}, "invalid_variable", "Variable slb_most"),
        # Texts that YAML reads as numbers
        ({}, {"slb_password": 342391}, {}, "invalid_variable", "Variable slb_password invalid"),
        ({}, {"slb_password": "{{ secret }}", "secret": 342391}, {}, "invalid_variable", "Variable slb_password"),
        ({"dest": "{{ place }}"}, {"place": 83}, {}, "invalid_option", "Option dest invalid"),
        ({}, {}, {}, "missing_option", "Set dest."),
        ({"dest": "{{ slb_license_dest }}"}, {"slb_license_dest": ""}, {}, "missing_variable", "Set slb_license_dest."),
    ],
)
def test_message_names_the_value_as_the_user_gave_it(monkeypatch, task, variables, environment, code, words):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    error = error_of_task(task, variables)
    assert error.code == code
    assert (words in str(error), "342391" in str(error)) == (True, False)


def test_client_names_options_as_the_user_gave_them(monkeypatch):
    monkeypatch.setenv("SLB_PASSWORD", "of the environment")
    known = {"slb_base_url": "https://node.example", "slb_username": "u"}
    given = read_options(CONNECTION_ARGUMENTS, {"timeout": 3}, {}, known, Templar(loader=DataLoader(), variables=known))
    connection = Connection.from_options(given)
    assert [connection.called(name) for name in ("username", "password", "timeout")] == [
        *("slb_username", "SLB_PASSWORD", "timeout")
    ]


@pytest.mark.parametrize("fact", ["slb_base_url", "__slb_failure", "awx_job_id", "host", "inventory_hostname"])
def test_refuse_facts(fact):
    refuse_facts({"ansible_facts": {"distribution": "Debian"}}, ["ansible_host"])
    assert code_of(refuse_facts, {"ansible_facts": {fact: "x"}}, ["ansible_host"]) == "variable_from_facts"
