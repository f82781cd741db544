# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's fate is decided: evidence and policy in; an action, its reason and the evidence out. No I/O.

The rules are tried from the first to the last; the first that applies decides. Guards stand behind them: nothing is
begun that cannot be ended, and what may be live, or would be lost, is not stopped without the operator's word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ALIVE, Evidence, Policy
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ConsoleState, is_another_machine

Action = Literal["nothing", "confirm", "wait", "add", "replace", "put_back", "fail"]
_BY_NAME = "If it is a leftover all the same, run slb.fleet.remediate for this host, then slb.fleet.rollout."
Because = Literal["list", "operator", "record", "ended"]


@dataclass(frozen=True)
class Decision:
    """``action``: nothing, confirm (note the engine in the record), wait, add (ask for an install), replace (take the
    container out of the way, then add), put_back (undo that) or fail.

    With wait go ``wait_seconds`` and ``wait_for``: host, for the engine to come up, or console, for the list of a
    console whose engine is up. With replace goes ``because``: on whose word. ``verified_by``: host or console.
    ``console``: what its list said. ``code``: the row that decided, or what spoke against its decision, in a word.
    ``undo``: should the act fail, the container that was taken out of the way goes back.
    """

    action: Action
    reason: str
    wait_seconds: float = 0
    wait_for: Literal["host", "console"] | None = None
    verified_by: Literal["host", "console"] | None = None
    because: Because | None = None
    console: ConsoleState = "undescribed"
    console_words: str = ""
    evidence: tuple[str, ...] = ()
    code: str = ""
    undo: bool = False


@dataclass(frozen=True)
class Rule:
    """``when`` is the row of the table in words; ``applies`` is the same as code."""

    when: str
    applies: Callable[[Evidence, Policy], bool]
    decide: Callable[[Evidence, Policy], Decision]

    @property
    def code(self) -> str:
        """One word for the row, which reports and those that read them go by."""
        return self.decide.__name__.strip("_")


def decide(evidence: Evidence, policy: Policy) -> Decision:
    """The fate of one host. Total: every evidence has a decision."""
    rule = next(rule for rule in RULES if rule.applies(evidence, policy))
    decision = replace(rule.decide(evidence, policy), code=rule.code)
    if decision.action in ("nothing", "confirm") and evidence.is_half_gone and policy.installs:
        decision = replace(_finish_the_way_back(decision.reason, evidence), code="half_gone")
    decision = _guarded(decision, evidence, policy)
    if decision.action == "fail" and _is_taken_for_nothing(decision, evidence, policy):
        words = f"{decision.reason} So the container that was taken out of the way goes back as it was."
        decision = Decision("put_back", words, code=decision.code)
    return replace(
        decision,
        undo=decision.action == "add" and _is_taken_for_nothing(decision, evidence, policy),
        console=evidence.console,
        console_words=evidence.console_words,
        evidence=tuple(evidence.in_words()),
    )


def _is_taken_for_nothing(decision: Decision, evidence: Evidence, policy: Policy) -> bool:
    """Between the stop and the request, whatever ends the work leaves the host as it was."""
    aside, progress = evidence.set_aside, evidence.progress
    if not policy.installs or evidence.container != "absent" or aside is None or not aside.exists:
        return False
    is_under_way = evidence.record == "pending" or evidence.console == "deploying"
    if is_under_way or progress.has_put_back or aside.state not in ALIVE or aside.because not in ("list", "operator"):
        return False
    # Of an earlier run: what an operator has called a leftover is one, and this may be another machine.
    return progress.has_replaced or (aside.because == "list" and decision.code not in ("another_machine", "disputed"))


def _guarded(decision: Decision, evidence: Evidence, policy: Policy) -> Decision:
    objection = next(_objections(decision, evidence, policy), None)
    return replace(_fail(f"{decision.reason} {objection[1]}"), code=objection[0]) if objection else decision


