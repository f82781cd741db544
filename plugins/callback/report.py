# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints, at the end of a run, one line for each engine host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: One line for each engine host at the end of a run
version_added: 0.1.0
author: slb.fleet contributors (@slb-fleet)
description:
  - Says of each host how its engine stands and what proves it, how long the host took, what was seen, what was changed
    and what went wrong. Hosts that could not be reached, or were not attempted because the run ended before, are
    listed as such.
  - It comes after every run, also after one that was ended by failures.
requirements:
  - Enable it with C(callbacks_enabled = slb.fleet.report) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_CALLBACKS_ENABLED).
"""

import reprlib
import time
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.slb.fleet.plugins.plugin_utils._report import Report

_TOLD = ("slb.fleet.host_fate", "slb.fleet.host_info")
"""The tasks that say how a host stands."""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "slb.fleet.report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._report = Report()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        inventory = play.get_variable_manager()._inventory
        # All hosts of the play, and not only those of the batch that begins.
        hosts = inventory.get_hosts(play.hosts, ignore_restrictions=True)
        self._report.expect(str(play._uuid), [host.get_name() for host in hosts])

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        self._report.begin(host.get_name(), time.monotonic())

    def v2_runner_on_ok(self, result: Any) -> None:
        task, values = result._task, result._result
        if (getattr(task, "resolved_action", None) or task.action) not in _TOLD:
            # Any other module's result is a host's own words, of which only that something was changed is told.
            values = {"changed": bool(values.get("changed"))}
        self._report.end(result._host.get_name(), task.name, values, time.monotonic())

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            self._trouble("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._trouble("unreachable", result)

    def _trouble(self, kind: str, result: Any) -> None:
        # An include that fails gives its reason under another name.
        words = result._result.get("msg") or result._result.get("reason") or "it gave no reason"
        words = words if isinstance(words, str) else reprlib.repr(words)
        self._report.fail(result._host.get_name(), kind, words, time.monotonic())

    def v2_playbook_on_stats(self, stats: Any) -> None:
        lines = list(self._report.lines())
        if lines:
            self._display.banner("FLEET REPORT")
            for line in lines:
                self._display.display(line)
