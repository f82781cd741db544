# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the collection: read once for each host, checked, and converted to their types.

Defaults come from ``defaults/main.yml`` of the roles, also for a task outside of them. An empty value is unset, as AWX
passes the unanswered question of a survey.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.vars import load_extra_vars

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, every text is a template

    def trust_as_template(value: Any) -> Any:
        return value


_ROLES = Path(__file__).resolve().parents[2] / "roles"
_REFERENCE = re.compile(r"\s*\{\{\s*(\w+)\s*\}\}\s*")
_PERCENTAGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)
_HOUR = 3600
_MANY = 1_000_000

Reader = Callable[[Any], Any]
"""Returns the value in its type. Raises ValueError with what the value has to be."""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text: quote it in YAML")
    return str(value)


def read_boolean(value: Any) -> bool:
    try:
        return bool(boolean(value))
    except TypeError:
        raise ValueError("a boolean, such as true or false") from None


def _number(least: float, most: float, kind: type = float) -> Reader:
    def read(value: Any) -> Any:
        what = "a whole number" if kind is int else "a number"
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not least <= number <= most or (kind is int and number != int(number)):
            raise ValueError(f"{what} from {least:.15g} to {most:.15g}")
        return kind(number)

    return read


def one_of(*choices: str) -> Reader:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"one of: {', '.join(choices)}")
        return str(value)

    return read


def _hosts_or_percentage(value: Any) -> int | str:
    if isinstance(value, str) and (match := _PERCENTAGE.fullmatch(value)) and float(match.group(1)) <= 100:
        return f"{match.group(1)}%"
    try:
        return int(_number(0, _MANY, int)(value))
    except ValueError:
        raise ValueError("a number of hosts, or a percentage such as 10%") from None


def _percentage(value: Any) -> float:
    match = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
    return float(_number(0, 100)(match[1] if match else value))