def _objections(decision: Decision, evidence: Evidence, policy: Policy) -> Iterator[tuple[str, str]]:
    """Each with its code."""
    if decision.action in ("nothing", "fail"):
        return
    if evidence.progress.rounds > policy.most_rounds:
        yield (
            "unsteady",
            f"But the host is still not in a steady state after {evidence.progress.rounds} rounds. "
            "Find out who else works on this host, then run again.",
        )
    if decision.action == "confirm":
        yield from _each("record_contradicts", _to_another_note(evidence))
    if decision.action in ("add", "replace") and policy.installs:
        yield from _each("asked_too_often", _to_an_install(evidence, policy))
    if decision.action == "confirm" or policy.installs:
        yield from _each("record_damaged", _to_a_record(decision, evidence))
    yield from _each("another_engine", _to_another_engine(decision, evidence, policy))
    yield from _each("record_unwritable", _to_a_note(decision, evidence))
    if decision.action == "replace":
        yield from _each("put_back_before", _to_another_try(evidence, policy))
        yield from _each("started_again", _to_stopping_it_again(evidence))
    if decision.because == "list" and evidence.container in ALIVE:
        yield from _each("list_contradicted", _to_the_lists_word(evidence))
    if decision.action == "replace" and evidence.container in ALIVE:
        inventory = "slb_engine_name, slb_manage_ip or slb_base_url"
        live = f" If the engine is live under another name or address, correct {inventory}."
        for objection in _to_stopping(evidence, policy):
            yield "may_be_live", objection + (live if decision.because == "list" else "")


def _each(code: str, objections: Iterator[str]) -> Iterator[tuple[str, str]]:
    return ((code, objection) for objection in objections)


BESIDE_THE_ROWS = (
    "record_contradicts",
    *("unsteady", "asked_too_often", "record_damaged", "record_unwritable", "put_back_before", "started_again"),
    *("list_contradicted", "may_be_live", "another_engine", "half_gone"),
)


def _to_another_engine(decision: Decision, evidence: Evidence, policy: Policy) -> Iterator[str]:
    """What the record proves is another engine's container, or another container."""
    if evidence.recorded_as and decision.action in ("add", "replace") and not policy.unlisted:
        yield _renamed(evidence)
    if decision.action in ("confirm", "replace") and evidence.is_of_this_container and evidence.is_listed_as_recorded:
        yield (
            "But its record proves the container for another engine, which the list shows as well: two lines of the "
            "inventory may be swapped, or this disk be a copy. Correct slb_engine_name, slb_manage_ip or ansible_host; "
            "or, if the record is wrong, remove it on the host (/etc/ansible/facts.d/slb_engine.fact). Then run again."
        )


def _renamed(evidence: Evidence) -> str:
    if evidence.container != "absent":
        return (
            f"But the container that the record proves is there as {evidence.recorded_as}, and another one has the "
            f"name slb. Find out which one serves, and remove the other one, or rename it (`docker rename slb "
            f"slb-other`, `docker rename {evidence.recorded_as} slb`); then run again."
        )
    return (
        f"But the container that the record proves is there as {evidence.recorded_as}. Give it its name back on the "
        f"host (`docker rename {evidence.recorded_as} slb`), or remove it; then run again."
    )


def _to_a_note(decision: Decision, evidence: Evidence) -> Iterator[str]:
    mend = "Mend that on the host" if evidence.as_root else "Set become: true (ansible_become) for this host"
    if decision.action == "confirm" and evidence.unwritable:
        yield (
            f"But this could not be noted in its record: {evidence.unwritable}. {mend}, then run again: "
            "until then the next run has to find it out anew."
        )
    unwritable = evidence.unwritable or (evidence.set_aside_unwritable if decision.action == "replace" else None)
    if decision.action in ("add", "replace") and unwritable:
        yield f"But no note of it could be written: {unwritable}. Nothing was touched. {mend}, then run again."


def _to_a_record(decision: Decision, evidence: Evidence) -> Iterator[str]:
    if decision.action in ("add", "replace") and evidence.record == "invalid":
        yield (
            f"But {evidence.record_why}: an install may be under way. "
            "See in the web console that none is, remove the file, then run again."
        )


def _to_an_install(evidence: Evidence, policy: Policy) -> Iterator[str]:
    progress = evidence.progress
    if progress.asked >= policy.attempts:
        answered = f" The last answer was {progress.answer}: {progress.answer_words}" if progress.answer_words else ""
        yield (
            f"The install was asked for {progress.asked} times and no engine came up; the container is "
            f"{evidence.container} now.{answered} Look at the deployment's messages in the web console, then run again."
        )


