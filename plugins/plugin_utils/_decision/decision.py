# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A decision about one host, and the ways in which the rows make one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ConsoleState

Action = Literal["none", "record", "wait", "install", "replace", "restore", "fail"]


Because = Literal["list", "operator", "record", "ended"]


@dataclass(frozen=True)
class Decision:
    """``action``: none, record (note the engine in the record), wait, install, replace (set the container aside, then
    install), restore (undo that) or fail.

    With wait go ``wait_seconds`` and ``wait_for``: host, for the engine to come up, or console, for the list of a
    console whose engine is up. With replace goes ``because``: on whose word. ``verified_by``: host or engine_list.
    ``console``: what its list said. ``code``: the row that decided, or what spoke against its decision, in a word.
    ``undo``: should the act fail, the container that was taken out of the way goes back.
    """

    action: Action
    reason: str
    wait_seconds: float = 0
    wait_for: Literal["host", "engine_list"] | None = None
    verified_by: Literal["host", "engine_list"] | None = None
    because: Because | None = None
    console: ConsoleState = "undescribed"
    console_words: str = ""
    evidence: tuple[str, ...] = ()
    code: str = ""
    undo: bool = False


def fail(reason: str) -> Decision:
    return Decision("fail", reason)


def out_of_the_way(reason: str, because: Because, evidence: Evidence) -> Decision:
    if evidence.container == "absent":
        return Decision("install", reason)
    return Decision("replace", reason, because=because)


def wait(reason: str, seconds: float, evidence: Evidence, policy: Policy) -> Decision:
    is_up = evidence.stable(policy) and (evidence.after_request or evidence.verified)
    is_the_lists_turn = is_up and evidence.console != "undescribed"
    return Decision("wait", reason, wait_seconds=seconds, wait_for="engine_list" if is_the_lists_turn else "host")


def see_whether_it_stays_up(reason: str, evidence: Evidence, policy: Policy) -> Decision:
    return wait(f"{reason}: seeing whether it stays up.", policy.settle * 2, evidence, policy)


def confirm(reason: str, evidence: Evidence) -> Decision:
    return Decision("record", reason, verified_by="engine_list" if evidence.console == "running" else "host")


def what_runs_again(evidence: Evidence) -> str:
    """A sentence about what may hold the engine's port, with a space behind it; empty where nothing is seen of it."""
    names = evidence.running_leftovers
    if not names:
        return ""
    return (
        f"What was taken out of the way runs again ({', '.join(names)}): "
        f"run `{evidence.runtime} stop {' '.join(names)}` on the host, then run again. "
    )


def why_not_verified(evidence: Evidence) -> str:
    if evidence.record == "verified" and evidence.differences:
        return f"the record does not prove it ({' and '.join(evidence.differences)})"
    return "no record proves it"
