# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For people at a terminal: changes, failures, and how far the run is."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
type: stdout
short_description: Show changes and failures of a fleet
version_added: 1.0.0
author: slb.fleet contributors (@slb-fleet)
description:
  - For playbooks of this collection, shows one line for each change and each failure of a host, with its time, and the
    progress. A cause that several hosts share is shown once.
  - With C(-v), and for other playbooks, the output is Ansible's.
  - The plan or the result at the end is that of P(slb.fleet.report#callback). Enable both.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set it with C(stdout_callback = slb.fleet.fleet) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_STDOUT_CALLBACK).
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible import constants, context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import HostPlan, may_have_done, seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import failure
from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import (
    PREFIX,
    arguments_of,
    is_own,
    module_of,
    own_playbook,
    told,
    warnings_of,
)

_DEPLOY = "Deploy the engines"


class CallbackModule(DefaultCallback):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "slb.fleet.fleet"

    _is_quiet = False
    _is_plan = False

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[tuple[str, ...]] = set()
        self._plans: dict[str, HostPlan] = {}
        self._failed: dict[str, tuple[str, str]] = {}
        self._changed_at: dict[str, float] = {}
        self._batch = 0
        self._has_report = f"{PREFIX}report" in (constants.CALLBACKS_ENABLED or ())

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._is_quiet = is_own(play) and not self._display.verbosity
        self._is_plan = bool(context.CLIARGS.get("check")) or own_playbook(play) == f"{PREFIX}diagnose"
        if not self._is_quiet:
            super().v2_playbook_on_play_start(play)
        elif play.get_name() == _DEPLOY and not self._is_plan:
            self._show_batch(play)

    def v2_runner_on_ok(self, result: Any) -> None:
        if self._is_quiet:
            self._show(result)
        else:
            super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        if not self._is_quiet:
            super().v2_runner_on_failed(result, ignore_errors=ignore_errors)
        elif ignore_errors:
            self._show_warnings(result)
        else:
            self._show_failure("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        if self._is_quiet:
            self._show_failure("unreachable", result)
        else:
            super().v2_runner_on_unreachable(result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        if self._is_quiet:
            self._show(result)
        else:
            super().v2_runner_item_on_ok(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        if not self._is_quiet:
            super().v2_playbook_on_stats(stats)

    def _line(self, text: str, color: str | None = None) -> None:
        self._display.display(f"{datetime.now():%H:%M:%S}  {text}", color=color)

    def _show_batch(self, play: Any) -> None:
        known = play.get_variable_manager().get_vars(play=play)
        hosts = [host for host in known["ansible_play_batch"] if host in set(known["ansible_play_hosts_all"])]
        if hosts:
            self._batch += 1
            canary = " (canary)" if self._batch == 1 and len(hosts) == 1 else ""
            self._line(
                f"batch {self._batch}{canary}  {visible(hosts[0]) if len(hosts) == 1 else f'{len(hosts)} hosts'}"
            )

    def _show(self, result: Any) -> None:
        self._show_warnings(result)
        module, arguments = module_of(result), arguments_of(result)
        if module == "ansible.builtin.debug":
            self._show_message(result)
        elif not self._is_plan and module.startswith(PREFIX) and not _is_check(module, arguments):
            self._show_changes(result, may_have_done(module, arguments))

    def _show_changes(self, result: Any, may_have_done: bool) -> None:
        each = told(result)
        found = seen(each.module, each.values, each.on)
        if found.host_plan:
            self._plans[each.host] = found.host_plan
        if may_have_done:
            for change in found.changes:
                self._changed_at.setdefault(each.host, time.monotonic())
                self._line(f"{visible(each.host)}  {change.sentence}", constants.COLOR_CHANGED)
        if found.host_plan and found.host_plan.action == "none" and each.host in self._changed_at:
            seconds = time.monotonic() - self._changed_at.pop(each.host)
            where = "in the engine list" if found.host_plan.verified_by == "engine_list" else "on the host"
            self._line(f"{visible(each.host)}  healthy  (verified {where}, {seconds:.0f} s)", constants.COLOR_OK)

    def _show_warnings(self, result: Any) -> None:
        # Warnings of other modules are about the run, and are shown once.
        is_of_host = module_of(result) == f"{PREFIX}interface"
        for text in warnings_of(result):
            self._display.warning(f"[{visible(told(result).host)}]: {visible(text)}" if is_of_host else visible(text))

    def _show_message(self, result: Any) -> None:
        each = told(result)
        if "results" in each.values:
            return  # of a loop, whose items were shown
        said = each.values.get("msg")
        said = said if isinstance(said, list) else [said]
        words = [line for line in said if isinstance(line, str)]
        if len(words) < len(said):
            super().v2_runner_on_ok(result)
        elif words:
            self._line(f"{visible(each.host)}  {visible(words[0])}")
            for line in words[1:]:
                self._display.display(visible(line))

    def _show_failure(self, status: str, result: Any) -> None:
        """Show a failure; a cause that other hosts share once, and what a later task repeats not again."""
        self._show_warnings(result)
        each = told(result)
        found = seen(each.module, each.values)
        plan, last = found.host_plan, self._plans.get(each.host)
        if plan is None and last and not found.code and found.summary.startswith(last.summary):
            plan = last
        code = plan.code if plan else found.code or ("host_unreachable" if status == "unreachable" else "task_failed")
        summary, fix = (plan.summary, plan.fix) if plan else (found.summary, found.fix)
        before = self._failed.get(each.host)
        if before and not found.code and not found.host_plan and found.summary.startswith(before[1]):
            # A later task repeats the failure; only what is new is shown.
            code, fix, plan = before[0], "", None
            summary = found.summary.removeprefix(before[1]).strip()
        else:
            self._failed[each.host] = code, f"{summary} {fix}".strip()
        is_in_report = self._is_plan and self._has_report
        if is_in_report or not summary or (code, summary, fix) in self._printed:
            return
        self._printed.add((code, summary, fix))
        seen_there = plan.evidence if plan else ()
        first, *rest = failure(visible(each.host), status, code, summary, seen_there, fix)
        self._line(visible(first), constants.COLOR_ERROR)
        for line in rest:
            self._display.display(visible(line), color=constants.COLOR_ERROR)


def _is_check(module: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a task only checks the host: in a large fleet its result is not worth a copy."""
    return module == f"{PREFIX}engine_plan" and not {"checked", "installed", "compare"} & set(arguments)


def _quiet(name: str) -> Any:
    """What Ansible's own output tells of tasks, and this one does not."""

    def method(self: CallbackModule, *arguments: Any, **named: Any) -> None:
        if not self._is_quiet:
            getattr(super(CallbackModule, self), name)(*arguments, **named)

    return method


for _name in (
    "v2_playbook_on_task_start",
    "v2_playbook_on_cleanup_task_start",
    "v2_playbook_on_handler_task_start",
    "v2_playbook_on_include",
    "v2_playbook_on_no_hosts_matched",
    "v2_playbook_on_no_hosts_remaining",
    "v2_playbook_on_start",
    "v2_runner_on_start",
    "v2_runner_on_skipped",
    "v2_runner_on_async_poll",
    "v2_runner_retry",
    "v2_runner_item_on_skipped",
    "v2_runner_item_on_failed",
):
    setattr(CallbackModule, _name, _quiet(_name))
