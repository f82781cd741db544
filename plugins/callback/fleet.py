# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For people at a terminal: changes, failures, and how far the run is."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
type: stdout
short_description: Changes and failures alone, and how the fleet stands
version_added: 1.0.0
author: slb.fleet contributors (@slb-fleet)
description:
  - For runs of this collection's playbooks on engine hosts. A line for each change and each failure of a host, and for
    what a playbook has to say of it, the line of progress, and at the end how the fleet stands. With C(--diff), what
    differs, too. With C(-v), and for other playbooks, Ansible's own output.
  - Of a host with which nothing is to be done C(slb.fleet.diagnose) says nothing here without C(-v).
  - The report at the end is that of P(slb.fleet.report#callback), which is enabled beside it.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set it with C(stdout_callback = slb.fleet.fleet) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_STDOUT_CALLBACK).
"""

from typing import Any

from ansible import context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import may_have_done, seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import (
    PREFIX,
    arguments_of,
    is_own,
    module_of,
    own_playbook,
    told,
    warnings_of,
)


class CallbackModule(DefaultCallback):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "slb.fleet.fleet"

    _is_quiet = False
    _is_diagnosis = False

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, str] = {}
        self._fine: set[str] = set()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._is_quiet = is_own(play) and not self._display.verbosity
        self._is_diagnosis = own_playbook(play) == f"{PREFIX}diagnose"
        if not self._is_quiet:
            super().v2_playbook_on_play_start(play)

    def v2_runner_on_ok(self, result: Any) -> None:
        if self._is_quiet:
            self._tell(result)
        else:
            super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        if not self._is_quiet:
            super().v2_runner_on_failed(result, ignore_errors=ignore_errors)
        elif ignore_errors:
            self._tell_warnings(result)
        else:
            self._tell_trouble("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        if self._is_quiet:
            self._tell_trouble("unreachable", result)
        else:
            super().v2_runner_on_unreachable(result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        if self._is_quiet:
            self._tell(result)
        else:
            super().v2_runner_item_on_ok(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        if not self._is_quiet:
            super().v2_playbook_on_stats(stats)

    def _tell(self, result: Any) -> None:
        self._tell_warnings(result)
        module, arguments = module_of(result), arguments_of(result)
        if module == "ansible.builtin.debug":
            self._tell_words(result)
        elif self._is_diagnosis:
            self._note_whether_it_is_fine(result)
        elif may_have_done(module, arguments):
            self._tell_a_change(result)

    def _tell_warnings(self, result: Any) -> None:
        # What the others warn of is about the run, and is told once.
        is_of_host = module_of(result) == f"{PREFIX}interface"
        for text in warnings_of(result):
            self._display.warning(f"[{visible(told(result).host)}]: {visible(text)}" if is_of_host else visible(text))

    def _tell_words(self, result: Any) -> None:
        each = told(result)
        if "results" in each.values:
            return  # of a loop, whose turns were told
        said = each.values.get("msg")
        said = said if isinstance(said, list) else [said]
        words = [line for line in said if isinstance(line, str)]
        if len(words) < len(said):
            super().v2_runner_on_ok(result)
        elif each.host not in self._fine:
            self._display.display(f"[{visible(each.host)}]: {visible(' '.join(words))}")

    def _note_whether_it_is_fine(self, result: Any) -> None:
        each = told(result)
        host_plan = seen(each.module, each.values).host_plan
        if host_plan and host_plan.action == "none":
            self._fine.add(each.host)
        else:
            self._fine.discard(each.host)

    def _tell_a_change(self, result: Any) -> None:
        each = told(result)
        for deed in seen(each.module, each.values, bool(context.CLIARGS.get("check")), each.on).deeds:
            would = "would " if context.CLIARGS.get("check") else ""
            self._display.display(f"[{visible(each.host)}]: {would}{deed.sentence}", color="yellow")

    def _tell_trouble(self, kind: str, result: Any) -> None:
        self._tell_warnings(result)
        each = told(result)
        found = seen(each.module, each.values)
        words = found.host_plan.reason if found.host_plan else found.message
        # What fails after a rescue begins with the words of what failed first: only what is new is told.
        news = words.removeprefix(self._told.get(each.host, "")).strip()
        self._told[each.host] = words
        if news:
            self._display.display(f"[{visible(each.host)}]: {kind}: {news}", color="red")


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
