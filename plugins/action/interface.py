# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module, then confirm its change over a fresh SSH connection. The host rolls back what is not confirmed."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import refuse_in_inventory

_CONFIRM_SECONDS = 60
_PAUSE_SECONDS = 2
_FRESH = "-o ControlMaster=no -o ControlPath=none"
"""Before the user's options, because ssh takes the first value of an option."""


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        refuse_in_inventory(variables, self._loader)
        arguments = self.given()
        is_adoption = arguments.get("state", "present") == "present"
        if is_adoption and self._connection.transport != "ssh":
            raise FleetError(
                "connection_not_supported",
                f"Interfaces not adopted: connection plugin {self._connection.transport} cannot confirm the change.",
                "Use ansible_connection: ssh for this host.",
            )
        result = self.on_host("interface", arguments, attempts=1)
        token = str(result.pop("token", ""))
        if result.get("pending") and not result.get("failed"):
            self._confirm(token, int(arguments.get("confirm_timeout") or _CONFIRM_SECONDS))
            result["pending"] = []
        if result.get("rolled_back"):
            names = ", ".join(map(str, result["rolled_back"]))
            result["warnings"] = [f"Unconfirmed adoption of an earlier run rolled back: {names}."]
        return result

    def _confirm(self, token: str, seconds: int) -> None:
        """Confirm until it has succeeded, or the host rolls back. Raises FleetError."""
        shared = self._connection.get_option("ssh_args") or ""
        self._connection.set_option("ssh_args", f"{_FRESH} {shared}")
        deadline, cause = time.monotonic() + seconds, ""
        while True:
            try:
                answer = self.on_host("_interface_confirm", {"token": token}, attempts=1)
            except (AnsibleConnectionFailure, FleetError) as error:
                cause = str(error)
            else:
                if not answer.get("failed"):
                    return
                cause = str(answer.get("msg"))
                # A try whose connection broke may still run on the host.
                if answer.get("code") != "host_busy":
                    code, fix = str(answer.get("code") or "not_confirmed"), str(answer.get("fix") or "Run again.")
                    raise FleetError(code, cause, fix)
            if time.monotonic() >= deadline:
                raise FleetError(
                    "not_confirmed",
                    f"Adoption not confirmed over a fresh SSH connection: {cause[-200:].strip()}",
                    f"The host rolls it back within {seconds} s. Repair SSH to this host, then run again.",
                )
            time.sleep(_PAUSE_SECONDS)
