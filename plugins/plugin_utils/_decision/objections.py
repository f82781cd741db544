# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guards behind the rows: nothing is begun that cannot be ended, and what may be live, or would be lost, is not
stopped without the operator's word."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ALIVE, Evidence, Policy

_BY_NAME = "If it is a leftover all the same, run slb.fleet.remediate for this host, then slb.fleet.rollout."


def objections(decision: Decision, evidence: Evidence, policy: Policy) -> Iterator[tuple[str, str]]:
    """Each with its code."""
    if decision.action in ("none", "fail"):
        return
    if evidence.progress.rounds > policy.most_rounds:
        yield (
            "host_busy",
            f"But the host is still not in a steady state after {evidence.progress.rounds} rounds. "
            "Find out who else works on this host, then run again.",
        )
    if decision.action == "record":
        yield from _each("record_contradicted", _to_another_note(evidence))
    if decision.action in ("install", "replace") and policy.installs:
        yield from _each("attempts_exceeded", _to_an_install(evidence, policy))
    if decision.action == "record" or policy.installs:
        yield from _each("record_invalid", _to_a_record(decision, evidence))
    yield from _each("record_of_other_engine", _to_another_engine(decision, evidence, policy))
    yield from _each("record_not_writable", _to_a_note(decision, evidence))
    if decision.action == "replace":
        yield from _each("restored_before", _to_another_try(evidence, policy))
        yield from _each("set_aside_undone", _to_stopping_it_again(evidence))
        yield from _each("managed_by_systemd", _to_what_is_made_anew(evidence))
    if decision.because == "list" and evidence.container in ALIVE:
        yield from _each("engine_list_contradicted", _to_the_lists_word(evidence))
    if decision.action == "replace" and evidence.container in ALIVE:
        inventory = "slb_engine_name, slb_manage_ip or slb_base_url"
        live = f" If the engine is live under another name or address, correct {inventory}."
        for objection in _to_stopping(evidence, policy):
            yield "container_in_use", objection + (live if decision.because == "list" else "")


BESIDE_THE_ROWS = (
    "record_contradicted",
    *("host_busy", "attempts_exceeded", "record_invalid", "record_not_writable", "restored_before", "set_aside_undone"),
    *(
        "engine_list_contradicted",
        "container_in_use",
        "record_of_other_engine",
        "partially_restored",
        "managed_by_systemd",
    ),
)


def _each(code: str, objections: Iterator[str]) -> Iterator[tuple[str, str]]:
    return ((code, objection) for objection in objections)


def _to_another_note(evidence: Evidence) -> Iterator[str]:
    if evidence.progress.confirmed > 1:
        yield (
            f"But that was noted {evidence.progress.confirmed} times in this run, and the record on the host says "
            "something else each time. Find out who else writes it, then run again."
        )


def _to_an_install(evidence: Evidence, policy: Policy) -> Iterator[str]:
    progress = evidence.progress
    if progress.asked >= policy.attempts:
        answered = f" The last answer was {progress.answer}: {progress.answer_words}" if progress.answer_words else ""
        yield (
            f"The install was asked for {progress.asked} times and no engine came up; the container is "
            f"{evidence.container} now.{answered} Look at the deployment's messages in the web console, then run again."
        )


def _to_a_record(decision: Decision, evidence: Evidence) -> Iterator[str]:
    if decision.action in ("install", "replace") and evidence.record == "invalid":
        yield (
            f"But {evidence.record_why}: an install may be under way. "
            "See in the web console that none is, remove the file, then run again."
        )


def _to_another_engine(decision: Decision, evidence: Evidence, policy: Policy) -> Iterator[str]:
    """What the record proves is another engine's container, or another container."""
    if evidence.recorded_as and decision.action in ("install", "replace") and not policy.unlisted:
        yield renamed(evidence)
    if decision.action in ("record", "replace") and evidence.is_of_this_container and evidence.is_listed_as_recorded:
        yield (
            "But its record proves the container for another engine, which the list shows as well: two lines of the "
            "inventory may be swapped, or this disk be a copy. Correct slb_engine_name, slb_manage_ip or ansible_host; "
            "or, if the record is wrong, remove it on the host (/etc/ansible/facts.d/slb_engine.fact). Then run again."
        )


def renamed(evidence: Evidence) -> str:
    rename = f"{evidence.runtime} rename"
    if evidence.container != "absent":
        return (
            f"But the container that the record proves is there as {evidence.recorded_as}, and another one has the "
            f"name slb. Find out which one serves, and remove the other one, or rename it (`{rename} slb slb-other`, "
            f"`{rename} {evidence.recorded_as} slb`); then run again."
        )
    return (
        f"But the container that the record proves is there as {evidence.recorded_as}. Give it its name back on the "
        f"host (`{rename} {evidence.recorded_as} slb`), or remove it; then run again."
    )


def _to_a_note(decision: Decision, evidence: Evidence) -> Iterator[str]:
    mend = "Mend that on the host" if evidence.as_root else "Set become: true (ansible_become) for this host"
    if decision.action == "record" and evidence.unwritable:
        yield (
            f"But this could not be noted in its record: {evidence.unwritable}. {mend}, then run again: "
            "until then the next run has to find it out anew."
        )
    unwritable = evidence.unwritable or (evidence.set_aside_unwritable if decision.action == "replace" else None)
    if decision.action in ("install", "replace") and unwritable:
        untouched = "" if evidence.progress.has_replaced else " Nothing was touched."
        yield f"But no note of it could be written: {unwritable}.{untouched} {mend}, then run again."


def _to_another_try(evidence: Evidence, policy: Policy) -> Iterator[str]:
    if policy.unlisted:
        return
    if evidence.set_aside and evidence.set_aside.mistaken and evidence.set_aside.id == evidence.container_id:
        yield (
            "But it was taken out of the way before and put back, because the management node said that the engine "
            "exists. Correct slb_engine_list or slb_unverified_engine, or what the console has of this engine. "
            f"{_BY_NAME}"
        )


def _to_stopping_it_again(evidence: Evidence) -> Iterator[str]:
    if evidence.progress.replaced_id == evidence.container_id and evidence.container in ALIVE:
        yield (
            "But this run has taken this very container out of the way, and somebody has put it back and started it "
            "since. Find out who works on this host, then run again."
        )


def _to_the_lists_word(evidence: Evidence) -> Iterator[str]:
    if evidence.distrusted:
        yield (
            f"But the list was wrong in this run: the management node says that the engine of "
            f"{evidence.distrusted} exists, which the list did not show. Correct slb_engine_list, or the rights of "
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


def _to_what_is_made_anew(evidence: Evidence) -> Iterator[str]:
    unit = evidence.systemd_unit
    if unit:
        yield (
            f"But it is run by the systemd unit {unit}, which would start it again. Run `systemctl disable --now "
            f"{unit}` on the host; where it is a Quadlet's, `systemctl stop {unit}`, and move the Quadlet away. Then "
            f"run again. If there is no such unit any more, remove the container: `{evidence.runtime} rm slb`."
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
