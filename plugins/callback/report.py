# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what a run does on each engine host, and report it during the run and at its end."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: Report how the fleet stands
version_added: 1.0.0
author: slb.fleet contributors (@slb-fleet)
description:
  - At the end of a run, shows the result with the hosts that need attention by code, the changes, and the next command.
  - In check mode and for C(slb.fleet.diagnose), shows the plan of each host instead. With C(-v), adds one line for each
    host.
  - During the run, shows the progress every 30 seconds.
  - Writes a report for people and for machines to a folder. A killed run leaves C(report.json) as it was last written.
  - Runs of other playbooks, and of C(slb.fleet.merge_reports), get no report.
options:
  report_dir:
    description:
      - Path of the folder for the reports; it is created if it is missing. Empty - write no files.
      - C(report.json), C(retry) (hosts for a next run) and C(slb_fleet.prom) are updated during the run.
      - C(report.html) is written at its end. Each file is replaced as a whole.
    type: str
    default: ''
    env:
      - name: SLB_REPORT_DIR
    ini:
      - section: slb_fleet
        key: report_dir
  each_host:
    description: Whether to show one line for each host at the end, as with C(-v).
    type: bool
    default: false
    env:
      - name: SLB_REPORT_EACH_HOST
    ini:
      - section: slb_fleet
        key: report_each_host
requirements:
  - Enable it with C(callbacks_enabled = slb.fleet.report) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_CALLBACKS_ENABLED).
"""

from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import identity, module_of_task, told
from ansible_collections.slb.fleet.plugins.plugin_utils._report.watcher import Watcher


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "slb.fleet.report"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._watcher = Watcher(self.get_option("report_dir") or "", self.get_option("each_host"))
        self._watcher.start(playbook.get_plays()[:1])

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._watcher.play(play)

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        if str(task.action).endswith("set_stats"):
            self._watcher.sum_up()

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        self._watcher.begin(host.get_name(), identity(task), module_of_task(task))

    def v2_runner_on_ok(self, result: Any) -> None:
        self._watcher.end("ok", told(result, is_well=True))

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._watcher.skip(told(result, is_well=True))

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._watcher.end("ok" if ignore_errors else "failed", told(result))

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._watcher.end("unreachable", told(result))

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._watcher.item(told(result, is_well=True))

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._watcher.finish("finished")
