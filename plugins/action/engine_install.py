# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install or replace the engine of one host: prepare the host, request the installation, restore if it is rejected.

The host's record is written before the request, and the request is sent only if the record is known to be written.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils.management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import (
    EXISTS,
    PORT_IN_USE,
    REJECTED,
    Engine,
    request_install,
)
from ansible_collections.slb.fleet.plugins.plugin_utils.decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils.fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils.host_action import HostAction, raise_failure
from ansible_collections.slb.fleet.plugins.plugin_utils.options import in_variables
from ansible_collections.slb.fleet.plugins.plugin_utils.run_cache import RunCache
from ansible_collections.slb.fleet.plugins.plugin_utils.state import Outcome

_NEGATIVE = (EXISTS, PORT_IN_USE, REJECTED)


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._install(variables)
        except FleetError as error:
            raise in_variables(error) from None

    def _install(self, variables: dict[str, Any]) -> dict[str, Any]:
        planned = self._task.args.get("plan")
        if not isinstance(planned, Mapping) or "slb_host" not in planned:
            raise FleetError("invalid_option", "Option plan invalid.", "Pass the result of slb.fleet.engine_plan.")
        host = FleetHost.from_variables(variables, self._templar)
        requests = int(planned.get("requests") or 0)
        connection = Connection.from_options(host.connection)
        client = Client(connection, RunCache(connection))
        client.log_in()
        host.fetch_list(host.list_age(planned["plan"]))
        plan = host.plan(planned["slb_host"], requests=requests, is_compared=True)
        if plan.action != planned["plan"]["action"] or plan.action not in ("install", "replace"):
            raise FleetError(
                "state_changed" if plan.action != "fail" else plan.code,
                f"Plan no longer valid: {plan.summary}" if plan.action != "fail" else plan.summary,
                plan.fix or "Run again.",
            )
        step = {
            "request_id": uuid.uuid4().hex,
            **{"name": host.engine.name, "manage_ip": host.engine.manage_ip, "base_url": host.engine.base_url},
        }
        prepared = self._prepare(host, planned, {**step, "action": plan.action}, variables)
        result = {
            "changed": True,
            "requests": requests + 1,
            "request_id": step["request_id"],
            "set_aside_as": prepared.get("set_aside_as"),
            "before": prepared.get("before"),
        }
        if self._task.check_mode:
            return {**result, "requests": requests, "msg": f"Would request the installation of {host.engine.name}."}
        outcome, failure = self._request(host, client)
        if outcome in _NEGATIVE:
            if outcome == EXISTS and planned["plan"].get("by_list"):
                host.reservations.note(f"list wrong {host.engine.base_url}", host.name)
            self._restore(host, step, outcome, failure, variables)
        return {**result, "outcome": outcome, "msg": f"Installation of {host.engine.name} {outcome}."}

    def _prepare(
        self, host: FleetHost, planned: Mapping[str, Any], step: dict[str, Any], variables: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the answer of the host. The record is then known to be written. Raises FleetError."""
        container, record = planned["slb_host"]["engine_container"], planned["slb_host"]["record"]
        arguments = {
            **step,
            "step": "prepare",
            "expected": {
                "container_id": container["id"],
                "container_state": container["state"],
                "record_state": record["state"],
                "record_request_id": record.get("request_id"),
            },
            "allow_established": host.policy.allow_established,
            "remove_leftovers": host.policy.remove_leftovers,
            "stop_timeout": host.variables["stop_timeout"],
        }
        try:
            answer = self.on_host("engine_install", arguments, variables)
        except AnsibleConnectionFailure:
            # The answer is lost, not necessarily the step: one execution more finishes it and answers again.
            answer = self.on_host_again("engine_install", arguments, variables)
        raise_failure(answer)
        written = answer.get("record") or {}
        if not self._task.check_mode and (
            written.get("state") != "requested" or written.get("request_id") != step["request_id"]
        ):
            raise FleetError(
                "record_not_writable",
                "Deployment record not confirmed by the host. No install request was sent.",
                "Check the host, then run again: the next run restores what was begun.",
            )
        return answer

    def _request(self, host: FleetHost, client: Client) -> tuple[Outcome, FleetError | None]:
        """Send the request, at most once. Return its outcome, and the failure that it came with."""
        options = {**host.variables, "name": host.engine.name, "manage_ip": host.engine.manage_ip}
        try:
            install = request_install(client, Engine.from_options(options), options)
        except FleetError as error:
            return error.values.get("outcome") or "rejected", error
        if install.outcome == EXISTS:
            return "exists", FleetError("exists_elsewhere", "Engine exists.", "", answer=install.answer)
        return cast("Outcome", install.outcome), None

    def _restore(
        self,
        host: FleetHost,
        step: dict[str, Any],
        outcome: Outcome,
        failure: FleetError | None,
        variables: dict[str, Any],
    ) -> None:
        """Restore the host after a definite negative answer, and raise the failure. Raises FleetError."""
        answer = self.on_host_again("engine_install", {**step, "step": "restore"}, variables)
        words = str(failure.values.get("answer") or failure.summary) if failure else ""
        plan = decide(replace(host.last_state, outcome=outcome, answer=words.rstrip(".")), host.policy)
        code, summary, fix = plan.code, plan.summary, plan.fix
        if failure and "answer" not in failure.values:
            # No answer: the request was not sent.
            code, summary, fix = failure.code, failure.summary, failure.fix
        if answer.get("failed"):
            summary = f"{summary} Container not restored: {answer.get('msg')}"
            code, fix = str(answer.get("code") or "partially_restored"), str(answer.get("fix") or fix)
        elif answer.get("restored"):
            summary = f"{summary} The container was restored."
        raise FleetError(code, summary, fix, outcome=outcome, restored=bool(answer.get("restored")), requests=1)
