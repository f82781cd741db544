# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the document of another run. What does not have the declared types is refused."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    STATUSES,
    VERSION,
    Batch,
    Change,
    Document,
    HostEntry,
    Reason,
    RunEntry,
    Verified,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import plan_of

_LONGEST, _HIGHEST = 2000, 2**53
_UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError)
_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "bool": (bool,), "int": (int,), "float": (int, float)}
Part = TypeVar("Part")


class UnreadableReportError(FleetError):
    """The file is no report of this collection."""


def read_document(path: Path) -> Document:
    """Return the document in a report.json, or in the folder that has one. Raises UnreadableReportError."""
    file = path / "report.json" if path.is_dir() else path
    try:
        return document_from(file.read_text(encoding="utf-8-sig"))
    except _UNREADABLE as error:
        why = getattr(error, "strerror", None) or in_short(str(error), _LONGEST)
        raise UnreadableReportError(
            f"{file} is no report of slb.fleet: {why}.",
            "Give the report.json that the callback slb.fleet.report wrote.",
        ) from None


def document_from(text: str) -> Document:
    """Return the document. Raises any of ``_UNREADABLE``."""
    values = _clean(json.loads(text, parse_constant=_reject))
    if values["format"] != FORMAT or values["version"] != VERSION:
        raise ValueError(f"its format is not {FORMAT}, version {VERSION}")
    run = values["run"]
    run["batches"] = tuple(_build(Batch, each) for each in run["batches"])
    plan = plan_of(values["plan"]["hosts"]) if values["plan"] else None
    hosts = tuple(_host(each) for each in values["hosts"])
    for moment in (run["began"], run["updated"], run["ended"]):
        if moment is not None:
            datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")
    return Document(_build(RunEntry, run), hosts, plan, tuple(values["unknown_engines"]))


def _host(values: dict[str, Any]) -> HostEntry:
    for name, kind in (("reason", Reason), ("verified", Verified)):
        values[name] = _build(kind, values[name]) if values[name] else None
    for name in ("done", "would_do"):
        values[name] = tuple(_build(Change, each) for each in values[name])
    if values["status"] not in STATUSES or not all(_is_number(each) for each in values["seconds"].values()):
        raise ValueError(f"host {values['name']!r} is invalid")
    return _build(HostEntry, values)


def _build(kind: type[Part], values: dict[str, Any]) -> Part:
    """Return a dataclass of the values; fields of a later version are dropped."""
    found = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        value = values[field.name]
        types = _TYPES.get(str(field.type).removesuffix(" | None"))
        is_none = value is None and str(field.type).endswith("None")
        if types and not is_none and (not isinstance(value, types) or (types != (bool,) and isinstance(value, bool))):
            raise TypeError(f"{field.name} is not {field.type}: {value!r:.60}")
        found[field.name] = tuple(value) if isinstance(value, list) else value
    return kind(**found)


def _clean(value: Any) -> Any:
    """Return the value with texts of bounded length, without control characters, and with finite numbers."""
    if isinstance(value, str):
        return in_short(value, _LONGEST)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, (int, float)) and not (math.isfinite(value) and 0 <= value < _HIGHEST):
        _reject(f"{value!r:.20}")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _reject(constant: str) -> None:
    raise ValueError(f"it has the number {constant}")
