# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's plan is made: observed state and policy in, a plan out. No I/O.

The first rule that applies makes the plan, of ``RULES`` or of ``REMEDIATION_RULES``; the last one always applies.
``SAFETY_CHECKS`` can then turn a plan that changes something into a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import safety
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import is_another_machine
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import RETIRED, Action
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Health, Policy, Record, State

_RECORD_FILE = "/etc/ansible/facts.d/slb_engine.fact"
_NO_LIST = "engine_list_unavailable"
_PASSING = (_NO_LIST, "management_node_unavailable")
"""Failures of the engine list that may end without a change of the settings."""
_MAX_NAMES = 10
_GONE_SECONDS = 24 * 3600
"""Within this time, an engine that replaced one which was gone does not go by chance."""


@dataclass(frozen=True)
class Plan:
    """What to do on a host, and why.

    ``code``: stable word for reports. ``verified_by``: with ``none`` and ``record``. ``by_list``: the engine list alone
    calls a live container a leftover.
    """

    action: Action
    code: str
    summary: str
    fix: str = ""
    verified_by: Literal["host", "engine_list"] | None = None
    by_list: bool = False


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


def decide(state: State, policy: Policy) -> Plan:
    """Return the plan of one host. Exactly one rule applies to each state."""
    rules = REMEDIATION_RULES if policy.remediates else RULES
    rule = next(rule for rule in rules if rule.applies(state, policy))
    action = rule.action if isinstance(rule.action, str) else rule.action(state, policy)
    plan = Plan(
        action,
        # A rejected login or a wrong certificate keeps its own code.
        state.listed.code
        if state.listed.code and state.listed.state == "unavailable" and rule.code == _NO_LIST
        else rule.code,
        _text(rule.summary, state, policy),
        _text(rule.fix, state, policy) if action in ("fail", "wait") else "",
        verified_by=("engine_list" if state.listed.state == "running" else "host")
        if action in ("none", "record")
        else None,
        by_list=action == "replace" and rule.code == "leftover",
    )
    is_shared = False
    for check in SAFETY_CHECKS:
        if plan.action in check.actions and check.applies(state, policy):
            code = check.code if isinstance(check.code, str) else check.code(state)
            summary = _text(check.summary, state, policy)
            # A cause that many hosts share has the same words for all.
            shown = summary if check.is_shared else f"{plan.summary} {summary}"
            plan, is_shared = Plan("fail", code, shown, _text(check.fix, state, policy)), check.is_shared
    # A renamed container may be the engine: no other one is to take its name. A cause of many hosts is not about one.
    can_restore = state.container.state == "absent" and not state.record.verified_name and not is_shared
    if plan.action in ("fail", "wait") and state.unresolved:
        names = " and ".join(aside.name for aside in state.unresolved)
        restore = f"{restore_by_hand(state.container.state)} restores the last one"
        plan = replace(plan, fix=f"{plan.fix} Set aside: {names}; {restore}.".strip())
    elif plan.action == "fail" and state.stopped_leftovers and can_restore:
        # The record may be lost; the name of the leftover still shows what it was, and the name slb is free.
        last, runtime = max(state.stopped_leftovers), state.container.runtime
        restore = f"`{runtime} rename {last} slb` and `{runtime} start slb` on the host restore it"
        plan = replace(plan, fix=f"{plan.fix} Set aside earlier: {last}; {restore}.".strip())
    return plan


def restore_by_hand(state: str | None) -> str:
    """Return the command that restores what is set aside. ``state``: of the container slb, which keeps the name."""
    command = "`ansible HOST -b -m slb.fleet.engine_container -a state=restored`"
    return command if state == "absent" else f"when no container slb exists any more, {command}"


def _text(text: str | Callable[[State, Policy], str], state: State, policy: Policy) -> str:
    if not isinstance(text, str):
        return text(state, policy)
    container, record = state.container, state.record
    return text.format(
        state=container.state,
        runtime=container.runtime,
        engine=state.engine.name,
        address=state.engine.manage_ip,
        age=f"{record.age:.0f}",
        why=container.why or "no reason reported",
        listed=state.listed.words or state.listed.state,
        answer=state.answer or "no message",
    )


