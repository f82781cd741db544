# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine`` in the controller's own process, noted on the host where it was decided about one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import PORT_IN_USE, REJECTED
from ansible_collections.slb.fleet.plugins.modules.engine import ARGUMENTS, operation
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import proves_the_list_wrong
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils.management_node_action import ManagementNodeAction


class ActionModule(ManagementNodeAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(operation)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        decided = self._task.args.get("decided")
        if not decided:
            return super().run(tmp, task_vars)
        try:
            result = self._noted(decided, tmp, task_vars)
        except HostAnswerError as error:
            return {"failed": True, "msg": str(error)}
        # At once, and not when this host is looked at again: others of the batch may be about to be stopped.
        if proves_the_list_wrong(decided, result.get("outcome", "")):
            store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
            store.distrust(decided["engine"]["base_url"], str((task_vars or {}).get("inventory_hostname")))
        return result

    def _noted(self, decided: Mapping[str, Any], tmp: str | None, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """The note is made right before the request, or whoever finds it would count its wait too short."""
        note = self._note(_of_the_request(decided, is_check=bool(self._task.check_mode)), task_vars)
        if note.get("failed"):
            return note
        result = super().run(tmp, task_vars)
        is_over = result.get("outcome", REJECTED) in (PORT_IN_USE, REJECTED)
        if is_over and not self._task.check_mode:
            withdrawn = self._withdrawn(note["record"]["requested_at"], task_vars)
            if withdrawn.get("failed"):
                # Without an outcome: what is left to do is on the host.
                return {**withdrawn, "msg": f"{result.get('msg', '')} {withdrawn.get('msg', '')}".strip()}
        return result

    def _withdrawn(self, requested_at: float, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        try:
            return self._note({"state": "absent", "decided_about": requested_at}, task_vars)
        except HostAnswerError as error:
            return {"failed": True, "msg": str(error)}

    def _note(self, arguments: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        return OnHostAction.beside(self).on_host("slb.fleet.engine_record", arguments, STEP_SECONDS, task_vars)


def _of_the_request(decided: Mapping[str, Any], *, is_check: bool) -> dict[str, Any]:
    wanted = {option: decided["engine"][option] for option in ("name", "manage_ip", "base_url")}
    return {
        **wanted,
        "state": "requested",
        "attempt": decided["progress"]["asked"] + 1,
        "decided_about": decided["slb_host"]["record"].get("requested_at") or 0,
        # In check mode, a leftover is still there.
        "container_absent": not is_check,
    }
