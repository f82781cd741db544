# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that make a host's plan: a row each, with its code, its condition, its action and its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ansible_collections.slb.fleet.plugins.plugin_utils._conditions import (
    MAX_NAMES,
    adopt_or_fail,
    fix_of_existing,
    has_failed,
    has_health,
    install_or_replace,
    install_unless_gone_again,
    is_deployed,
    is_gone_again,
    is_healthy,
    is_listed_running,
    is_name_taken,
    is_not_in_list,
    is_own_over,
    is_unhealthy,
    port_holders,
    start_by_hand,
    start_or_fail,
    stop_running_leftovers,
    unverified_action,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import is_another_machine
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import RETIRED, Action
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Policy, Record, State

NO_LIST = "engine_list_unavailable"
_PASSING = (NO_LIST, "management_node_unavailable")
"""Failures of the engine list that may end without a change of the settings."""


class Rule(NamedTuple):
    """One row of the table. ``when``: ``applies`` in words.

    The pages decision-table.md and messages.md show ``when``, the action or the docstring of its function, and a fixed
    ``fix``.
    """

    code: str
    when: str
    applies: Callable[[State, Policy], bool]
    action: Action | Callable[[State, Policy], Action]
    summary: str | Callable[[State, Policy], str]
    fix: str | Callable[[State, Policy], str] = ""


