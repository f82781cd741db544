# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an option gets its value: the task, the host's variable slb_<option>, the environment, the default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS, RANGES
from ansible_collections.slb.fleet.plugins.module_utils._values import (
    OptionError,
    Options,
    invalid,
    missing,
    near_key,
    read_value,
)
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import (
    decrypted,
    is_empty,
    is_vaulted,
    raw_value,
    value_of,
)

Spec = Mapping[str, Mapping[str, Any]]

_OF_VARIABLE = re.compile(r"\s*\{\{\s*(slb_\w+)\b")
CONNECTION_VARIABLES = {option: f"slb_{option}" for option in CONNECTION_ARGUMENTS if option != "sessionid"}
_PREFIXES = ("slb_", "__slb_", "awx_", "tower_")
_INVENTORY_VARIABLES = (
    "inventory_hostname",
    "inventory_hostname_short",
    "inventory_dir",
    "inventory_file",
    "group_names",
)


def read_options(
    spec: Spec,
    arguments: Mapping[str, Any],
    raw: Mapping[str, Any],
    variables: Mapping[str, Any],
    templar: Any,
    *,
    complete: bool = True,
) -> Options:
    """Return the options, with values of their types; an empty text is unset, as in an AWX survey.

    Args:
        spec: The argument spec.
        arguments: The options of the task, templated.
        raw: The options of the task, not templated: before ansible-core 2.19, templates turn numbers into texts.
        variables: Those of the host.
        templar: Of these variables.
        complete: Whether to add what is unset: from the environment, the defaults of ``spec``, or None. A module on
            another host does so itself.

    Raises OptionError.
    """
    for option in arguments:
        if option not in spec:
            raise invalid(option[:40], "it is unknown", near_key(option, sorted(spec)))
    options = Options({}, {})
    for option, rules in spec.items():
        name, value = _of_the_task(arguments.get(option), raw.get(option), variables)
        is_pin = option == "tls_fingerprint" and value == ""  # an empty text that was set is an error
        if is_empty(value) and not is_pin and option in CONNECTION_VARIABLES:
            name, value = CONNECTION_VARIABLES[option], value_of(CONNECTION_VARIABLES[option], variables, templar)
        if is_empty(value) and not is_pin and complete:
            name, value = _of_the_environment(rules) or (name, value)
        is_set = is_pin or not is_empty(value)
        if is_set or rules.get("required"):
            options.names.update({option: name} if name else {})
            options[option] = _read(option, rules, value if is_set else None, options.names)
        elif complete:
            options[option] = rules.get("default")
    return options


def _read(option: str, rules: Mapping[str, Any], value: Any, names: Mapping[str, str]) -> Any:
    try:
        if value is None:
            raise missing(option)
        return read_value(option, {**rules, "range": RANGES.get(option)}, value)
    except OptionError as error:
        raise error.named(names) from None


def _of_the_task(value: Any, written: Any, variables: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the variable of the collection that an option of the task is written with, if any, and its value."""
    named = _OF_VARIABLE.match(written) if isinstance(written, str) else None
    stated = raw_value(written, variables)
    if stated is not None and not isinstance(stated, (str, Mapping, list)) and not is_vaulted(stated):
        value = stated
    return named[1] if named else "", decrypted(value)


def connection_options(variables: Mapping[str, Any], templar: Any) -> Options:
    """Return the connection options of a host: its variables, the environment, the defaults. Raises FleetError.

    The user of a role sets no options, so an option that is not set has the name of its variable.
    """
    options = read_options(CONNECTION_ARGUMENTS, {}, {}, variables, templar)
    return Options(options, {**CONNECTION_VARIABLES, **options.names})


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
        if name.startswith(_PREFIXES) or name in connection or name in _INVENTORY_VARIABLES:
            shown = in_short(f"ansible_{name}" if name in connection else name, 60)
            raise FleetError(
                "variable_from_facts",
                f"Variable {shown} rejected: it is a fact of this host.",
                "Set it in the inventory or in the play, and clear the fact cache of this host (--flush-cache).",
            )


def _of_the_environment(rules: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the name and the value of the first variable of the environment that is set."""
    look_up, names = rules.get("fallback", (None, ()))
    for name in names:
        try:
            return name, look_up(name)
        except AnsibleFallbackNotFound:
            continue
    return None
