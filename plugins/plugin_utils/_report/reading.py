# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document that was written by another run, read field by field: what is not of the declared shape is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    PHASES,
    STATUSES,
    VERSION,
    Batch,
    Deed,
    Document,
    HostEntry,
    Reason,
    RunEntry,
    Verified,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import plan_of

_LONGEST, _LONGEST_NAME = 2000, 300
_MOST, _HIGHEST_JOB = 10_000_000, 2**31
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError, OverflowError)
_STATUSES, _SINCE = ("running", "finished", "interrupted"), ("intended", "corrected", "drifted")


class UnreadableReportError(FleetError):
    """What was given is no report of this collection."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f"{where} is no report of slb.fleet: {why}.",
            "Give the report.json that the callback slb.fleet.report wrote.",
        )


def document_from(text: str, where: str) -> Document:
    """``where``: how its place is called in a message. Raises UnreadableReportError."""
    try:
        values = json.loads(text)
        _see_the_format(values)
        run = _run(values["run"])
        hosts = tuple(_host(each) for each in values["hosts"])
        plan = plan_of(_texts(values["plan"]["hosts"])) if values.get("plan") else None
        return Document(run, hosts, plan, tuple(_text(each) for each in values.get("unknown_engines", ())))
    except KeyError as error:
        raise UnreadableReportError(where, f"it has no {error}") from None
    except _UNREADABLE as error:
        raise UnreadableReportError(where, in_short(str(error), _LONGEST_NAME)) from None


def _see_the_format(values: Any) -> None:
    if not isinstance(values, Mapping):
        raise TypeError("it is no object")
    if values.get("format") != FORMAT or values.get("version") != VERSION:
        raise ValueError(f"its format is not {FORMAT}, version {VERSION}")


def _count(value: Any, most: int = _MOST) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < most:
        raise ValueError(f"{value!r:.60} is no count")
    return value


def _run(values: Mapping[str, Any]) -> RunEntry:
    job = values.get("awx_job_id")
    return RunEntry(
        playbook=_text(values["playbook"]),
        check=_truth(values["check"]),
        status=_one_of(_STATUSES, values["status"]),
        began=_time(values["began"]),
        updated=_time(values["updated"]),
        ended=_time_or_none(values.get("ended")),
        seconds=_seconds(values["seconds"]),
        limit=_text_or_none(values.get("limit")),
        awx_job_id=None if job is None else _count(job, _HIGHEST_JOB),
        versions=_texts(values.get("versions", {})),
        management_nodes=tuple(_text(each) for each in values.get("management_nodes", ())),
        batches=tuple(_batch(each) for each in values.get("batches", ())),
        next=_text(values.get("next", "")),
    )


def _batch(values: Mapping[str, Any]) -> Batch:
    return Batch(
        _text(values["play"]),
        _count(values["hosts"]),
        _time(values["began"]),
        _time_or_none(values.get("ended")),
        _count(values["troubled"]),
    )


def _host(values: Mapping[str, Any]) -> HostEntry:
    reason, verified, batch = values.get("reason"), values.get("verified"), values.get("batch")
    since = values.get("since")
    return HostEntry(
        name=_text(values["name"]),
        status=_one_of(tuple(STATUSES), values["status"]),
        action=_text(values.get("action", "")),
        reason=Reason(_text(reason["code"]), _text(reason["summary"]), _text(reason["fix"])) if reason else None,
        evidence=tuple(_text(each) for each in values.get("evidence", ())),
        verified=Verified(_text(verified["by"]), _time(verified["at"])) if verified else None,
        done=_deeds(values.get("done", ())),
        would_do=_deeds(values.get("would_do", ())),
        seconds={phase: _seconds(value) for phase, value in values.get("seconds", {}).items() if phase in PHASES},
        batch=None if batch is None else _count(batch),
        next=_text(values.get("next", "")),
        steps=tuple(_text(each) for each in values.get("steps", ())),
        console=_text(values.get("console", "")),
        since=None if since is None else _one_of(_SINCE, since),
    )


def _deeds(values: Any) -> tuple[Deed, ...]:
    return tuple(Deed(_text(each["code"]), _text(each["sentence"])) for each in values)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in values.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a text")
    return in_short(value, _LONGEST)


def _time(value: Any) -> str:
    """In the one form that reports have, so that the order of texts is that of times."""
    text = _text(value)
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text!r:.60} is no time in UTC")
    datetime.fromisoformat(text.replace("Z", "+00:00"))
    return text


def _time_or_none(value: Any) -> str | None:
    return None if value is None else _time(value)


def _seconds(value: Any) -> float:
    """JSON has no word for others, Python's reader has."""
    seconds = float(value)
    if not math.isfinite(seconds):
        raise ValueError(f"{value!r:.60} is no number of seconds")
    return seconds


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is neither true nor false")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _one_of(words: tuple[str, ...], value: Any) -> Any:
    if value not in words:
        raise ValueError(f"{value!r:.60} is none of {', '.join(words)}")
    return value
