# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the collection: what each may be, and what it is where nobody has set it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._nearest import nearest
from ansible_collections.slb.fleet.plugins.plugin_utils._numerals import plain
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import (
    is_empty,
    value_of,
    with_facts_below,
    without_facts,
)
from ansible_collections.slb.fleet.plugins.plugin_utils.options import CONNECTION_VARIABLES

_HOUR = 3600
_MANY = 1_000_000
_PER_CENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)


class VariableError(FleetError):
    """A variable's value cannot be used."""

    def __init__(self, variable: str, value: object, why: str, remedy: str) -> None:
        super().__init__(f"The variable {variable} has the value {value!r:.200}: {why}.", remedy)


@dataclass(frozen=True)
class Variable:
    """``read`` turns what was set into the value, or raises ValueError with what it has to be."""

    read: Callable[[Any], Any]
    default: Any = None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text: quote it in YAML")
    return str(value)


def truth(value: Any) -> bool:
    """As ``Variable.read``."""
    try:
        return boolean(value)  # type: ignore[no-any-return]
    except TypeError:
        raise ValueError("a boolean, such as true or false") from None


def _number(least: float, most: float, what: str) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        try:
            number = math.nan if isinstance(value, bool) else float(plain(value))
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not least <= number <= most:
            raise ValueError(f"{what} from {least:.15g} to {most:.15g}")
        return number

    return read


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = _number(least, most, "a whole number")(value)
        if number != int(number):
            raise ValueError(f"a whole number from {least} to {most}")
        return int(number)

    return read


def one_of(*choices: str) -> Callable[[Any], str]:
    """A ``Variable.read``."""

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"one of: {', '.join(choices)}")
        return str(value)

    return read


def _hosts_or_per_cent(value: Any) -> int | str:
    """A number of hosts, or a share of them, which stays a text that ends in the sign."""
    if isinstance(value, str) and (match := _PER_CENT.fullmatch(value)) and float(match.group(1)) <= 100:
        return f"{match.group(1)}%"
    try:
        return _whole(0, _MANY)(value)
    except ValueError:
        raise ValueError("a number of hosts, or a percentage such as 10%") from None


