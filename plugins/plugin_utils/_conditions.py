# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions, actions and texts of the rules for a host's plan. No I/O."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Action
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Health, Policy, State

MAX_NAMES = 10
"""As many names are in a text."""
_GONE_SECONDS = 24 * 3600
"""Within this time, an engine that replaced one which was gone does not go by chance."""


def is_listed_running(state: State, policy: Policy) -> bool:
    return state.listed.state == "running"


def is_not_in_list(state: State) -> bool:
    """Return whether the engine list can be trusted to say that no such engine runs."""
    return state.listed.state in ("failed", "not_listed", "elsewhere")


def is_healthy(state: State, policy: Policy) -> bool:
    if not state.is_verified or not has_health(state, "", "healthy", "silent"):
        return False
    if state.has_list:
        return is_listed_running(state, policy)
    return state.is_stable(policy) or state.container.restart_count == 0


def has_health(state: State, *words: Health) -> bool:
    return state.container.state == "running" and state.container.health in words


def is_unhealthy(state: State, policy: Policy) -> bool:
    """Return whether the engine, not a leftover, fails its health check."""
    if not has_health(state, "unhealthy"):
        return False
    if is_listed_running(state, policy):
        return True
    if state.is_open or is_not_in_list(state) or state.listed.state == "deploying":
        return False
    is_adopted = is_to_adopt(state, policy) and not state.has_list
    return state.is_verified or is_own_over(state, policy) or is_adopted


def start_or_fail(state: State, policy: Policy) -> Action:
    """Return fail; with slb_stopped_engine: start, and nothing in the engine list against it, start."""
    is_possible = (
        state.is_verified and state.is_down and state.listed.state in ("not_configured", "running", "incomplete")
    )
    return "start" if policy.stopped_engine == "start" and is_possible else "fail"


def is_name_taken(state: State) -> bool:
    """Return whether a live container that came with no request has the name of the set-aside one."""
    container, record, aside = state.container, state.record, state.record.set_aside
    is_other = aside is not None and aside.id != container.id and aside.exists is not False
    return container.is_live and is_other and (container.id in record.containers_before or not record.sent)


def is_own_over(state: State, policy: Policy) -> bool:
    return state.is_after_request and state.remaining(policy) == 0


def has_failed(state: State, policy: Policy) -> bool:
    """Return whether the container that came with our request is not an engine. A person has paused a paused one."""
    is_dead = not state.has_settled(policy) or state.listed.state == "failed"
    return state.is_after_request and is_dead and state.container.state != "paused"


def is_deployed(state: State, policy: Policy) -> bool:
    """Return whether the container that came with our request verifies the deployment without an engine list."""
    return state.is_after_request and state.is_stable(policy) and not state.container.manager and not state.has_list


def is_to_adopt(state: State, policy: Policy) -> bool:
    return policy.unverified_engine == "adopt" and state.container.state == "running"


def install_or_replace(state: State, policy: Policy) -> Action:
    """Return install without a container, else replace."""
    return "install" if state.container.state == "absent" else "replace"


def adopt_or_fail(state: State, policy: Policy) -> Action:
    """Return fail; record if slb_unverified_engine is adopt."""
    if not is_to_adopt(state, policy):
        return "fail"
    if state.is_stable(policy):
        return "record"
    return "wait" if state.is_settling(policy) else "fail"


def unverified_action(state: State, policy: Policy) -> Action:
    """Return fail, record or replace, by slb_unverified_engine."""
    return "replace" if policy.unverified_engine == "replace" else adopt_or_fail(state, policy)


def stop_running_leftovers(state: State) -> str:
    if not state.running_leftovers:
        return ""
    return f"Run `{state.container.runtime} stop {' '.join(state.running_leftovers)}` on the host. "


def is_gone_again(state: State, policy: Policy) -> bool:
    is_young = state.record.replaced_gone and state.record.age < _GONE_SECONDS
    return is_young and state.record.state == "verified"


def install_unless_gone_again(state: State, policy: Policy) -> Action:
    """Return install; fail if the container replaced one that was gone, and was verified less than 24 h ago."""
    return "fail" if is_gone_again(state, policy) else "install"


def fix_of_existing(state: State) -> str:
    runtime = state.container.runtime
    if state.container.is_dead:
        return f"Container slb cannot start: run `{runtime} rm --force slb` on the host. "
    return f"If it is this container, run `{runtime} start slb` on the host. " if state.is_down else ""


def start_by_hand(state: State) -> str:
    if state.container.is_dead:
        return f"It cannot start: run `{state.container.runtime} rm --force slb` on the host"
    runtime, verb = state.container.runtime, "unpause" if state.container.state == "paused" else "start"
    by_run = "Set slb_stopped_engine: start, or r" if state.is_verified and state.is_down else "R"
    return f"{stop_running_leftovers(state)}{by_run}un `{runtime} {verb} slb` on the host"


def port_holders(state: State, policy: Policy) -> str:
    held = [
        f"{each.port} ({each.process or 'unknown process'}{f', container {each.container}' if each.container else ''})"
        for each in state.ports[:8]
    ]
    has_container = any(each.container for each in state.ports[:8])
    rename = (
        f" If that is the engine in a renamed container, run `{state.container.runtime} rename CONTAINER slb` instead."
    )
    return (
        f"{stop_running_leftovers(state)}Stop the process that uses the port, then run again."
        f"{rename if has_container else ''} Ports in use: {', '.join(held) or 'none seen'}."
    )
