"""The variables of a host: types, defaults, empty values, and what is refused."""

import re
from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.modules import interface
from ansible_collections.slb.fleet.plugins.plugin_utils import _variables as variables
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of

ROOT = Path(__file__).resolve().parents[4]


def _trusted(value):
    return variables.trust_as_template(value) if isinstance(value, str) else value


def read(**given):
    known = {"inventory_hostname": "edge-1", **{f"slb_{name}": _trusted(value) for name, value in given.items()}}
    templar = Templar(loader=DataLoader(), variables=known)
    return variables.read_variables(known, templar)


def test_defaults_name_the_host():
    values = read()
    assert (values["engine_name"], values["manage_ip"]) == ("edge-1", "edge-1")
    assert (values["wait_timeout"], values["max_replaced"], values["unverified_engine"]) == (180, "10%", "fail")


@pytest.mark.parametrize("empty", ["", " ", None, "{{ '' }}"])
def test_empty_value_is_unset(empty):
    assert read(settle=empty, engine_list=empty, engine_name=empty) == read()


def test_false_and_zero_are_values():
    values = read(license_backup=False, max_replaced=0, throttle="0", remove_leftovers="false")
    assert [values[name] for name in ("license_backup", "remove_leftovers")] == [False, False]
    assert [values[name] for name in ("max_replaced", "throttle")] == [0, 0]


OF_RUNS = ("serial", "max_fail_percentage", "batch_pause")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("engine_name", value) for value in (83, True, "{{ slb_manage_ip_translated }}")),
        ("unverified_engine", "keep"),
        *(("wait_timeout", value) for value in ("soon", 59, True)),
        ("stop_timeout", 1.5),
        *(("max_replaced", value) for value in ("101%", "ten")),
        ("remove_leftovers", "maybe"),
        *(("interfaces", value) for value in ([1], "ens9,", [""], {"ens9": 1}, 9)),
        ("settle", "{{ no_such_variable }}"),
        # Of a run
        *(("serial", value) for value in ([], 0, "1,0", ["0%"], "1,,2", "101%")),
        *(("max_fail_percentage", value) for value in ("101%", -1, 101, [])),
        *(("batch_pause", value) for value in (86401, 1.5)),
    ],
)
def test_wrong_value_is_refused_by_name(name, value):
    given = {"manage_ip_translated": True, name: value}
    error = error_of(variables.checked, name, value) if name in OF_RUNS else error_of(read, **given)
    assert (error.code, f"slb_{name}" in str(error)) == ("invalid_variable", True)


