# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module, then confirm its change over a fresh SSH connection. The host rolls back what is not confirmed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import refuse_in_inventory

_CONFIRM_SECONDS, _DHCP_SECONDS = 60, 15
_PAUSE_SECONDS = 2
_ACTIVATION_SECONDS = 30
"""Of the timer that rolls back: what it waits in addition to the two times of the options."""
_FRESH = "-o ControlMaster=no -o ControlPath=none"
"""Before the user's options, because ssh takes the first value of an option."""


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        refuse_in_inventory(variables, self._loader)
        arguments = self.task_arguments()
        is_adoption = arguments.get("state", "present") == "present"
        if is_adoption and self._connection.transport != "ssh":
            raise FleetError(
                "connection_not_supported",
                f"Interfaces not adopted: connection plugin {self._connection.transport} cannot confirm the change.",
                "Use ansible_connection: ssh for this host.",
            )
        result = self.on_host("interface", arguments, attempts=1)
        token = result.pop("token", None)
        seconds = _DHCP_SECONDS
        if token and not result.get("failed"):  # the module has checked the options
            seconds = int(arguments.get("dhcp_timeout") or seconds)
            self._confirm(str(token), int(arguments.get("confirm_timeout") or _CONFIRM_SECONDS), seconds)
        warnings = list(_warnings(result, seconds))
        return {**result, "warnings": warnings} if warnings else result

    def _confirm(self, token: str, seconds: int, dhcp_timeout: int) -> None:
        """Confirm until it has succeeded, or the host rolls back. Raises FleetError."""
        until = f"within {dhcp_timeout + _ACTIVATION_SECONDS + seconds} s"
        shared = self._connection.get_option("ssh_args") or ""
        self._connection.set_option("ssh_args", f"{_FRESH} {shared}")
        deadline, cause, repair = time.monotonic() + seconds, "", ""
        while True:
            try:
                answer = self.on_host("_engine_step", {"step": "confirm", "request_id": token}, attempts=1)
            except (AnsibleConnectionFailure, FleetError) as error:
                cause, repair = str(error), "Repair SSH to this host, then run again."
            else:
                if not answer.get("failed"):
                    return
                cause, repair = str(answer.get("msg")), "Run again."
                # A try whose connection broke may still run on the host.
                if answer.get("code") != "host_busy":
                    code, fix = str(answer.get("code") or "not_confirmed"), str(answer.get("fix") or "Run again.")
                    if code not in ("rolled_back", "network_changed"):
                        fix = f"The host rolls the adoption back {until}. {fix}"
                    raise FleetError(code, cause, fix)
            if time.monotonic() >= deadline:
                raise FleetError(
                    "not_confirmed",
                    f"Adoption not confirmed over a fresh SSH connection: {cause[-200:].strip()}",
                    f"The host rolls it back {until}. {repair}",
                )
            time.sleep(_PAUSE_SECONDS)


def _warnings(result: Mapping[str, Any], seconds: int) -> Iterator[str]:
    if result.get("rolled_back"):
        yield f"Unconfirmed adoption of an earlier run rolled back: {', '.join(map(str, result['rolled_back']))}."
    for name in [each.get("name") for each in result.get("adopted") or () if each.get("addresses") == []]:
        again = f"`nmcli connection modify {name} ipv4.method auto` and `nmcli connection up {name}` on the host"
        yield f"{name} has no address: no DHCP answer within {seconds} s. To ask again, run {again}."
    for name in [each.get("name") for each in result.get("released") or () if each.get("was_deleted")]:
        yield f"Profile of {name} was deleted by hand: the rest is restored, unless another profile is active there."
