# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows that the console's list decides."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import (
    Decision,
    confirm,
    fail,
    out_of_the_way,
    wait,
    what_runs_again,
    why_not_verified,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.objections import renamed
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.way_back_rows import finish_the_way_back
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ALIVE, Evidence, Policy


def is_unreadable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "unavailable"


def unreadable(evidence: Evidence, policy: Policy) -> Decision:
    return fail(
        f"The console's list could not be read, and without it nothing is decided about this host: "
        f"{evidence.console_words}"
    )


def is_listed_otherwise(evidence: Evidence, policy: Policy) -> bool:
    # That its name stands at another host does not speak against a leftover here, where the operator says it is one.
    return evidence.console == "other_name" or (evidence.console == "elsewhere" and not policy.unlisted)


def listed_otherwise(evidence: Evidence, policy: Policy) -> Decision:
    what = "slb_manage_ip or slb_engine_name" if evidence.console == "elsewhere" else "slb_engine_name"
    return fail(
        f"The console's list contradicts the inventory: {evidence.console_words}. Nothing was asked for. Correct "
        f"{what} of this host; or, if the list's entry is of an engine that is no more, remove it in the web console."
    )


def is_noted_for_less(evidence: Evidence, policy: Policy) -> bool:
    is_by_both = evidence.verified and evidence.record_verified_by == "host" and is_listed_running(evidence, policy)
    return is_by_both and evidence.progress.confirmed == 1


def listed_since(evidence: Evidence, policy: Policy) -> Decision:
    return confirm("This run noted that the host proves the engine; now the console lists it as running too.", evidence)


def is_listed_running(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running" and evidence.container == "running"


def listed_running(evidence: Evidence, policy: Policy) -> Decision:
    if not policy.installs:
        return Decision(
            "none",
            "The console lists the engine as running, and its container runs: it is no leftover.",
            verified_by="engine_list",
        )
    return confirm("The console lists the engine as running, and its container runs.", evidence)


def is_listed_deploying(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "deploying"


def listed_deploying(evidence: Evidence, policy: Policy) -> Decision:
    waited = max(evidence.progress.waited, evidence.record_age if evidence.record == "requested" else 0)
    if waited < policy.wait:
        return wait("The console lists the engine as deploying.", policy.wait - waited, evidence, policy)
    if evidence.stable(policy) and not policy.unlisted:
        but = "The console still shows a deployment, but the engine"
        stale = "the front end was not updated"
        if evidence.verified:
            return Decision("none", f"{but} runs in the container that was verified: {stale}.", verified_by="host")
        if evidence.ours_pending and evidence.after_request:
            return confirm(f"{but} came up after our request and runs steadily: {stale}.", evidence)
    return fail(
        f"The console lists the engine as deploying, after a wait of {waited:.0f} seconds; the container is "
        f"{evidence.container}. Refresh the console page; end the deployment there, or wait, then run again."
    )


def is_drift(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running"


def drift(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.is_half_gone and policy.installs:
        return finish_the_way_back("The console lists the engine as running.", evidence)
    if evidence.recorded_as:
        return fail(f"The console lists the engine as running. {renamed(evidence)}")
    return fail(
        f"The console lists the engine as running, but the container slb on the host is {evidence.container}. "
        f"{what_runs_again(evidence)}Find out who is right: start the container on the host, or remove the engine in "
        "the console; then run again."
    )


def is_unlisted(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console in ("failed", "not_listed", "elsewhere")


def was_proven_and_is_gone(evidence: Evidence, policy: Policy) -> bool:
    return evidence.verified and is_unlisted(evidence, policy) and not policy.unlisted


def gone_from_the_list(evidence: Evidence, policy: Policy) -> Decision:
    return fail(
        f"{_said_by_the_list(evidence)} {evidence.engine.name}, which was verified to run here; its container is "
        f"{evidence.container}. "
        "If it has another name or address there, correct slb_engine_name or slb_manage_ip. "
        "If somebody has removed it for good, take this host out of the inventory. If it shall run, take its container "
        "out of the way with slb.fleet.remediate for this host, then run slb.fleet.rollout."
    )


def says_nothing_clear(evidence: Evidence, policy: Policy) -> bool:
    """A list that is described and does not help decides nothing about a container that may serve."""
    is_called_a_leftover = policy.unlisted or (policy.unrecorded == "replace" and not evidence.verified)
    alive = evidence.container in ALIVE and not is_called_a_leftover
    silent_on_it = evidence.console == "unknown" and (alive or evidence.console_is_about_it)
    return silent_on_it or (evidence.console == "empty" and alive)


def unclear(evidence: Evidence, policy: Policy) -> Decision:
    remedy = (
        "Correct slb_engine_list (slb.fleet.show_engine_list shows what it reads). If the console really has no "
        "engine yet, set slb_engine_list_may_be_empty: true."
        if evidence.console == "empty"
        else "Correct slb_engine_list (slb.fleet.show_engine_list shows what it reads), or what it contradicts."
    )
    return fail(
        f"The container slb is {evidence.container}, and the console's list says nothing clear about it "
        f"({evidence.console_words}). {remedy}"
    )


def left_unlisted(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unrecorded == "adopt":
        return fail(
            f"{_said_by_the_list(evidence)} {evidence.engine.name}, and slb_unverified_engine says: adopt. One of "
            "them is wrong: nothing was done. Look at the web console; correct slb_engine_list, or take the word "
            "back."
        )
    return out_of_the_way(
        f"{_said_by_the_list(evidence)} {evidence.engine.name} at {evidence.engine.manage_ip}, and "
        f"{why_not_verified(evidence)}: the container is a leftover of a failed deployment.",
        "list",
        evidence,
    )


def _said_by_the_list(evidence: Evidence) -> str:
    return {
        "failed": "The console lists as failed the engine",
        "not_listed": "The console does not list the engine",
        "elsewhere": "The console does not list at this host the engine",
    }[evidence.console]
