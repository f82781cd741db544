# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module on the host, and take declared keys only from its answer."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.slb.fleet.plugins.plugin_utils.host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils.reservations import Reservations


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the module's result. This is no first contact: a lost connection is a failure."""
        given = self.given()
        if boolean(given.pop("own", False)):
            # The step may still run on the host, and its connection may be dead.
            self.reset_connection()
            given.update(open_age=0, **self._age_of_own(str(given.get("request_id"))))
        if self._task.timeout:
            given.setdefault("time_limit", self.seconds_left(self._task.timeout))
        return self.on_host_again("engine_container", given, variables)

    def _age_of_own(self, request_id: str) -> dict[str, Any]:
        """Return the age at which a request of this run is restored: at once, unless it may have been accepted."""
        notes = Reservations()
        may_be_accepted = notes.noted(f"sent {request_id}") and not notes.noted(f"not accepted {request_id}")
        return {} if may_be_accepted else {"requested_age": 0}
