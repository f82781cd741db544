# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build data that comes from elsewhere, as JSON has it, into dataclasses: their type hints are its schema."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_MAX_TEXT = 100_000  # characters that are not visible were replaced by longer words
_LARGEST = 1e15
NOT_NEGATIVE = range(int(_LARGEST))
NEEDED = {"is_needed": True}
"""Metadata of a field whose default is not for data from elsewhere."""

Name = Annotated[str, re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}")]
"""A name or an id that may stand in a command."""
Amount = Annotated[float, NOT_NEGATIVE]
"""A number from 0."""


class DataError(ValueError):
    """``place``: the keys that lead to the value that does not fit, joined by dots."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place.strip('.') or 'data'} missing, or of a wrong type or size")
        self.place = place.strip(".")


def build(hint: Any, value: Any, place: str = "") -> Any:
    """Return the value as the type that ``hint`` names. Raises DataError.

    Of a dataclass, a key that is missing or null has the default of its field, and further keys are ignored. A hint may
    be annotated with a pattern or a range.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        built = build(parts[0], value, place)
        if not all(_fits(built, rule) for rule in parts[1:]):
            raise DataError(place)
        return built
    if origin in (Union, UnionType):
        if value is None and NoneType in parts:
            return None
        *others, last = [part for part in parts if part is not NoneType]
        for part in others:
            with contextlib.suppress(DataError):
                return build(part, value, place)
        return build(last, value, place)
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(build(parts[0], each, place) for each in value)
    if is_dataclass(hint) and isinstance(value, dict):  # a check against an abstract class costs each host 1 ms
        return _build_fields(hint, value, place)
    kind = {Literal: str, Mapping: dict}.get(origin, origin or hint)  # to Python 3.10, tuple[str] is a type
    if not _is_of(kind, value) or (origin is Literal and value not in parts):
        raise DataError(place)
    return value


def _is_of(kind: Any, value: Any) -> bool:
    """Return whether the value has the type, and not more than a usual size."""
    if kind in (int, float):
        is_number = isinstance(value, (int, kind)) and not isinstance(value, bool)
        return is_number and abs(value) < _LARGEST  # false for NaN
    if kind is str:
        return isinstance(value, str) and len(value) <= _MAX_TEXT
    return isinstance(kind, type) and isinstance(value, kind)


def _build_fields(hint: Any, value: Mapping[str, Any], place: str) -> Any:
    built = {}
    for name, kind, is_optional, has_default in fields_of(hint):
        raw = value.get(name)
        if raw is None and has_default and not (is_optional and name in value):
            continue
        built[name] = build(kind, raw, f"{place}.{name}")
    return hint(**built)


def _fits(value: Any, rule: Any) -> bool:
    if isinstance(rule, re.Pattern):
        return rule.fullmatch(value) is not None
    return not isinstance(rule, range) or rule.start <= value < rule.stop


def _is_optional(hint: Any) -> bool:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return NoneType in get_args(inner)


def _has_default(field: Field[Any]) -> bool:
    is_given = field.default is not MISSING or field.default_factory is not MISSING
    return is_given and not field.metadata.get("is_needed")


@cache
def fields_of(kind: Any) -> list[tuple[str, Any, bool, bool]]:
    """Return for each field its name, its type, whether it may be None, and whether it has a default."""
    hints = get_type_hints(kind, include_extras=True)
    return [(each.name, hints[each.name], _is_optional(hints[each.name]), _has_default(each)) for each in fields(kind)]