BOUNDS = {
    "user_credential_id": (1, 2147483647),
    "wait_timeout": (60, 86400),
    "settle": (0, 3600),
    "stop_timeout": (0, 3600),
    "host_timeout": (1, 86400),
    "motd_max_bytes": (0, 1_000_000),
    "throttle": (0, 1_000_000),
    "max_replaced": (0, 1_000_000),
    "dhcp_timeout": (1, 3600),
    "confirm_timeout": (5, 3600),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_number_is_accepted_within_its_bounds_only(name):
    least, most = BOUNDS[name]
    assert [read(**{name: value})[name] for value in (least, most)] == [least, most]
    for value in (least - 1, most + 1):
        assert name in str(error_of(read, **{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_replaced", " 100 % ", "100%"),
        ("max_replaced", "0%", "0%"),
        ("max_replaced", "7", 7),
        ("serial", "1, 10%,100%", [1, "10%", "100%"]),
        ("serial", [2, "5%"], [2, "5%"]),
        ("serial", 3, [3]),
        ("max_fail_percentage", "25 %", 25.0),
        ("max_fail_percentage", 100, 100.0),
        ("max_fail_percentage", "2.5", 2.5),
        ("batch_pause", 86400, 86400),
        ("interfaces", "ens9, ens10", ["ens9", "ens10"]),
        ("interfaces", ["ens9 "], ["ens9"]),
        ("approved_plan", " report.json ", "report.json"),
        ("approved_plan", {"hosts": {}}, {"hosts": {}}),
    ],
)
def test_value_is_read_in_its_type(name, value, expected):
    assert variables.checked(name, value) == expected


@pytest.mark.parametrize(
    ("password", "is_named", "is_undefined"),
    [
        ("{{ vault_password }}", True, True),
        ("x{{ vault_password }}", False, True),
        ("x{{ vault password }}", False, False),
    ],
)
def test_secret_that_is_undefined_names_only_the_variable(password, is_named, is_undefined):
    known = {"slb_password": _trusted(password)}
    error = error_of(variables.value_of, "slb_password", known, Templar(loader=DataLoader(), variables=known))
    assert error.code == "invalid_variable"
    assert ("vault_password" in str(error), "unsafe" in error.fix) == (is_named, not is_undefined)


def test_variable_may_name_a_variable_that_names_another():
    known = {f"x{number}": f"{{{{ x{number + 1} }}}}" for number in range(9)}
    assert variables.raw_value("{{ x0 }}", {**known, "x9": True}) is True
    assert variables.raw_value("{{ x0 }}", {"x0": "{{ x0 }}"}) == "{{ x0 }}"
    assert variables.raw_value("{{ unknown }}", {}) == "{{ unknown }}"


def test_misspelled_variable_is_found():
    known = ("slb_settle", "slb_plan", "slb_base_url", "slb_hosts", "slb_fleet_17", "slb_awx_name", "slb_license_x")
    unknown = {"slb_setle": "slb_settle", "slb_qqqqqq": ""}
    assert variables.unknown_variables([*known, "other", *unknown]) == unknown


class _HostVars:
    def __init__(self, **variables):
        self._variables = variables

    def raw_get(self, _host):
        return self._variables


@pytest.mark.parametrize(
    "name", ["slb_hosts", "slb_canary", "slb_serial", "slb_max_fail_percentage", "slb_approved_plan"]
)
def test_variable_of_the_run_is_rejected_in_the_inventory(name):
    def refuse(value, **of_host):
        known = {"inventory_hostname": "edge-1", "hostvars": _HostVars(**of_host), name: value}
        variables.refuse_in_inventory(known, DataLoader())

    assert code_of(refuse, 1, **{name: 1}) == "invalid_variable"
    refuse(1)  # of a play
    refuse(" ", **{name: " "})


COPY = re.compile(r"\{\{ (\d+) if (slb_\w+)")
"""Keywords of a task need a value also for an empty variable, so they repeat the default."""


def test_repeated_default_is_that_of_the_role():
    found = {}
    for file in ROOT.glob("roles/*/vars/main.yml"):
        for number, name in COPY.findall(file.read_text()):
            found.setdefault(name, set()).add(int(number))
    assert found == {name: {variables.DEFAULTS[name]} for name in found}
    assert {"slb_host_timeout", "slb_stop_timeout", "slb_throttle", "slb_batch_pause"} == set(found)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("slb_serial=1,10%", "slb_serial=1,10%"),
        ("@site.yml", "@site.yml"),
        ("slb_password=of the node", "..."),
        ("slb_password=secret", "slb_password=..."),
        ("slb_headers={x:1}", "slb_headers=..."),
        ('slb_engine_list={"path":"/api/engines?token=abc"}', "slb_engine_list=..."),
        ("ansible_become_password=secret", "..."),
        ('{"slb_password": "secret"}', "..."),
        ("slb_hosts=a slb_password=secret", "..."),
        ("slb_approved_plan=" + "x" * 200, "slb_approved_plan=..."),
        ("slb_hosts=\x1b[2J", "slb_hosts=..."),
        ("slb_base_url=https://adm:SECRET@console.example", "slb_base_url=..."),
        ("slb_base_url=adm:SECRET@console.example", "slb_base_url=..."),
        ("slb_license_dest=https://u:pa/ss@console.example/x", "slb_license_dest=..."),
        ("slb_license_dest=/srv/of the node", "..."),
        ("slb_license_dest=/srv/N0de!", "slb_license_dest=..."),
        ("slb_license_dest=/srv/aN0de!", "slb_license_dest=/srv/aN0de!"),
        ("@/srv/N0de!/x.yml", "@/srv/.../x.yml"),
        ("slb_hosts=2001:db8::1,user@x", "slb_hosts=2001:db8::1,user@x"),
    ],
)
def test_extra_variables_are_shown_without_secrets(given, shown):
    assert variables.show_extra_vars(given, ["N0de!"]) == shown


def test_secrets_of_a_run_are_known_by_their_names(monkeypatch):
    monkeypatch.setenv("SLB_PASSWORD", "of the environment")
    secrets = {"slb_password": "a", "ansible_become_pass": "b", "slb_headers": {"X": "c"}}
    assert variables.known_secrets({**secrets, "slb_hosts": "d", "token": 7}) == {"a", "b", "c", "of the environment"}


@pytest.mark.parametrize("option", ["dhcp_timeout", "confirm_timeout"])
def test_interface_has_the_range_of_the_variable(monkeypatch, option):
    monkeypatch.setattr(interface.adoption, "adopt", lambda wanted, _check_mode: wanted)
    given = {"interfaces": [], "allow_unmatched": False, "state": "present", "dhcp_timeout": 15, "confirm_timeout": 60}
    least, most = variables.RANGES[option]
    for value in (least, most):
        assert getattr(interface.operation({**given, option: value}, True), option) == value
    for value in (least - 1, most + 1):
        assert f"Give {least} to {most} seconds" in error_of(interface.operation, {**given, option: value}, True).fix


def test_vaulted_value_is_read_as_its_text():
    class Vaulted:
        _ciphertext = "$ANSIBLE_VAULT"

        def __str__(self):
            return "text"

    assert variables.decrypted(Vaulted()) == "text"
    assert variables.decrypted(7) == 7
