# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's fate is decided: evidence and policy in; an action, its reason and the evidence out. No I/O.

The rules are tried from the first to the last; the first that applies decides. Two guards stand behind them:
an engine with established connections is not stopped, and an install is not asked for more often than allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy

Action = Literal["nothing", "confirm", "wait", "add", "replace", "fail"]


@dataclass(frozen=True)
class Decision:
    """``action``: nothing, confirm (note the engine in the record), wait, add (ask for an install), replace (take the
    container out of the way, then add) or fail. With wait go ``wait_seconds`` and ``wait_for``: host, for the engine to
    come up, or console, for the list of a console whose engine is up. ``verified_by``: host or console.
    """

    action: Action
    reason: str
    wait_seconds: float = 0
    wait_for: Literal["host", "console"] | None = None
    verified_by: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """``when`` is the row of the table in words; ``applies`` is the same as code."""

    when: str
    applies: Callable[[Evidence, Policy], bool]
    decide: Callable[[Evidence, Policy], Decision]


def decide(evidence: Evidence, policy: Policy) -> Decision:
    """The fate of one host. Total: every evidence has a decision."""
    rule = next(rule for rule in RULES if rule.applies(evidence, policy))
    decision = _guarded(rule.decide(evidence, policy), evidence, policy)
    return replace(decision, evidence=tuple(evidence.in_words()))


def _guarded(decision: Decision, evidence: Evidence, policy: Policy) -> Decision:
    if decision.action not in ("add", "replace"):
        return decision
    if evidence.asked >= policy.attempts:
        answered = f" The last answer was {evidence.answer}: {evidence.answer_words}" if evidence.answer_words else ""
        return _fail(
            f"The install was asked for {evidence.asked} times and no engine came up; the container is "
            f"{evidence.container} now.{answered} Look at the deployment's messages in the web console, then run again."
        )
    if not evidence.has_usable_manage_ip:
        return _fail(
            f"{decision.reason} But slb_manage_ip is {evidence.manage_ip!r}, which is no IP address: no install can "
            "be asked for with it. Set it to the address under which the management node reaches the host."
        )
    if decision.action == "replace" and evidence.established is None and not policy.allow_established:
        return _fail(
            f"{decision.reason} But it cannot be seen whether it carries connections. Run with become: true; "
            "or, if it is a leftover all the same, set slb_allow_established: true for this host."
        )
    if decision.action == "replace" and evidence.established and not policy.allow_established:
        return _fail(
            f"{decision.reason} But it carries {evidence.established} established connections and may be live. "
            "If it is a leftover all the same, set slb_allow_established: true for this host."
        )
    return decision


def _fail(reason: str) -> Decision:
    return Decision("fail", reason)


def _out_of_the_way(reason: str, evidence: Evidence) -> Decision:
    return Decision("add" if evidence.container == "absent" else "replace", reason)


def _wait(reason: str, seconds: float, evidence: Evidence, policy: Policy) -> Decision:
    up = evidence.stable(policy) and evidence.started_after_request
    return Decision("wait", reason, wait_seconds=seconds, wait_for="console" if up else "host")


def _confirm(reason: str, evidence: Evidence) -> Decision:
    return Decision("confirm", reason, verified_by="console" if evidence.console == "running" else "host")


_CAME_UP = "The engine came up after our request and runs steadily: the deployment has finished."


def _is_unobservable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "unknown" or (evidence.record, evidence.container) == ("invalid", "absent")