def _batches(value: Any) -> list[int | str]:
    """As Ansible's ``serial``; a text from the command line may have several values, separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    batches = [_hosts_or_percentage(part) for part in parts]
    if not batches or any(part == 0 or (isinstance(part, str) and not float(part[:-1])) for part in batches):
        raise ValueError("a number of hosts from 1 upwards, a percentage such as 10%, or a list of these")
    return batches


def _names(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError("a list of names")
    return [part.strip() for part in parts]


def _as_it_is(value: Any) -> Any:
    return value


HOST_VARIABLES: Mapping[str, Reader] = {
    "engine_name": _text,
    "manage_ip": _text,
    "manage_ip_translated": read_boolean,
    "user_credential_id": _number(1, 2**31 - 1, int),
    "is_change_hostname": read_boolean,
    "unverified_engine": one_of("fail", "adopt", "replace"),
    "allow_established": read_boolean,
    "wait_timeout": _number(60, 24 * _HOUR),
    "settle": _number(0, _HOUR),
    "stop_timeout": _number(0, _HOUR, int),
    "host_timeout": _number(1, 24 * _HOUR, int),
    "remove_leftovers": read_boolean,
    "max_replaced": _hosts_or_percentage,
    "engine_list": _as_it_is,
    "engine_list_may_be_empty": read_boolean,
    "motd": one_of("aside", "keep"),
    "motd_max_bytes": _number(0, _MANY, int),
    "motd_after": one_of("aside", "restored"),
    "throttle": _number(0, _MANY, int),
    # Checked where it is used: an unusable one must not approve everything.
    "approved_plan": lambda value: value.strip() if isinstance(value, str) else value,
    "license_dest": _text,
    "license_host": _text,
    "license_backup": read_boolean,
    "adopt_interfaces": read_boolean,
    "interfaces": _names,
    "interfaces_state": one_of("present", "absent"),
    "dhcp_timeout": _number(1, _HOUR),
    "confirm_timeout": _number(5, _HOUR),
}
"""By their names without ``slb_``."""

RUN_VARIABLES: Mapping[str, Reader] = {
    "serial": _batches,
    "max_fail_percentage": _percentage,
    "batch_pause": _number(0, 24 * _HOUR, int),
}
"""Of a run, set with ``-e``."""

BEFORE_HOSTS = ("serial", "max_fail_percentage", "batch_pause", "approved_plan")
"""A play reads them before it knows its hosts, so they have no effect in an inventory."""

_OF_INVENTORY = {"engine_name": "inventory_hostname", "manage_ip": "ansible_host"}
_CONNECTION = (
    *("base_url", "username", "password", "validate_certs", "ca_path", "tls_fingerprint", "timeout", "retries"),
)
KNOWN = frozenset(
    f"slb_{name}" for name in (*HOST_VARIABLES, *RUN_VARIABLES, *_CONNECTION, "hosts", "reports", "merged_dir")
)
_OWN = frozenset({"slb_plan", "slb_work", "slb_ready", "slb_wants_license", "slb_console_state", "slb_license"})
_OF_AWX = re.compile(r"slb_fleet_\d+$|slb_awx_|slb_license_|slb_list_")


def _read_defaults() -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    for file in sorted(set(_ROLES.glob("*/defaults/main.yml")) - {_ROLES / "awx_content" / "defaults" / "main.yml"}):
        defaults.update(yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    return {name: trust_as_template(value) if isinstance(value, str) else value for name, value in defaults.items()}


DEFAULTS: Mapping[str, Any] = _read_defaults()
"""By their names with ``slb_``; texts may be templates."""


def read_variables(task_vars: Mapping[str, Any], templar: Any) -> dict[str, Any]:
    """Return all variables of a host. Raises FleetError ``invalid_variable`` for the first that is invalid."""
    return {name: read_variable(name, task_vars, templar) for name in HOST_VARIABLES}


def read_variable(name: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """Return one variable of a host, or its default. Raises FleetError."""
    variable = f"slb_{name}"
    if name == "approved_plan":
        return _read_approved_plan(variable, task_vars, templar)
    value = value_of(variable, task_vars, templar)
    if value is None and name in _OF_INVENTORY:
        # The defaults of the role, without a template for each host.
        value = value_of(_OF_INVENTORY[name], task_vars, templar) or task_vars.get("inventory_hostname")
    elif value is None or value in ([], {}):
        value = _evaluate(variable, DEFAULTS.get(variable), task_vars, templar)
    return None if value is None else checked(name, value)


def _read_approved_plan(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """Return the approved plan; None if it is unset. It limits harm: null and other values count as set.

    Only AWX passes an unanswered question as null: ansible-core 2.19 reads its unsafe empty text so.
    """
    given = task_vars.get(variable, "")
    if is_empty(given) and (isinstance(given, str) or "awx_job_id" in task_vars):
        return None
    try:
        value = value_of(variable, task_vars, templar)
    except FleetError as error:
        raise FleetError("approved_plan_invalid", error.summary, error.fix) from None
    return checked("approved_plan", {} if value is None else value)


def checked(name: str, value: Any) -> Any:
    """Return ``value`` in the type of the variable ``slb_<name>``. Raises FleetError."""
    try:
        return (HOST_VARIABLES.get(name) or RUN_VARIABLES[name])(value)
    except ValueError as error:
        raise FleetError(
            "invalid_variable",
            f"Variable slb_{name} invalid: {value!r:.80} is not {error}.",
            f"Correct slb_{name}, or unset it.",
        ) from None


def refuse_in_inventory(task_vars: Mapping[str, Any], loader: Any) -> None:
    """Refuse variables of the inventory that plays read before they know their hosts. Raises FleetError."""
    given = [name for name in map("slb_{}".format, BEFORE_HOSTS) if not is_empty(task_vars.get(name))]
    if given:
        of_run, of_host = load_extra_vars(loader), task_vars["hostvars"].raw_get(task_vars["inventory_hostname"])
        for name in given:
            if name not in of_run and not is_empty(of_host.get(name)):
                raise FleetError(
                    "invalid_variable",
                    f"Variable {name} has no effect in the inventory: plays read it before they know their hosts.",
                    f"Remove it there, and run with -e {name}=VALUE (in AWX: a variable of the job template).",
                )


def value_of(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """Return the templated value of a variable; None if it is unset or empty. Raises FleetError."""
    return _evaluate(variable, task_vars.get(variable), task_vars, templar)


def _evaluate(variable: str, given: Any, task_vars: Mapping[str, Any], templar: Any) -> Any:
    raw = raw_value(given, task_vars)
    if raw is None or isinstance(raw, (bool, int, float)):
        return raw
    if isinstance(raw, str) and "{" not in raw:  # no template: for 30 variables of each host, this counts
        return None if is_empty(raw) else str(raw)
    try:
        value = templar.template(raw)
    except AnsibleError as error:
        is_locked = "decrypt" in str(error).lower()
        raise FleetError(
            "invalid_variable",
            f"Variable {variable} not evaluated: {str(error).rstrip('.'):.150}.",
            "Pass the vault password (--ask-vault-password)." if is_locked else f"Correct {variable}.",
        ) from None
    if hasattr(value, "_ciphertext"):  # a vaulted text, before ansible-core 2.19
        value = str(value)
    return None if is_empty(value) else value


def raw_value(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return what a text that only names a variable refers to: before ansible-core 2.19, a template makes it a text."""
    for _unused in range(10):
        name = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if not name or name[1] not in variables:
            break
        value = variables[name[1]]
    return value


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Return the unknown variables that begin with ``slb_``, each with the nearest known one or an empty text."""
    return {
        name: next(iter(difflib.get_close_matches(name, KNOWN, 1)), "")
        for name in names
        if name.startswith("slb_") and name not in KNOWN | _OWN and not _OF_AWX.match(name)
    }