def _to_stopping(evidence: Evidence, policy: Policy) -> Iterator[str]:
    if evidence.established is None and not policy.allow_established:
        yield (
            "But it cannot be seen whether it carries connections. Run with become: true; "
            "or, if it is a leftover all the same, set slb_allow_established: true for this host."
        )
    if evidence.established and not policy.allow_established:
        yield (
            f"But it carries {evidence.established} established connections and may be live. "
            "If it is a leftover all the same, set slb_allow_established: true for this host."
        )
    if evidence.auto_remove and not policy.remove_leftovers:
        yield (
            "But it was started with --rm and deletes itself when it stops, so that it could not be put back. "
            "If it may be lost, set slb_remove_leftovers: true for this host."
        )


def _to_another_note(evidence: Evidence) -> Iterator[str]:
    if evidence.progress.confirmed > 1:
        yield (
            f"But that was noted {evidence.progress.confirmed} times in this run, and the record on the host says "
            "something else each time. Find out who else writes it, then run again."
        )


def _to_another_try(evidence: Evidence, policy: Policy) -> Iterator[str]:
    if policy.unlisted:
        return
    if evidence.set_aside and evidence.set_aside.mistaken and evidence.set_aside.id == evidence.container_id:
        yield (
            "But it was taken out of the way before and put back, because the management node said that the engine "
            "exists. Correct slb_engine_listing or slb_unrecorded_engine, or what the console has of this engine. "
            f"{_BY_NAME}"
        )


def _to_stopping_it_again(evidence: Evidence) -> Iterator[str]:
    if not evidence.progress.has_replaced:
        return
    if evidence.set_aside and evidence.set_aside.id == evidence.container_id and evidence.container in ALIVE:
        yield (
            "But this run has taken this very container out of the way, and somebody has put it back and started it "
            "since. Find out who works on this host, then run again."
        )


def _to_the_lists_word(evidence: Evidence) -> Iterator[str]:
    if evidence.distrusted:
        yield (
            f"But the list has proven wrong in this run: the management node says that the engine of "
            f"{evidence.distrusted} exists, which the list did not show. Correct slb_engine_listing, or the rights of "
            "slb_username; then run again."
        )
    if evidence.is_of_this_container and evidence.is_of_another_node:
        yield (
            "But a record proves it for another management node, of which this list says nothing. Correct "
            "slb_base_url. "
            f"{_BY_NAME}"
        )
    if evidence.is_listed_as_recorded:
        yield (
            "But the list shows the engine that the record names as running, and that may be this one. Correct "
            "slb_engine_name and slb_manage_ip. "
            f"{_BY_NAME}"
        )


def _fail(reason: str) -> Decision:
    return Decision("fail", reason)


def _out_of_the_way(reason: str, because: Because, evidence: Evidence) -> Decision:
    if evidence.container == "absent":
        return Decision("add", reason)
    return Decision("replace", reason, because=because)


def _wait(reason: str, seconds: float, evidence: Evidence, policy: Policy) -> Decision:
    is_up = evidence.stable(policy) and (evidence.after_request or evidence.proven)
    is_the_lists_turn = is_up and evidence.console != "undescribed"
    return Decision("wait", reason, wait_seconds=seconds, wait_for="console" if is_the_lists_turn else "host")


def _see_whether_it_stays_up(reason: str, evidence: Evidence, policy: Policy) -> Decision:
    return _wait(f"{reason}: seeing whether it stays up.", policy.settle * 2, evidence, policy)


def _confirm(reason: str, evidence: Evidence) -> Decision:
    return Decision("confirm", reason, verified_by="console" if evidence.console == "running" else "host")


_CAME_UP = "The engine came up after our request and runs steadily: the deployment has finished."


def _why_not_proven(evidence: Evidence) -> str:
    if evidence.record == "confirmed" and evidence.differences:
        return f"the record does not prove it ({' and '.join(evidence.differences)})"
    return "no record proves it"


def _is_unobservable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "unknown"


def _unobservable(evidence: Evidence, policy: Policy) -> Decision:
    remedy = (
        "Bring the container runtime on the host back, then run again."
        if evidence.as_root
        else "The look was not made as root: set become: true (ansible_become) for this host, then run again."
    )
    return _fail(f"The state of the container slb is unknown: {evidence.container_why}. {remedy}")


