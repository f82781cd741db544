# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the report takes from a task's result: named fields, each of bounded length, and never the result as a whole."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._causes import find_cause
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import CHANGES, Change, HostPlan

PREFIX = "slb.fleet."
_MAX_TEXT, _MAX_PHRASE, _MAX_PHRASES = 1200, 300, 10
_OF_VARIABLE = re.compile(r"(?P<summary>Variable slb_\w+ (?P<state>missing|invalid)\b.*?\.) (?P<fix>[A-Z].*)")
STEP_UNKNOWN = Change("step_unknown", CHANGES["step_unknown"][0])
STEPS = (f"{PREFIX}engine_install", f"{PREFIX}engine_container", f"{PREFIX}_engine_step")
"""Modules that change the container of a host."""
ON_HOST = ("engine_container", "_engine_step", "engine_record", "motd")
"""Modules that change a host, so that after a lost answer what they did is unknown."""


@dataclass(frozen=True)
class Observed:
    """``code``: empty if the result has none, as those of Ansible's own modules.

    ``afterwards``: what the host was read to be after a failure. With a plan: ``work``, which an approved plan is
    compared with; ``is_first``, if no request was sent before; ``is_late``, if the batch ends before it is deployed.
    """

    code: str
    summary: str
    fix: str
    changes: tuple[Change, ...] = ()
    afterwards: str = ""
    plan: HostPlan | None = None
    work: str = ""
    is_first: bool = False
    is_late: bool = False
    management_node: str = ""
    unknown_engines: tuple[str, ...] = ()


NO_FURTHER_BATCH = Observed(
    "not_started",
    "No further batch: too many hosts of an earlier one failed.",
    "Fix the failed hosts, or raise slb_max_fail_percentage, then run again.",
)


def observe(module: str, result: Mapping[str, Any], on: str = "") -> Observed:
    """Return what a report needs. ``module``: its full name. ``on``: the delegated host, if any."""
    summary = _reason(result)
    # Ansible's own failures have no fix, and a lost connection has no code.
    cause = find_cause(str(result.get("msg"))) if result.get("unreachable") or result.get("failed") else None
    if not module.startswith(PREFIX):
        if match := _OF_VARIABLE.fullmatch(summary):
            return Observed(f"{match['state']}_variable", match["summary"], match["fix"])
        return Observed(cause.code, summary, cause.fix) if cause else Observed("", summary, "")
    code, fix = _phrase(result.get("code")), _text(result.get("fix") or "")
    if limit := _mapping(result.get("timedout")).get("period"):
        code, summary = "host_timeout", f"Task not finished within {limit} s."
        fix = (
            "Check the host, then run again: the next run continues or restores. "
            "Or raise slb_host_timeout (Ansible's task_timeout)."
        )
    if cause and not code:
        code, fix = cause.code, fix or cause.fix
    changes = tuple(_changes(module.removeprefix(PREFIX), result, on))
    observed = Observed(code, summary, fix, changes, _text(result.get("afterwards") or ""))
    values = _mapping(result.get("plan"))
    if module != f"{PREFIX}engine_plan" or not values:
        return observed
    return replace(
        observed,
        plan=_plan(values),
        work=_text(result.get("work") or ""),
        is_first=not result.get("requests"),
        is_late=bool(result.get("is_late")),
        management_node=_phrase(_mapping(result.get("engine")).get("base_url")),
        unknown_engines=_phrases(result.get("unknown_engines")),
    )


def _reason(result: Mapping[str, Any]) -> str:
    """Return why the task failed: if Ansible's message has no cause, the last line of what the module has printed."""
    # An include that fails gives its reason under another name.
    text = _text(result.get("msg") or result.get("reason") or "")
    if text and not text.endswith(":") and not text.startswith(("Task failed.", "MODULE FAILURE")):
        return text
    printed = (str(result.get(key) or "").strip() for key in ("module_stderr", "module_stdout", "exception"))
    last = next((lines[-1] for each in printed if (lines := each.splitlines()) and each[0] != "("), "")
    return f"Task failed: {_phrase(last)}" if last else "Task failed: Ansible gives no reason; -vvv shows its output."


