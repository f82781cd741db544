# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision about one host of a run, in the light of what the run knows of its other hosts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Decision, decide
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


def fate(
    host: str,
    look: Mapping[str, Any],
    engine: EngineIdentity,
    reading: Excerpt | Iterable[Mapping[str, str]] | str | None,
    policy: Policy,
    progress: Progress,
    store: RunStore,
    now: float | None = None,
) -> Decision:
    """``reading``: the console's list, or what it shows of this engine; why it cannot be read; None where none is
    described. ``now``: by the clock of ``progress``.
    """
    evidence = evidence_from(
        look,
        engine,
        console=console_says(reading, engine, policy.may_be_empty),
        progress=progress,
        now=time.monotonic() if now is None else now,
        disputed=store.claim(engine.base_url, host, engine.name, engine.manage_ip) if policy.installs else "",
        distrusted=store.distrusted(engine.base_url),
    )
    decision = decide(evidence, policy)
    if decision.action == "put_back" and progress.answer == "exists" and _was_by_the_list(evidence):
        store.distrust(engine.base_url, host)
    return _within_the_budget(host, decision, evidence, policy, store)


def console_says(
    reading: Excerpt | Iterable[Mapping[str, str]] | str | None, engine: EngineIdentity, may_be_empty: bool
) -> Listed:
    """What a reading of the list says of the engine; the first argument is that of ``fate``."""
    if reading is None:
        return Listed("undescribed")
    if isinstance(reading, str):
        return Listed("unreadable", reading)
    seen = reading if isinstance(reading, Excerpt) else excerpt(reading, engine.name, engine.manage_ip)
    found = listed(seen, engine.name, engine.manage_ip)
    return Listed("not_listed") if found.state == "empty" and may_be_empty else found


def _was_by_the_list(evidence: Evidence) -> bool:
    return evidence.set_aside is not None and evidence.set_aside.because == "list"


def _within_the_budget(host: str, decision: Decision, evidence: Evidence, policy: Policy, store: RunStore) -> Decision:
    """Running containers that are taken out of the way on the list's word alone are counted over the whole run."""
    if not (decision.action == "replace" and decision.because == "list" and evidence.container in ALIVE):
        store.unwish(host)
        return decision
    hosts = store.wish(host, policy.replacements)
    if not hosts:
        return decision
    return replace(
        decision,
        action="fail",
        reason=f"{decision.reason} But that would be {len(hosts)} running containers on the list's word alone, and "
        f"slb_max_replaced allows {policy.replacements} of {policy.fleet} hosts: {', '.join(hosts)}. Nothing was "
        "touched on any of them. Is the list right (path, rights, filter)? If it is, raise slb_max_replaced, or run "
        "slb.fleet.remediate for these hosts by name.",
    )