# Conditions that several rules share.


def _is_listed_running(state: State, policy: Policy) -> bool:
    return state.listed.state == "running"


def _is_not_in_list(state: State) -> bool:
    """Return whether the engine list can be trusted to say that no such engine runs."""
    return state.listed.state in ("failed", "not_listed", "elsewhere")


def _list_is_unclear(state: State, policy: Policy) -> bool:
    """A list that does not decide must not lead to the stop of a container that may serve traffic."""
    if state.listed.state != "unknown":
        return False
    return state.listed.is_about_it or state.container.is_live


def _is_list_incomplete(state: State, policy: Policy) -> bool:
    """A live container whose engine is missing from a part of the list may be the engine."""
    return state.listed.state == "incomplete" and state.container.is_live


def _is_healthy(state: State, policy: Policy) -> bool:
    if not state.is_verified or not _has_health(state, "", "healthy", "silent"):
        return False
    if state.has_list:
        return _is_listed_running(state, policy)
    return state.is_stable(policy) or state.container.restart_count == 0


def _has_health(state: State, *words: Health) -> bool:
    return state.container.state == "running" and state.container.health in words


def _is_unhealthy(state: State, policy: Policy) -> bool:
    """Return whether the engine, not a leftover, fails its health check."""
    if not _has_health(state, "unhealthy"):
        return False
    if _is_listed_running(state, policy):
        return True
    if state.is_open or _is_not_in_list(state) or state.listed.state == "deploying":
        return False
    is_adopted = _is_to_adopt(state, policy) and not state.has_list
    return state.is_verified or _is_own_over(state, policy) or is_adopted


def _start_or_fail(state: State, policy: Policy) -> Action:
    """Return fail; with slb_stopped_engine: start, and nothing in the engine list against it, start."""
    is_possible = (
        state.is_verified and state.is_down and state.listed.state in ("not_configured", "running", "incomplete")
    )
    return "start" if policy.stopped_engine == "start" and is_possible else "fail"


def _is_of_another_engine(state: State, policy: Policy) -> bool:
    """A wrong address leads to another host, whose engine and record must stay."""
    record = state.record
    if policy.retires:
        return record.state not in ("none", "invalid") and not state.record_is_current
    is_its_container = record.state == "verified" and record.last_verified == state.container.id
    is_other = (is_its_container and not state.record_is_current) or (
        state.is_after_request_of_other and state.container.is_live
    )
    is_stated = policy.remediates or policy.unverified_engine == "adopt"
    return is_other and state.container.state != "absent" and not is_stated


def _managed(state: State) -> FleetError:
    return safety.managed(state.container.manager, state.container.manager_fix)


def _is_name_taken(state: State) -> bool:
    """Return whether a live container that came with no request has the name of the set-aside one."""
    container, record, aside = state.container, state.record, state.record.set_aside
    is_other = aside is not None and aside.id != container.id and aside.exists is not False
    return container.is_live and is_other and (container.id in record.containers_before or not record.sent)


def _is_own_over(state: State, policy: Policy) -> bool:
    return state.is_after_request and state.remaining(policy) == 0


def _has_failed(state: State, policy: Policy) -> bool:
    """Return whether the container that came with our request is not an engine. A person has paused a paused one."""
    is_dead = not state.has_settled(policy) or state.listed.state == "failed"
    return state.is_after_request and is_dead and state.container.state != "paused"


def _is_deployed(state: State, policy: Policy) -> bool:
    """Return whether the container that came with our request verifies the deployment without an engine list."""
    return state.is_after_request and state.is_stable(policy) and not state.container.manager and not state.has_list


def _is_to_adopt(state: State, policy: Policy) -> bool:
    return policy.unverified_engine == "adopt" and state.container.state == "running"


def _install_or_replace(state: State, policy: Policy) -> Action:
    """Return install without a container, else replace."""
    return "install" if state.container.state == "absent" else "replace"


def _adopt_or_fail(state: State, policy: Policy) -> Action:
    """Return fail; record if slb_unverified_engine is adopt."""
    if not _is_to_adopt(state, policy):
        return "fail"
    if state.is_stable(policy):
        return "record"
    return "wait" if state.is_settling(policy) else "fail"