def _unobservable(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.container == "unknown":
        return _fail(
            f"The state of the container slb is unknown: {evidence.container_why}. "
            "Bring the container runtime on the host back, then run again."
        )
    return _fail(
        f"There is no container, and {evidence.record_why}: an install may be under way. "
        "See in the web console that none is, remove the file, then run again."
    )


def _is_proven(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "running" and evidence.proves(policy) and not _is_shaky(evidence, policy)


def _proven(evidence: Evidence, policy: Policy) -> Decision:
    return Decision(
        "nothing",
        "The engine runs, and the record names its container.",
        verified_by=evidence.record_verified_by,
    )


def _is_unreadable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "unreadable"


def _unreadable(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        f"The console's list could not be read, and without it nothing is decided about this host: "
        f"{evidence.console_words}"
    )


def _is_shaky(evidence: Evidence, policy: Policy) -> bool:
    return evidence.proves(policy) and evidence.restarted_lately(policy)


def _shaky(evidence: Evidence, policy: Policy) -> Decision:
    if not evidence.waited:
        return _wait(
            "This engine was proven to run, and its runtime has just restarted it: seeing whether it stays up.",
            policy.settle * 2,
            evidence,
            policy,
        )
    return _ailing(evidence, policy)


def _is_listed_running(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running" and evidence.container == "running"


def _listed_running(evidence: Evidence, policy: Policy) -> Decision:
    return _confirm("The console lists the engine as running, and its container runs.", evidence)


def _is_deploying(evidence: Evidence, policy: Policy) -> bool:
    return evidence.remaining(policy) > 0


def _deploying(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.started_after_request and evidence.stable(policy) and evidence.console == "unknown":
        return _confirm(_CAME_UP, evidence)
    return _wait(
        f"Our own install request is {evidence.record_age:.0f} seconds old: its deployment may still be running.",
        evidence.remaining(policy),
        evidence,
        policy,
    )


def _is_turned_down(evidence: Evidence, policy: Policy) -> bool:
    return evidence.answer == "refused" or (evidence.answer == "port_occupied" and evidence.container == "absent")


def _turned_down(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.answer == "refused":
        return _fail(f"The install was not begun: {evidence.answer_words}")
    return _fail(
        f"The management node says that a port on the host is occupied, and no leftover container slb holds it. "
        f"{_holders(evidence)} It said: {evidence.answer_words}"
    )


def _holders(evidence: Evidence) -> str:
    """Who holds the port: the one that the answer names, where it names one that is listened on."""
    named = {int(number) for number in re.findall(r"(?<![\d.:])\d{1,5}(?![\d.:]*\d)", evidence.answer_words)}
    held = [port for port in evidence.ports if port["port"] in named]
    if not held:
        return "Listened on are: " + (", ".join(_holder(port) for port in evidence.ports) or "no TCP ports") + "."
    return "It is held by: " + ", ".join(_holder(port) for port in held) + ". Stop that, then run again."


def _holder(port: Mapping[str, Any]) -> str:
    owner = f"{port['process']}, process {port['pid']}" if port["pid"] is not None else "an unknown process"
    return f"port {port['port']} ({owner})"


def _is_listed_deploying(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "deploying"


def _listed_deploying(evidence: Evidence, policy: Policy) -> Decision:
    waited = max(evidence.waited, evidence.record_age if evidence.record == "pending" else 0)
    if waited < policy.wait:
        return _wait("The console lists the engine as deploying.", policy.wait - waited, evidence, policy)
    if evidence.record == "pending" and evidence.started_after_request and evidence.stable(policy):
        return _confirm(
            "The console still shows the deployment, but the engine came up after our request and runs steadily: "
            "the script has finished and the front end was not updated.",
            evidence,
        )
    return _fail(
        f"The console lists the engine as deploying, after a wait of {waited:.0f} seconds; the container is "
        f"{evidence.container}. Refresh the console page; end the deployment there, or wait, then run again."
    )


def _is_drift(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running"


def _drift(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        f"The console lists the engine as running, but the container slb on the host is {evidence.container}. "
        "Find out who is right: start the container on the host, or remove the engine in the console; then run again."
    )


def _is_finished(evidence: Evidence, policy: Policy) -> bool:
    return (
        evidence.record == "pending"
        and evidence.console == "unknown"
        and evidence.container == "running"
        and evidence.started_after_request
        and (evidence.stable(policy) or evidence.settling(policy))
    )


def _finished(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.stable(policy):
        return _confirm(_CAME_UP, evidence)
    return _wait("The engine has just come up: seeing whether it stays up.", policy.settle * 2, evidence, policy)


def _is_own_in_doubt(evidence: Evidence, policy: Policy) -> bool:
    """It may be an engine that lives, and that a person or its runtime restarted a moment ago."""
    is_young = evidence.container == "running" and not evidence.stable(policy)
    is_ours = evidence.record == "pending" and evidence.started_after_request
    return is_ours and (is_young or evidence.container == "restarting") and not evidence.waited


def _own_in_doubt(evidence: Evidence, policy: Policy) -> Decision:
    return _wait(
        "The engine of our request has just been started again: seeing whether it stays up.",
        policy.settle * 2,
        evidence,
        policy,
    )


def _is_own_leftover(evidence: Evidence, policy: Policy) -> bool:
    dead = evidence.container in ("absent", "created", "exited")
    # No deployment leaves a paused container: a person has paused it, and it may be live.
    ill = evidence.started_after_request and evidence.container != "paused"
    return evidence.record == "pending" and (dead or ill or _is_unlisted(evidence, policy))


def _own_leftover(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.answer == "exists" and evidence.container == "absent":
        return _fail(
            "The management node says that the engine already exists, but there is no container slb on the host. "
            "Remove the engine in the web console, or see why it is not deployed, then run again."
        )
    seen = "no container" if evidence.container == "absent" else f"the container {evidence.container}"
    return _out_of_the_way(
        f"Our install request is {evidence.record_age:.0f} seconds old and left {seen}: the deployment failed.",
        evidence,
    )


def _is_absent(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "absent"


def _absent(evidence: Evidence, policy: Policy) -> Decision:
    return Decision("add", "There is no engine on the host.")


def _is_dead(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container in ("exited", "created")


def _dead(evidence: Evidence, policy: Policy) -> Decision:
    return _out_of_the_way(f"The container slb is {evidence.container}: a leftover of an earlier deployment.", evidence)


def _is_unlisted(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console in ("failed", "not_listed")


def _left_unlisted(evidence: Evidence, policy: Policy) -> Decision:
    said = "lists the engine as failed" if evidence.console == "failed" else "does not list the engine"
    return _out_of_the_way(f"The console {said}: the container is a leftover of a failed deployment.", evidence)


def _is_ailing(evidence: Evidence, policy: Policy) -> bool:
    return evidence.proves(policy) and policy.unrecorded != "replace"


def _ailing(evidence: Evidence, policy: Policy) -> Decision:
    now = (
        "its runtime restarts it again and again"
        if evidence.container == "running"
        else f"its container is {evidence.container}"
    )
    return _fail(
        f"This engine was proven to run, and now {now}. "
        "See `docker logs slb` on the host; start it again there, or run slb.fleet.remediate for this host."
    )


def _always(evidence: Evidence, policy: Policy) -> bool:
    return True


def _unrecorded(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unrecorded == "replace":
        why = (
            "the operator says that the console does not list its engine"
            if policy.unlisted
            else "no record proves it, and slb_unrecorded_engine says: replace"
        )
        return _out_of_the_way(f"The container slb is {evidence.container}, and {why}.", evidence)
    if policy.unrecorded == "adopt" and evidence.container == "running":
        if evidence.stable(policy):
            return _confirm("The container slb runs, and slb_unrecorded_engine says: adopt.", evidence)
        if evidence.settling(policy):
            return _wait(
                "The engine to adopt has just come up: see if it stays up.", policy.settle * 2, evidence, policy
            )
    return _fail(
        f"The container slb is {evidence.container}, no record proves it, and the console is silent: it could be live. "
        "Look at the web console. If it lists the engine as running, set slb_unrecorded_engine: adopt for this host; "
        "if it does not list the engine, set slb_unrecorded_engine: replace."
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "container's state unknown; or no container, and the record is damaged",
        _is_unobservable,
        _unobservable,
    ),
    Rule("running, and the confirmed record names this container", _is_proven, _proven),
    Rule("the console's list is described and cannot be read", _is_unreadable, _unreadable),
    Rule(
        "restarted by its runtime within the settle time, and the confirmed record names this container",
        _is_shaky,
        _shaky,
    ),
    Rule("running, and the console says running", _is_listed_running, _listed_running),
    Rule("the install was refused; or absent, and a port is said to be occupied", _is_turned_down, _turned_down),
    Rule("pending record, wait not over", _is_deploying, _deploying),
    Rule("the console says deploying", _is_listed_deploying, _listed_deploying),
    Rule("not running, and the console says running", _is_drift, _drift),
    Rule("pending record, wait over, started after the request, up, console silent", _is_finished, _finished),
    Rule(
        "pending record, wait over, started after the request, restarting or only just up, not yet waited for",
        _is_own_in_doubt,
        _own_in_doubt,
    ),
    Rule("pending record, wait over, dead, or not healthy, or not listed", _is_own_leftover, _own_leftover),
    Rule("absent", _is_absent, _absent),
    Rule("exited, or created and never started", _is_dead, _dead),
    Rule("running, restarting or paused; the console says failed or not listed", _is_unlisted, _left_unlisted),
    Rule("restarting or paused, and the confirmed record names this container", _is_ailing, _ailing),
    Rule("running, restarting or paused; no record of it; console silent", _always, _unrecorded),
)
