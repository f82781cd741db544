# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows that the host and its record decide, where no list says anything."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import (
    Decision,
    confirm,
    fail,
    out_of_the_way,
    see_whether_it_stays_up,
    what_runs_again,
    why_not_verified,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy


def is_verified(evidence: Evidence, policy: Policy) -> bool:
    agrees = evidence.console == "running" or (evidence.console == "undescribed" and not policy.unlisted)
    return evidence.container == "running" and evidence.verified and agrees and not evidence.restarted_lately(policy)


def verified(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.console == "running":
        return Decision(
            "none",
            "The engine runs in the container that the record names, and the console lists it as running.",
            verified_by="engine_list",
        )
    return Decision("none", "The engine runs in the container that the record names.", verified_by="host")


def is_shaky(evidence: Evidence, policy: Policy) -> bool:
    return evidence.verified and evidence.restarted_lately(policy) and not policy.unlisted


def shaky(evidence: Evidence, policy: Policy) -> Decision:
    if not evidence.progress.waited:
        return see_whether_it_stays_up(
            "This engine was verified to run, and its runtime has just restarted it", evidence, policy
        )
    return ailing(evidence, policy)


def was_proven_and_is_stopped(evidence: Evidence, policy: Policy) -> bool:
    return evidence.verified and evidence.container != "running" and not policy.unlisted


def ailing(evidence: Evidence, policy: Policy) -> Decision:
    again = what_runs_again(evidence)
    if evidence.container in ("running", "restarting"):
        return fail(
            "This engine was verified to run, and now its runtime restarts it again and again. "
            f"{again}See `{evidence.runtime} logs slb` on the host; mend it there, or run slb.fleet.remediate for this "
            "host."
        )
    return fail(
        f"This engine was verified to run, and is stopped: its container is {evidence.container}. "
        f"{again}Start it on the host (`{evidence.runtime} start slb`, or `{evidence.runtime} unpause slb`), or run "
        "slb.fleet.remediate for this host."
    )


def is_absent(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "absent"


def absent(evidence: Evidence, policy: Policy) -> Decision:
    return Decision("install", "There is no engine on the host.")


def is_dead(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container in ("exited", "created")


def dead(evidence: Evidence, policy: Policy) -> Decision:
    return out_of_the_way(
        f"The container slb is {evidence.container}: a leftover of an earlier deployment.", "ended", evidence
    )


def operator_calls_it_a_leftover(evidence: Evidence, policy: Policy) -> bool:
    # It is recorded, though not completely: nothing is stopped because a record is old.
    return policy.unrecorded == "replace" and (policy.unlisted or not evidence.verified)


def leftover_by_word(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unlisted:
        in_spite_of = ", although it was verified to run here" if evidence.verified else ""
        why = f"the operator says that the console does not list its engine{in_spite_of}"
    else:
        why = f"{why_not_verified(evidence)}, and slb_unverified_engine says: replace"
    return out_of_the_way(f"The container slb is {evidence.container}, and {why}.", "operator", evidence)


def always(evidence: Evidence, policy: Policy) -> bool:
    return True


def unrecorded(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unrecorded == "adopt" and evidence.container == "running":
        if evidence.stable(policy):
            return confirm("The container slb runs, and slb_unverified_engine says: adopt.", evidence)
        if evidence.settling(policy):
            return see_whether_it_stays_up("The engine to adopt has just come up", evidence, policy)
    leftover = (
        "run slb.fleet.remediate for this host, then slb.fleet.rollout"
        if evidence.verified
        else "set slb_unverified_engine: replace"
    )
    return fail(
        f"The container slb is {evidence.container}, {why_not_verified(evidence)}, and the console's list is not "
        "described: it could be live. Look at the web console. If it lists the engine as running, set "
        f"slb_unverified_engine: adopt for this host; if as deploying, wait; if it does not list it, {leftover}."
    )
