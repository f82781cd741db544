# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one gate for what comes from an engine host: field by field, by name, type and bound, and nothing else.

The shape of a module's result is what its documentation says that it returns. A host that was taken over may answer
anything: facts that outrank the inventory, other hosts' names, huge, nested or unprintable values.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Mapping
from typing import Any

import yaml

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible

_MODULES = "ansible_collections.slb.fleet.plugins.modules"
_LONGEST_TEXT = 8192
_LONGEST_LINES = 256 * 1024
_LONGEST_LIST = 4096
_DEEPEST = 4
_LARGEST = 2**63

_ALWAYS: dict[str, Any] = {
    "changed": {"type": "bool"},
    "failed": {"type": "bool"},
    "msg": {"type": "str"},
    "rc": {"type": "int"},
}
_LINES = ("module_stderr", "module_stdout")
"""What Ansible itself says of a module that could not be run."""


class HostAnswerError(FleetError):
    """A host's answer is not of the form that it has to be."""


@functools.cache
def shape_of(module: str) -> dict[str, Any]:
    """What the module ``slb.fleet.<module>`` returns, as its documentation has it."""
    documented = yaml.safe_load(importlib.import_module(f"{_MODULES}.{module}").RETURN)
    return {**_ALWAYS, **documented}


def taken(module: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What ``answer`` holds of the shape of that module's results. Raises HostAnswerError where it does not fit."""
    accepted = {name: _field(name, answer[name], field) for name, field in shape_of(module).items() if name in answer}
    for name in _LINES:
        if isinstance(answer.get(name), str):
            accepted[name] = visible(answer[name][:_LONGEST_TEXT], keep_lines=True)
    if isinstance(answer.get("diff"), Mapping):
        accepted["diff"] = _diff(answer["diff"])
    return accepted


def _diff(value: Mapping[str, Any]) -> dict[str, Any]:
    sides = ("before", "after", "before_header", "after_header")
    return {side: _side(f"diff.{side}", value[side]) for side in sides if side in value}


def _side(path: str, value: Any) -> Any:
    if isinstance(value, str):
        return visible(value[:_LONGEST_LINES], keep_lines=True)
    return _plain(path, value, _DEEPEST)


def _field(path: str, value: Any, field: Mapping[str, Any]) -> Any:
    if value is None:
        return None
    kind = field["type"]
    if kind == "dict":
        return _mapping(path, value, field.get("contains"))
    if kind == "list":
        element = {"type": field.get("elements", "str"), "contains": field.get("contains")}
        return [_field(f"{path}[{number}]", item, element) for number, item in enumerate(_items(path, value))]
    return _scalar(path, value, kind)


def _mapping(path: str, value: Any, contains: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _unlike(path, "a mapping", value)
    if contains is None:
        plain: dict[str, Any] = _plain(path, value, _DEEPEST)
        return plain
    return {name: _field(f"{path}.{name}", value[name], inner) for name, inner in contains.items() if name in value}


def _items(path: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _unlike(path, "a list", value)
    if len(value) > _LONGEST_LIST:
        raise _unlike(path, f"a list of at most {_LONGEST_LIST}", value)
    return value


def _scalar(path: str, value: Any, kind: str) -> Any:
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind in ("int", "float") and isinstance(value, (int, float)) and not isinstance(value, bool):
        is_whole = kind == "float" or isinstance(value, int)
        if is_whole and math.isfinite(value) and abs(value) < _LARGEST:
            return value
    if kind == "str" and isinstance(value, str) and len(value) <= _LONGEST_TEXT:
        return visible(value)
    raise _unlike(path, {"bool": "true or false", "str": "text", "int": "a whole number"}.get(kind, "a number"), value)


def _plain(path: str, value: Any, depth: int) -> Any:
    """Data whose fields the documentation does not name: bounded, and without anything but text, numbers and lists."""
    if depth and isinstance(value, Mapping):
        if len(value) > _LONGEST_LIST:
            raise _unlike(path, f"a mapping of at most {_LONGEST_LIST}", value)
        return {
            visible(str(name)[:100]): _plain(f"{path}.{name!s:.40}", each, depth - 1) for name, each in value.items()
        }
    if depth and isinstance(value, list):
        return [_plain(f"{path}[{number}]", each, depth - 1) for number, each in enumerate(_items(path, value))]
    if value is None:
        return None
    kind = {bool: "bool", int: "int", float: "float"}.get(type(value), "str")
    return _scalar(path, value, kind)


def _unlike(path: str, wanted: str, value: Any) -> HostAnswerError:
    return HostAnswerError(
        f"The host's answer cannot be used: {visible(path)} is not {wanted}, but {visible(repr(value)[:60])}.",
        "Nothing was taken from it. Somebody else may rule this host: look at it before you trust it again.",
    )
