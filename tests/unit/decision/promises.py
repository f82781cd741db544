"""What must hold whatever is seen and wanted: the promises that an operator relies on at 3 a.m."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy

ALIVE = ("running", "restarting", "paused")


def broken_promises(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    stops, asks = decision.action == "replace", decision.action in ("install", "replace")
    yield from _about_claims(evidence, policy, decision)
    if stops:
        yield from _about_stopping(evidence, policy, decision)
    if asks:
        yield from _about_asking(evidence, policy)
    if decision.action == "restore":
        yield from _about_the_way_back(evidence)
    is_elsewhere = evidence.addresses and evidence.engine.manage_ip not in evidence.addresses
    ends = decision.action == "fail" or (decision.action == "restore" and evidence.progress.has_replaced)
    if is_elsewhere and not policy.is_translated and not ends:
        yield "nothing is begun or claimed on another machine"
    if evidence.progress.rounds > policy.most_rounds and decision.action not in ("none", "fail", "restore"):
        yield "a run ends"
    if decision.action == "install" and evidence.container != "absent":
        yield "an engine is added only where there is none"
    if (decision.action == "wait") != (decision.wait_seconds > 0):
        yield "a wait has a time, and nothing else has"
    if decision.wait_seconds > max(policy.wait, 2 * policy.settle):
        yield "no wait is longer than the policy's"
    if not decision.reason or not decision.evidence:
        yield "each decision says why, and from what"


def _about_claims(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    claims = decision.action in ("none", "record")
    if claims and evidence.container != "running":
        yield "only of a running container something is claimed"
    if claims and decision.verified_by != ("engine_list" if evidence.console == "running" else "host"):
        yield "the console has verified what its list shows as running, and nothing else"
    if claims and evidence.console not in ("running", "undescribed", "deploying"):
        yield "nothing is claimed against a list that is described"
    noted_for_less = evidence.verified and evidence.progress.confirmed and evidence.record_verified_by == "host"
    if decision.action == "none" and decision.verified_by == "engine_list" and noted_for_less:
        yield "what a run claims at its end, its record says too"
    if decision.action == "none" and policy.installs and not evidence.verified:
        yield "only an engine that the record proves needs nothing"
    if decision.action == "record" and evidence.console != "running" and evidence.uptime < policy.settle:
        yield "without the console's word an engine must have settled"
    if decision.action == "record" and evidence.unwritable:
        yield "nothing is noted where nothing can be written"
    if decision.action == "record" and evidence.progress.confirmed > 1:
        yield "what another writer undoes is not noted again and again"
    if claims and evidence.is_half_gone and policy.installs:
        yield "what went half-way out of the way is not called good before it is as it was"


def _about_stopping(evidence: Evidence, policy: Policy, decision: Decision) -> Iterator[str]:
    alive = evidence.container in ALIVE
    by_word = policy.unrecorded == "replace"
    if evidence.container in ("absent", "unknown"):
        yield "only what is there is taken away"
    if evidence.verified and not policy.unlisted:
        yield "what was verified is taken away by its host's name alone, in whatever form the record is"
    if alive and evidence.established != 0 and not policy.allow_established:
        yield "an engine that has connections, or may have some, is not stopped"
    if alive and evidence.auto_remove and not policy.remove_leftovers:
        yield "what would be lost is not stopped"
    if evidence.systemd_unit:
        yield "what systemd makes anew is not taken away"
    if evidence.unwritable or evidence.set_aside_unwritable:
        yield "nothing is taken away that cannot be noted, and so not be put back"
    if alive and evidence.container_id == evidence.progress.replaced_id:
        yield "what somebody has started again is not stopped twice by one run"
    if evidence.console in ("running", "other_name", "engine_list_unavailable"):
        yield "an engine that the console lists as running, or may list, is not stopped"
    if evidence.container == "running" and not evidence.restarts and not by_word:
        ill_and_ours = evidence.ours_pending and evidence.after_request and evidence.uptime < policy.settle
        if evidence.console not in ("failed", "not_listed") and not ill_and_ours:
            yield "a running container is stopped only on the console's, the record's or the operator's word"
    if decision.because == "list" and alive:
        if evidence.distrusted or (evidence.set_aside and evidence.set_aside.mistaken):
            yield "a list that was wrong stops nothing"
        if evidence.is_listed_as_recorded or evidence.is_of_another_node:
            yield "a list does not stop what a record says it is, where it shows that, or cannot know it"


def _about_the_way_back(evidence: Evidence) -> Iterator[str]:
    aside = evidence.set_aside
    if not (aside and aside.exists):
        yield "only what is there is put back"
    elif evidence.container != "absent" and aside.id != evidence.container_id:
        yield "nothing is put back in the place of another container"
    elif evidence.container == "absent" and aside.because in ("record", "ended") and not aside.going_back:
        yield "what failed or ended by itself stays away"


def _about_asking(evidence: Evidence, policy: Policy) -> Iterator[str]:
    if evidence.record == "requested" and evidence.record_age < policy.wait:
        came_up_for_another = evidence.differences and evidence.after_request and evidence.container == "running"
        if not came_up_for_another:
            yield "no install is asked for while one may still be running"
    if evidence.console in ("deploying", "running", "engine_list_unavailable", "other_name"):
        yield "no install is asked for against the list"
    if evidence.console == "elsewhere" and policy.installs:
        yield "no install is asked for an engine that is listed at another host"
    if policy.installs and not evidence.engine.base_url:
        yield "no install is asked for that could not be asked for"
    if evidence.recorded_as and not policy.unlisted:
        yield "no install is asked for where the verified container has only another name"
    if evidence.progress.has_put_back:
        yield "what was put back is the end of the run's attempts"
    if evidence.disputed:
        yield "no install is asked for what two hosts want"
    if evidence.container == "unknown":
        yield "unknown is not absent"
    if policy.installs and evidence.record == "invalid":
        yield "a damaged record is not an absent one"
    if policy.installs and evidence.progress.asked >= policy.attempts:
        yield "the attempts are limited"
    if policy.installs and evidence.unwritable:
        yield "nothing is cleared away for a request that cannot be noted"
