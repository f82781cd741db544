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
    progress in one line. A cause that several hosts share is shown once.
  - With C(-v), and for other playbooks, the output is Ansible's.
  - The plan or the result at the end is that of P(slb.fleet.report#callback). Enable both.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set it with C(stdout_callback = slb.fleet.fleet) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_STDOUT_CALLBACK).
seealso:
  - plugin: slb.fleet.report
    plugin_type: callback
"""

import sys
import time
from datetime import datetime
from typing import Any

from ansible import constants, context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

from ansible_collections.slb.fleet.plugins.module_utils._visible import amount, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report import recorder as recording
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import HostPlan
from ansible_collections.slb.fleet.plugins.plugin_utils._report.events import (
    host_of,
    is_own,
    module_of,
    own_playbook,
    task_of,
    values_of,
    warnings_of,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_command import run_again
from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import PREFIX, observe
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import failure, fitted, terminal_width
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import DEPLOY, Reservations

_COLLECT = "Collect late hosts"
_ERASE = "\r\x1b[K"


class CallbackModule(DefaultCallback):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "slb.fleet.fleet"

    _is_quiet = False
    _is_plan = False

    def __init__(self) -> None:
        super().__init__()
        self._recorder: recording.Recorder | None = None
        self._forget()
        self._has_report = f"{PREFIX}report" in (constants.CALLBACKS_ENABLED or ())
        self._is_terminal = sys.stdout.isatty()
        self._next_progress = time.monotonic() + self._progress_seconds

    def _forget(self) -> None:
        """Forget the playbook before."""
        self._printed: set[tuple[str, ...]] = set()
        self._plans: dict[str, HostPlan] = {}
        self._failed: set[str] = set()
        self._late: set[str] = set()
        self._changed_at: dict[str, float] = {}
        self._batch = 0

    @property
    def _progress_seconds(self) -> float:
        return 1 if self._is_terminal else 30

    def v2_playbook_on_play_start(self, play: Any) -> None:
        recording.begin_at(play)
        if recording.current is not self._recorder:
            self._recorder = recording.current
            self._forget()
        self._is_quiet = is_own(play) and not self._display.verbosity
        self._is_plan = bool(context.CLIARGS.get("check")) or own_playbook(play) == f"{PREFIX}diagnose"
        if not self._is_quiet:
            super().v2_playbook_on_play_start(play)
        elif play.get_name() == DEPLOY and not self._is_plan and Reservations().has_turn(DEPLOY):
            self._show_batch(play)
        elif play.get_name() == _COLLECT and self._late:
            self._erase()
            self._line(f"collecting  {amount(len(self._late), 'late host')}")

    def v2_runner_on_ok(self, result: Any) -> None:
        if self._is_quiet:
            self._show(result)
        else:
            super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        if not self._is_quiet:
            super().v2_runner_on_failed(result, ignore_errors=ignore_errors)
        elif ignore_errors and not module_of(task_of(result)).startswith(PREFIX):
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
        if self._is_quiet:
            self._erase()
        else:
            super().v2_playbook_on_stats(stats)

    def _line(self, text: str, color: str | None = None) -> None:
        self._print(f"{datetime.now():%H:%M:%S}  {text}", color)

    def _print(self, text: str, color: str | None = None) -> None:
        self._display.display(fitted(text, terminal_width()), color=color)

    def _erase(self) -> None:
        if self._is_terminal:
            self._display.display(_ERASE, newline=False, screen_only=True)

    def _show_progress(self) -> None:
        """Show how far the run is, if it is time. Called at each event: a run that waits checks its hosts again."""
        now = time.monotonic()
        if recording.current is None or recording.current.is_quiet or now < self._next_progress:
            return
        self._next_progress = now + self._progress_seconds
        text = visible(recording.current.progress(now))
        if self._is_terminal:
            # The cursor stands at the start of the line, so that a warning overwrites it.
            self._display.display(f"{_ERASE}{text}\r", newline=False, screen_only=True)
        else:
            self._line(text)

    def _show_batch(self, play: Any) -> None:
        known = play.get_variable_manager().get_vars(play=play)
        hosts = [host for host in known["ansible_play_batch"] if host in set(known["ansible_play_hosts_all"])]
        if hosts:
            self._batch += 1
            late = f" ({len(self._late)} late)" if self._late else ""
            canary = " (canary)" if self._batch == 1 and len(hosts) == 1 else late
            self._erase()
            self._line(
                f"batch {self._batch}{canary}  {visible(hosts[0]) if len(hosts) == 1 else f'{len(hosts)} hosts'}"
            )

    def _show(self, result: Any) -> None:
        self._show_progress()
        self._show_warnings(result)
        task = task_of(result)
        module = module_of(task)
        # In a large fleet, the result of a check is not worth a copy.
        is_check = module == f"{PREFIX}engine_plan" and task.args.get("phase", "check") == "check"
        if module == "ansible.builtin.debug":
            self._show_message(result)
        elif module.startswith(PREFIX) and not self._is_plan and not is_check:
            self._show_changes(host_of(result), module, task, result)

    def _show_changes(self, host: str, module: str, task: Any, result: Any) -> None:
        observed = observe(module, values_of(result), str(task.delegate_to or ""))
        for change in observed.changes:
            if change.code == "record_verified" and host in self._changed_at:
                continue  # the line below says so
            self._changed_at.setdefault(host, time.monotonic())
            self._erase()
            self._line(f"{visible(host)}  {change.text}", constants.COLOR_CHANGED)
        if observed.plan:
            self._plans[host] = observed.plan
            (self._late.add if observed.is_late else self._late.discard)(host)
        if observed.plan and observed.plan.action == "none" and host in self._changed_at:
            seconds = time.monotonic() - self._changed_at.pop(host)
            where = "in the engine list" if observed.plan.verified_by == "engine_list" else "on the host"
            self._erase()
            self._line(f"{visible(host)}  healthy  (verified {where}, {seconds:.0f} s)", constants.COLOR_OK)

    def _show_warnings(self, result: Any) -> None:
        # Warnings of other modules are about the run, and are shown once.
        is_of_host = module_of(task_of(result)) == f"{PREFIX}interface"
        for text in warnings_of(result):
            self._erase()
            self._display.warning(f"[{visible(host_of(result))}]: {visible(text)}" if is_of_host else visible(text))

    def _show_message(self, result: Any) -> None:
        values = values_of(result)
        if "results" in values:
            return  # of a loop, whose items were shown
        message = values.get("msg")
        parts = message if isinstance(message, list) else [message]
        texts = [text for text in parts if isinstance(text, str)]
        self._erase()
        if len(texts) < len(parts):
            super().v2_runner_on_ok(result)
        elif texts:
            self._line(f"{visible(host_of(result))}  {visible(texts[0])}")
            for text in texts[1:]:
                self._print(visible(text))

    def _show_failure(self, status: str, result: Any) -> None:
        """Show a failure; a cause that other hosts share once. The last task of a play only ends a failed host."""
        self._show_warnings(result)
        host = host_of(result)
        observed = observe(module_of(task_of(result)), values_of(result, is_failed=status == "failed"))
        plan, last = observed.plan, self._plans.get(host)
        if plan is None and not observed.code and status == "failed":
            if host in self._failed:
                return
            if last and observed.summary.startswith(last.summary):
                plan = last
        self._failed.add(host)
        self._late.discard(host)
        code = (
            plan.code if plan else observed.code or ("host_unreachable" if status == "unreachable" else "task_failed")
        )
        summary, fix = (plan.summary, plan.fix) if plan else (observed.summary, observed.fix)
        if self._batch and plan and not fix:
            fix = run_again(plan)
        is_in_report = self._is_plan and self._has_report
        if is_in_report or not summary or (code, summary, fix) in self._printed:
            return
        self._printed.add((code, summary, fix))
        self._erase()
        first, *rest = failure(visible(host), status, code, summary, plan.seen if plan else (), fix)
        self._line(visible(first), constants.COLOR_ERROR)
        for line in rest:
            self._print(visible(line), constants.COLOR_ERROR)


def _quiet(name: str) -> Any:
    """Return a method that shows what Ansible shows, except for playbooks of this collection: then the progress."""

    def method(self: CallbackModule, *arguments: Any, **named: Any) -> None:
        if self._is_quiet:
            self._show_progress()
        else:
            getattr(super(CallbackModule, self), name)(*arguments, **named)

    return method


for _name in (
    "v2_playbook_on_start",
    "v2_playbook_on_task_start",
    "v2_playbook_on_cleanup_task_start",
    "v2_playbook_on_handler_task_start",
    "v2_playbook_on_include",
    "v2_playbook_on_no_hosts_matched",
    "v2_playbook_on_no_hosts_remaining",
    "v2_runner_on_start",
    "v2_runner_on_skipped",
    "v2_runner_on_async_poll",
    "v2_runner_retry",
    "v2_runner_item_on_skipped",
    "v2_runner_item_on_failed",
):
    setattr(CallbackModule, _name, _quiet(_name))
