# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's plan is made: observed state and policy in, a plan out. No I/O.

The first rule that applies makes the plan, of ``RULES`` or of ``REMEDIATION_RULES``; the last one always applies.
``SAFETY_CHECKS`` can then turn a plan that changes something into a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Action
from ansible_collections.slb.fleet.plugins.plugin_utils._rules import NO_LIST, REMEDIATION_RULES, RULES
from ansible_collections.slb.fleet.plugins.plugin_utils._safety_checks import SAFETY_CHECKS
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Policy, State


@dataclass(frozen=True)
class Plan:
    """What to do on a host, and why. ``code``: stable word for reports. ``verified_by``: of ``none``, ``record``."""

    action: Action
    code: str
    summary: str
    fix: str = ""
    verified_by: Literal["host", "engine_list"] | None = None


def decide(state: State, policy: Policy) -> Plan:
    """Return the plan of one host. Exactly one rule applies to each state."""
    rules = REMEDIATION_RULES if policy.remediates else RULES
    rule = next(rule for rule in rules if rule.applies(state, policy))
    action = rule.action if isinstance(rule.action, str) else rule.action(state, policy)
    plan = Plan(
        action,
        # A rejected login or a wrong certificate keeps its own code.
        state.listed.code
        if state.listed.code and state.listed.state == "unavailable" and rule.code == NO_LIST
        else rule.code,
        _text(rule.summary, state, policy),
        _text(rule.fix, state, policy) if action in ("fail", "wait") else "",
        verified_by=("engine_list" if state.listed.state == "running" else "host")
        if action in ("none", "record")
        else None,
    )
    is_shared = False
    for check in SAFETY_CHECKS:
        if plan.action in check.actions and check.applies(state, policy):
            code = check.code if isinstance(check.code, str) else check.code(state)
            summary = _text(check.summary, state, policy)
            # A cause that many hosts share has the same words for all.
            shown = summary if check.is_shared else f"{plan.summary} {summary}"
            plan, is_shared = Plan("fail", code, shown, _text(check.fix, state, policy)), check.is_shared
    # A renamed container may be the engine: no other one is to take its name. A cause of many hosts is not about one.
    can_restore = state.container.state == "absent" and not state.record.verified_name and not is_shared
    if plan.action in ("fail", "wait") and state.unresolved:
        names = " and ".join(aside.name for aside in state.unresolved)
        restore = f"{restore_by_hand(state.container.state)} restores the last one"
        plan = replace(plan, fix=f"{plan.fix} Set aside: {names}; {restore}.".strip())
    elif plan.action == "fail" and state.stopped_leftovers and can_restore:
        # The record may be lost; the name of the leftover still shows what it was, and the name slb is free.
        last, runtime = max(state.stopped_leftovers), state.container.runtime
        restore = f"`{runtime} rename {last} slb` and `{runtime} start slb` on the host restore it"
        plan = replace(plan, fix=f"{plan.fix} Set aside earlier: {last}; {restore}.".strip())
    return plan


def restore_by_hand(state: str | None) -> str:
    """Return the command that restores what is set aside. ``state``: of the container slb, which keeps the name."""
    command = "`ansible HOST -b -m slb.fleet.engine_container -a state=restored`"
    return command if state == "absent" else f"when no container slb exists any more, {command}"


def _text(text: str | Callable[[State, Policy], str], state: State, policy: Policy) -> str:
    if not isinstance(text, str):
        return text(state, policy)
    container, record = state.container, state.record
    return text.format(
        state=container.state,
        runtime=container.runtime,
        engine=state.engine.name,
        address=state.engine.manage_ip,
        age=f"{record.age:.0f}",
        why=container.why or "no reason reported",
        listed=state.listed.words or state.listed.state,
        answer=state.answer or "no message",
    )