def _unverified_action(state: State, policy: Policy) -> Action:
    """Return fail, record or replace, by slb_unverified_engine."""
    return "replace" if policy.unverified_engine == "replace" else _adopt_or_fail(state, policy)


def _stop_running_leftovers(state: State) -> str:
    if not state.running_leftovers:
        return ""
    return f"Run `{state.container.runtime} stop {' '.join(state.running_leftovers)}` on the host. "


def _is_gone_again(state: State, policy: Policy) -> bool:
    is_young = state.record.replaced_gone and state.record.age < _GONE_SECONDS
    return is_young and state.record.state == "verified"


def _install_unless_gone_again(state: State, policy: Policy) -> Action:
    """Return install; fail if the container replaced one that was gone, and was verified less than 24 h ago."""
    return "fail" if _is_gone_again(state, policy) else "install"


def _fix_of_existing(state: State) -> str:
    runtime = state.container.runtime
    if state.container.is_dead:
        return f"Container slb cannot start: run `{runtime} rm --force slb` on the host. "
    return f"If it is this container, run `{runtime} start slb` on the host. " if state.is_down else ""


def _start_by_hand(state: State) -> str:
    if state.container.is_dead:
        return f"It cannot start: run `{state.container.runtime} rm --force slb` on the host"
    runtime, verb = state.container.runtime, "unpause" if state.container.state == "paused" else "start"
    by_run = "Set slb_stopped_engine: start, or r" if state.is_verified and state.is_down else "R"
    return f"{_stop_running_leftovers(state)}{by_run}un `{runtime} {verb} slb` on the host"


