# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about a container that this collection took out of the way, and that goes back or is back."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision, fail
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ALIVE, Evidence, Policy


def is_wrongly_set_aside(evidence: Evidence, policy: Policy) -> bool:
    """What was taken out of the way on somebody's word, and that word proves wrong."""
    answer, aside = evidence.progress.answer, evidence.set_aside
    if evidence.container != "absent" or aside is None or not aside.exists or aside.because not in ("list", "operator"):
        return False
    if not policy.installs:
        return False
    if evidence.console == "running" or aside.going_back:  # or a run was killed while it put it back
        return True
    if aside.state in ALIVE and _has_come_to_nothing(evidence, policy):
        return True
    if answer in ("rejected", "port_in_use"):
        # What an operator has taken away in an earlier run is gone for good, whatever the install says.
        return aside.state in ALIVE and (evidence.progress.has_replaced or aside.because == "list")
    # Also where it was done by a run that was killed before it could ask: nothing was verified to run here since.
    # What somebody has begun since the list was read is waited for: what lies aside would be in its way.
    return answer == "exists" and evidence.console != "deploying"


def _has_come_to_nothing(evidence: Evidence, policy: Policy) -> bool:
    """What this run took away will not be followed by an engine: nobody can be asked, or all that was asked is over."""
    progress = evidence.progress
    if not progress.has_replaced:
        return False
    is_over = progress.asked >= policy.attempts and not evidence.remaining(policy) and evidence.console != "deploying"
    return is_over or (evidence.console == "unavailable" and not progress.asked)


def wrongly_set_aside(evidence: Evidence, policy: Policy) -> Decision:
    said = "The console lists the engine as running." if evidence.console == "running" else _what_was_said(evidence)
    return Decision(
        "restore",
        f"{said} So the container that was taken out of the way goes back as it was.",
    )


def finish_the_way_back(reason: str, evidence: Evidence) -> Decision:
    return Decision(
        "restore", f"{reason} {_what_was_said(evidence)} So it is made what it was: its restart policy, running."
    )


def is_put_back(evidence: Evidence, policy: Policy) -> bool:
    return evidence.progress.has_put_back and evidence.console != "running"


def put_back(evidence: Evidence, policy: Policy) -> Decision:
    alive = (
        "set slb_unverified_engine: adopt"
        if evidence.console == "undescribed"
        else "correct slb_engine_list or the rights of slb_username"
    )
    again = "then run slb.fleet.remediate for this host, then slb.fleet.rollout."
    exists = (
        f"The console lists the engine as failed: remove it there, {again}"
        if evidence.console == "failed"
        else "Its list, or who called it a leftover, was wrong. See in the web console what it has of this engine. If "
        f"it is shown as running, and this container serves, {alive}, and run again. If it is shown as failed "
        f"(see there why), or nothing serves, or it is not to be seen, have it removed on the management node; {again}"
    )
    deployment = "Look at the deployment's messages in the web console, then run again."
    remedy = {
        "exists": exists,
        "rejected": "Mend what it complains about, then run again.",
        "port_in_use": "Mend what it complains about, then run again.",
    }.get(evidence.progress.answer, deployment if evidence.progress.asked else "Run again.")
    if evidence.progress.answer == "none" and evidence.progress.put_back_words:
        return fail(f"{evidence.progress.put_back_words} It is {evidence.container} now.")
    return fail(
        f"{_what_was_said(evidence)} The container that was taken out of the way was put back as it was, and is "
        f"{evidence.container} now. {remedy}"
    )


def _what_was_said(evidence: Evidence) -> str:
    progress = evidence.progress
    if progress.answer == "exists":
        return f"The management node says that the engine exists: {progress.answer_words}"
    if progress.answer in ("rejected", "port_in_use"):
        return f"The install was not begun: {progress.answer_words}"
    if evidence.console == "unavailable":
        return f"The console's list cannot be read any more: {evidence.console_words}"
    if progress.asked:
        return f"The install was asked for {progress.asked} times, and no engine came up: {progress.answer_words}"
    if evidence.set_aside and evidence.set_aside.going_back:
        return "It was about to be put back when a run was ended."
    return "It was taken out of the way, and is not yet all that it was."
