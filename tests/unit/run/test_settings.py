"""A bad value fails its host in words; an empty one is as if nobody had set it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.lookup.setting import LookupModule
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import (
    KNOWN,
    OF_A_HOST,
    OF_A_PLAY,
    setting,
    settings_of,
    unknown_variables,
)

ROOT = Path(__file__).resolve().parents[3]
STRANGE_NUMBERS = ("1e1", "1_0", "\u0663", "\uff12", ".5e1", "0x5")


class Templar:
    """Gives every value as it is."""

    def template(self, value: Any) -> Any:
        return value


def of(**variables: Any) -> dict[str, Any]:
    return settings_of({"inventory_hostname": "edge-1", **variables}, Templar())


def test_nothing_set_is_the_defaults() -> None:
    settings = of()
    assert (settings["engine_name"], settings["manage_ip"], settings["wait_timeout"]) == ("edge-1", "edge-1", 180)
    assert of(ansible_host="192.0.2.11")["manage_ip"] == "192.0.2.11"


@pytest.mark.parametrize("set_", [{}, {"engine_name": "eng-1"}, {"manage_ip": "192.0.2.9"}, {"manage_ip": " "}])
@pytest.mark.parametrize("address", ["192.0.2.11", "", None])
def test_a_template_is_given_the_engine_that_the_decision_is_about(
    monkeypatch: pytest.MonkeyPatch, set_: dict[str, str], address: str | None
) -> None:
    """Also where the inventory has left empty what it is made of."""
    variables = {"inventory_hostname": "edge-1", "ansible_host": address} | {f"slb_{n}": v for n, v in set_.items()}
    lookup = LookupModule(templar=Templar())
    monkeypatch.setattr(lookup, "set_options", lambda **_given: None)
    decided = settings_of(variables, Templar())
    assert lookup.run(["engine_name", "manage_ip"], variables) == [decided["engine_name"], decided["manage_ip"]]
    assert all(lookup.run(["engine_name", "manage_ip"], variables))


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_empty_is_unset_for_every_variable(empty: Any) -> None:
    variables = {f"slb_{name}": empty for name in OF_A_HOST}
    assert of(**variables, ansible_host="192.0.2.11") == of(ansible_host="192.0.2.11")
    for name, variable in OF_A_PLAY.items():
        assert setting(name, empty) == variable.default


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("wait_timeout", "3m", "a number of seconds"),
        ("wait_timeout", "nan", "a number of seconds"),
        ("wait_timeout", "inf", "a number of seconds"),
        ("wait_timeout", -1, "from 0 to 86400"),
        ("settle", True, "a number of seconds"),
        ("attempts", 0, "from 1 to 100"),
        ("attempts", 1.5, "a whole number"),
        ("user_credential_id", "admin", "a whole number"),
        ("allow_established", "perhaps", "a boolean"),
        ("is_change_hostname", ["yes"], "a boolean"),
        ("engine_name", True, "a text"),
        ("serial", "0%", "a number of hosts from 1 upwards"),
        ("unverified_engine", "destroy", "one of: fail, adopt, replace"),
        ("motd", "away", "one of: aside, keep"),
        ("engine_name", {"a": 1}, "a text"),
        ("max_replaced", "some", "a number of hosts, or a percentage"),
        ("max_replaced", "200%", "a number of hosts, or a percentage"),
        ("serial", "all", "a number of hosts from 1 upwards"),
        ("serial", [1, 0], "a number of hosts from 1 upwards"),
        ("interfaces", 7, "a list of names"),
        ("interfaces", ["eth1", {}], "a list of names"),
        ("interfaces_state", "verified", "one of: present, absent"),
        ("confirm_timeout", "nan", "from 5 to 3600"),
        ("confirm_timeout", 4, "from 5 to 3600"),
        ("dhcp_timeout", ".inf s", "a number of seconds"),
        ("wait_timeout", 9999999999, "from 0 to 86400"),
        ("stop_timeout", "9999999999999999999999", "from 0 to 3600"),
        ("settle", 1e300, "from 0 to 3600"),
        ("user_credential_id", 9007199254740993, "from 1 to 2147483647"),
        ("max_fail_percentage", "many", "a percentage"),
        ("max_fail_percentage", 120, "from 0 to 100"),
        # Python reads all of these as numbers.
        *((name, value, "") for name in ("attempts", "wait_timeout") for value in STRANGE_NUMBERS),
        *(("serial", [1, value], "a number of hosts from 1") for value in STRANGE_NUMBERS),
        *(("max_replaced", f"{value}%", "a percentage") for value in STRANGE_NUMBERS),
        *(("max_fail_percentage", f"{value}%", "a percentage") for value in (*STRANGE_NUMBERS, "5%")),
    ],
)
def test_a_bad_value_is_named_with_its_remedy(name: str, value: Any, remedy: str) -> None:
    with pytest.raises(FleetError) as raised:
        setting(name, value)
    assert f"slb_{name}" in str(raised.value)
    assert repr(value) in str(raised.value)
    assert remedy in str(raised.value)


def test_what_arrives_as_text_gets_its_type() -> None:
    assert setting("wait_timeout", "12.5") == 12.5
    assert setting("attempts", "2") == 2
    assert setting("allow_established", "yes") is True
    assert setting("max_replaced", "25 %") == "25%"
    assert setting("serial", "1,10%,25%") == [1, "10%", "25%"]
    assert setting("serial", 5) == [5]
    assert setting("interfaces", "eth1, eth2") == ["eth1", "eth2"]
    assert setting("max_fail_percentage", "20%") == 20


def test_an_unknown_variable_is_told_with_the_nearest_known_one() -> None:
    found = unknown_variables(["slb_engin_name", "slb_wait_timeout", "ansible_host", "slb_zzz"])
    assert found == {"slb_engin_name": "slb_engine_name", "slb_zzz": ""}


def test_every_variable_of_the_roles_and_playbooks_is_known_and_documented_with_its_default() -> None:
    documented: dict[str, Any] = {}
    for path in ROOT.glob("roles/*/meta/argument_specs.yml"):
        for entry in yaml.safe_load(path.read_text())["argument_specs"].values():
            documented.update(entry["options"])
    # Those of AWX have a gate of their own.
    assert {name for name in documented if not name.startswith("slb_awx_")} <= KNOWN
    for name, variable in OF_A_HOST.items():
        if name in ("adopt_interfaces", "license_dest", "license_host", "license_backup"):
            continue  # of playbooks alone
        default = documented[f"slb_{name}"].get("default")
        assert default == variable.default, name


def test_a_setting_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(FleetError, match=r"slb_serail.*no such setting.*\bserial\b"):
        setting("serail", None)