_FIRST: tuple[Rule, ...] = (
    Rule(
        "permission_denied",
        "the container's state is unknown, and the facts were not gathered as root",
        lambda s, p: s.container.state == "unknown" and not s.is_root,
        "fail",
        "Container slb unknown: {why}.",
        "Set become: true (ansible_become) for this host.",
    ),
    Rule(
        "container_state_unknown",
        "the container's state is unknown, and no request on the host is younger than slb_wait_timeout",
        lambda s, p: s.container.state == "unknown" and s.remaining(p) == 0,
        "fail",
        "Container slb unknown: {why}.",
        # The host knows the cause; a general fix could end the engine.
        lambda s, p: s.container.fix or f"Check `{s.container.runtime} ps --all` on the host, then run again.",
    ),
    Rule(
        "duplicate_engine",
        "another host of the run has this engine name, this address or this machine",
        lambda s, p: bool(s.conflict),
        "fail",
        lambda s, p: s.conflict,
        "Give each host its own slb_engine_name, slb_manage_ip and ansible_host, or leave one of them out of the run.",
    ),
    Rule(
        "address_mismatch",
        "the host does not have its slb_manage_ip",
        lambda s, p: not s.is_translated and is_another_machine(s.engine.manage_ip, s.addresses),
        "fail",
        lambda s, p: f"Host does not have slb_manage_ip {s.engine.manage_ip}; it has {', '.join(s.addresses[:5])}.",
        "Correct slb_manage_ip or ansible_host. If NAT translates it, set slb_manage_ip_translated: true.",
    ),
    Rule(
        "deployment_in_progress",
        "the engine list cannot be fetched, as while the management node restarts, and an install request on the host "
        "is younger than `slb_wait_timeout`",
        lambda s, p: s.listed.state == "unavailable" and s.listed.code in _PASSING and s.remaining(p) > 0,
        "wait",
        "Deployment in progress: install requested {age} s ago. {listed}",
        lambda s, p: s.listed.fix or "Check the management node, then run again.",
    ),
    Rule(
        "engine_list_unavailable",
        "the engine list cannot be fetched; the code is that of the failure, such as `login_rejected`",
        lambda s, p: s.listed.state == "unavailable",
        "fail",
        "{listed}",
        lambda s, p: s.listed.fix or "Correct slb_engine_list; slb.fleet.show_engine_list shows the result.",
    ),
)
"""Before all others: what makes the observed state doubtful."""
# Rules of both tables; the second one changes when some of them apply.
_MISMATCH = Rule(
    "engine_list_mismatch",
    "the engine list has another name at this address, or this name at another address",
    lambda s, p: s.listed.state in ("other_name", "elsewhere"),
    "fail",
    "Engine list contradicts the inventory: {listed}.",
    "Correct slb_engine_name or slb_manage_ip. Remove the listed engine in the web console only if the list does "
    "not show it as running.",
)
_UNHEALTHY = Rule(
    "engine_unhealthy",
    "the health check reports unhealthy, and the container is verified, listed as running, to be adopted, or of a "
    "request whose wait is over",
    is_unhealthy,
    "fail",
    lambda s, p: f"Health check of container slb failed: {s.container.health_output or 'no output'}.",
    lambda s, p: (
        f"Check `{s.container.runtime} logs slb` on the host. Repair the engine there, or remove it in the web "
        "console and run slb.fleet.remediate."
    ),
)
_HEALTHY = Rule(
    "healthy",
    "the recorded container runs, the record holds, and engine list and health check, if any, confirm it",
    is_healthy,
    "none",
    "Engine runs in the recorded container.",
)
_RUNNING = Rule(
    "running_in_engine_list",
    "the engine list shows running, and the container runs",
    lambda s, p: is_listed_running(s, p) and s.container.state == "running",
    "record",
    "Engine runs and is listed as running, but not recorded.",
)
_DEPLOYING = Rule(
    "deploying_in_engine_list",
    "the engine list shows deploying",
    lambda s, p: s.listed.state == "deploying",
    "wait",
    "Engine list shows deploying; container slb is {state}.",
    "Check the deployment in the web console. Refresh its page or end the deployment there, then run again.",
)
_IN_PROGRESS = Rule(
    "deployment_in_progress",
    "an install request on the host is younger than slb_wait_timeout",
    lambda s, p: s.remaining(p) > 0,
    "wait",
    "Deployment in progress: install requested {age} s ago.",
    "Check the deployment in the web console, then run again.",
)
_LISTED_ONLY = Rule(
    "listed_but_not_running",
    "the engine list shows running, and the container does not run",
    is_listed_running,
    start_or_fail,
    lambda s, p: (
        "Engine list shows running, but the host has no container slb."
        if s.container.state == "absent"
        else f"Engine list shows running, but container slb is {s.container.state}."
    ),
    lambda s, p: (
        f"{stop_running_leftovers(s)}Remove the engine in the web console, then run slb.fleet.rollout."
        if s.container.state == "absent"
        else f"{start_by_hand(s)}, or remove the engine in the web console."
    ),
)
_RENAMED = Rule(
    "container_renamed",
    "the verified container exists under another name",
    lambda s, p: s.was_verified and bool(s.record.verified_name),
    "fail",
    lambda s, p: f"Verified container has another name: {s.record.verified_name}.",
    lambda s, p: (
        f"Run `{s.container.runtime} rename {s.record.verified_name} slb` on the host. Remove that container only "
        "if it is not the engine any more."
    ),
)
_UNCLEAR = Rule(
    "engine_list_unreliable",
    "the engine list does not decide: unmapped state, several entries, or addresses that cannot be compared",
    # A list that does not decide must not lead to the stop of a container that may serve traffic.
    lambda s, p: s.listed.state == "unknown" and (s.listed.is_about_it or s.container.is_live),
    "fail",
    "Engine list not clear about this engine: {listed}.",
    "Correct slb_engine_list; slb.fleet.show_engine_list shows the result.",
)
_NOT_INSTALLED = Rule(
    "not_installed",
    "the host has no container slb",
    lambda s, p: s.container.state == "absent",
    "install",
    "No engine on the host.",
)
_RETIRED = _NOT_INSTALLED._replace(
    code=RETIRED,
    when="the host has no container slb and no record, but one that was set aside, as after slb.fleet.retire",
    applies=lambda s, p: s.container.state == "absent" and s.record == Record() and bool(s.stopped_leftovers),
    summary="No engine on the host: its container is set aside and no record names it, as after slb.fleet.retire.",
    fix="If the host was retired, remove it from the inventory. Else run slb.fleet.rollout, which installs the engine.",
)
_EXITED = Rule(
    "container_exited",
    "the container exited or never started, and nothing verifies it",
    lambda s, p: s.container.state in ("exited", "created"),
    "replace",
    "Container slb is {state}: leftover of an earlier deployment.",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "install_rejected",
        "the management node rejected the install request of this run",
        lambda s, p: s.outcome == "rejected",
        "fail",
        "Install request rejected: {answer}.",
        "Fix the reported cause, then run again. The stored credential is set with slb_user_credential_id.",
    ),
    Rule(
        "port_in_use",
        "the management node reports a port in use",
        lambda s, p: s.outcome == "port_in_use",
        "fail",
        "Install request rejected, port in use: {answer}.",
        port_holders,
    ),
    Rule(
        "exists_elsewhere",
        "the management node reports that the engine exists",
        lambda s, p: s.outcome == "exists",
        "fail",
        "Engine exists at the management node: {answer}.",
        lambda s, p: (
            fix_of_existing(s)
            + (
                "The engine list did not show this engine: correct slb_engine_list, or the rights of its user. "
                if is_not_in_list(s)
                else ""
            )
            + "Look up the engine in the web console. Correct slb_engine_name or slb_manage_ip if it is another one."
            + ("" if s.has_list or s.container.state != "absent" else " If it is this one, remove it there.")
        ),
    ),
    *_FIRST,
    _MISMATCH,
    _UNHEALTHY,
    Rule(
        "leftover_running",
        "the engine is healthy, and a container that was set aside runs, too",
        lambda s, p: (
            bool(s.running_leftovers)
            and (is_healthy(s, p) or is_deployed(s, p) or (is_listed_running(s, p) and s.container.state == "running"))
        ),
        "fail",
        lambda s, p: (
            f"Engine is healthy, but containers that were set aside run, too: {', '.join(s.running_leftovers)}."
        ),
        lambda s, p: f"{stop_running_leftovers(s)}Find what started them, then run again.",
    ),
    _HEALTHY,
    Rule(
        "engine_restarting",
        "the engine list shows running, the container runs, and its health check has not reported yet",
        lambda s, p: is_listed_running(s, p) and s.container.health == "starting",
        "wait",
        "Health check of container slb has not reported yet.",
        "Wait for the health check, then run again.",
    ),
    _RUNNING,
    _DEPLOYING,
    Rule(
        "replacement_in_progress",
        "a run began to set the container aside or to restore it less than 120 s + slb_stop_timeout ago",
        lambda s, p: s.is_open and s.open_seconds_left > 0,
        "wait",
        "A run began to set the container aside or to restore it {age} s ago.",
        lambda s, p: f"Wait until that run has ended. If it was ended, run again in {s.open_seconds_left:.0f} s.",
    ),
    Rule(
        "replacement_interrupted",
        "a run began to set the container aside or to restore it, and was interrupted",
        lambda s, p: s.is_open and not is_name_taken(s),
        "restore",
        "A run was interrupted while it set the container aside or restored it.",
    ),
    Rule(
        "name_taken",
        "a replacement was interrupted, and a container that came with no request has the name slb and runs",
        lambda s, p: s.is_open,
        "fail",
        "Interrupted replacement not restored: another container slb is {state}.",
        "Find out which container serves traffic. Remove or rename the other container on the host, then run again.",
    ),
    Rule(
        "deployment_finished",
        "a new container is stable after the request, no manager starts it, and no engine list is configured",
        is_deployed,
        "record",
        "Engine came up after our request and is stable.",
    ),
    _IN_PROGRESS,
    Rule(
        "deployment_missing",
        "the wait for a deployment is over, and no container replaces the one that was set aside",
        lambda s, p: s.record.state == "requested" and s.has_undo,
        "restore",
        "Deployment missing: {age} s after the request, container slb is {state}.",
    ),
    Rule(
        "engine_restarting",
        "the verified container restarts, was restarted within slb_settle, or its health check has not reported yet",
        lambda s, p: (
            s.is_verified
            and (s.container.state == "restarting" or (s.container.state == "running" and not s.is_stable(p)))
            and not is_not_in_list(s)
        ),
        "wait",
        lambda s, p: (
            "Health check of the verified container has not reported yet."
            if s.has_settled(p)
            else "Verified container was restarted within slb_settle, or keeps restarting."
        ),
        lambda s, p: (
            f"{stop_running_leftovers(s)}Check `{s.container.runtime} logs slb` on the host. Repair it there, or run "
            "slb.fleet.remediate."
        ),
    ),
    _LISTED_ONLY,
    _RENAMED,
    Rule(
        "engine_list_unreliable",
        "the engine list does not show several verified engines that run: with the replacements more than "
        "slb_max_replaced, or no verified engine at all",
        lambda s, p: (
            s.is_verified and s.listed.state == "not_listed" and s.run.is_list_doubted and len(s.run.missing) > 1
        ),
        "fail",
        lambda s, p: f"Engine list does not show verified engines: {', '.join(s.run.missing[:MAX_NAMES])}.",
        "Check slb_engine_list, the rights of its user, and the engines in the web console.",
    ),
    Rule(
        "missing_from_engine_list",
        "a verified engine is not in the engine list, or failed there",
        lambda s, p: s.is_verified and is_not_in_list(s),
        "fail",
        "Verified engine {engine} missing from the engine list or failed there; container slb is {state}.",
        "Check the engine in the web console. If it is gone for good, run slb.fleet.remediate, then slb.fleet.rollout.",
    ),
    Rule(
        "engine_list_empty",
        "the engine list has no engine at all, and a container runs",
        lambda s, p: s.listed.state == "empty" and s.container.is_live,
        "fail",
        "Engine list empty, but container slb is {state}.",
        "Check slb_engine_list and the user's permissions. If it may be empty, set slb_engine_list_may_be_empty: true.",
    ),
    _UNCLEAR,
    Rule(
        "engine_list_incomplete",
        "a container runs, its engine is not listed, and the engine list is a part, a cached copy, or of unknown size",
        # The container may be the engine.
        lambda s, p: s.listed.state == "incomplete" and s.container.is_live,
        "fail",
        "Engine {engine} not in the engine list, which may be incomplete: {listed}.",
        lambda s, p: s.listed.fix or "Configure the size of the list; slb.fleet.show_engine_list shows the result.",
    ),
    Rule(
        "engine_stopped",
        "the verified container does not run",
        lambda s, p: s.is_verified and s.container.state != "running",
        start_or_fail,
        "Verified engine stopped: container slb is {state}.",
        lambda s, p: f"{start_by_hand(s)}, or slb.fleet.remediate.",
    ),
    Rule(
        "container_changed",
        "the recorded container was replaced by another one, and no engine list is configured",
        lambda s, p: s.was_verified and s.container.is_live and not s.is_verified and not s.has_list,
        adopt_or_fail,
        "Recorded container was replaced by another one, which is {state}.",
        "If the web console updated the engine, run slb.fleet.rollout with -e slb_unverified_engine=adopt. "
        "If it is a leftover, run slb.fleet.remediate.",
    ),
    Rule(
        "deployment_settling",
        "the wait for a deployment is over, and its container runs for less than slb_settle",
        lambda s, p: is_own_over(s, p) and s.is_settling(p),
        "wait",
        "Container came up less than slb_settle ago.",
        "Check `{runtime} logs slb` on the host, then run again.",
    ),
    Rule(
        "engine_list_mismatch",
        "the wait for a deployment is over, its container is stable, and the engine list does not show it as running",
        lambda s, p: is_own_over(s, p) and s.has_settled(p) and s.has_list and s.listed.state != "failed",
        "fail",
        "Engine is stable on the host, but not running in the engine list: {listed}.",
        "Check the engine in the web console, and slb_engine_list with slb.fleet.show_engine_list.",
    ),
    Rule(
        "deployment_failed",
        "the wait for a deployment is over, and its container is missing, not stable, or failed in the engine list",
        lambda s, p: (
            s.record.state == "requested"
            and s.record_is_current
            and (s.container.state == "absent" or has_failed(s, p))
        ),
        install_or_replace,
        lambda s, p: (
            f"Deployment failed: {s.record.age:.0f} s after the request, container slb is {s.container.state}."
        ),
    ),
    Rule(
        "container_gone",
        "the verified container was removed; a second one within 24 h is not installed again",
        lambda s, p: s.container.state == "absent" and s.was_verified,
        install_unless_gone_again,
        lambda s, p: (
            f"Engine is gone again, at most {s.record.age / 60:.0f} min after it was verified: something on the host "
            "removes it."
            if is_gone_again(s, p)
            else "Recorded container is gone, and the host has no container slb."
        ),
        "Find what removes it, such as a unit, a timer or a cron job. Then run slb.fleet.remediate for this host (it "
        "allows the installation again) and slb.fleet.rollout.",
    ),
    _RETIRED,
    _NOT_INSTALLED,
    _EXITED,
    Rule(
        "unverified_container",
        "a container is running, restarting or paused, nothing verifies it, and no engine list is configured",
        lambda s, p: not s.has_list,
        unverified_action,
        lambda s, p: (
            f"Container slb is {s.container.state}, and nothing verifies it"
            + (f"; slb_unverified_engine={p.unverified_engine}." if p.unverified_engine != "fail" else ".")
        ),
        lambda s, p: (
            f"It is adopted when it runs stably: check `{s.container.runtime} logs slb` on the host, then run again."
            if p.unverified_engine == "adopt"
            else "Look up the engine in the web console. Running there: set slb_unverified_engine: adopt for this "
            "host. Not listed: set slb_unverified_engine: replace."
        ),
    ),
    Rule(
        "override_contradicts_engine_list",
        "the variable slb_unverified_engine is adopt, and the engine list does not list the engine as running",
        lambda s, p: p.unverified_engine == "adopt",
        "fail",
        "Engine list does not list {engine} as running, but slb_unverified_engine=adopt.",
        "Correct slb_engine_list, or unset slb_unverified_engine.",
    ),
    Rule(
        "leftover",
        "a container is running, restarting or paused, and the engine list does not list its engine as running",
        lambda s, p: True,
        "replace",
        "Container slb is {state}, and the engine list does not list {engine} at {address} as running.",
    ),
)

