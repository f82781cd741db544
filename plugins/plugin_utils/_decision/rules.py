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
    """One row of the table. ``code``: the stable word that reports use. ``when``: the condition in words; ``applies``
    is the same as code.
    """

    code: str
    when: str
    applies: Callable[[Evidence, Policy], bool]
    decide: Callable[[Evidence, Policy], Decision]


RULES: tuple[Rule, ...] = (
    Rule(
        "container_state_unknown",
        "container's state unknown; or no container, and the record is damaged",
        identity_rows.is_unobservable,
        identity_rows.unobservable,
    ),
    Rule(
        "duplicate_engine",
        "another host of the run has this name or this address",
        identity_rows.is_disputed,
        identity_rows.disputed,
    ),
    Rule(
        "address_mismatch",
        "the host does not have the address that is said to be its own",
        identity_rows.is_elsewhere,
        identity_rows.another_machine,
    ),
    Rule(
        "invalid_variable",
        "a variable of the host is invalid for an install request",
        identity_rows.is_unaskable,
        identity_rows.unaskable,
    ),
    Rule(
        "set_aside_wrongly",
        "absent, because this collection set it aside on the list's or the operator's word; and the list "
        "shows it as running, or the management node says that the engine exists, or has begun nothing although it "
        "had been running",
        way_back_rows.is_wrongly_set_aside,
        way_back_rows.wrongly_set_aside,
    ),
    Rule(
        "restored",
        "restored, and the engine list does not say running",
        way_back_rows.is_put_back,
        way_back_rows.put_back,
    ),
    Rule(
        "engine_list_unavailable",
        "the engine list is configured and unavailable",
        console_rows.is_unreadable,
        console_rows.unreadable,
    ),
    Rule(
        "engine_list_mismatch",
        "the name listed for another address, or another name for this one",
        console_rows.is_listed_otherwise,
        console_rows.listed_otherwise,
    ),
    Rule(
        "verified_in_engine_list",
        "running; this run has verified the engine on the host's word, and now the engine list says running",
        console_rows.is_noted_for_less,
        console_rows.listed_since,
    ),
    Rule(
        "healthy",
        "running; the record is verified, and the engine, address, management node and container that it names are "
        "these; and the list, where it is described, says running",
        host_rows.is_verified,
        host_rows.verified,
    ),
    Rule(
        "engine_restarting",
        "so verified, and restarted by its runtime within the settle time",
        host_rows.is_shaky,
        host_rows.shaky,
    ),
    Rule(
        "running_in_engine_list",
        "running, and the engine list says running",
        console_rows.is_listed_running,
        console_rows.listed_running,
    ),
    Rule(
        "install_rejected",
        "the install was refused; or absent, and a port is said to be occupied",
        request_rows.is_turned_down,
        request_rows.turned_down,
    ),
    Rule("deployment_in_progress", "own request, wait not over", request_rows.is_deploying, request_rows.deploying),
    Rule(
        "deploying_in_engine_list",
        "the engine list says deploying",
        console_rows.is_listed_deploying,
        console_rows.listed_deploying,
    ),
    Rule(
        "listed_but_not_running",
        "not running, and the engine list says running",
        console_rows.is_drift,
        console_rows.drift,
    ),
    Rule(
        "exists_elsewhere",
        "absent, and the management node says that the engine exists",
        request_rows.exists_elsewhere,
        request_rows.exists,
    ),
    Rule(
        "missing_from_engine_list",
        "verified before, and failed or gone in the list",
        console_rows.was_proven_and_is_gone,
        console_rows.gone_from_the_list,
    ),
    Rule(
        "engine_list_unreliable",
        "the list says nothing clear of it, or shows no engine at all",
        console_rows.says_nothing_clear,
        console_rows.unclear,
    ),
    Rule(
        "engine_stopped",
        "verified before, not running, and the list silent",
        host_rows.was_proven_and_is_stopped,
        host_rows.ailing,
    ),
    Rule(
        "deployment_finished",
        "own request, wait over, started after the request, up, no list",
        request_rows.is_finished,
        request_rows.finished,
    ),
    Rule(
        "deployment_unstable",
        "own request, wait over, started after the request, restarting or only just up, not yet waited for",
        request_rows.is_own_in_doubt,
        request_rows.own_in_doubt,
    ),
    Rule(
        "deployment_failed",
        "own request, wait over, dead or not healthy",
        request_rows.is_own_leftover,
        request_rows.own_leftover,
    ),
    Rule("not_installed", "absent", host_rows.is_absent, host_rows.absent),
    Rule("container_exited", "exited, or created and never started", host_rows.is_dead, host_rows.dead),
    Rule(
        "replace_requested",
        "running, restarting or paused; slb_unverified_engine is replace",
        host_rows.operator_calls_it_a_leftover,
        host_rows.leftover_by_word,
    ),
    Rule(
        "leftover",
        "running, restarting or paused; the engine list says failed, or does not list it",
        console_rows.is_unlisted,
        console_rows.left_unlisted,
    ),
    Rule(
        "unverified_container",
        "running, restarting or paused; no proof; no list",
        host_rows.always,
        host_rows.unrecorded,
    ),
)
