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
import json
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import yaml
from ansible.module_utils.common.validation import check_type_list

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ContainerState, RecordState, Runtime

_MODULES = "ansible_collections.slb.fleet.plugins.modules"
_LONGEST_ANSWER = 1024 * 1024
_LONGEST_TEXT = 8192
_LONGEST_LINES = 256 * 1024
_LONGEST_LIST = 16_384
_DEEPEST = 4
_LARGEST = 2**63

_ALWAYS: dict[str, Any] = {
    "changed": {"type": "bool"},
    "failed": {"type": "bool"},
    "msg": {"type": "str"},
    "code": {"type": "str"},
    "summary": {"type": "str"},
    "fix": {"type": "str"},
    "rc": {"type": "int"},
}
_STATES = {"engine_container": get_args(ContainerState), "record": get_args(RecordState)}
"""What is decided upon has one of these states."""
_REMEDY = "Nothing was taken from it. Somebody else may rule this host: look at it before you trust it again."
# What is shown of a value costs no more than what is shown, however large or deep it is.
_shown = reprlib.Repr()
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LINES = ("module_stderr", "module_stdout")
"""What Ansible itself says of a module that could not be run."""


class HostAnswerError(FleetError):
    """A host's answer is not of the form that it has to be."""


@functools.cache
def shape_of(module: str) -> dict[str, Any]:
    """What the module ``slb.fleet.<module>`` returns, as its documentation has it."""
    documented = yaml.load(importlib.import_module(f"{_MODULES}.{module}").RETURN, Loader=_LOADER)  # noqa: S506
    return {**_ALWAYS, **documented}


@functools.cache
def options_of(module: str) -> frozenset[str]:
    """The options that the messages of ``slb.fleet.<module>`` may name."""
    return frozenset(getattr(importlib.import_module(f"{_MODULES}.{module}"), "ARGUMENTS", ()))


def taken(module: str, answer: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What ``answer`` holds of the shape of that module's results. Raises HostAnswerError where it does not fit.

    ``arguments``: what the module was given; what it was asked to look at, or to note, has to be there.
    """
    accepted = {name: _field(name, answer[name], field) for name, field in shape_of(module).items() if name in answer}
    for name in _LINES:
        if isinstance(answer.get(name), str):
            accepted[name] = visible(answer[name][:_LONGEST_TEXT], keep_lines=True)
    if isinstance(answer.get("diff"), Mapping):
        accepted["diff"] = _diff(answer["diff"])
    if module == "host_info" and not accepted.get("failed"):
        _check_look(accepted.get("slb_host"), check_type_list((arguments or {}).get("subset") or []))
    if module == "engine_record" and not accepted.get("failed"):
        _check_note(accepted.get("record") or {}, (arguments or {}).get("state"))
    # Each part is bounded; their number is bounded here.
    if len(json.dumps(accepted)) > _LONGEST_ANSWER:
        raise HostAnswerError(f"The host's answer cannot be used: it is larger than {_LONGEST_ANSWER} bytes.", _REMEDY)
    return accepted


def _check_look(look: Any, subset: Sequence[str]) -> None:
    """What was asked for has to be there, with what is decided upon."""
    for name in subset:
        if not isinstance(look, Mapping) or look.get(name) is None:
            raise _unlike(f"slb_host.{name}", "there, although it was asked for", None)
        if name in _STATES and look[name].get("state") not in _STATES[name]:
            raise _unlike(f"slb_host.{name}.state", f"one of {', '.join(_STATES[name])}", look[name].get("state"))
    runtime = ((look or {}).get("engine_container") or {}).get("runtime")
    if runtime is not None and runtime not in get_args(Runtime):
        # The operator is told to type it.
        raise _unlike("slb_host.engine_container.runtime", f"one of {', '.join(get_args(Runtime))}", runtime)
    for path in _missing(look or {}):
        raise _unlike(f"slb_host.{path}", "there", None)


def _check_note(record: Mapping[str, Any], state: Any) -> None:
    """Nothing is asked for on the ground of a note that is not there, or that could not be found again."""
    if state not in ("requested", "verified"):
        return
    if record.get("state") != state:
        raise _unlike("record.state", f"{state}, as it was to be noted", record.get("state"))
    if record.get("requested_at") is None:
        raise _unlike("record.requested_at", "there", None)


def _missing(look: Mapping[str, Any]) -> Iterator[str]:
    """The fields without which what has them cannot be understood."""
    for number, port in enumerate(look.get("ports") or ()):
        yield from (f"ports[{number}].{name}" for name in ("port", "process", "pid") if name not in port)
    aside = look.get("set_aside")
    if aside is not None:
        yield from (f"set_aside.{name}" for name in ("id", "name", "state", "because", "exists") if name not in aside)
    record, container = look.get("record") or {}, look.get("engine_container") or {}
    if record.get("state") in ("requested", "verified"):
        yield from (f"record.{name}" for name in ("name", "manage_ip") if record.get(name) is None)
    if record.get("age", 0) is None:
        yield "record.age"
    if container.get("restart_count", 0) is None:
        yield "engine_container.restart_count"


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
        # What is not finite is not smaller than anything; a whole number need not fit into the others to be compared.
        if is_whole and abs(value) < _LARGEST:
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
        f"The host's answer cannot be used: {in_short(path, 200)} is not {wanted}, but "
        f"{in_short(_shown.repr(value), 60)}.",
        _REMEDY,
    )
