# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a plan of a host is decided: evidence and policy in; an action, its reason and the evidence out. No I/O."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision, fail
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.objections import objections
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.rules import RULES
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.way_back_rows import finish_the_way_back
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ALIVE, Evidence, Policy


def decide(evidence: Evidence, policy: Policy) -> Decision:
    """Return the plan of one host. Total: every evidence has a decision."""
    rule = next(rule for rule in RULES if rule.applies(evidence, policy))
    decision = replace(rule.decide(evidence, policy), code=rule.code)
    if decision.action in ("none", "record") and evidence.is_half_gone and policy.installs:
        decision = replace(finish_the_way_back(decision.reason, evidence), code="partially_restored")
    decision = _guarded(decision, evidence, policy)
    if decision.action == "fail" and _is_taken_for_nothing(decision, evidence, policy):
        words = f"{decision.reason} So the container that was taken out of the way goes back as it was."
        decision = Decision("restore", words, code=decision.code)
    return replace(
        decision,
        undo=decision.action == "install" and _is_taken_for_nothing(decision, evidence, policy),
        console=evidence.console,
        console_words=evidence.console_words,
        evidence=tuple(evidence.in_words()),
    )


def _is_taken_for_nothing(decision: Decision, evidence: Evidence, policy: Policy) -> bool:
    """Between the stop and the request, whatever ends the work leaves the host as it was."""
    aside, progress = evidence.set_aside, evidence.progress
    if not policy.installs or evidence.container != "absent" or aside is None or not aside.exists:
        return False
    is_asked_for = evidence.record == "requested" and (
        evidence.remaining(policy) > 0 or progress.asked > 0 or not progress.has_replaced
    )
    if (
        is_asked_for
        or evidence.console == "deploying"
        or progress.has_put_back
        or aside.state not in ALIVE
        or aside.because not in ("list", "operator")
    ):
        return False
    # Of an earlier run: what an operator has called a leftover is one, and this may be another machine.
    return progress.has_replaced or (
        aside.because == "list" and decision.code not in ("address_mismatch", "duplicate_engine")
    )


def _guarded(decision: Decision, evidence: Evidence, policy: Policy) -> Decision:
    objection = next(objections(decision, evidence, policy), None)
    return replace(fail(f"{decision.reason} {objection[1]}"), code=objection[0]) if objection else decision
