# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not be before a host is changed. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import safety
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._conditions import MAX_NAMES, stop_running_leftovers
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Action
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Policy, State

_RECORD_FILE = "/etc/ansible/facts.d/slb_engine.fact"


class SafetyCheck(NamedTuple):
    """What must not be, before one of ``actions`` is taken. ``is_shared``: many hosts may have the same cause."""

    code: str | Callable[[State], str]
    when: str
    actions: tuple[Action, ...]
    applies: Callable[[State, Policy], bool]
    summary: str | Callable[[State, Policy], str]
    fix: str | Callable[[State, Policy], str]
    is_shared: bool = False


_WRITES: tuple[Action, ...] = ("record", "install", "replace")
"""A full disk must not keep a container from being restored."""


def _is_of_another_engine(state: State, policy: Policy) -> bool:
    """A wrong address leads to another host, whose engine and record must stay."""
    record = state.record
    if policy.retires:
        return record.state not in ("none", "invalid") and not state.record_is_current
    is_its_container = record.state == "verified" and record.last_verified == state.container.id
    is_other = not state.record_is_current and (is_its_container or (state.is_new and state.container.is_live))
    is_stated = policy.remediates or policy.unverified_engine == "adopt"
    return is_other and state.container.state != "absent" and not is_stated


def _managed(state: State) -> FleetError:
    return safety.managed(state.container.manager, state.container.manager_fix)


def _session(state: State) -> FleetError:
    return state.run.session or FleetError("login_rejected", "", "")


