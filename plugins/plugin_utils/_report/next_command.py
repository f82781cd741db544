# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command to run next: playbook, inventory, limit and extra variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ansible.inventory.manager import split_host_pattern

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    BAD,
    MAX_NAMES,
    RETIRED,
    HostEntry,
    HostPlan,
    Run,
    can_be_named,
    file_for_retry,
)

_ROLLOUT, _REMEDIATE, _RETIRE = "slb.fleet.rollout", "slb.fleet.remediate", "slb.fleet.retire"
_ONLY_REMEDIATE = {"missing_from_engine_list"}
_FOR_NAMED_HOSTS = (_REMEDIATE, _RETIRE, "slb.fleet.adopt_interfaces")
"""Playbooks that change a host because it is named."""
_NOT_DECIDED = (
    *("engine_list_unavailable", "engine_list_unreliable", "engine_list_empty", "engine_list_incomplete"),
    *("engine_list_not_as_configured", "management_node_unavailable", "login_rejected", "session_replaced"),
    *("tls_pin_mismatch", "tls_untrusted", "unexpected_answer", "requests_missing"),
    *("invalid_option", "invalid_variable", "missing_option", "missing_variable", "task_failed"),
)
"""A rollout would fail with the same code, so the same playbook is proposed again."""
_UNAPPROVED = {"not_in_approved_plan", "approved_plan_invalid"}
_LIMITING = ("slb_interfaces", "slb_max_replaced")
"""Without such a variable, the next run would change more than the one that failed."""


def run_again(plan: HostPlan, what: str = "again") -> str:
    """Return the fix of a host with work left that names no other one; empty for a host without work."""
    is_work = plan.action in ("record", "restore", "start", "install", "replace")
    return f"Run {what} to {plan.steps[-1] if plan.steps else plan.action}." if is_work else ""


def next_command(run: Run, hosts: Sequence[HostEntry], folder: str) -> str:
    """Return the command for all hosts that need one; empty if none does. ``folder``: of the reports."""
    planned = [host for host in hosts if host.status == "planned"]
    chosen = planned or [host for host in hosts if host.status in BAD]
    retired = [host for host in chosen if host.code == RETIRED and run.playbook != _ROLLOUT]
    chosen = [host for host in chosen if host not in retired]
    if run.playbook == _RETIRE and run.status == "finished" and not chosen and not run.check:
        retired = list(hosts)
    if retired and not chosen:
        return f"Remove from the inventory: {', '.join(host.name for host in retired)}"
    if run.status == "running" or not chosen:
        return ""
    codes = {host.code for host in chosen}
    is_unapproved = bool(codes & _UNAPPROVED)
    if is_unapproved and run.awx_job_id is not None:
        return "Launch the workflow again, and approve its new plan."
    playbook = _playbook(run, chosen, codes)
    limit = _limit(run, playbook, [host.name for host in chosen], "" if planned else folder)
    if limit is None:
        return ""
    if run.awx_job_id is not None:
        return f"Launch the template of {playbook}{', with the limit ' + limit if limit else ''}."
    is_check = is_unapproved or (run.check and not planned and playbook == run.playbook)
    options = [*(["--check"] if is_check else []), *(["--limit", limit] if limit else [])]
    extra_vars = [word for extra_var in _extra_vars(run, chosen) for word in ("-e", extra_var)]
    return shlex.join(["ansible-playbook", *run.inventory, *run.options, playbook, *options, *extra_vars])


def _extra_vars(run: Run, hosts: Sequence[HostEntry]) -> list[str]:
    """Return the extra variables without those that a cause or a fix names, and without a plan that does not hold.

    If one of these limits the run, it is kept with the value ``...``, which has to be corrected.
    """
    blamed = set(re.findall(r"\bslb_\w+", " ".join(f"{host.summary} {host.fix}" for host in hosts)))
    if any(host.code in _UNAPPROVED for host in hosts):
        blamed.add("slb_approved_plan")
    names = [(text.partition("=")[0], text) for text in run.extra_vars]
    return [
        f"{name}=..." if name in blamed else text for name, text in names if name not in blamed or name in _LIMITING
    ]


def _playbook(run: Run, hosts: Sequence[HostEntry], codes: set[str]) -> str:
    if codes <= _ONLY_REMEDIATE:
        return _REMEDIATE
    is_decided = any(
        host.action and host.status in ("failed", "planned") and host.code not in _NOT_DECIDED for host in hosts
    )
    return _ROLLOUT if is_decided and run.playbook in ("slb.fleet.diagnose", "slb.fleet.audit") else run.playbook


def _limit(run: Run, playbook: str, names: Sequence[str], folder: str) -> str | None:
    """Return the value of ``--limit``, empty for none; None if no host can be named."""
    named = [name for name in names if can_be_named(name)]
    if playbook in _FOR_NAMED_HOSTS or len(named) <= MAX_NAMES:
        return ",".join(named) or None
    file = f"@{folder}/{file_for_retry(named)}"
    if folder and run.awx_job_id is None and split_host_pattern(file) == [file]:
        return file
    # A healthy host that is checked again is not changed.
    return run.limit if run.limit and visible(run.limit) == run.limit else ""
