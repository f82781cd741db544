"""What must hold for every evidence and every policy: the promises that an operator relies on at 3 a.m."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from space import ATTEMPTS, SETTLE, WAIT, everything

from ansible_collections.slb.fleet.plugins.plugin_utils._decision import RULES, Decision, decide
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy


def broken_promises(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    shaky = evidence.restarts and (evidence.uptime or 0) < SETTLE
    known_better = policy.unlisted and evidence.record_verified_by == "host"
    proven = evidence.container == "running" and evidence.confirmed and not shaky and not known_better
    request_is_young = evidence.record == "pending" and evidence.record_age < WAIT
    stops, asks = decision.action == "replace", decision.action in ("add", "replace")

    if proven and decision.action != "nothing":
        yield "a proven engine is left alone"
    if decision.action == "nothing" and not proven:
        yield "only a proven engine needs nothing"
    if stops and evidence.container == "running" and evidence.confirmed and not known_better:
        yield "an engine that was proven to run is not stopped while it runs"
    if stops and evidence.established != 0 and not policy.allow_established:
        yield "an engine that has connections, or may have some, is not stopped"
    if stops and evidence.console == "running":
        yield "an engine that the console lists as running is not stopped"
    if stops and evidence.container == "running" and evidence.console == "unknown":
        ours = evidence.record == "pending" and evidence.started_after_request
        ours_and_ill = ours and evidence.uptime < SETTLE and evidence.waited
        if not ours_and_ill and policy.unrecorded != "replace":
            yield "a running container is stopped only on the console's, the record's or the operator's word"
    if asks and request_is_young:
        yield "no install is asked for while ours may still be running"
    if asks and evidence.console == "deploying":
        yield "no install is asked for while the console lists a deployment"
    if decision.action not in ("fail", "nothing") and evidence.console == "unreadable":
        yield "without the list that was described nothing is done"
    if asks and not evidence.has_usable_manage_ip:
        yield "nothing is cleared away for a request that cannot be made"
    if asks and evidence.container == "unknown":
        yield "unknown is not absent"
    if asks and evidence.container == "absent" and evidence.record == "invalid":
        yield "a damaged record is not an absent one"
    if (decision.action == "add") and evidence.container != "absent":
        yield "an engine is added only where there is none"
    if stops and evidence.container in ("absent", "unknown"):
        yield "only what is there is taken away"
    if asks and evidence.asked >= ATTEMPTS:
        yield "the attempts are limited"
    if decision.action == "confirm":
        if evidence.container != "running":
            yield "only a running container is confirmed"
        if evidence.console != "running" and evidence.uptime < SETTLE:
            yield "without the console's word an engine must have settled"
        if decision.verified_by != ("console" if evidence.console == "running" else "host"):
            yield "it is said what proved it"
    if (decision.action == "wait") != (decision.wait_seconds > 0):
        yield "a wait has a time, and nothing else has"
    if decision.wait_seconds > max(WAIT, 2 * SETTLE):
        yield "no wait is longer than the policy's"
    if not decision.reason or not decision.evidence:
        yield "each decision says why, and from what"


def test_every_promise_holds_for_every_evidence() -> None:
    number = 0
    for evidence, policy in everything():
        number += 1
        decision = decide(evidence, policy)
        for promise in broken_promises(evidence, policy, decision):
            pytest.fail(f"broken: {promise}\n{evidence}\n{policy}\n{decision}")
    assert number > 100_000


def test_every_rule_is_reached() -> None:
    reached = set()
    for evidence, policy in everything():
        reached.add(next(rule for rule in RULES if rule.applies(evidence, policy)))
    assert [rule.when for rule in RULES if rule not in reached] == []
