"""What must hold for every evidence and every policy: the promises that an operator relies on at 3 a.m."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy
from ansible_collections.slb.fleet.tests.unit.decision.space import ATTEMPTS, SETTLE, WAIT

ALIVE = ("running", "restarting", "paused")


def broken_promises(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    stops, asks = decision.action == "replace", decision.action in ("add", "replace")
    yield from _about_claims(evidence, policy, decision)
    if stops:
        yield from _about_stopping(evidence, policy, decision)
    if asks:
        yield from _about_asking(evidence, policy)
    if decision.action == "add" and evidence.container != "absent":
        yield "an engine is added only where there is none"
    if (decision.action == "wait") != (decision.wait_seconds > 0):
        yield "a wait has a time, and nothing else has"
    if decision.wait_seconds > max(WAIT, 2 * SETTLE):
        yield "no wait is longer than the policy's"
    if decision.action == "put_back" and not (evidence.set_aside and evidence.set_aside.exists):
        yield "only what is there is put back"
    if not decision.reason or not decision.evidence:
        yield "each decision says why, and from what"


def _about_claims(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    claims = decision.action in ("nothing", "confirm")
    if claims and evidence.container != "running":
        yield "only of a running container something is claimed"
    if claims and decision.verified_by != ("console" if evidence.console == "running" else "host"):
        yield "the console has verified what its list shows as running, and nothing else"
    if claims and evidence.console not in ("running", "undescribed", "deploying"):
        yield "nothing is claimed against a list that is described"
    noted_for_less = evidence.proven and evidence.progress.confirmed and evidence.record_verified_by == "host"
    if decision.action == "nothing" and decision.verified_by == "console" and noted_for_less:
        yield "what a run claims at its end, its record says too"
    if decision.action == "nothing" and policy.installs and not evidence.proven:
        yield "only an engine that the record proves needs nothing"
    if decision.action == "confirm" and evidence.console != "running" and evidence.uptime < SETTLE:
        yield "without the console's word an engine must have settled"
    if decision.action == "confirm" and evidence.unwritable:
        yield "nothing is noted where nothing can be written"


def _about_stopping(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    alive = evidence.container in ALIVE
    by_word = policy.unrecorded == "replace"
    if evidence.container in ("absent", "unknown"):
        yield "only what is there is taken away"
    if evidence.was_proven and not policy.unlisted:
        yield "what was proven is taken away by its host's name alone, in whatever form the record is"
    if alive and evidence.established != 0 and not policy.allow_established:
        yield "an engine that has connections, or may have some, is not stopped"
    if alive and evidence.auto_remove and not policy.remove_leftovers:
        yield "what would be lost is not stopped"
    if evidence.console in ("running", "other_name", "unreadable"):
        yield "an engine that the console lists as running, or may list, is not stopped"
    if evidence.container == "running" and not evidence.restarts and not by_word:
        ill_and_ours = evidence.ours_pending and evidence.after_request and evidence.uptime < SETTLE
        if evidence.console not in ("failed", "not_listed") and not ill_and_ours:
            yield "a running container is stopped only on the console's, the record's or the operator's word"
    if decision.because == "list" and alive:
        if evidence.distrusted or (evidence.set_aside and evidence.set_aside.mistaken):
            yield "a list that has proven wrong stops nothing"
        if evidence.is_listed_as_recorded or evidence.is_of_another_node:
            yield "a list does not stop what a record says it is, where it shows that, or cannot know it"


def _about_asking(evidence: Evidence, policy: Policy) -> Iterator[str]:
    if evidence.record == "pending" and evidence.record_age < WAIT:
        came_up_for_another = evidence.differences and evidence.after_request and evidence.container == "running"
        if not came_up_for_another:
            yield "no install is asked for while one may still be running"
    if evidence.console in ("deploying", "running", "unreadable", "other_name"):
        yield "no install is asked for against the list"
    if evidence.console == "elsewhere" and policy.installs:
        yield "no install is asked for an engine that is listed at another host"
    if evidence.disputed:
        yield "no install is asked for what two hosts want"
    if evidence.container == "unknown":
        yield "unknown is not absent"
    if policy.installs and evidence.record == "invalid":
        yield "a damaged record is not an absent one"
    if policy.installs and evidence.progress.asked >= ATTEMPTS:
        yield "the attempts are limited"
    if policy.installs and evidence.unwritable:
        yield "nothing is cleared away for a request that cannot be noted"
