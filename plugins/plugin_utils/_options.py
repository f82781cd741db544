# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a task that runs in the controller's own process: where they come from, their types, their names.

What Ansible does for a module is done here in words of our own, and one step further: an option that is empty is one
that is not given. A survey's question that nobody answered arrives as nothing at all or as an empty text, depending on
the version of ansible-core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.common import validation
from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, SECRET_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, MissingOptionError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._nearest import nearest
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError
from ansible_collections.slb.fleet.plugins.plugin_utils._numerals import plain
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty, value_of

Spec = Mapping[str, Mapping[str, Any]]

CONNECTION_VARIABLES = {option: f"slb_{option}" for option in CONNECTION_ARGUMENTS if option != "sessionid"}
"""The variables of a host from which a task takes the options of the connection that it is not given."""

VARIABLES = {
    **CONNECTION_VARIABLES,
    "name": "slb_engine_name",
    "manage_ip": "slb_manage_ip",
    "user_credential_id": "slb_user_credential_id",
    "is_change_hostname": "slb_is_change_hostname",
    "listing": "slb_engine_list",
    "dest": "slb_license_dest",
    "backup": "slb_license_backup",
    "allow_established": "slb_allow_established",
    "remove": "slb_remove_leftovers",
    "interfaces": "slb_interfaces",
    "lift_unmanaged": "slb_lift_unmanaged",
    "dhcp_timeout": "slb_dhcp_timeout",
    "confirm_timeout": "slb_confirm_timeout",
}
"""The variables by which the users of the collection's roles and playbooks set the options of its tasks."""

_PREFIXES = ("slb_", "__slb_", "awx_", "tower_")
_OF_THE_INVENTORY = ("inventory_hostname", "inventory_hostname_short", "inventory_dir", "inventory_file", "group_names")
"""By these Ansible itself says which host is meant; it lets facts outrank them."""
_COLLECTION = Path(__file__).resolve().parents[2]
_CONTAINERS = (Mapping, list, tuple, set)


class _Kind(NamedTuple):
    convert: Callable[[Any], Any]
    why: str
    remedy: str


def _text(value: Any) -> str:
    if isinstance(value, _CONTAINERS):
        raise TypeError
    return str(validation.check_type_str(value))


def _whole_number(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    # Not every ansible-core takes 2.0 for one.
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return int(validation.check_type_int(plain(value)))


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in validation.check_type_list(value)]


_KINDS = {
    "str": _Kind(_text, "it is not text", "Give text."),
    "path": _Kind(lambda value: validation.check_type_path(_text(value)), "it is not text", "Give a path."),
    "int": _Kind(_whole_number, "it is not a whole number", "Give a whole number."),
    "bool": _Kind(validation.check_type_bool, "it is neither true nor false", "Give true or false."),
    "list": _Kind(_texts, "it is not a list of texts", "Give a list of texts."),
    "dict": _Kind(validation.check_type_dict, "it is not a mapping", "Give a mapping."),
    "raw": _Kind(lambda value: value, "", ""),
}


@dataclass(frozen=True)
class Given:
    """The options that have a value, not yet of their types.

    ``names``: for those that no task gave, the variable, of the host or of the environment, that did.
    """

    values: dict[str, Any] = field(repr=False)
    names: dict[str, str]


def given_options(
    spec: Spec, arguments: Mapping[str, Any], task_vars: Mapping[str, Any], templar: Any, environment: bool = True
) -> Given:
    """What the task gives, then the host's variables for the connection, then the environment's.

    The variables are looked at here, for every task, so that nobody has to repeat the connection in each.
    Raises FleetError for an option that does not exist, and for a variable that cannot be used.
    """
    refuse_facts(task_vars)
    _refuse_unknown(spec, arguments)
    values = {option: value for option, value in arguments.items() if not is_empty(value)}
    names: dict[str, str] = {}
    for option in spec:
        if option in values:
            continue
        variable = CONNECTION_VARIABLES.get(option, "")
        value = _of_the_host(variable, task_vars, templar)
        if value is None and environment:
            variable, value = _of_the_environment(spec[option])
        if value is not None:
            values[option], names[option] = value, variable
    return Given(values, names)


def refuse_facts(task_vars: Mapping[str, Any], of_connection: Iterable[str] = ()) -> None:
    """Raises HostAnswerError where a variable of the collection, or one that names the host or the job, is one of the
    host's facts, whatever its value.

    Facts outrank the inventory, any module's answer may hold some, and Ansible shows two of them under one name.
    ``of_connection``: the variables of the host's connection. Ansible takes most of them away, but not the programs
    that it runs on the controller to send files.
    """
    connection = {variable.removeprefix("ansible_") for variable in of_connection}
    for name in map(str, task_vars.get("ansible_facts") or ()):
        if name.startswith(_PREFIXES) or name in connection or name in _OF_THE_INVENTORY:
            shown = in_short(f"ansible_{name}" if name in connection else name, 60)
            raise HostAnswerError(
                f"The variable {shown} of this host is one of its facts, and no host decides where credentials go or "
                "what is done.",
                "Set it in the inventory or in the play, and clear the kept facts of this host (--flush-cache).",
            )


def typed_options(
    spec: Spec, values: Mapping[str, Any], described: Mapping[str, Callable[[Any], Any]] | None = None
) -> dict[str, Any]:
    """``values`` in the types of ``spec``. ``described``: for an option that has suboptions, what reads it.

    Raises OptionError for a value of another type, and MissingOptionError for an option without which nothing goes.
    """
    for option, rules in spec.items():
        if rules.get("required") and option not in values:
            raise MissingOptionError(option)
    readers = described or {}
    return {
        option: readers[option](value) if option in readers else _typed(option, spec[option], value)
        for option, value in values.items()
    }


def with_defaults(spec: Spec, typed: Mapping[str, Any]) -> dict[str, Any]:
    """All options of ``spec``; None for one that has neither value nor default."""
    return {**{option: rules.get("default") for option, rules in spec.items()}, **typed}


def names_for(task: Any, own: Mapping[str, str]) -> dict[str, str]:
    """What a message of ``task`` calls its options, where that is not the option's own name.

    A user's task names variables where they gave the value (``own``); those of the collection's roles and playbooks
    are set by variables alone.
    """
    path = Path(str(task.get_path() or "").rpartition(":")[0]).resolve()
    is_ours = any(_COLLECTION / folder in path.parents for folder in ("roles", "playbooks"))
    return {**(VARIABLES if is_ours else {}), **own}


def _refuse_unknown(spec: Spec, arguments: Mapping[str, Any]) -> None:
    for option in arguments:
        if option not in spec:
            near = nearest(option, spec)
            raise FleetError(
                f"There is no option {option!r}.",
                f"Did you mean O({near})?" if near else f"The options are: {', '.join(sorted(spec))}.",
            )


def _of_the_host(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    if not variable or variable not in task_vars:
        return None
    return value_of(variable, task_vars, templar)


def _of_the_environment(rules: Mapping[str, Any]) -> tuple[str, Any]:
    look_up, names = rules.get("fallback", (None, ()))
    for name in names:
        try:
            return name, look_up(name)
        except AnsibleFallbackNotFound:
            continue
    return "", None


def _typed(option: str, rules: Mapping[str, Any], value: Any) -> Any:
    kind = _KINDS[rules["type"]]
    try:
        return kind.convert(value)
    except (TypeError, ValueError, OverflowError):
        shown = "(hidden)" if option in SECRET_OPTIONS else value
        raise OptionError(option, shown, kind.why, kind.remedy) from None