def _is_unaskable(evidence: Evidence, policy: Policy) -> bool:
    return policy.installs and bool(evidence.engine.trouble or not evidence.engine.base_url)


def _unaskable(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        evidence.engine.trouble
        or "The variable slb_base_url is not set. Set it to the address of the management node, such as "
        "https://console.example."
    )


def _is_elsewhere(evidence: Evidence, policy: Policy) -> bool:
    return not policy.is_translated and is_another_machine(evidence.engine.manage_ip, evidence.addresses)


def _another_machine(evidence: Evidence, policy: Policy) -> Decision:
    contradicts = evidence.console in ("elsewhere", "other_name")
    listed = f"Of the console's list is known: {evidence.console_words}. " if contradicts else ""
    return _fail(
        f"This host has the addresses {', '.join(evidence.addresses[:5])}, and not slb_manage_ip "
        f"{evidence.engine.manage_ip} of the engine {evidence.engine.name}: it may be another machine, as where two "
        f"lines of the inventory were swapped or copied. {listed}Nothing was asked for. Correct slb_manage_ip, "
        "slb_engine_name or ansible_host; or, if that address leads here by address translation, set "
        "slb_manage_ip_translated: true."
    )


def _is_wrongly_set_aside(evidence: Evidence, policy: Policy) -> bool:
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
    if answer in ("refused", "port_occupied"):
        # What an operator has taken away in an earlier run is gone for good, whatever the install says.
        return aside.state in ALIVE and (evidence.progress.has_replaced or aside.because == "list")
    # Also where it was done by a run that was killed before it could ask: nothing was proven to run here since.
    return answer == "exists"


def _has_come_to_nothing(evidence: Evidence, policy: Policy) -> bool:
    """What this run took away will not be followed by an engine: nobody can be asked, or all that was asked is over."""
    progress = evidence.progress
    if not progress.has_replaced:
        return False
    is_over = progress.asked >= policy.attempts and not evidence.remaining(policy) and evidence.console != "deploying"
    return is_over or (evidence.console == "unreadable" and not progress.asked)


def _wrongly_set_aside(evidence: Evidence, policy: Policy) -> Decision:
    said = "The console lists the engine as running." if evidence.console == "running" else _what_was_said(evidence)
    return Decision(
        "put_back",
        f"{said} So the container that was taken out of the way goes back as it was.",
    )


def _finish_the_way_back(reason: str, evidence: Evidence) -> Decision:
    return Decision(
        "put_back", f"{reason} {_what_was_said(evidence)} So it is made what it was: its restart policy, running."
    )


def _what_was_said(evidence: Evidence) -> str:
    progress = evidence.progress
    if progress.answer == "exists":
        return f"The management node says that the engine exists: {progress.answer_words}"
    if progress.answer in ("refused", "port_occupied"):
        return f"The install was not begun: {progress.answer_words}"
    if evidence.console == "unreadable":
        return f"The console's list cannot be read any more: {evidence.console_words}"
    if progress.asked:
        return f"The install was asked for {progress.asked} times, and no engine came up: {progress.answer_words}"
    if evidence.set_aside and evidence.set_aside.going_back:
        return "It was about to be put back when a run was ended."
    return "A run was ended while it took the container out of the way."


def _is_put_back(evidence: Evidence, policy: Policy) -> bool:
    return evidence.progress.has_put_back and evidence.console != "running"


def _put_back(evidence: Evidence, policy: Policy) -> Decision:
    alive = (
        "set slb_unrecorded_engine: adopt"
        if evidence.console == "undescribed"
        else "correct slb_engine_listing or the rights of slb_username"
    )
    again = "then run slb.fleet.remediate for this host, then slb.fleet.rollout."
    exists = (
        f"The console lists the engine as failed: remove it there, {again}"
        if evidence.console == "failed"
        else "Its list, or who called it a leftover, was wrong. See in the web console what it has of this engine. If "
        f"it is shown as running, and this container serves, {alive}, and run again. If it is shown as failed, or "
        f"nothing serves, or it is not to be seen, have it removed on the management node; {again}"
    )
    deployment = "Look at the deployment's messages in the web console, then run again."
    remedy = {
        "exists": exists,
        "refused": "Mend what it complains about, then run again.",
        "port_occupied": "Mend what it complains about, then run again.",
    }.get(evidence.progress.answer, deployment if evidence.progress.asked else "Run again.")
    if evidence.progress.answer == "none" and evidence.progress.put_back_words:
        return _fail(f"{evidence.progress.put_back_words} It is {evidence.container} now.")
    return _fail(
        f"{_what_was_said(evidence)} The container that was taken out of the way was put back as it was, and is "
        f"{evidence.container} now. {remedy}"
    )


