# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install or replace the engine of one host: prepare the host, request the installation, restore if it is not accepted.

The order of the steps keeps two promises: no request is sent that the host's record does not show, and no second one
while the first may still be accepted. docs/dev/architecture.md shows the protocol.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import EXISTS, PORT_IN_USE, REJECTED
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import CHECK_FIRST, request_install
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import boot_time
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction, connection_lost, raise_failure
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Outcome

_NEGATIVE = (EXISTS, PORT_IN_USE, REJECTED)
_SEND_SECONDS = 30
"""Time from the record of the request to its first byte. ``slb_wait_timeout`` of other runs is longer."""
_LOCK_SECONDS = 10


ARGUMENTS: dict[str, dict[str, Any]] = {"plan": {"type": "dict", "required": True}}


class ActionModule(HostAction):
    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        if result.get("failed"):
            # The others of the batch know it before its rescue, which runs when they have been verified. Without the
            # note, they wait for this host, too.
            with contextlib.suppress(FleetError):
                Reservations().note("failed in its batch", str(self._variables.get("inventory_hostname")))
        return result

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        planned = self._task.args.get("plan")
        if not isinstance(planned, Mapping) or not {"plan", "slb_host", "request_id"} <= set(planned):
            raise FleetError("invalid_option", "Option plan invalid.", "Pass the result of slb.fleet.engine_plan.")
        host = FleetHost.from_variables(variables, self._templar)
        request_id, requests = str(planned["request_id"]), int(planned.get("requests") or 0)
        if host.reservations.noted(f"sent {request_id}"):
            raise FleetError("state_changed", "Install request of this plan sent already.", "Plan the host again.")
        connection = host.connect()
        client = Client(connection, RunCache(connection))
        client.log_in()
        host.fetch_list(is_deploying=True)
        plan = host.plan(planned["slb_host"], {"requests": requests}, is_compared=True)
        if plan.action != planned["plan"]["action"] or plan.action not in ("install", "replace"):
            raise FleetError(
                "state_changed" if plan.action != "fail" else plan.code,
                f"Plan no longer valid: {plan.summary}" if plan.action != "fail" else plan.summary,
                plan.fix or "Run again.",
            )
        step = {"request_id": request_id, **asdict(host.engine)}
        prepare = {**step, **_expectations(host, planned), "step": "prepare", "action": plan.action}
        prepared = self._on_host_twice(host, prepare)
        result = {
            "changed": True,
            "requests": requests + 1,
            "request_id": request_id,
            "set_aside_as": prepared.get("set_aside_as"),
        }
        if self._task.check_mode:
            return {**result, "requests": requests, "msg": f"Would request the installation of {host.engine.name}."}
        outcome, failure = self._request(host, client, step, prepared)
        if outcome in _NEGATIVE:
            self._restore(host, prepared, request_id, outcome, failure)
        # Of an unknown outcome, the answer may show the cause.
        msg = failure.summary if failure else f"Installation of {host.engine.name} {outcome}."
        warnings = []
        if failure and failure.values.get("status_code") and not failure.fix.startswith(CHECK_FIRST):
            # A redirect to another address is shown before the wait, which may be in vain.
            warnings.append(str(failure))
        if client.is_one_at_a_time and host.reservations.is_first(f"one at a time {host.engine.base_url}"):
            warnings.append("Management node changes the session with its answers: calls are made one at a time.")
        return {**result, "outcome": outcome, "msg": msg, **({"warnings": warnings} if warnings else {})}

    def _request(
        self, host: FleetHost, client: Client, step: dict[str, Any], prepared: Mapping[str, Any]
    ) -> tuple[Outcome, FleetError | None]:
        """Record the request and send it, at most once. Return its outcome, and the failure that it came with."""
        try:
            _require_record(prepared, step["request_id"], "prepared")
            began = boot_time()
            marked = self._on_host_twice(host, {**step, "step": "mark"})
            _require_record(marked, step["request_id"], "requested")
            host.reservations.note(f"sent {step['request_id']}", host.name)
            install = request_install(client, host.request, host.variables, send_by=began + _SEND_SECONDS)
        except FleetError as error:
            return error.values.get("outcome") or "rejected", error
        if install.outcome == EXISTS:
            return "exists", FleetError("exists_elsewhere", "Engine exists.", "", answer=install.answer)
        return cast("Outcome", install.outcome), None

    def _restore(
        self,
        host: FleetHost,
        prepared: Mapping[str, Any],
        request_id: str,
        outcome: Outcome,
        failure: FleetError | None,
    ) -> None:
        """Restore the host after a request that was not sent or not accepted, and raise the failure.

        Returns if a container that came after the request has the name ``slb``: then the host decides.
        """
        own = {"request_id": request_id, "open_age": 0, "requested_age": 0, "lock_timeout": _LOCK_SECONDS}
        try:
            answer = self.on_host_again("_engine_step", {"step": "restore", **own})
        finally:
            # After the step: a controller that cannot write must not keep the container from being restored.
            with contextlib.suppress(FleetError):
                host.reservations.note(f"not accepted {request_id}", host.name)
        if answer.get("is_replaced"):
            return
        words = str(failure.values.get("answer") or failure.summary) if failure else ""
        plan = decide(replace(host.last_state, outcome=outcome, answer=words.rstrip(".")), host.policy)
        code, summary, fix = plan.code, plan.summary, plan.fix
        if failure and "answer" not in failure.values:
            # No answer: the request was not sent.
            code, summary, fix = failure.code, failure.summary, failure.fix
        values: dict[str, Any] = {"restored": bool(answer.get("restored")), "requests": 1}
        aside = prepared.get("set_aside_as")
        if answer.get("is_unknown") and not answer.get("failed"):
            # The execution whose answer was lost may have restored it; the role's rescue reads the host again.
            summary, values["is_unknown"] = f"{summary} Whether the container was restored is unknown.", True
        elif answer.get("failed"):
            summary = f"{summary} Container not restored: {answer.get('msg')}"
            code, fix = str(answer.get("code") or "partially_restored"), str(answer.get("fix") or fix)
        elif answer.get("restored"):
            summary = f"{summary} The container was restored."
        elif aside:
            summary = f"{summary} Container set aside as {aside}."
        if aside and not answer.get("restored"):
            values["set_aside_as"] = aside
        raise FleetError(code, summary, fix, outcome=outcome, **values)

    def _on_host_twice(self, host: FleetHost, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a step. If an answer is lost, the second execution finishes the first and answers again.

        Raises FleetError; with the value ``is_unknown`` if an answer was lost.
        """
        lost: str | None = None
        for _attempt in range(2):
            seconds = self.seconds_left(host.step_seconds)
            limits = {"time_limit": seconds, "lock_timeout": min(_LOCK_SECONDS, int(seconds))}
            try:
                answer = self.on_host("_engine_step", {**arguments, **limits}, attempts=1)
            except AnsibleConnectionFailure as error:
                lost = str(error)
            except FleetError as error:
                if error.code != "host_unreachable":
                    error.values["is_unknown"] = True  # no failure of the module: what it did is not known
                    raise
                lost = error.summary.rstrip(".")
            else:
                try:
                    raise_failure(answer)
                except FleetError as error:
                    if lost is not None:
                        error.values["is_unknown"] = True  # a refusal does not say what the first execution did
                    raise
                return answer
            self.reset_connection()
        raise connection_lost(lost or "")


def _expectations(host: FleetHost, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the step that come from the plan and the variables."""
    container, record = planned["slb_host"]["engine_container"], planned["slb_host"]["record"]
    return {
        "expected": {
            "container_id": container["id"],
            "container_state": container["state"],
            "record_state": record["state"],
            "record_request_id": record.get("request_id"),
        },
        "allow_established": host.policy.allow_established,
        "remove": host.policy.remove_leftovers,
        "ignored_starters": host.variables["ignored_starters"],
        "stop_timeout": host.variables["stop_timeout"],
        "wait_timeout": host.variables["wait_timeout"],
    }


def _require_record(answer: Mapping[str, Any], request_id: str, state: str) -> None:
    """Raise FleetError unless the host confirms that its record has the request in this state."""
    written = answer.get("record") or {}
    if (written.get("state"), written.get("request_id")) != (state, request_id):
        raise FleetError(
            "record_not_writable",
            "Deployment record not confirmed by the host. No install request was sent.",
            "Check the host, then run again.",
        )
