# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report takes from a task's result: named fields, each bounded and visible, and never the result as a whole."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Change, Phase
from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import PREFIX

_LONGEST_SENTENCE, _LONGEST_PHRASE, _MOST_PHRASES = 1200, 300, 10


@dataclass(frozen=True)
class HostPlan:
    """What was decided about a host, and why."""

    action: str
    code: str
    summary: str
    fix: str
    steps: tuple[str, ...]
    evidence: tuple[str, ...]
    verified_by: str | None
    console: str


Record = Literal["none", "this", "other"]
"""What the host's record has healthy before: nothing, the engine that is wanted, or another one."""


@dataclass(frozen=True)
class Seen:
    """``waited`` and ``rounds``: of the run so far; None where the result does not say. ``wants``: what is to be
    done, and what about, by which one plan is told from another.
    """

    summary: str = ""
    fix: str = ""
    code: str = ""
    host_plan: HostPlan | None = None
    waited: float | None = None
    rounds: int | None = None
    node: str = ""
    wants: str = ""
    record: Record = "none"
    is_set_aside: bool = False
    """The operator has had the recorded container set aside."""
    changes: tuple[Change, ...] = ()
    unknown_engines: tuple[str, ...] = ()


def seen(module: str, result: Mapping[str, Any], on: str = "") -> Seen:
    """Return what a report needs. ``module``: the task's full module name. ``on``: the host that it ran on."""
    # An include that fails gives its reason under another name.
    summary = _sentence(result.get("summary") or result.get("msg") or result.get("reason") or "No message.")
    if not module.startswith(PREFIX):
        return Seen(summary)
    code, fix = _phrase(result.get("code")), _sentence(result.get("fix") or "")
    if limit := _mapping(result.get("timedout")).get("period"):
        code = "host_timeout"
        summary = f"Task not finished within {limit} s."
        fix = (
            "Check the host, then run again: the next run continues or restores. "
            "Or raise slb_host_timeout (Ansible's task_timeout)."
        )
    if module == f"{PREFIX}engine_plan":
        return _of_a_decision(summary, fix, code, result)
    if module == f"{PREFIX}engine_install":
        return Seen(summary, fix, code, changes=tuple(_of_an_install(result)))
    change = _change_from(module.removeprefix(PREFIX), result, on)
    return Seen(summary, fix, code, changes=(change,) if change else ())