def _is_disputed(evidence: Evidence, policy: Policy) -> bool:
    return bool(evidence.disputed)


def _disputed(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        f"{evidence.disputed} Nothing was asked for. Give each host its own slb_engine_name and slb_manage_ip, or take "
        "one of them out of the run."
    )


def _is_unreadable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "unreadable"


def _unreadable(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        f"The console's list could not be read, and without it nothing is decided about this host: "
        f"{evidence.console_words}"
    )


def _is_listed_otherwise(evidence: Evidence, policy: Policy) -> bool:
    # That its name stands at another host does not speak against a leftover here, where the operator says it is one.
    return evidence.console == "other_name" or (evidence.console == "elsewhere" and not policy.unlisted)


def _listed_otherwise(evidence: Evidence, policy: Policy) -> Decision:
    what = "slb_manage_ip or slb_engine_name" if evidence.console == "elsewhere" else "slb_engine_name"
    return _fail(
        f"The console's list contradicts the inventory: {evidence.console_words}. Nothing was asked for. Correct "
        f"{what} of this host; or, if the list's entry is of an engine that is no more, remove it in the web console."
    )


def _is_proven(evidence: Evidence, policy: Policy) -> bool:
    agrees = evidence.console == "running" or (evidence.console == "undescribed" and not policy.unlisted)
    return evidence.container == "running" and evidence.proven and agrees and not evidence.restarted_lately(policy)


