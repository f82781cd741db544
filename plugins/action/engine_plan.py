# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the plan of a host: gather facts, read the shared engine list, compare with the other hosts, decide."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._approved_plan import (
    check_approved_plan,
    find_difference,
    note_work,
    work_of,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._batch import WATCH_SECONDS, note_state
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction, raise_failure
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import refuse_in_inventory, unknown_variables

PHASES = ["check", "compare", "deploy", "verify", "remediate", "retire"]
_HOST_SECONDS = 20
"""Part of a task's time that the fetch of the engine list leaves for the host."""
_END_SECONDS = 5
"""Part of a task's time that the login, the last call, leaves for the result."""
ARGUMENTS: dict[str, dict[str, Any]] = {
    "phase": {"type": "str", "default": "check", "choices": PHASES},
    "planned": {"type": "dict"},
    "record": {"type": "bool", "default": False},
    "list_unknown_engines": {"type": "bool", "default": False},
    "may_be_late": {"type": "bool", "default": False},
}


class ActionModule(HostAction):
    builds = ("slb_host",)

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        options = self.read_options(ARGUMENTS, variables)
        phase, planned = options["phase"], options["planned"] or {}
        if phase == "compare" and "plan" not in planned:
            raise invalid("planned", "it is not a plan", "Pass the result of the check of this host.")
        try:
            self._refuse_tag()
            refuse_in_inventory(variables, self._loader)
            host = FleetHost.from_variables(variables, self._templar, phase=phase)
            # Of a play with batches, the others have not been checked.
            hosts = "ansible_play_batch" if self._task.get_play().serial else "ansible_play_hosts_all"
            check_approved_plan(host, variables[hosts])
        except FleetError as error:
            # The variables of one host do not end the check of the others.
            for subject in ("work left", "invalid variables"):
                Reservations().note(subject, str(variables["inventory_hostname"]))
            return {**_failed_plan(error), "warnings": _unknown_variables(variables)}
        self.limit = min(self.limit, host.variables["host_timeout"])
        host.reserve()
        # A management node that hangs is not a failure of the host.
        host.end = self.time_before_end(_HOST_SECONDS)
        if phase == "compare":
            return self._compare(host, planned, options)
        if phase in ("deploy", "verify"):
            watch = WATCH_SECONDS if options["may_be_late"] else 0.0
            try:
                result = self._deploy(host, planned, options)
            except FleetError:
                # The next check is as far away as that of a host in progress.
                time.sleep(min(watch, self.seconds_left(math.inf)))
                raise
            if watch:
                watch = min(watch, self.seconds_left(math.inf))
                result["is_late"] = note_state(host, variables, result["plan"]["action"], watch)
            return result
        result = self._check(host, options) if phase == "check" else self._remediate(host)
        warnings = _unknown_variables(variables)
        return {**result, "warnings": warnings} if warnings else result

    def _check(self, host: FleetHost, options: Mapping[str, Any]) -> dict[str, Any]:
        """Make the first plan of a host, while the others are not known."""
        host.fetch_list()
        slb_host = self._gather_facts(host)
        plan = self._with_session(host, host.plan(slb_host))
        result = self._result(host, slb_host, plan)
        note_work(host, result["work"])
        # One host of each management node lists the unknown engines, after all hosts have been checked.
        lists_unknown = options["list_unknown_engines"] and host.is_first_to_list_unknown()
        if lists_unknown or "slb_host" in result:
            host.reservations.note("work left", host.name)
        if host.variables["license_dest"]:
            host.reservations.note("license", host.name)
        return result

    def _compare(self, host: FleetHost, planned: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Make the plan of a checked host in the light of the others. The host is not asked again."""
        self._refuse_strategy()
        if planned["plan"].get("engine_list") == "unavailable" and planned["plan"]["action"] == "fail":
            return {**planned, "changed": False}
        host.fetch_list()
        unknown = {"unknown_engines": host.unknown_engines()} if options["list_unknown_engines"] else {}
        if "slb_host" not in planned:  # it is healthy
            return {**planned, **unknown, "changed": False}
        slb_host = planned["slb_host"]
        plan = host.plan(slb_host, is_compared=True)
        recorded: dict[str, Any] = {}
        if options["record"]:  # all hosts have been compared before, if there is an approved plan
            plan = host.plan_again(difference=find_difference(host, work_of(plan, host, slb_host)))
            recorded, plan = self._record(host, slb_host, plan)
        plan = self._with_session(host, plan)
        result = {**self._result(host, slb_host, plan), **recorded, **unknown}
        is_changed_now = "slb_host" in result and plan.action != "fail" and not self._task.check_mode
        if options["record"] and is_changed_now:
            host.reservations.note("ready", host.name)
        elif not options["record"] and host.variables["approved_plan"] is not None:
            note_work(host, result["work"])
        return result

    def _deploy(self, host: FleetHost, planned: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Make the plan of a host whose turn it is, or whose deployment is awaited.

        ``planned``: the result of this run's last request, or the plan that was made after it.
        """
        sent = planned.get("sent") or planned
        host.fetch_list(is_deploying=True)
        slb_host = self._gather_facts(host, is_again=True)
        plan = host.plan(slb_host, sent, is_compared=True)
        if not sent.get("requests"):
            plan = host.plan_again(difference=find_difference(host, work_of(plan, host, slb_host)))
        recorded, plan = self._record(host, slb_host, plan) if options["record"] else ({}, plan)
        plan = self._with_session(host, plan)
        result = {**self._result(host, slb_host, plan, sent), **recorded}
        if "request_id" not in result and planned.get("request_id"):
            result["request_id"] = planned["request_id"]
        return result

    def _remediate(self, host: FleetHost) -> dict[str, Any]:
        """Make the plan of a named host, whose container may be set aside."""
        host.fetch_list()
        slb_host = self._gather_facts(host)
        result = self._result(host, slb_host, host.plan(slb_host))
        note_work(host, result["work"])
        return result

    def _refuse_tag(self) -> None:
        """Raise FleetError for an import with the tag never: the tag always of the plays outranks it."""
        if "never" in (getattr(self._task, "tags", None) or ()):
            summary = "Tag never without effect: playbooks of slb.fleet run as a whole."
            raise FleetError("invalid_option", summary, "Remove the tag, or the import.")

    def _refuse_strategy(self) -> None:
        """Raise FleetError if the play does not wait for all hosts between two tasks."""
        strategy = str(self._task.get_play().strategy)
        if strategy.endswith(("free", "host_pinned")):
            summary = f"Strategy {strategy} rejected: the hosts are compared before one of them is changed."
            raise FleetError("invalid_option", summary, "Set strategy: linear for this play.")

    def _gather_facts(self, host: FleetHost, *, is_again: bool = False) -> dict[str, Any]:
        gather = self.on_host_again if is_again else self.on_host
        arguments = {
            "ignored_starters": host.variables["ignored_starters"],
            "time_limit": self.seconds_left(host.variables["host_timeout"]),
        }
        answer = gather("host_info", arguments)
        raise_failure(answer)
        return answer.get("slb_host") or {}

    def _with_session(self, host: FleetHost, plan: Plan) -> Plan:
        """Return the plan; before anything is touched, that of a management node that gives no session."""
        if plan.action not in ("install", "replace"):
            return plan
        host.end = self.time_before_end(_END_SECONDS)
        try:
            connection = host.connect()
            Client(connection, RunCache(connection)).log_in()
        except FleetError as error:
            return host.plan_again(session=error)
        return plan

    def _record(self, host: FleetHost, slb_host: Mapping[str, Any], plan: Plan) -> tuple[dict[str, Any], Plan]:
        """Record the engine if that is the plan; return what the result has of it, and the plan that is left."""
        if plan.action != "record":
            return {}, plan
        arguments = {
            "state": "verified",
            **asdict(host.engine),
            "container_id": slb_host["engine_container"]["id"],
            "verified_by": plan.verified_by,
            "remove_leftovers": host.policy.remove_leftovers,
        }
        answer = self.on_host_again("engine_record", arguments)
        raise_failure(answer)
        is_changed = bool(answer.get("changed"))
        values = {key: bool(answer.get(key)) for key in ("has_deleted", "is_unknown")}
        result = {"changed": is_changed, "has_recorded": is_changed, **values}
        if "diff" in answer:
            result["diff"] = answer["diff"]
        if self._task.check_mode:
            return result, plan
        return result, Plan("none", plan.code, plan.summary, verified_by=plan.verified_by)

    def _result(
        self, host: FleetHost, slb_host: Mapping[str, Any], plan: Plan, sent: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        state, sent = host.last_state, sent or {}
        result: dict[str, Any] = {
            "changed": False,
            "plan": {
                **asdict(plan),
                "moves_banner": plan.action in ("install", "replace") and host.moves_banner(slb_host),
                "steps": host.steps(plan, slb_host) if plan.action != "fail" else [],
                "engine_list": state.listed.state,
                "seen": state.in_words(),
            },
            "engine": asdict(host.engine),
        }
        result["work"] = work_of(plan, host, slb_host)
        if plan.action != "none" or host.has_other_work:
            # A healthy host of a large fleet returns little: each value is copied several times.
            requests = int(sent.get("requests") or 0)
            settings = {**host.settings, "check_mode": bool(self._task.check_mode)}
            result.update(slb_host=dict(slb_host), requests=requests, settings=settings)
            if sent.get("outcome") == "unknown":
                result["sent"] = {key: sent.get(key) for key in ("requests", "outcome", "msg")}
        if plan.action in ("install", "replace"):
            # Made before the step: after a time limit, the rescue has to know it.
            result["request_id"] = uuid.uuid4().hex
        return result


def _unknown_variables(variables: Mapping[str, Any]) -> list[str]:
    """Return a warning for each unknown variable, once in a run."""
    return [
        f"Variable {visible(name)} unknown{f' (did you mean {near}?)' if near else ''}: it has no effect."
        for name, near in unknown_variables(variables).items()
        if Reservations().is_first(f"unknown variable {name}")
    ]


def _failed_plan(error: FleetError) -> dict[str, Any]:
    plan = Plan("fail", error.code, error.summary, error.fix)
    details: dict[str, Any] = {"moves_banner": False, "steps": [], "engine_list": "", "seen": []}
    return {"changed": False, "plan": {**asdict(plan), **details}}
