"""The variables of a host: types, defaults, empty values, and what is refused."""

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import (
    read_variables,
    refuse_in_inventory,
    trust_as_template,
    unknown_variables,
)

ROOT = Path(__file__).resolve().parents[3]


def _trusted(value):
    return trust_as_template(value) if isinstance(value, str) else value


def read(**variables):
    known = {"inventory_hostname": "edge-1", **{f"slb_{name}": _trusted(value) for name, value in variables.items()}}
    templar = Templar(loader=DataLoader(), variables=known)
    return read_variables(known, templar)


def test_defaults_name_the_host():
    values = read()
    assert (values["engine_name"], values["manage_ip"]) == ("edge-1", "edge-1")
    assert (values["wait_timeout"], values["max_replaced"], values["unverified_engine"]) == (180, "10%", "fail")


@pytest.mark.parametrize("empty", ["", " ", None, "{{ '' }}"])
def test_empty_value_is_unset(empty):
    assert read(settle=empty, engine_list=empty, engine_name=empty) == read()


def test_false_and_zero_are_values():
    values = read(license_backup=False, wait_timeout=60, max_replaced=0, throttle="0", remove_leftovers="false")
    assert [values[name] for name in ("license_backup", "wait_timeout", "max_replaced", "throttle")] == [
        False,
        60,
        0,
        0,
    ]
    assert values["remove_leftovers"] is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("engine_name", 83),
        ("engine_name", True),
        ("engine_name", "{{ slb_manage_ip_translated }}"),
        ("unverified_engine", "keep"),
        ("wait_timeout", "soon"),
        ("wait_timeout", 59),
        ("wait_timeout", True),
        ("stop_timeout", 1.5),
        ("max_replaced", "110%"),
        ("remove_leftovers", "maybe"),
        ("interfaces", [1]),
        ("settle", "{{ no_such_variable }}"),
    ],
)
def test_wrong_value_is_refused_by_name(name, value):
    with pytest.raises(FleetError) as caught:
        read(**{"manage_ip_translated": True, name: value})
    assert caught.value.code == "invalid_variable"
    assert f"slb_{name}" in str(caught.value)


def test_misspelled_variable_is_found():
    assert unknown_variables({"slb_setle": 1, "slb_settle": 1, "slb_plan": 1, "other": 1}) == {
        "slb_setle": "slb_settle"
    }


@pytest.mark.parametrize(("given", "percentage"), [(None, 100), ("", 100), (0, 0), ("0", 0), ("25%", 25)])
def test_max_fail_percentage_of_zero_is_zero(given, percentage):
    plays = yaml.safe_load((ROOT / "playbooks" / "rollout.yml").read_text())
    (expression,) = (play["max_fail_percentage"] for play in plays if "max_fail_percentage" in play)
    templar = Templar(loader=DataLoader(), variables={"slb_max_fail_percentage": given})
    assert float(templar.template(_trusted(expression))) == percentage


class _HostVars:
    def __init__(self, **variables):
        self._variables = variables

    def raw_get(self, _host):
        return self._variables


@pytest.mark.parametrize("name", ["slb_serial", "slb_max_fail_percentage", "slb_approved_plan"])
def test_variable_of_the_run_is_rejected_in_the_inventory(name):
    def refuse(value, **of_host):
        known = {"inventory_hostname": "edge-1", "hostvars": _HostVars(**of_host), name: value}
        refuse_in_inventory(known, DataLoader())

    with pytest.raises(FleetError) as refused:
        refuse(1, **{name: 1})
    assert refused.value.code == "invalid_variable"
    refuse(1)  # of a play
    refuse(" ", **{name: " "})