def _port_holders(state: State, policy: Policy) -> str:
    held = [
        f"{each.port} ({each.process or 'unknown process'}{f', container {each.container}' if each.container else ''})"
        for each in state.ports[:8]
    ]
    has_container = any(each.container for each in state.ports[:8])
    rename = (
        f" If that is the engine in a renamed container, run `{state.container.runtime} rename CONTAINER slb` instead."
    )
    return (
        f"{_stop_running_leftovers(state)}Stop the process that uses the port, then run again."
        f"{rename if has_container else ''} Ports in use: {', '.join(held) or 'none seen'}."
    )


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
    _is_unhealthy,
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
    _is_healthy,
    "none",
    "Engine runs in the recorded container.",
)
_RUNNING = Rule(
    "running_in_engine_list",
    "the engine list shows running, and the container runs",
    lambda s, p: _is_listed_running(s, p) and s.container.state == "running",
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
    _is_listed_running,
    _start_or_fail,
    lambda s, p: (
        "Engine list shows running, but the host has no container slb."
        if s.container.state == "absent"
        else f"Engine list shows running, but container slb is {s.container.state}."
    ),
    lambda s, p: (
        f"{_stop_running_leftovers(s)}Remove the engine in the web console, then run slb.fleet.rollout."
        if s.container.state == "absent"
        else f"{_start_by_hand(s)}, or remove the engine in the web console."
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
    _list_is_unclear,
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
        _port_holders,
    ),
    Rule(
        "exists_elsewhere",
        "the management node reports that the engine exists",
        lambda s, p: s.outcome == "exists",
        "fail",
        "Engine exists at the management node: {answer}.",
        lambda s, p: (
            _fix_of_existing(s)
            + (
                "The engine list did not show this engine: correct slb_engine_list, or the rights of its user. "
                if _is_not_in_list(s)
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
            and (
                _is_healthy(s, p) or _is_deployed(s, p) or (_is_listed_running(s, p) and s.container.state == "running")
            )
        ),
        "fail",
        lambda s, p: (
            f"Engine is healthy, but containers that were set aside run, too: {', '.join(s.running_leftovers)}."
        ),
        lambda s, p: f"{_stop_running_leftovers(s)}Find what started them, then run again.",
    ),
    _HEALTHY,
    Rule(
        "engine_restarting",
        "the engine list shows running, the container runs, and its health check has not reported yet",
        lambda s, p: _is_listed_running(s, p) and s.container.health == "starting",
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
        lambda s, p: s.is_open and not _is_name_taken(s),
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
        _is_deployed,
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
            and not _is_not_in_list(s)
        ),
        "wait",
        lambda s, p: (
            "Health check of the verified container has not reported yet."
            if s.has_settled(p)
            else "Verified container was restarted within slb_settle, or keeps restarting."
        ),
        lambda s, p: (
            f"{_stop_running_leftovers(s)}Check `{s.container.runtime} logs slb` on the host. Repair it there, or run "
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
        lambda s, p: f"Engine list does not show verified engines: {', '.join(s.run.missing[:_MAX_NAMES])}.",
        "Check slb_engine_list, the rights of its user, and the engines in the web console.",
    ),
    Rule(
        "missing_from_engine_list",
        "a verified engine is not in the engine list, or failed there",
        lambda s, p: s.is_verified and _is_not_in_list(s),
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
        _is_list_incomplete,
        "fail",
        "Engine {engine} not in the engine list, which may be incomplete: {listed}.",
        lambda s, p: s.listed.fix or "Configure the size of the list; slb.fleet.show_engine_list shows the result.",
    ),
    Rule(
        "engine_stopped",
        "the verified container does not run",
        lambda s, p: s.is_verified and s.container.state != "running",
        _start_or_fail,
        "Verified engine stopped: container slb is {state}.",
        lambda s, p: f"{_start_by_hand(s)}, or slb.fleet.remediate.",
    ),
    Rule(
        "container_changed",
        "the recorded container was replaced by another one, and no engine list is configured",
        lambda s, p: s.was_verified and s.container.is_live and not s.is_verified and not s.has_list,
        _adopt_or_fail,
        "Recorded container was replaced by another one, which is {state}.",
        "If the web console updated the engine, run slb.fleet.rollout with -e slb_unverified_engine=adopt. "
        "If it is a leftover, run slb.fleet.remediate.",
    ),
    Rule(
        "deployment_settling",
        "the wait for a deployment is over, and its container runs for less than slb_settle",
        lambda s, p: _is_own_over(s, p) and s.is_settling(p),
        "wait",
        "Container came up a moment ago.",
        "Check `{runtime} logs slb` on the host, then run again.",
    ),
    Rule(
        "engine_list_mismatch",
        "the wait for a deployment is over, its container is stable, and the engine list does not show it as running",
        lambda s, p: _is_own_over(s, p) and s.has_settled(p) and s.has_list and s.listed.state != "failed",
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
            and (s.container.state == "absent" or (_has_failed(s, p)))
        ),
        _install_or_replace,
        lambda s, p: (
            f"Deployment failed: {s.record.age:.0f} s after the request, container slb is {s.container.state}."
        ),
    ),
    Rule(
        "container_gone",
        "the verified container was removed; a second one within 24 h is not installed again",
        lambda s, p: s.container.state == "absent" and s.was_verified,
        _install_unless_gone_again,
        lambda s, p: (
            f"Engine is gone again, at most {s.record.age / 60:.0f} min after it was verified: something on the host "
            "removes it."
            if _is_gone_again(s, p)
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
        _unverified_action,
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
        applies=lambda s, p: _is_listed_running(s, p) and _has_health(s, "unhealthy"),
    ),
    _HEALTHY._replace(
        when="the recorded container runs, and the engine list confirms it",
        applies=lambda s, p: _is_listed_running(s, p) and s.is_verified and _has_health(s, "", "healthy", "silent"),
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
        lambda s, p: f"{_stop_running_leftovers(s)}Then run again.",
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
        "managed_by_systemd",
        "a systemd unit or Quadlet would start the container again",
        ("start", "install", "replace"),
        lambda s, p: bool(s.container.manager) and _managed(s).code == "managed_by_systemd",
        lambda s, p: _managed(s).summary,
        lambda s, p: _managed(s).fix,
    ),
    SafetyCheck(
        "managed_by_other",
        "a supervisor, cron, compose, swarm, Kubernetes, Nomad or ECS would start the container again",
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
        "the container could not be started again: a file that it mounts is missing, or the container whose network it "
        "uses does not run",
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
        lambda s, p: f"Engine list does not show verified engines that run: {', '.join(s.run.missing[:_MAX_NAMES])}.",
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
            f"{', '.join(s.run.replacements[:_MAX_NAMES])}."
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