SAFETY_CHECKS: tuple[SafetyCheck, ...] = (
    SafetyCheck(
        "no_further_request",
        "this run has sent two install requests",
        ("install", "replace"),
        lambda s, p: s.requests > 1,
        "No further request is sent in this run.",
        "Look up the deployment in the web console, then run again.",
    ),
    SafetyCheck(
        "install_outcome_unknown",
        "this run has sent an install request, and whether it was accepted is unknown",
        ("install", "replace"),
        lambda s, p: s.outcome == "unknown",
        lambda s, p: f"Install request of this run without a known outcome: {s.answer or 'no answer'}.",
        "Look up the deployment in the web console, then run again. If the answer states success, set "
        "slb_success_codes or slb_in_progress_patterns.",
    ),
    SafetyCheck(
        "record_invalid",
        "the deployment record cannot be read",
        ("install", "replace", "restore"),
        lambda s, p: s.record.state == "invalid",
        lambda s, p: f"Deployment record invalid: {s.record.why}.",
        f"Check in the web console that no deployment is in progress, remove {_RECORD_FILE}, then run again.",
    ),
    SafetyCheck(
        "record_of_other_engine",
        "the record verifies this container for another engine, or it is live and came with the request of another; "
        "for slb.fleet.retire, the record is of another engine",
        ("record", "install", "replace"),
        _is_of_another_engine,
        lambda s, p: (
            f"Deployment record shows this container for engine {s.record.engine.name} at "
            f"{s.record.engine.manage_ip} ({s.record.engine.base_url})."
        ),
        # The record and the container of a clone are those of the other host.
        "Correct slb_engine_name, slb_manage_ip or slb_base_url. If the host is a clone, run slb.fleet.remediate, then "
        "slb.fleet.rollout. If the engine was renamed, set slb_unverified_engine: adopt for this host.",
    ),
    SafetyCheck(
        "record_not_writable",
        "the deployment record cannot be written",
        _WRITES,
        lambda s, p: bool(s.record.unwritable),
        lambda s, p: f"Deployment record not writable: {s.record.unwritable}.",
        lambda s, p: "Repair that on the host, then run again." if s.is_root else "Set become: true for this host.",
    ),
    SafetyCheck(
        "leftover_running",
        "a container that was set aside runs, and slb.fleet.retire would leave it behind",
        ("install", "replace"),
        lambda s, p: p.retires and bool(s.running_leftovers),
        lambda s, p: f"Set-aside containers run: {', '.join(s.running_leftovers)}.",
        lambda s, p: f"{stop_running_leftovers(s)}Then run again.",
    ),
    # The step on the host repeats these, with the same words.
    SafetyCheck(
        "container_not_started",
        "stopped container would delete itself, a folder or file that it mounts is missing, or its port is in use",
        ("start",),
        lambda s, p: bool(s.container.start_obstacle),
        lambda s, p: safety.not_started(s.container.start_obstacle).summary,
        safety.not_started("").fix,
    ),
    SafetyCheck(
        lambda s: _managed(s).code,
        "systemd, a Quadlet, a supervisor, cron, compose, swarm, Kubernetes, Nomad or ECS would start the container "
        "again",
        ("start", "install", "replace"),
        lambda s, p: bool(s.container.manager),
        lambda s, p: _managed(s).summary,
        lambda s, p: _managed(s).fix,
    ),
    SafetyCheck(
        "container_in_use",
        "the container has connections, or they cannot be seen",
        ("replace",),
        lambda s, p: s.container.is_live and s.container.connections != 0 and not p.allow_established,
        lambda s, p: safety.in_use(s.container.connections, s.container.peers).summary,
        safety.in_use(None, ()).fix,
    ),
    SafetyCheck(
        "container_not_restorable",
        "the container could not be started again: a file, device or address that it uses is missing, or a container "
        "whose namespace it uses does not run",
        ("replace",),
        lambda s, p: s.container.is_live and bool(s.container.restore_obstacle) and not p.remove_leftovers,
        lambda s, p: safety.not_restorable(s.container.restore_obstacle).summary,
        safety.not_restorable("").fix,
    ),
    SafetyCheck(
        "container_would_be_deleted",
        "the container deletes itself when it stops (`--rm`)",
        ("replace",),
        lambda s, p: s.container.is_live and s.container.auto_remove and not p.remove_leftovers,
        safety.would_be_deleted().summary,
        safety.would_be_deleted().fix,
    ),
    # Of the run, after those of the host.
    SafetyCheck(
        "engine_list_unreliable",
        "the engine list does not show verified engines that run: with the replacements more than slb_max_replaced, or "
        "none at all",
        ("replace",),
        lambda s, p: s.run.is_list_doubted and s.listed.state == "not_listed",
        lambda s, p: f"Engine list does not show verified engines that run: {', '.join(s.run.missing[:MAX_NAMES])}.",
        "Check slb_engine_list, the rights of its user, and the engines in the web console.",
        is_shared=True,
    ),
    SafetyCheck(
        "replace_limit_exceeded",
        "by the engine list alone, more running containers would be replaced than slb_max_replaced allows",
        ("replace",),
        lambda s, p: s.run.limit is not None and len(s.run.replacements) > s.run.limit,
        lambda s, p: (
            f"{len(s.run.replacements)} running containers would be replaced; slb_max_replaced allows {s.run.limit}: "
            f"{', '.join(s.run.replacements[:MAX_NAMES])}."
        ),
        "Check slb_engine_list, slb_engine_name and slb_manage_ip. If they are right, raise slb_max_replaced.",
        is_shared=True,
    ),
    SafetyCheck(
        "not_in_approved_plan",
        "the approved plan (slb_approved_plan) does not have this work for the host",
        ("none", "wait", "record", "restore", "start", "install", "replace"),
        lambda s, p: bool(s.run.difference),
        lambda s, p: s.run.difference,
        "Make a new plan with slb.fleet.rollout --check (in AWX: launch the workflow again), and have it approved.",
        is_shared=True,
    ),
    SafetyCheck(
        lambda s: _session(s).code,
        "the management node gives no session (the code is that of the login)",
        ("install", "replace"),
        lambda s, p: s.run.session is not None,
        lambda s, p: _session(s).summary,
        lambda s, p: _session(s).fix,
        is_shared=True,
    ),
)
