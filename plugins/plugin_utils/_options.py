# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an option gets its value: the task, the host's variable slb_<option>, the environment, the default."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS,
    invalid,
    missing,
    read_boolean,
    read_number,
    require_text,
)
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty, raw_value, value_of

Spec = Mapping[str, Mapping[str, Any]]

CONNECTION_VARIABLES = {option: f"slb_{option}" for option in CONNECTION_ARGUMENTS if option != "sessionid"}
_PREFIXES = ("slb_", "__slb_", "awx_", "tower_")
_OF_THE_INVENTORY = ("inventory_hostname", "inventory_hostname_short", "inventory_dir", "inventory_file", "group_names")
_LARGEST = 2**63


def given_options(
    spec: Spec,
    arguments: Mapping[str, Any],
    raw: Mapping[str, Any],
    variables: Mapping[str, Any],
    templar: Any,
    *,
    environment: bool = True,
) -> dict[str, Any]:
    """Return the options that are set, with values of their types; an empty text is unset, as in an AWX survey.

    Args:
        spec: The argument spec.
        arguments: The options of the task, templated.
        raw: The options of the task, not templated: before ansible-core 2.19, templates turn numbers into texts.
        variables: Those of the host.
        templar: Of these variables.
        environment: Whether to use the fallbacks of ``spec``.

    Raises FleetError ``invalid_option`` or ``missing_option``.
    """
    for option in arguments:
        if option not in spec:
            near = difflib.get_close_matches(option, list(spec), 1)
            fix = f"Did you mean {near[0]}?" if near else f"Use {', '.join(sorted(spec))}."
            raise invalid(option[:40], "it is unknown", fix)
    values: dict[str, Any] = {}
    for option, rules in spec.items():
        value = arguments.get(option)
        stated = raw_value(raw.get(option), variables)
        if stated is not None and not isinstance(stated, str):
            value = value if isinstance(stated, (Mapping, list)) else stated
        is_set = not is_empty(value) or (option == "tls_fingerprint" and value == "")
        if not is_set and option in CONNECTION_VARIABLES:
            value = value_of(CONNECTION_VARIABLES[option], variables, templar)
        if is_empty(value) and not is_set and environment:
            value = _of_the_environment(rules)
        if is_set or not is_empty(value):
            values[option] = _typed(option, rules, value)
        elif rules.get("required"):
            raise missing(option)
    return values


def with_defaults(spec: Spec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of ``spec``; None for one that has neither value nor default."""
    return {**{option: rules.get("default") for option, rules in spec.items()}, **values}


def connection_options(variables: Mapping[str, Any], templar: Any) -> dict[str, Any]:
    """Return the connection options of a host: its variables, the environment, the defaults. Raises FleetError."""
    given = given_options(CONNECTION_ARGUMENTS, {}, {}, variables, templar)
    return with_defaults(CONNECTION_ARGUMENTS, given)


def raw_arguments(task: Any) -> Mapping[str, Any]:
    """Return the options of a task as they are written, not templated; none if they are written in one line."""
    stated = task.get_ds() or {}
    places = (task.action, task.resolved_action, "args")
    return next((stated[place] for place in places if isinstance(stated.get(place), Mapping)), {})


def refuse_facts(variables: Mapping[str, Any], of_connection: Iterable[str] = ()) -> None:
    """Raise FleetError if a variable of the collection, of the inventory or of AWX is one of the host's facts.

    Facts outrank the inventory, and any module's result may contain facts. ``of_connection``: the variables of the
    host's connection, which are refused, too.
    """
    connection = {variable.removeprefix("ansible_") for variable in of_connection}
    for name in map(str, variables.get("ansible_facts") or ()):
        if name.startswith(_PREFIXES) or name in connection or name in _OF_THE_INVENTORY:
            shown = in_short(f"ansible_{name}" if name in connection else name, 60)
            raise FleetError(
                "variable_from_facts",
                f"Variable {shown} rejected: it is a fact of this host.",
                "Set it in the inventory or in the play, and clear the fact cache of this host (--flush-cache).",
            )


def in_variables(error: FleetError) -> FleetError:
    """Return ``error`` with the names of variables, for a user who sets no options."""
    names = "|".join((*CONNECTION_VARIABLES, "manage_ip", "user_credential_id", "is_change_hostname", "engine_list"))
    summary = re.sub(rf"\b[Oo]ption ({names}|name)\b", _variable_of, error.summary)
    fix = re.sub(r"[\w.]+, the variable ", "", error.fix)
    fix = re.sub(rf"(?<![\w.-])(?:[Oo]ption )?({names})\b", _variable_of, fix)
    return FleetError(error.code, summary, fix, **error.values)


def _variable_of(found: re.Match[str]) -> str:
    noun = "Variable " if found[0].startswith("O") else "variable " if found[0].startswith("o") else ""
    return f"{noun}slb_{'engine_name' if found[1] == 'name' else found[1]}"


def _of_the_environment(rules: Mapping[str, Any]) -> Any:
    look_up, names = rules.get("fallback", (None, ()))
    for name in names:
        try:
            return look_up(name)
        except AnsibleFallbackNotFound:
            continue
    return None


def _typed(option: str, rules: Mapping[str, Any], value: Any) -> Any:
    kind = rules["type"]
    if kind in ("str", "path"):
        return require_text(option, value, is_secret=bool(rules.get("no_log")))
    if kind == "bool":
        return read_boolean(option, value)
    if kind == "int":
        return read_number(option, value, -_LARGEST, _LARGEST)
    if kind == "list":
        return [require_text(option, each) for each in (value if isinstance(value, (list, tuple)) else [value])]
    return value
