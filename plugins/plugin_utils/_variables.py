# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the collection: read once for each host, checked, and converted to their types.

Defaults come from ``defaults/main.yml`` of the roles, also for a task outside of them. An empty value is unset, as AWX
passes the unanswered question of a survey.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError, AnsibleUndefinedVariable
from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is, in each run
from ansible.module_utils.errors import AnsibleFallbackNotFound
from ansible.utils.vars import load_extra_vars

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import CREDENTIALS
from ansible_collections.slb.fleet.plugins.module_utils._secrets import mask_query
from ansible_collections.slb.fleet.plugins.module_utils._values import (
    OptionError,
    from_environment,
    read_number,
    read_value,
)
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, every text is a template

    def trust_as_template(value: Any) -> Any:
        return value


_ROLES = Path(__file__).resolve().parents[2] / "roles"
_REFERENCE = re.compile(r"\s*\{\{\s*(\w+)\s*\}\}\s*")
_PERCENTAGE = re.compile(r"\s*(\d+)\s*%\s*", re.ASCII)
_HOUR = 3600
_MANY = 1_000_000
_MAX_EXTRA_VAR = 120
_SECRET = re.compile("(?i)(pass|passwd|password|secret|token|sessionid)$")
_USER = re.compile(r"(?<=://)\S*@|(?<![^\s=,])[^\s/=,@:]+:[^\s,@/]+@")
"""User name and password before a host, with and without a scheme."""


def _hosts_or_percentage(value: Any) -> int | str:
    if isinstance(value, str) and (match := _PERCENTAGE.fullmatch(value)) and int(match[1]) <= 100:
        return f"{match[1]}%"
    with contextlib.suppress(FleetError):
        return int(read_number("", value, 0, _MANY))
    raise ValueError("a number of hosts, or a whole percentage such as 10%")


def _percentage(value: Any) -> float:
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    with contextlib.suppress(FleetError):
        return float(read_number("", text, 0, 100, float))
    raise ValueError("a percentage from 0 to 100")


def _batches(value: Any) -> list[int | str]:
    """As Ansible's ``serial``; a text from the command line may have several values, separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    batches = [_hosts_or_percentage(part) for part in parts]
    if not batches or any(batch in (0, "0%") for batch in batches):
        raise ValueError("a number of hosts from 1 upwards, a whole percentage such as 10%, or a list of these")
    return batches


RANGES: Mapping[str, tuple[float, float]] = {
    "user_credential_id": CREDENTIALS,
    "wait_timeout": (60, 24 * _HOUR),
    "settle": (0, _HOUR),
    "stop_timeout": (0, _HOUR),
    "host_timeout": (1, 24 * _HOUR),
    "motd_max_bytes": (0, _MANY),
    "throttle": (0, _MANY),
    "dhcp_timeout": (1, _HOUR),
    "confirm_timeout": (5, _HOUR),
    "batch_pause": (0, 24 * _HOUR),
}
"""Of numbers, both ends included, by the name without ``slb_``."""

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "max_replaced": _hosts_or_percentage,
    "serial": _batches,
    "max_fail_percentage": _percentage,
    # Checked where it is used: an unusable one must not approve everything.
    "approved_plan": lambda value: value.strip() if isinstance(value, str) else value,
}
"""Of values whose type an argument spec cannot express. They raise ValueError with what the value has to be."""

BEFORE_HOSTS = ("hosts", "canary", "serial", "max_fail_percentage", "batch_pause", "approved_plan")
"""A play reads them before it knows its hosts, so they have no effect in an inventory."""

_OF_INVENTORY = {"engine_name": "inventory_hostname", "manage_ip": "ansible_host"}
_OWN = frozenset({"slb_plan", "slb_work", "slb_ready", "slb_wants_license", "slb_engine_state", "slb_license"})
_OF_AWX = re.compile(r"slb_fleet_\d+$|slb_awx_|slb_license_|slb_list_")


def _of_roles(path: str) -> list[Any]:
    """Return the content of one file of each role that acts on a host."""
    files = sorted(_ROLES.glob(f"*/{path}"))
    return [yaml_load(file.read_text(encoding="utf-8")) for file in files if "awx_content" not in file.parts]


DEFAULTS: Mapping[str, Any] = {
    name: trust_as_template(value) if isinstance(value, str) else value
    for defaults in _of_roles("defaults/main.yml")
    for name, value in (defaults or {}).items()
}
"""By their names with ``slb_``; texts may be templates."""

SPECS: Mapping[str, Mapping[str, Any]] = {
    name.removeprefix("slb_"): {**option, **({"range": RANGES[name[4:]]} if name[4:] in RANGES else {})}
    for specs in _of_roles("meta/argument_specs.yml")
    for name, option in specs["argument_specs"]["main"]["options"].items()
}
"""Argument specs of the roles' variables, by the name without ``slb_``."""