def _plan(values: Mapping[str, Any]) -> HostPlan:
    raw_fields = {each.name: (values[each.name], each.default) for each in fields(HostPlan) if values.get(each.name)}
    plan_fields: dict[str, Any] = {
        name: _phrases(value, _MAX_PHRASES) if default == () else _text(value)
        for name, (value, default) in raw_fields.items()
    }
    return HostPlan(**{"action": "fail", **plan_fields})


def _changes(module: str, result: Mapping[str, Any], on: str) -> Iterator[Change]:
    is_done = bool(result.get("changed")) and not result.get("failed") and "results" not in result
    is_unknown = result.get("outcome") == "unknown"
    if module == "engine_plan":
        done = {"record_verified": "has_recorded", "container_deleted": "has_deleted"}
        changes = [_change(code) for code, key in done.items() if result.get(key) is True]
        yield from changes or ([STEP_UNKNOWN] if result.get("is_unknown") else [])
    elif module == "engine_install":
        if result.get("set_aside_as") and not result.get("failed"):
            yield _change("container_set_aside", f" as {_phrase(result.get('set_aside_as'))}")
        if is_done or is_unknown:
            yield _change("install_unknown" if is_unknown else "install_requested")
        yield from _changes_of_failure(result, is_restored=bool(result.get("restored")))
    elif module == "engine" and is_unknown:
        yield _change("install_unknown")
    elif is_done or (module == "interface" and result.get("released")):  # also if another one has to stay
        yield from _changes_of(module, result, on)
    elif module in ON_HOST:
        yield from _changes_of_failure(result, is_restored=bool(result.get("failed") and result.get("restored")))


def _changes_of_failure(result: Mapping[str, Any], *, is_restored: bool) -> Iterator[Change]:
    """Return what a step did to the container of the host although it failed, or may have done."""
    if result.get("failed") and result.get("set_aside_as"):
        yield _change("container_set_aside", f" as {_phrase(result['set_aside_as'])}")
    if result.get("timedout") or result.get("is_unknown"):
        yield STEP_UNKNOWN
    elif result.get("code") == "partially_restored":
        yield _change("container_partially_restored")
    elif is_restored:
        yield _change("container_restored")


def _changes_of(module: str, result: Mapping[str, Any], on: str) -> Iterator[Change]:
    if module in ("engine_container", "_engine_step"):
        yield _change_of_container(result)
    elif module == "engine":
        yield _change("install_requested")
    elif module == "engine_record":
        is_verified = _mapping(result.get("record")).get("state") == "verified"
        yield _change("record_verified" if is_verified else "record_removed")
    elif module == "motd":
        yield _change("motd_restored" if result.get("restored") else "motd_aside")
    elif module == "license":
        place = f"{_phrase(on)}:" if on else ""
        yield _change("license_downloaded", f" to {place}{_phrase(result.get('dest'))}")
    elif module == "interface":
        released = _items(result.get("released"))
        names = [_phrase(_mapping(each).get("name")) for each in released or _items(result.get("adopted"))]
        change = "interfaces_released" if released else "interfaces_adopted"
        yield _change(change, f": {_phrase(', '.join(names))}")


def _change_of_container(result: Mapping[str, Any]) -> Change:
    if result.get("set_aside_as"):
        return _change("container_set_aside", f" as {_phrase(result['set_aside_as'])}")
    if "set_aside_as" in result:
        return _change("container_deleted")
    if result.get("started"):
        return _change("engine_started")
    if result.get("is_cleared"):
        return _change("install_allowed")
    return _change("container_restored" if result.get("restored") else "record_restored")


def _change(code: str, detail: str = "") -> Change:
    return Change(code, CHANGES[code][0] + detail)


def _text(value: Any) -> str:
    return _bounded(value, _MAX_TEXT)


def _phrase(value: Any) -> str:
    return "" if value is None else _bounded(value, _MAX_PHRASE)


def _phrases(values: Any, most: int | None = None) -> tuple[str, ...]:
    return tuple(_phrase(each) for each in _items(values)[:most])


def _bounded(value: Any, most: int) -> str:
    # Cut before as well, so that a long or deep value costs no more than the part that is shown.
    text = value[: most * 4] if isinstance(value, str) else reprlib.repr(value)
    return in_short(" ".join(text.split()), most)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
