# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the plan of a host: gather facts, read the shared engine list, compare with the other hosts, decide."""

from __future__ import annotations

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
    work_of,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import FleetHost, join_groups
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction, raise_failure
from ansible_collections.slb.fleet.plugins.plugin_utils._options import with_defaults
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
    "group": {"type": "str"},
    "license_group": {"type": "str"},
}


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        options = with_defaults(ARGUMENTS, self.read_options(ARGUMENTS, variables, environment=False))
        phase, planned = options["phase"], options["planned"] or {}
        if phase == "compare" and "plan" not in planned:
            raise invalid("planned", "it is not a plan", "Pass the result of the check of this host.")
        try:
            self._refuse_tag()
            refuse_in_inventory(variables, self._loader, is_check=phase == "check")
            host = FleetHost.from_variables(variables, self._templar, phase=phase)
            check_approved_plan(host)
        except FleetError as error:
            # The variables of one host do not end the check of the others.
            failed = _failed_plan(error)
            Reservations().note("no plan", str(variables["inventory_hostname"]))
            join_groups(self, [options["group"]] if options["group"] and phase != "compare" else [], failed)
            return failed
        self.end_after(host.variables["host_timeout"])
        is_deploying = phase in ("deploy", "verify")
        # Of this run's last request: its result, or the plan that was made after it.
        sent = planned.get("sent") or planned if is_deploying else {}
        host.reserve()
        was_unavailable = phase == "compare" and planned["plan"].get("engine_list") == "unavailable"
        if was_unavailable and planned["plan"]["action"] == "fail":
            return {**planned, "changed": False}
        # A management node that hangs is no failure of the host.
        host.end = self.time_before_end(_HOST_SECONDS)
        host.fetch_list(is_deploying=is_deploying)
        if phase == "compare" and "slb_host" not in planned:
            more = {"unknown_engines": host.unknown_engines()} if options["list_unknown_engines"] else {}
            return {**planned, **more, "changed": False}
        slb_host = planned["slb_host"] if phase == "compare" else self._gather_facts(host, is_again=is_deploying)
        is_compared = is_deploying or phase == "compare"
        plan = host.plan(slb_host, sent, is_compared=is_compared)
        if is_compared and not sent.get("requests"):
            plan = host.plan_again(difference=find_difference(host, work_of(plan, host, slb_host)))
        result: dict[str, Any] = {"changed": False}
        if options["record"] and plan.action == "record":
            result, plan = self._record(host, slb_host, plan)
        elif plan.action in ("install", "replace") and not host.policy.remediates:
            host.end = self.time_before_end(_END_SECONDS)
            plan = host.plan_again(session=_find_obstacle(host))
        if not is_compared:
            unknown = _unknown_variables(host, variables)
            result.update({"warnings": unknown} if unknown else {})
        return self._result(host, slb_host, plan, options, result, sent)

    def _refuse_tag(self) -> None:
        """Raise FleetError for an import with the tag never: the tag always of the plays outranks it."""
        if "never" in (getattr(self._task, "tags", None) or ()):
            summary = "Tag never without effect: playbooks of slb.fleet run as a whole."
            raise FleetError("invalid_option", summary, "Remove the tag, or the import.")

    def _gather_facts(self, host: FleetHost, *, is_again: bool) -> dict[str, Any]:
        gather = self.on_host_again if is_again else self.on_host
        arguments = {
            "subset": ["engine_container", "record", "ports", "motd"],
            "ignored_starters": host.variables["ignored_starters"],
            "time_limit": self.seconds_left(host.variables["host_timeout"]),
        }
        answer = gather("host_info", arguments)
        raise_failure(answer)
        return answer.get("slb_host") or {}

    def _record(self, host: FleetHost, slb_host: Mapping[str, Any], plan: Plan) -> tuple[dict[str, Any], Plan]:
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
        result = {"changed": is_changed, "has_recorded": is_changed, "is_unknown": bool(answer.get("is_unknown"))}
        if "diff" in answer:
            result["diff"] = answer["diff"]
        if self._task.check_mode:
            return result, plan
        return result, Plan("none", plan.code, plan.summary, verified_by=plan.verified_by)

    def _result(
        self,
        host: FleetHost,
        slb_host: Mapping[str, Any],
        plan: Plan,
        options: Mapping[str, Any],
        result: dict[str, Any],
        sent: Mapping[str, Any],
    ) -> dict[str, Any]:
        steps = host.steps(plan, slb_host)
        work = work_of(plan, host, slb_host)
        state = host.last_state
        result.update(
            plan={
                "action": plan.action,
                "code": plan.code,
                "summary": plan.summary,
                "fix": plan.fix,
                "verified_by": plan.verified_by,
                "by_list": plan.by_list,
                "moves_banner": plan.action in ("install", "replace") and host.moves_banner(slb_host),
                "steps": steps if plan.action != "fail" else [],
                "engine_list": state.listed.state,
                "seen": state.in_words(),
            },
            engine=asdict(host.engine),
            recorded={
                "state": state.record.state,
                "request_id": state.record.request_id,
                "is_current": state.record_is_current,
                "last_verified": state.record.last_verified,
                "purpose": state.record.set_aside.purpose if state.record.set_aside else None,
            },
        )
        if work:
            result["work"] = work
            if options["phase"] not in ("compare", "deploy", "verify"):
                host.reservations.note("work", f"{host.name}\t{work}")
        is_check = options["phase"] == "check"
        if options["list_unknown_engines"] and not is_check:
            result["unknown_engines"] = host.unknown_engines()
        has_work = plan.action != "none" or host.has_other_work
        if has_work:
            # A healthy host of a large fleet returns little: each value is copied several times.
            requests = int(sent.get("requests") or 0)
            result.update(slb_host=dict(slb_host), requests=requests, settings=host.settings)
            if sent.get("outcome") == "unknown":
                result["sent"] = {key: sent.get(key) for key in ("requests", "outcome", "msg")}
        if plan.action in ("install", "replace"):
            # Made before the step: after a time limit, the rescue has to know it.
            result["request_id"] = uuid.uuid4().hex
        elif options["phase"] in ("deploy", "verify") and (options["planned"] or {}).get("request_id"):
            result["request_id"] = options["planned"]["request_id"]
        # One host of each management node lists the unknown engines, after all hosts have been checked.
        lists_unknown = is_check and options["list_unknown_engines"] and host.is_first_to_list_unknown()
        is_to_join = has_work and self._is_to_join(options, plan)
        groups = [options["group"]] if lists_unknown or is_to_join else []
        if is_to_join and options["phase"] == "compare":
            host.reservations.note("ready", host.name)
        if options["license_group"] and host.variables["license_dest"]:
            groups.append(options["license_group"])
            host.reservations.note("license", host.name)
        join_groups(self, [group for group in groups if group], result)
        return result

    def _is_to_join(self, options: Mapping[str, Any], plan: Plan) -> bool:
        """A check collects each host with work; the comparison only those that are to be changed now."""
        return options["phase"] != "compare" or (plan.action != "fail" and not self._task.check_mode)


def _unknown_variables(host: FleetHost, variables: Mapping[str, Any]) -> list[str]:
    """Return a warning for each unknown variable, once in a run."""
    return [
        f"Variable {visible(name)} unknown{f' (did you mean {near}?)' if near else ''}: it has no effect."
        for name, near in unknown_variables(variables).items()
        if host.reservations.is_first(f"unknown variable {name}")
    ]


def _failed_plan(error: FleetError) -> dict[str, Any]:
    plan = Plan("fail", error.code, error.summary, error.fix)
    details: dict[str, Any] = {"moves_banner": False, "steps": [], "engine_list": "", "seen": []}
    return {"changed": False, "plan": {**asdict(plan), **details}}


def _find_obstacle(host: FleetHost) -> FleetError | None:
    """Return why the management node gives no session, before anything is touched; None if it gives one."""
    try:
        connection = host.connect()
        Client(connection, RunCache(connection)).log_in()
    except FleetError as error:
        return error
    return None