RUN_VARIABLES = ("serial", "max_fail_percentage", "batch_pause")
HOST_VARIABLES = tuple(name for name in SPECS if name not in (*CONNECTION_ARGUMENTS, *RUN_VARIABLES))
_OF_PLAYBOOKS = ("hosts", "canary", "reports", "merged_dir")
KNOWN = frozenset(f"slb_{name}" for name in (*SPECS, *RUN_VARIABLES, *_OF_PLAYBOOKS))


def read_variables(task_vars: Mapping[str, Any], templar: Any) -> dict[str, Any]:
    """Return all variables of a host. Raises FleetError ``invalid_variable`` for the first that is invalid."""
    return {name: read_variable(name, task_vars, templar) for name in HOST_VARIABLES}


def read_variable(name: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """Return one variable of a host, or its default. Raises FleetError."""
    variable = f"slb_{name}"
    if name == "approved_plan":
        return _read_approved_plan(variable, task_vars, templar)
    if name in _CONSTANTS and variable not in task_vars:
        return copy(_CONSTANTS[name])
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
    raw = task_vars.get(variable, "")
    if is_empty(raw) and (isinstance(raw, str) or "awx_job_id" in task_vars):
        return None
    try:
        value = value_of(variable, task_vars, templar)
    except FleetError as error:
        raise FleetError("approved_plan_invalid", error.summary, error.fix) from None
    return checked("approved_plan", {} if value is None else value)


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def checked(name: str, value: Any) -> Any:
    """Return ``value`` in the type of the variable ``slb_<name>``. Raises OptionError."""
    variable = f"slb_{name}"
    try:
        return _READERS[name](value) if name in _READERS else read_value(name, SPECS[name], value)
    except ValueError as error:
        problem = f"invalid: {value!r:.80} is not {error}"
        raise OptionError(name, problem, f"Correct {variable}, or unset it.", variable) from None
    except OptionError as error:
        raise error.named({name: variable}) from None


_CONSTANTS = {
    name: None if is_empty(default) else checked(name, default)
    for name, default in ((name, DEFAULTS.get(f"slb_{name}")) for name in HOST_VARIABLES)
    if name not in _OF_INVENTORY and "{{" not in str(default)
}
"""Defaults without templates, checked in the process that forks the workers: each healthy host would pay for them."""


def is_set_by_run(name: str) -> bool:
    """Return whether tasks of the collection set the variable: an extra variable would replace their result."""
    return name == "slb_plan" or name.startswith("__slb_")


def refuse_in_inventory(task_vars: Mapping[str, Any], loader: Any) -> None:
    """Refuse variables of the inventory that plays read before they know their hosts. Raises FleetError."""
    names = [name for name in map("slb_{}".format, BEFORE_HOSTS) if not is_empty(task_vars.get(name))]
    if names:
        of_run, of_host = load_extra_vars(loader), task_vars["hostvars"].raw_get(task_vars["inventory_hostname"])
        for name in names:
            if name not in of_run and not is_empty(of_host.get(name)):
                raise FleetError(
                    "invalid_variable",
                    f"Variable {name} has no effect in the inventory: plays read it before they know their hosts.",
                    f"Remove it there, and run with -e {name}=VALUE (in AWX: a variable of the job template).",
                )


def value_of(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """Return the templated value of a variable; None if it is unset or empty. Raises FleetError."""
    return _evaluate(variable, task_vars.get(variable), task_vars, templar)


def _evaluate(variable: str, source: Any, task_vars: Mapping[str, Any], templar: Any) -> Any:
    raw = raw_value(source, task_vars)
    if raw is None or isinstance(raw, (bool, int, float)):
        return raw
    if isinstance(raw, str) and "{" not in raw:  # no template: for 30 variables of each host, this counts
        return None if is_empty(raw) else str(raw)
    try:
        value = decrypted(templar.template(raw))
    except (AnsibleError, RecursionError) as error:
        cause, fix = explain(error, variable.removeprefix("slb_"), raw)
        fix = fix or f"Correct {variable}."
        raise FleetError("invalid_variable", f"Variable {variable} not evaluated: {cause}.", fix) from None
    return None if is_empty(value) else value


def is_vaulted(value: Any) -> bool:
    return hasattr(value, "_ciphertext")


def decrypted(value: Any) -> Any:
    """Return the text of a vaulted value, and any other value unchanged. Raises AnsibleError."""
    return str(value) if is_vaulted(value) else value


def explain(error: Exception, option: str, value: Any) -> tuple[str, str]:
    """Return why a value was not evaluated, and a fix if there is one. Before ansible-core 2.19, errors quote it."""
    if "decrypt" in str(error).lower():
        return "it cannot be decrypted", "Pass the vault password (--ask-vault-password)."
    name = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    is_secret = CONNECTION_ARGUMENTS.get(option, {}).get("no_log")
    if isinstance(error, AnsibleUndefinedVariable) and (name or is_secret):
        shown = name[1] if name else "a variable in it"
        return f"{shown} is undefined", f"Define {shown}: check that the file with its value is loaded."
    if is_secret:
        return "it is not a valid template", "Mark it as !unsafe, or encrypt it with ansible-vault."
    return str(error).partition(" String: ")[0].rstrip(".")[:150], ""


def raw_value(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return what a text that only names a variable refers to: before ansible-core 2.19, a template makes it a text."""
    for _unused in range(10):
        name = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if not name or name[1] not in variables:
            break
        value = variables[name[1]]
    return value


def known_secrets(variables: Mapping[str, Any]) -> set[str]:
    """Return the secrets that are known when a run begins. ``variables``: of its first play."""
    values = [value for name, value in variables.items() if _SECRET.search(name)]
    with contextlib.suppress(AnsibleFallbackNotFound, OptionError):
        values.append(from_environment(*CONNECTION_ARGUMENTS["password"]["fallback"][1]))
    headers = variables.get("slb_headers")
    values += headers.values() if isinstance(headers, Mapping) else []
    return {str(value) for value in values if isinstance(value, str) and not is_empty(value)}


def mask_command(text: str, secrets: Iterable[str]) -> str:
    """Return a part of a command without the user information of URLs and without secrets as whole words."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "...", text)
    return _USER.sub("...@", text)


def show_extra_vars(extra_var: Any, secrets: Iterable[str] = ()) -> str:
    """Return a value of ``-e`` to be repeated: a file, or a variable of this collection that is not a secret."""
    name, has_value, value = str(extra_var).partition("=")
    if visible(str(extra_var)) != str(extra_var) or len(str(extra_var)) > _MAX_EXTRA_VAR:
        return f"{name}=..." if has_value and name in KNOWN else "..."
    if name.startswith("@") and not has_value:
        return mask_command(name, secrets)
    if not has_value or name not in KNOWN or re.search(r"\s", value):
        return "..."
    is_secret = CONNECTION_ARGUMENTS.get(name.removeprefix("slb_"), {}).get("no_log")
    is_shown = not is_secret and mask_query(value) == value == mask_command(value, secrets)
    return f"{name}={value}" if is_shown else f"{name}=..."


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Return the unknown variables that begin with ``slb_``, each with the nearest known one or an empty text."""
    return {
        name: next(iter(difflib.get_close_matches(name, KNOWN, 1)), "")
        for name in names
        if name.startswith("slb_") and name not in KNOWN | _OWN and not _OF_AWX.match(name)
    }
