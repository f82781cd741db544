# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about a request of ours: what was answered, and what has come of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import (
    Decision,
    confirm,
    fail,
    out_of_the_way,
    see_whether_it_stays_up,
    wait,
    what_runs_again,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy, quoted

_CAME_UP = "The engine came up after our request and runs steadily: the deployment has finished."


def is_turned_down(evidence: Evidence, policy: Policy) -> bool:
    answer = evidence.progress.answer
    return answer == "rejected" or (answer == "port_in_use" and evidence.container == "absent")


def turned_down(evidence: Evidence, policy: Policy) -> Decision:
    words = evidence.progress.answer_words
    if evidence.progress.answer == "rejected":
        return fail(f"The install was not begun: {words}")
    return fail(
        f"The management node says that a port on the host is occupied, and no leftover container slb holds it. "
        f"{what_runs_again(evidence)}{_holders(evidence)} It said: {words}"
    )


def _holders(evidence: Evidence) -> str:
    """Who holds the port: the one that the answer names, where it names one that is listened on."""
    words = evidence.progress.answer_words
    named = {int(number) for number in re.findall(r"(?<![\d.:])\d{1,5}(?![\d.:]*\d)", words)}
    held = [port for port in evidence.ports if port["port"] in named]
    if not held:
        return "Listened on are: " + (", ".join(_holder(port) for port in evidence.ports) or "no TCP ports") + "."
    if evidence.running_leftovers:
        # What a runtime has started is not stopped for long by its process's number.
        return "It is held by: " + ", ".join(_holder(port) for port in held) + "."
    # Root's look at Podman's containers does not show those of others.
    rootless = "It may be of a user's own Podman, which is not looked into. " if evidence.runtime == "podman" else ""
    return "It is held by: " + ", ".join(_holder(port) for port in held) + f". {rootless}Stop that, then run again."


def _holder(port: Mapping[str, Any]) -> str:
    owner = f"{quoted(port['process'])}, process {port['pid']}" if port["pid"] is not None else "an unknown process"
    return f"port {port['port']} ({owner})"


def exists_elsewhere(evidence: Evidence, policy: Policy) -> bool:
    return evidence.progress.answer == "exists" and evidence.container == "absent"


def exists(evidence: Evidence, policy: Policy) -> Decision:
    aside = evidence.set_aside
    is_lost = evidence.progress.has_replaced and aside is not None and not aside.exists
    lost = "The one that this run took out of the way was removed since, and cannot be put back. " if is_lost else ""
    return fail(
        "The management node says that the engine already exists, but there is no container slb on the host. "
        f"{lost}See in the web console on which host it has it. If on this one, remove the engine there; if on another "
        "one, correct slb_engine_name or slb_manage_ip. Then run again. "
        f"It said: {evidence.progress.answer_words}"
    )


def is_deploying(evidence: Evidence, policy: Policy) -> bool:
    # Whoever asked for it, and for which engine: an install may be under way on this host.
    has_come_up = evidence.console == "undescribed" and evidence.after_request and evidence.stable(policy)
    return evidence.remaining(policy) > 0 and not (has_come_up and not evidence.ours_pending)


def deploying(evidence: Evidence, policy: Policy) -> Decision:
    came_up = evidence.ours_pending and evidence.after_request and evidence.stable(policy)
    if came_up and evidence.console == "undescribed" and not policy.unlisted:
        return confirm(_CAME_UP, evidence)
    return wait(
        f"An install request of {evidence.record_age:.0f} seconds ago is noted on the host: its deployment may "
        "still be running.",
        evidence.remaining(policy),
        evidence,
        policy,
    )


def is_finished(evidence: Evidence, policy: Policy) -> bool:
    return (
        evidence.ours_pending
        and not policy.unlisted
        and evidence.console == "undescribed"
        and evidence.after_request
        and (evidence.stable(policy) or (evidence.settling(policy) and _came_in_time(evidence, policy)))
    )


def _came_in_time(evidence: Evidence, policy: Policy) -> bool:
    """Started by the deployment itself, and not again and again since: not every runtime counts that."""
    return evidence.record_age - (evidence.uptime or 0.0) <= policy.wait + policy.settle * 4


def finished(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.stable(policy):
        return confirm(_CAME_UP, evidence)
    return see_whether_it_stays_up("The engine has just come up", evidence, policy)


def is_own_in_doubt(evidence: Evidence, policy: Policy) -> bool:
    """It may be an engine that lives, and that a person or its runtime restarted a moment ago."""
    is_young = evidence.container == "running" and not evidence.stable(policy)
    is_ours = evidence.ours_pending and evidence.after_request
    return is_ours and (is_young or evidence.container == "restarting") and not evidence.progress.waited


def own_in_doubt(evidence: Evidence, policy: Policy) -> Decision:
    return see_whether_it_stays_up("The engine of our request has just been started again", evidence, policy)


def is_own_leftover(evidence: Evidence, policy: Policy) -> bool:
    dead = evidence.container in ("absent", "created", "exited")
    # No deployment leaves a paused container: a person has paused it, and it may be live.
    ill = evidence.after_request and evidence.container != "paused" and not evidence.stable(policy)
    return evidence.ours_pending and (dead or ill)


def own_leftover(evidence: Evidence, policy: Policy) -> Decision:
    seen = "no container" if evidence.container == "absent" else f"the container {evidence.container}"
    return out_of_the_way(
        f"Our install request is {evidence.record_age:.0f} seconds old and left {seen}: the deployment failed.",
        "record",
        evidence,
    )