def may_have_done(module: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a result of that module may tell of a change."""
    return module.startswith(PREFIX) and (module != f"{PREFIX}engine_plan" or bool(arguments.get("record")))


def phase_of(module: str, result: Mapping[str, Any] | None, rounds: int) -> Phase | None:
    """Which phase of a host's story a task belongs to; None for those that take no time of their own."""
    if module == f"{PREFIX}engine_plan":
        return "prove" if rounds else "look"
    if module == f"{PREFIX}engine_record":
        return "prove"
    return _PHASES.get(module.removeprefix(PREFIX)) if module.startswith(PREFIX) else None


LICENSES = (f"{PREFIX}license",)
"""Modules, of which one turn of a loop is one license."""
_PHASES: Mapping[str, Phase] = {
    "engine_container": "clear",
    "motd": "clear",
    "host_info": "clear",
    "interface": "adopt",
    "engine": "ask",
    "engine_install": "ask",
    "license": "ask",
}


def _of_a_decision(summary: str, fix: str, code: str, result: Mapping[str, Any]) -> Seen:
    host_plan, recorded = _mapping(result.get("plan")), _mapping(result.get("recorded"))
    engine = _mapping(result.get("engine"))
    decided = None
    if host_plan:
        decided = HostPlan(
            action=_phrase(host_plan.get("action")),
            code=_phrase(host_plan.get("code") or host_plan.get("action")),
            summary=_sentence(host_plan.get("summary") or ""),
            fix=_sentence(host_plan.get("fix") or ""),
            steps=tuple(_phrase(each) for each in _items(host_plan.get("steps"))[:_MOST_PHRASES]),
            evidence=tuple(_phrase(each) for each in _items(host_plan.get("seen"))[:_MOST_PHRASES]),
            verified_by=_phrase(host_plan["verified_by"]) if host_plan.get("verified_by") else None,
            console=_phrase(host_plan.get("engine_list")),
        )
    return Seen(
        summary,
        fix,
        code,
        decided,
        rounds=int(_number(result.get("requests")) or 0) if "requests" in result else None,
        node=_phrase(engine.get("base_url")),
        wants=_sentence(result.get("work") or ""),
        record=("this" if recorded.get("is_current") else "other") if recorded.get("last_verified") else "none",
        is_set_aside=recorded.get("purpose") == "remediate",
        changes=(_change("record_verified"),) if result.get("has_recorded") is True else (),
        unknown_engines=tuple(_phrase(each) for each in _items(result.get("unknown_engines"))),
    )


def _of_an_install(result: Mapping[str, Any]) -> Iterator[Change]:
    """What was done before a failure was done, too."""
    outcome = result.get("outcome")
    if result.get("set_aside_as"):
        yield _change("container_set_aside", f" as {_phrase(result.get('set_aside_as'))}")
    if outcome == "unknown":
        yield Change("install_unknown", "installation requested, outcome unknown")
    elif result.get("changed") and not result.get("failed"):
        yield _change("install_requested")
    if result.get("restored"):
        yield _change("container_restored")


def _change_from(module: str, result: Mapping[str, Any], on: str) -> Change | None:
    if module == "engine" and result.get("outcome") == "unknown":
        return Change("install_unknown", "installation requested, outcome unknown")
    # What has failed has not come to what it was for; and of a loop, each turn was told.
    is_done = result.get("changed") and not result.get("failed") and "results" not in result
    code = _code(module, result) if is_done else ""
    if not code:
        return None
    return _change(code, _detail(module, result, on))


def _change(code: str, detail: str = "") -> Change:
    return Change(code, _CHANGES[code].format(detail).rstrip())


def _code(module: str, result: Mapping[str, Any]) -> str:
    if module == "engine_container":
        return "container_restored" if result.get("restored") else "container_set_aside"
    if module == "engine_record":
        return "record_verified" if _mapping(result.get("record")).get("state") == "verified" else "record_removed"
    if module == "motd":
        return "motd_aside" if result.get("moved") else "motd_restored"
    if module == "interface":
        return "interfaces_released" if _items(result.get("released")) else "interfaces_adopted"
    return _CODES.get(module, "")


_CODES = {"engine": "install_requested", "license": "license_downloaded"}


_CHANGES: Mapping[str, str] = {
    "install_requested": "installation requested",
    "container_set_aside": "leftover set aside{}",
    "container_restored": "container restored",
    "record_verified": "engine recorded as verified",
    "record_removed": "deployment record removed",
    "motd_aside": "login banner moved aside",
    "motd_restored": "login banner restored",
    "interfaces_adopted": "interfaces adopted{}",
    "interfaces_released": "interfaces released{}",
    "license_downloaded": "license downloaded{}",
}


def _detail(module: str, result: Mapping[str, Any], on: str) -> str:
    if module == "engine_container":
        name = _phrase(result.get("set_aside_as"))
        return f" as {name}" if name else ""
    if module == "license":
        return f" to {_phrase(on)}:{_phrase(result.get('dest'))}" if on else f" to {_phrase(result.get('dest'))}"
    if module == "interface":
        each = _items(result.get("released")) or _items(result.get("adopted"))
        return f": {_phrase(', '.join(_phrase(_mapping(one).get('name')) for one in each))}"
    return ""


def _sentence(value: Any) -> str:
    return _words(value, _LONGEST_SENTENCE)


def _phrase(value: Any) -> str:
    return "" if value is None else _words(value, _LONGEST_PHRASE)


def _words(value: Any, most: int) -> str:
    # Cut before as well, so that what is long or deep costs no more than what is shown of it.
    text = value[: most * 4] if isinstance(value, str) else reprlib.repr(value)
    return in_short(" ".join(text.split()), most)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