def _proven(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.console == "running":
        return Decision(
            "nothing",
            "The engine runs in the container that the record names, and the console lists it as running.",
            verified_by="console",
        )
    return Decision("nothing", "The engine runs in the container that the record names.", verified_by="host")


def _is_shaky(evidence: Evidence, policy: Policy) -> bool:
    return evidence.proven and evidence.restarted_lately(policy) and not policy.unlisted


def _shaky(evidence: Evidence, policy: Policy) -> Decision:
    if not evidence.progress.waited:
        return _see_whether_it_stays_up(
            "This engine was proven to run, and its runtime has just restarted it", evidence, policy
        )
    return _ailing(evidence, policy)


def _is_listed_running(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running" and evidence.container == "running"


def _listed_running(evidence: Evidence, policy: Policy) -> Decision:
    if not policy.installs:
        return Decision(
            "nothing",
            "The console lists the engine as running, and its container runs: it is no leftover.",
            verified_by="console",
        )
    return _confirm("The console lists the engine as running, and its container runs.", evidence)


def _is_turned_down(evidence: Evidence, policy: Policy) -> bool:
    answer = evidence.progress.answer
    return answer == "refused" or (answer == "port_occupied" and evidence.container == "absent")


def _turned_down(evidence: Evidence, policy: Policy) -> Decision:
    words = evidence.progress.answer_words
    if evidence.progress.answer == "refused":
        return _fail(f"The install was not begun: {words}")
    return _fail(
        f"The management node says that a port on the host is occupied, and no leftover container slb holds it. "
        f"{_holders(evidence)} It said: {words}"
    )


def _holders(evidence: Evidence) -> str:
    """Who holds the port: the one that the answer names, where it names one that is listened on."""
    words = evidence.progress.answer_words
    named = {int(number) for number in re.findall(r"(?<![\d.:])\d{1,5}(?![\d.:]*\d)", words)}
    held = [port for port in evidence.ports if port["port"] in named]
    if not held:
        return "Listened on are: " + (", ".join(_holder(port) for port in evidence.ports) or "no TCP ports") + "."
    return "It is held by: " + ", ".join(_holder(port) for port in held) + ". Stop that, then run again."


def _holder(port: Mapping[str, Any]) -> str:
    owner = f"{port['process']}, process {port['pid']}" if port["pid"] is not None else "an unknown process"
    return f"port {port['port']} ({owner})"


def _exists_elsewhere(evidence: Evidence, policy: Policy) -> bool:
    return evidence.progress.answer == "exists" and evidence.container == "absent"


def _exists(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        "The management node says that the engine already exists, but there is no container slb on the host. "
        "See in the web console on which host it has it. If on this one, remove the engine there; if on another one, "
        "correct slb_engine_name or slb_manage_ip. Then run again. "
        f"It said: {evidence.progress.answer_words}"
    )


def _is_deploying(evidence: Evidence, policy: Policy) -> bool:
    # Whoever asked for it, and for which engine: an install may be under way on this host.
    has_come_up = evidence.console == "undescribed" and evidence.after_request and evidence.stable(policy)
    return evidence.remaining(policy) > 0 and not (has_come_up and not evidence.ours_pending)


def _deploying(evidence: Evidence, policy: Policy) -> Decision:
    came_up = evidence.ours_pending and evidence.after_request and evidence.stable(policy)
    if came_up and evidence.console == "undescribed" and not policy.unlisted:
        return _confirm(_CAME_UP, evidence)
    return _wait(
        f"An install request of {evidence.record_age:.0f} seconds ago is noted on the host: its deployment may "
        "still be running.",
        evidence.remaining(policy),
        evidence,
        policy,
    )


def _is_listed_deploying(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "deploying"


def _listed_deploying(evidence: Evidence, policy: Policy) -> Decision:
    waited = max(evidence.progress.waited, evidence.record_age if evidence.record == "pending" else 0)
    if waited < policy.wait:
        return _wait("The console lists the engine as deploying.", policy.wait - waited, evidence, policy)
    if evidence.stable(policy) and not policy.unlisted:
        stuck = "The console still shows a deployment, but the engine {}: the front end was not updated."
        if evidence.proven:
            return Decision("nothing", stuck.format("runs in the container that was proven"), verified_by="host")
        if evidence.ours_pending and evidence.after_request:
            return _confirm(stuck.format("came up after our request and runs steadily"), evidence)
    return _fail(
        f"The console lists the engine as deploying, after a wait of {waited:.0f} seconds; the container is "
        f"{evidence.container}. Refresh the console page; end the deployment there, or wait, then run again."
    )


def _is_drift(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console == "running"


def _drift(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.is_half_gone and policy.installs:
        return _finish_the_way_back("The console lists the engine as running.", evidence)
    if evidence.recorded_as:
        return _fail(f"The console lists the engine as running. {_renamed(evidence)}")
    return _fail(
        f"The console lists the engine as running, but the container slb on the host is {evidence.container}. "
        "Find out who is right: start the container on the host, or remove the engine in the console; then run again."
    )


def _is_unlisted(evidence: Evidence, policy: Policy) -> bool:
    return evidence.console in ("failed", "not_listed", "elsewhere")


def _said_by_the_list(evidence: Evidence) -> str:
    return {
        "failed": "The console lists as failed the engine",
        "not_listed": "The console does not list the engine",
        "elsewhere": "The console does not list at this host the engine",
    }[evidence.console]


def _was_proven_and_is_gone(evidence: Evidence, policy: Policy) -> bool:
    return evidence.was_proven and _is_unlisted(evidence, policy) and not policy.unlisted


def _gone_from_the_list(evidence: Evidence, policy: Policy) -> Decision:
    return _fail(
        f"{_said_by_the_list(evidence)} {evidence.engine.name}, which was proven to run here; its container is "
        f"{evidence.container}. "
        "If it has another name or address there, correct slb_engine_name or slb_manage_ip. "
        "If somebody has removed it for good, take this host out of the inventory. If it shall run, take its container "
        "out of the way with slb.fleet.remediate for this host, then run slb.fleet.rollout."
    )


def _says_nothing_clear(evidence: Evidence, policy: Policy) -> bool:
    """A list that is described and does not help decides nothing about a container that may serve."""
    is_called_a_leftover = policy.unlisted or (policy.unrecorded == "replace" and not evidence.was_proven)
    alive = evidence.container in ALIVE and not is_called_a_leftover
    silent_on_it = evidence.console == "unknown" and (alive or evidence.console_is_about_it)
    return silent_on_it or (evidence.console == "empty" and alive)


def _unclear(evidence: Evidence, policy: Policy) -> Decision:
    remedy = (
        "Correct slb_engine_listing (slb.fleet.try_engine_listing shows what it reads). If the console really has no "
        "engine yet, set slb_engine_listing_may_be_empty: true."
        if evidence.console == "empty"
        else "Correct slb_engine_listing (slb.fleet.try_engine_listing shows what it reads), or what it contradicts."
    )
    return _fail(
        f"The container slb is {evidence.container}, and the console's list says nothing clear about it "
        f"({evidence.console_words}). {remedy}"
    )


def _was_proven_and_is_stopped(evidence: Evidence, policy: Policy) -> bool:
    return evidence.was_proven and evidence.container != "running" and not policy.unlisted


def _ailing(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.container in ("running", "restarting"):
        return _fail(
            "This engine was proven to run, and now its runtime restarts it again and again. "
            "See `docker logs slb` on the host; mend it there, or run slb.fleet.remediate for this host."
        )
    return _fail(
        f"This engine was proven to run, and is stopped: its container is {evidence.container}. "
        "Start it on the host (`docker start slb`, or `docker unpause slb`), or run slb.fleet.remediate for this host."
    )


def _is_finished(evidence: Evidence, policy: Policy) -> bool:
    return (
        evidence.ours_pending
        and not policy.unlisted
        and evidence.console == "undescribed"
        and evidence.after_request
        and (evidence.stable(policy) or evidence.settling(policy))
    )


def _finished(evidence: Evidence, policy: Policy) -> Decision:
    if evidence.stable(policy):
        return _confirm(_CAME_UP, evidence)
    return _see_whether_it_stays_up("The engine has just come up", evidence, policy)


def _is_own_in_doubt(evidence: Evidence, policy: Policy) -> bool:
    """It may be an engine that lives, and that a person or its runtime restarted a moment ago."""
    is_young = evidence.container == "running" and not evidence.stable(policy)
    is_ours = evidence.ours_pending and evidence.after_request
    return is_ours and (is_young or evidence.container == "restarting") and not evidence.progress.waited


def _own_in_doubt(evidence: Evidence, policy: Policy) -> Decision:
    return _see_whether_it_stays_up("The engine of our request has just been started again", evidence, policy)


def _is_own_leftover(evidence: Evidence, policy: Policy) -> bool:
    dead = evidence.container in ("absent", "created", "exited")
    # No deployment leaves a paused container: a person has paused it, and it may be live.
    ill = evidence.after_request and evidence.container != "paused" and not evidence.stable(policy)
    return evidence.ours_pending and (dead or ill)


def _own_leftover(evidence: Evidence, policy: Policy) -> Decision:
    seen = "no container" if evidence.container == "absent" else f"the container {evidence.container}"
    return _out_of_the_way(
        f"Our install request is {evidence.record_age:.0f} seconds old and left {seen}: the deployment failed.",
        "record",
        evidence,
    )


def _is_absent(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "absent"


def _absent(evidence: Evidence, policy: Policy) -> Decision:
    return Decision("add", "There is no engine on the host.")


def _is_dead(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container in ("exited", "created")


def _dead(evidence: Evidence, policy: Policy) -> Decision:
    return _out_of_the_way(
        f"The container slb is {evidence.container}: a leftover of an earlier deployment.", "ended", evidence
    )


def _operator_calls_it_a_leftover(evidence: Evidence, policy: Policy) -> bool:
    # It is recorded, though not completely: nothing is stopped because a record is old.
    return policy.unrecorded == "replace" and (policy.unlisted or not evidence.was_proven)


def _leftover_by_word(evidence: Evidence, policy: Policy) -> Decision:
    why = (
        "the operator says that the console does not list its engine"
        if policy.unlisted
        else f"{_why_not_proven(evidence)}, and slb_unrecorded_engine says: replace"
    )
    return _out_of_the_way(f"The container slb is {evidence.container}, and {why}.", "operator", evidence)


def _left_unlisted(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unrecorded == "adopt":
        return _fail(
            f"{_said_by_the_list(evidence)} {evidence.engine.name}, and slb_unrecorded_engine says: adopt. One of "
            "them is wrong: nothing was done. Look at the web console; correct slb_engine_listing, or take the word "
            "back."
        )
    return _out_of_the_way(
        f"{_said_by_the_list(evidence)} {evidence.engine.name} at {evidence.engine.manage_ip}, and "
        f"{_why_not_proven(evidence)}: the container is a leftover of a failed deployment.",
        "list",
        evidence,
    )


def _always(evidence: Evidence, policy: Policy) -> bool:
    return True


def _unrecorded(evidence: Evidence, policy: Policy) -> Decision:
    if policy.unrecorded == "adopt" and evidence.container == "running":
        if evidence.stable(policy):
            return _confirm("The container slb runs, and slb_unrecorded_engine says: adopt.", evidence)
        if evidence.settling(policy):
            return _see_whether_it_stays_up("The engine to adopt has just come up", evidence, policy)
    leftover = (
        "run slb.fleet.remediate for this host, then slb.fleet.rollout"
        if evidence.was_proven
        else "set slb_unrecorded_engine: replace"
    )
    return _fail(
        f"The container slb is {evidence.container}, {_why_not_proven(evidence)}, and the console's list is not "
        "described: it could be live. Look at the web console. If it lists the engine as running, set "
        f"slb_unrecorded_engine: adopt for this host; if as deploying, wait; if it does not list it, {leftover}."
    )


RULES: tuple[Rule, ...] = (
    Rule("container's state unknown; or no container, and the record is damaged", _is_unobservable, _unobservable),
    Rule("another host of the run wants this name or this address", _is_disputed, _disputed),
    Rule("the host does not have the address that is said to be its own", _is_elsewhere, _another_machine),
    Rule("no engine can be asked for with the host's variables", _is_unaskable, _unaskable),
    Rule(
        "absent, because this collection took it out of the way on the list's or the operator's word; and the list "
        "shows it as running, or the management node says that the engine exists, or has begun nothing although it "
        "had been running",
        _is_wrongly_set_aside,
        _wrongly_set_aside,
    ),
    Rule("put back, and the console does not say running", _is_put_back, _put_back),
    Rule("the console's list is described and cannot be read", _is_unreadable, _unreadable),
    Rule("the name listed for another address, or another name for this one", _is_listed_otherwise, _listed_otherwise),
    Rule(
        "running; the record is confirmed, and the engine, address, management node and container that it names are "
        "these; and the list, where it is described, says running",
        _is_proven,
        _proven,
    ),
    Rule("so proven, and restarted by its runtime within the settle time", _is_shaky, _shaky),
    Rule("running, and the console says running", _is_listed_running, _listed_running),
    Rule("the install was refused; or absent, and a port is said to be occupied", _is_turned_down, _turned_down),
    Rule("pending record, wait not over", _is_deploying, _deploying),
    Rule("the console says deploying", _is_listed_deploying, _listed_deploying),
    Rule("not running, and the console says running", _is_drift, _drift),
    Rule("absent, and the management node says that the engine exists", _exists_elsewhere, _exists),
    Rule("proven before, and failed or gone in the list", _was_proven_and_is_gone, _gone_from_the_list),
    Rule("the list says nothing clear of it, or shows no engine at all", _says_nothing_clear, _unclear),
    Rule("proven before, not running, and the list silent", _was_proven_and_is_stopped, _ailing),
    Rule("our pending record, wait over, started after the request, up, no list", _is_finished, _finished),
    Rule(
        "our pending record, wait over, started after the request, restarting or only just up, not yet waited for",
        _is_own_in_doubt,
        _own_in_doubt,
    ),
    Rule("our pending record, wait over, dead or not healthy", _is_own_leftover, _own_leftover),
    Rule("absent", _is_absent, _absent),
    Rule("exited, or created and never started", _is_dead, _dead),
    Rule("running, restarting or paused; the operator says replace", _operator_calls_it_a_leftover, _leftover_by_word),
    Rule("running, restarting or paused; the console says failed or not listed", _is_unlisted, _left_unlisted),
    Rule("running, restarting or paused; no proof; no list", _always, _unrecorded),
)
