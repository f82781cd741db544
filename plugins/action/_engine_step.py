# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module on the host, and take declared keys only from its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.slb.fleet.plugins.plugin_utils._batch import note_failure
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import restore_by_hand
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._state import OPEN


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the module's result. This is not the first contact: a lost connection is a failure."""
        arguments = self.task_arguments()
        is_own = boolean(arguments.pop("own", False))
        if is_own:
            # The step may still run on the host, and its connection may be dead.
            self.reset_connection()
            arguments["open_age"] = 0
            # A request of this run is restored at once, unless it may have been accepted.
            notes, request_id = Reservations(), str(arguments.get("request_id"))
            if not notes.noted(f"sent {request_id}") or notes.noted(f"not accepted {request_id}"):
                arguments["requested_age"] = 0
        if self._task.timeout:
            arguments.setdefault("time_limit", self.seconds_left(self._task.timeout))
        try:
            answer = self.on_host_again("_engine_step", arguments)
        finally:
            # After the step: a controller that cannot write must not keep a container from being restored.
            if is_own:
                note_failure(variables)
        return {**answer, "afterwards": _describe(answer)} if is_own and not answer.get("failed") else answer


def _describe(answer: Mapping[str, Any]) -> str:
    """Return what the host was read to be, and how to restore a container that is still set aside."""
    record, state = answer.get("record") or {}, (answer.get("after") or {}).get("state")
    aside = record.get("set_aside") if record.get("state") in (*OPEN, "requested") else None
    words = f"Container slb is {state}."
    return f"{words} Set aside: {aside['name']}; {restore_by_hand(state)} restores it." if aside else words