REMEDIATION_RULES: tuple[Rule, ...] = (
    *_FIRST,
    _MISMATCH._replace(
        when="the engine list has another name at this address", applies=lambda s, p: s.listed.state == "other_name"
    ),
    Rule(
        "still_listed",
        "of slb.fleet.retire: the engine list shows the engine as running or deploying",
        lambda s, p: p.retires and s.listed.state in ("running", "deploying"),
        "fail",
        lambda s, p: f"Engine {s.engine.name} is {s.listed.state} in the engine list.",
        "Remove the engine in the web console, then run again.",
    ),
    _UNHEALTHY._replace(
        when="the engine list shows running, and the health check reports unhealthy",
        applies=lambda s, p: is_listed_running(s, p) and has_health(s, "unhealthy"),
    ),
    _HEALTHY._replace(
        when="the recorded container runs, and the engine list confirms it",
        applies=lambda s, p: is_listed_running(s, p) and s.is_verified and has_health(s, "", "healthy", "silent"),
    ),
    _RUNNING._replace(action="none"),
    _DEPLOYING,
    _IN_PROGRESS,
    _LISTED_ONLY._replace(action="fail"),
    _RENAMED._replace(
        when="the verified container exists under another name, and no container slb (of slb.fleet.retire: or one)",
        applies=lambda s, p: _RENAMED.applies(s, p) and (p.retires or s.container.state == "absent"),
    ),
    _UNCLEAR._replace(
        when="the engine list does not decide, and has entries about this engine",
        applies=lambda s, p: s.listed.state == "unknown" and s.listed.is_about_it,
    ),
    _NOT_INSTALLED,
    _EXITED,
    Rule(
        "replace_requested",
        "the container is running, restarting or paused",
        lambda s, p: True,
        "replace",
        lambda s, p: (
            f"Container slb is {s.container.state}; the "
            + ("host is retired." if p.retires else "operator states that the engine list does not list its engine.")
        ),
        "None needed: slb.fleet.remediate sets the container aside. Then run slb.fleet.rollout.",
    ),
)
"""The rules of slb.fleet.remediate and slb.fleet.retire, which set a container aside and request no installation."""