def _batches(value: Any) -> list[int | str]:
    """As Ansible's ``serial``; a text from the command line may hold several, separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    try:
        read = [_hosts_or_per_cent(part) for part in parts]
    except ValueError:
        read = []
    if not read or any(part == 0 or (isinstance(part, str) and not float(part[:-1])) for part in read):
        raise ValueError("a number of hosts from 1 upwards, a percentage such as 10%, or a list of these")
    return read


def _percentage(value: Any) -> float:
    match = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    return _number(0, 100, "a percentage")(match[1] if match else value)


def _names(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError("a list of names")
    return [part.strip() for part in parts]


def _mapping(value: Any) -> Any:
    """What is in it is told by what reads the list."""
    return value


def _seconds(least: float, most: float) -> Callable[[Any], float]:
    return _number(least, most, "a number of seconds")


def _plan(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, Mapping) and isinstance(value.get("hosts"), Mapping):
        return value
    raise ValueError("the path of a report.json, or the digest of a plan")


OF_A_HOST: Mapping[str, Variable] = {
    "engine_name": Variable(_text),
    "manage_ip": Variable(_text),
    "manage_ip_translated": Variable(truth, False),
    "user_credential_id": Variable(_whole(1, 2**31 - 1), 1),
    "is_change_hostname": Variable(truth, False),
    "unverified_engine": Variable(one_of("fail", "adopt", "replace"), "fail"),
    "allow_established": Variable(truth, False),
    "wait_timeout": Variable(_seconds(0, 24 * _HOUR), 180),
    "settle": Variable(_seconds(0, _HOUR), 5),
    "attempts": Variable(_whole(1, 100), 3),
    "stop_timeout": Variable(_whole(0, _HOUR), 10),
    "remove_leftovers": Variable(truth, False),
    "max_replaced": Variable(_hosts_or_per_cent, "10%"),
    "engine_list": Variable(_mapping),
    "engine_list_may_be_empty": Variable(truth, False),
    "motd": Variable(one_of("aside", "keep"), "aside"),
    "motd_max_bytes": Variable(_whole(0, _MANY), 512),
    "motd_after": Variable(one_of("aside", "restored"), "aside"),
    "throttle": Variable(_whole(0, _MANY), 10),
    "approved_plan": Variable(_plan),
    "license_dest": Variable(_text),
    "license_host": Variable(_text),
    "license_backup": Variable(truth, True),
    "adopt_interfaces": Variable(truth, False),
    "interfaces": Variable(_names, []),
    "interfaces_state": Variable(one_of("present", "absent"), "present"),
    "dhcp_timeout": Variable(_seconds(0, _HOUR), 15),
    "confirm_timeout": Variable(_seconds(5, _HOUR), 60),
    "lift_unmanaged": Variable(truth, False),
    "whole_lease": Variable(truth, False),
}
"""By their names without slb_."""

OF_AN_ENGINE = ("engine_name", "manage_ip")
"""Of these, what Ansible knows of the host itself stands for one that is not set."""

OF_A_PLAY: Mapping[str, Variable] = {
    "serial": Variable(_batches, [1, "10%", "25%"]),
    "max_fail_percentage": Variable(_percentage, 100),
    "remediate_all": Variable(truth, False),
}
"""Of a run, and not of a host."""

BEFORE_HOSTS = ("serial", "max_fail_percentage", "approved_plan")
"""Read before a play knows its hosts: from the command line, or from the variables of a play."""

_READ_ELSEWHERE = ("hosts", "reports", "merged_dir")
_OF_AWX = re.compile(r"slb_fleet_\d+$|slb_awx_")
"""Of an earlier job of a workflow, which AWX hands on as a variable."""
_RESULTS = frozenset({"slb_plan", "slb_needs_work", "slb_wants_license", "slb_console_state"})
"""Groups and results that the collection itself gives a name."""
KNOWN = (
    frozenset(f"slb_{name}" for name in (*OF_A_HOST, *OF_A_PLAY, *_READ_ELSEWHERE))
    | frozenset(CONNECTION_VARIABLES.values())
    | _RESULTS
)


_STATED = frozenset({"engine_list", "approved_plan", "license_dest", "license_host", "license_backup"})
"""What is asked of the management node, and which files of the controller are read and written."""


def settings_of(task_vars: Mapping[str, Any], templar: Any, task: Any = None) -> dict[str, Any]:
    """Every setting of a host. Raises VariableError for the first that cannot be used."""
    given: dict[str, Any] = {}
    with with_facts_below(task_vars, templar, task) as variables:
        engine = {name: of_the_engine(name, variables, templar) for name in OF_AN_ENGINE}
        for name in OF_A_HOST.keys() - _STATED - engine.keys():
            given[name] = value_of(f"slb_{name}", variables, templar)
    with without_facts(task_vars, templar, task) as variables:
        for name in _STATED:
            given[name] = value_of(f"slb_{name}", variables, templar)
    return {name: engine[name] if name in engine else setting(name, given[name]) for name in OF_A_HOST}


def of_the_engine(name: str, variables: Mapping[str, Any], templar: Any) -> str:
    """One of OF_AN_ENGINE. ``variables``, ``templar``: of the host, with facts below."""
    value = setting(name, value_of(f"slb_{name}", variables, templar))
    address = value_of("ansible_host", variables, templar) if name == "manage_ip" else None
    return str(value or address or variables.get("inventory_hostname"))


def stated_setting(name: str, stated: Mapping[str, Any], templar: Any) -> Any:
    """The value of one variable. ``stated``, ``templar``: without facts. ``base_url`` falls back to the environment."""
    value = value_of(f"slb_{name}", stated, templar)
    if name == "base_url":
        return value or os.environ.get("SLB_BASE_URL", "")
    return setting(name, value)


def setting(name: str, value: Any) -> Any:
    """The value of one variable, its default where it is empty. Raises VariableError."""
    variable = OF_A_HOST.get(name) or OF_A_PLAY.get(name)
    if variable is None:
        known = ", ".join(sorted({*OF_A_HOST, *OF_A_PLAY}))
        raise VariableError(f"slb_{name}", value, "the filter knows no such setting", f"Name one of these: {known}.")
    if is_empty(value) or value in ([], {}):
        return variable.default
    try:
        return variable.read(value)
    except ValueError as error:
        raise VariableError(f"slb_{name}", value, f"it is not {error}", "Correct it, or leave it out.") from None


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Those that begin with ``slb_`` and that nobody knows, each with the nearest that is known, or an empty text."""
    return {
        name: nearest(name, KNOWN - _RESULTS)
        for name in names
        if name.startswith("slb_") and name not in KNOWN and not _OF_AWX.match(name)
    }
