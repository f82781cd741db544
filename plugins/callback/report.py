# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers what a run does to each engine host, and tells it, while it goes on and at its end."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: How the fleet stands, while a run goes on and at its end
version_added: 1.0.0
author: slb.fleet contributors (@slb-fleet)
description:
  - Says at the end how many hosts are healthy, what was done, which failed for which reason, the most frequent first,
    which were not started, and what to run next. With C(-v), also one line for each host.
  - While the run goes on, a line every 30 seconds shows the progress.
  - Writes all this to a folder, too, for people and for machines.
  - It is written after every run of this collection's playbooks on engine hosts, also if hosts failed. A killed run
    leaves C(report.json) as it was last written. Runs of other playbooks get none, nor do
    those that are about no host, such as C(slb.fleet.merge_reports).
options:
  report_dir:
    description:
      - A folder, which is made where it is not there. C(report.json), C(retry), the hosts for a next run, and
        C(slb_fleet.prom) are kept up to date there during the run; C(report.html) is complete at its end.
      - Each file is replaced as a whole. Empty for none.
    type: str
    default: ''
    env:
      - name: SLB_REPORT_DIR
    ini:
      - section: slb_fleet
        key: report_dir
  each_host:
    description: Whether there is a line for each host at the end, too, as with C(-v).
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
