# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the table: they are tried from the first to the last, and the first that applies decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.slb.fleet.plugins.plugin_utils._decision import (
    console_rows,
    host_rows,
    identity_rows,
    request_rows,
    way_back_rows,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy


@dataclass(frozen=True)
class Rule:
    """``when`` is the row of the table in words; ``applies`` is the same as code."""

    when: str
    applies: Callable[[Evidence, Policy], bool]
    decide: Callable[[Evidence, Policy], Decision]

    @property
    def code(self) -> str:
        """One word for the row, which reports and those that read them go by."""
        return self.decide.__name__


RULES: tuple[Rule, ...] = (
    Rule(
        "container's state unknown; or no container, and the record is damaged",
        identity_rows.is_unobservable,
        identity_rows.unobservable,
    ),
    Rule("another host of the run wants this name or this address", identity_rows.is_disputed, identity_rows.disputed),
    Rule(
        "the host does not have the address that is said to be its own",
        identity_rows.is_elsewhere,
        identity_rows.another_machine,
    ),
    Rule("no engine can be asked for with the host's variables", identity_rows.is_unaskable, identity_rows.unaskable),
    Rule(
        "absent, because this collection took it out of the way on the list's or the operator's word; and the list "
        "shows it as running, or the management node says that the engine exists, or has begun nothing although it "
        "had been running",
        way_back_rows.is_wrongly_set_aside,
        way_back_rows.wrongly_set_aside,
    ),
    Rule("put back, and the console does not say running", way_back_rows.is_put_back, way_back_rows.put_back),
    Rule("the console's list is described and cannot be read", console_rows.is_unreadable, console_rows.unreadable),
    Rule(
        "the name listed for another address, or another name for this one",
        console_rows.is_listed_otherwise,
        console_rows.listed_otherwise,
    ),
    Rule(
        "running; this run has confirmed the record on the host's word, and now the console says running",
        console_rows.is_noted_for_less,
        console_rows.listed_since,
    ),
    Rule(
        "running; the record is confirmed, and the engine, address, management node and container that it names are "
        "these; and the list, where it is described, says running",
        host_rows.is_proven,
        host_rows.proven,
    ),
    Rule("so proven, and restarted by its runtime within the settle time", host_rows.is_shaky, host_rows.shaky),
    Rule("running, and the console says running", console_rows.is_listed_running, console_rows.listed_running),
    Rule(
        "the install was refused; or absent, and a port is said to be occupied",
        request_rows.is_turned_down,
        request_rows.turned_down,
    ),
    Rule("pending record, wait not over", request_rows.is_deploying, request_rows.deploying),
    Rule("the console says deploying", console_rows.is_listed_deploying, console_rows.listed_deploying),
    Rule("not running, and the console says running", console_rows.is_drift, console_rows.drift),
    Rule(
        "absent, and the management node says that the engine exists",
        request_rows.exists_elsewhere,
        request_rows.exists,
    ),
    Rule(
        "proven before, and failed or gone in the list",
        console_rows.was_proven_and_is_gone,
        console_rows.gone_from_the_list,
    ),
    Rule(
        "the list says nothing clear of it, or shows no engine at all",
        console_rows.says_nothing_clear,
        console_rows.unclear,
    ),
    Rule("proven before, not running, and the list silent", host_rows.was_proven_and_is_stopped, host_rows.ailing),
    Rule(
        "our pending record, wait over, started after the request, up, no list",
        request_rows.is_finished,
        request_rows.finished,
    ),
    Rule(
        "our pending record, wait over, started after the request, restarting or only just up, not yet waited for",
        request_rows.is_own_in_doubt,
        request_rows.own_in_doubt,
    ),
    Rule("our pending record, wait over, dead or not healthy", request_rows.is_own_leftover, request_rows.own_leftover),
    Rule("absent", host_rows.is_absent, host_rows.absent),
    Rule("exited, or created and never started", host_rows.is_dead, host_rows.dead),
    Rule(
        "running, restarting or paused; the operator says replace",
        host_rows.operator_calls_it_a_leftover,
        host_rows.leftover_by_word,
    ),
    Rule(
        "running, restarting or paused; the console says failed or not listed",
        console_rows.is_unlisted,
        console_rows.left_unlisted,
    ),
    Rule("running, restarting or paused; no proof; no list", host_rows.always, host_rows.unrecorded),
)
