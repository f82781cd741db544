# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision about one host of a run, in the light of what the run knows of its other hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._clock import awake_or_asleep
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decide import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import (
    ALIVE,
    EngineIdentity,
    Evidence,
    Policy,
    evidence_from,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Excerpt, Listed, excerpt, listed
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

Reading = Callable[[str, str], Excerpt | str] | Iterable[Mapping[str, str]] | str | None
"""The console's list; or what gives its excerpt for a name and an address, or why it cannot be read. None where no list
is described."""


def host_plan(
    host: str,
    look: Mapping[str, Any],
    engine: EngineIdentity,
    reading: Reading,
    policy: Policy,
    progress: Progress,
    store: RunStore,
    now: float | None = None,
    counts_only: bool = False,
) -> Decision:
    """``now``: by the clock of ``progress``. ``counts_only``: nothing is done about the host before another call, and
    containers that the list's word alone would stop are counted, not refused.
    """
    record = look["record"]
    recorded = (record["name"], record["manage_ip"]) if record["state"] == "verified" else None
    evidence = evidence_from(
        look,
        engine,
        console=console_says(reading, engine, policy.may_be_empty),
        as_recorded=_says(reading, *recorded) if recorded and recorded != (engine.name, engine.manage_ip) else None,
        progress=progress,
        now=awake_or_asleep() if now is None else now,
        disputed=store.claim(engine.base_url, host, engine.name, engine.manage_ip) if policy.installs else "",
        distrusted=store.distrusted(engine.base_url),
    )
    decision = decide(evidence, policy)
    if proves_the_list_wrong({"plan": {"console": evidence.console}}, progress.answer):
        store.distrust(engine.base_url, host)
    return _within_the_budget(host, decision, evidence, policy, store, counts_only)


def console_says(reading: Reading, engine: EngineIdentity, may_be_empty: bool) -> Listed:
    """What a reading of the list says of the engine."""
    found = _says(reading, engine.name, engine.manage_ip)
    return Listed("not_listed") if found.state == "empty" and may_be_empty else found


def _says(reading: Reading, name: str, manage_ip: str) -> Listed:
    if reading is None:
        return Listed("undescribed")
    seen = reading(name, manage_ip) if callable(reading) else reading
    if isinstance(seen, str):
        return Listed("unavailable", seen)
    return listed(seen if isinstance(seen, Excerpt) else excerpt(seen, name, manage_ip), name, manage_ip)


def proves_the_list_wrong(decided: Mapping[str, Any], answer: str) -> bool:
    """The management node has an engine that its list does not show.

    ``decided``: the result of M(slb.fleet.engine_plan) from before the install was asked for.
    """
    return answer == "exists" and decided["plan"]["console"] in ("not_listed", "elsewhere", "empty")


def _within_the_budget(
    host: str, decision: Decision, evidence: Evidence, policy: Policy, store: RunStore, counts_only: bool
) -> Decision:
    """Running containers that are taken out of the way on the list's word alone are counted over the whole run."""
    is_due = _is_by_the_list(decision, evidence)
    if not is_due and not _may_become_due(decision, evidence, policy):
        store.unwish(host)
        return decision
    container = str(evidence.container_id)
    refused = store.wish(host, container, policy.replacements, counts_only or not is_due)
    if refused is None:
        return decision
    touched = (
        f"{', '.join(refused.granted)} had their turn; nothing was touched on the others"
        if refused.granted
        else "Nothing was touched on any of them"
    )
    return replace(
        decision,
        action="fail",
        code="replace_limit_exceeded",
        reason=f"{decision.reason} But that would be {len(refused.hosts)} running containers on the list's word alone, "
        f"and slb_max_replaced allows {refused.most} of {policy.fleet} hosts: {', '.join(refused.hosts)}. "
        f"{touched}. Is the list right (path, rights, filter), and are slb_engine_name and slb_manage_ip? If so, raise "
        "slb_max_replaced, or run slb.fleet.remediate for these hosts by name.",
    )


def _is_by_the_list(decision: Decision, evidence: Evidence) -> bool:
    return decision.action == "replace" and decision.because == "list" and evidence.container in ALIVE


def _may_become_due(decision: Decision, evidence: Evidence, policy: Policy) -> bool:
    """What is still waited for counts from the start, or those whose waits end first would be taken one by one.

    Not what this run itself has asked for: it is expected to be listed soon.
    """
    if decision.action != "wait" or evidence.progress.asked:
        return False
    late = replace(evidence, record_age=inf, progress=replace(evidence.progress, waited=policy.wait))
    return _is_by_the_list(decide(late, policy), late)
