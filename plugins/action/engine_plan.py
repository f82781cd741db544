# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door to the decision about a host: looks at it, reads what the run shares, decides."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import Connection, normalize_base_url
from ansible_collections.slb.fleet.plugins.module_utils.management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import Engine
from ansible_collections.slb.fleet.plugins.plugin_utils._approved_plan import ApprovedPlan
from ansible_collections.slb.fleet.plugins.plugin_utils._as_stated import task_environment
from ansible_collections.slb.fleet.plugins.plugin_utils._clock import awake_or_asleep
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity, Policy, quoted
from ansible_collections.slb.fleet.plugins.plugin_utils._heartbeat import Heartbeat
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import shape_of
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import host_plan
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Excerpt, ListedEngines
from ansible_collections.slb.fleet.plugins.plugin_utils._misspelt import say_unknown_variables
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import settings_of
from ansible_collections.slb.fleet.plugins.plugin_utils._telling import Telling
from ansible_collections.slb.fleet.plugins.plugin_utils._work import work_of
from ansible_collections.slb.fleet.plugins.plugin_utils.options import connection_options, in_variables, refuse_facts
from ansible_collections.slb.fleet.plugins.plugin_utils.run_cache import RunCache

ARGUMENTS: dict[str, dict[str, Any]] = {
    "so_far": {"type": "dict"},
    "done": {"type": "dict", "default": {}},
    "look": {"type": "bool", "default": True},
    "measure_motd": {"type": "bool", "default": False},
    "max_reading_age": {"type": "float"},
    "wait": {"type": "bool", "default": False},
    "record": {"type": "bool", "default": False},
    "unlisted": {"type": "bool", "default": False},
    "report_only": {"type": "bool", "default": False},
    "must_be_healthy": {"type": "bool", "default": False},
    "begins": {"type": "bool", "default": False},
    "group": {"type": "str"},
    "license_group": {"type": "str"},
}
_DEFAULTS = {option: rules.get("default") for option, rules in ARGUMENTS.items()}
_TYPES: dict[str, Any] = {"dict": dict, "bool": bool, "float": (float, int), "str": str}
_POLL_SECONDS = 5.0
_LONGEST_WORDS = 600
_NO_WORD = "nothing, its module ended without a word; -vvv shows what it printed"

# In the process from which the workers of a run are forked: each of them would read the shapes anew.
for _module in ("host_info", "engine_container", "engine_record"):
    shape_of(_module)


class ActionModule(OnHostAction):
    """Fails where nothing safe can be done, and for that host alone."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        asked, objection = _asked(self._task.args)
        if objection:
            return {"failed": True, "msg": objection}
        noted: dict[str, Any] = {}
        try:
            refuse_facts(task_vars or {})
            with task_environment(self._task, task_vars or {}, self._templar):
                result = _Door(self, asked, task_vars or {}, noted).result()
        except FleetError as error:
            result = {"failed": True, "msg": in_variables(error)}
        return {**result, **noted}


def _asked(given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """All options, or what stands against them. What has its type already needs no validation, which copies what was
    found so far, and takes as long as the decision.
    """
    if all(name in ARGUMENTS and isinstance(value, _TYPES[ARGUMENTS[name]["type"]]) for name, value in given.items()):
        return {**_DEFAULTS, **given}, ""
    validation = ArgumentSpecValidator(ARGUMENTS).validate(given)
    return validation.validated_parameters, "; ".join(validation.error_messages)


class _Door:
    """One host in one task. ``asked``: the task's options. ``noted``: is told what was noted in the host's record."""

    def __init__(
        self, action: ActionModule, asked: dict[str, Any], task_vars: dict[str, Any], noted: dict[str, Any]
    ) -> None:
        folder = Path(constants.DEFAULT_LOCAL_TMP)
        self._action, self._asked, self._task_vars, self._noted = action, asked, task_vars, noted
        self._is_check = bool(action._task.check_mode)
        self._host = str(task_vars.get("inventory_hostname"))
        self._settings = settings_of(task_vars, action._templar, action._task)
        self._options = connection_options(task_vars, action._templar, action._task)
        self._store = RunStore.of_run(folder)
        engine_list = self._settings["engine_list"]
        self._engine = self._identity()
        self._list = ListedEngines(self._options, engine_list, self._store) if engine_list is not None else None
        self._telling = Telling(
            action, asked, task_vars, self._host, self._settings, self._engine, self._store, self._list
        )
        say_unknown_variables(task_vars, self._host, self._store)
        if asked["report_only"] and engine_list is not None:
            # Before the look: a host that cannot be reached is in the inventory, too.
            self._store.want(self._engine.base_url, self._host, self._engine.name, self._engine.manage_ip)

    def result(self) -> dict[str, Any]:
        before = self._asked["so_far"]
        if before and self._asked["wait"] and before["plan"]["action"] == "none":
            return {**before, "changed": False}
        if before and self._asked["record"] and before["plan"]["action"] == "record":
            trouble = self._record(before["plan"]["verified_by"], before["slb_host"])
            if trouble:
                return {"failed": True, "msg": trouble}
        if before and self._is_check and self._asked["look"]:
            # What was not done is not looked at again.
            return {**before, "changed": False}
        progress = self._progress(before)
        if before and progress.has_asked_since(before["progress"]):
            progress = self._wait_for_the_host(progress, self._settings["wait_timeout"], after_request=True)
        while True:
            slb_host = self._look() if self._asked["look"] else before["slb_host"]
            decision = self._decide(slb_host, progress)
            is_here = decision.action in ("wait", "record") and self._asked[decision.action]
            if not is_here or self._is_check:
                return self._telling.told(decision, slb_host, progress, self._work(decision, slb_host))
            if decision.action == "wait":
                progress = self._wait(decision, slb_host, progress)
                continue
            self._telling.say(decision, progress)
            trouble = self._record(decision.verified_by, slb_host)
            if trouble:
                return {"failed": True, "msg": trouble}
            progress = progress.after("record", {}, awake_or_asleep())

    def _record(self, verified_by: str | None, slb_host: Mapping[str, Any]) -> str:
        """Notes in the host's record that the engine runs. Says why that has failed; empty where it has not."""
        engine = self._engine
        arguments = {
            "state": "verified",
            "name": engine.name,
            "manage_ip": engine.manage_ip,
            "base_url": engine.base_url,
            "container_id": slb_host["engine_container"]["id"],
            "verified_by": verified_by,
        }
        answer = self._action.on_host("slb.fleet.engine_record", arguments, STEP_SECONDS, self._task_vars)
        if answer.get("failed"):
            return str(answer.get("msg") or f"The host says {_NO_WORD}.")
        if answer.get("changed"):
            self._noted.update(changed=True, has_recorded=True)
        if "diff" in answer:
            self._noted["diff"] = answer["diff"]
        return ""

    def _identity(self) -> EngineIdentity:
        settings = self._settings
        wanted = {"name" if key == "engine_name" else key: settings[key] for key in _ENGINE}
        trouble = ""
        try:
            wanted["manage_ip"] = Engine.from_options(wanted).manage_ip
        except FleetError as error:
            trouble = in_variables(error)
        base_url = self._options["base_url"] and normalize_base_url(self._options["base_url"])
        return EngineIdentity(wanted["name"], wanted["manage_ip"], base_url or "", trouble)

    def _progress(self, before: Mapping[str, Any] | None) -> Progress:
        if not before:
            return Progress()
        progress = Progress.from_result(before["progress"])
        # A wait was counted where it was made.
        if not self._asked["look"] or before["plan"]["action"] in ("wait", "none"):
            return progress
        done = {**self._asked["done"], "reason": before["plan"]["reason"]}
        return progress.after(before["plan"]["action"], done, awake_or_asleep())

    def _look(self) -> dict[str, Any]:
        subset = ["engine_container", "record", "ports"] + (["motd"] if self._asked["measure_motd"] else [])
        answer = self._action.on_host("slb.fleet.host_info", {"subset": subset}, STEP_SECONDS, self._task_vars)
        if answer.get("failed") or "slb_host" not in answer:
            words = quoted(answer["msg"], _LONGEST_WORDS) if answer.get("msg") else _NO_WORD
            raise FleetError(
                "host_not_checked",
                f"The host could not be looked at. It says: {words}.",
                "See whether it has Python 3.6 or later, which ansible_python_interpreter names where it is not found.",
            )
        return dict(answer["slb_host"])

    def _decide(self, slb_host: Mapping[str, Any], progress: Progress) -> Decision:
        max_age = self._asked["max_reading_age"]
        if max_age is not None and progress.asked_at is not None:
            # What was answered is understood by what the list shows since.
            max_age = min(max_age, awake_or_asleep() - progress.asked_at)
        decision = self._fate(slb_host, progress, max_age)
        # What is on no page may have moved from one to another while they were read.
        is_act = max_age is not None and decision.because == "list"
        is_alarm = decision.action == "fail" and decision.console == "not_listed"
        if (is_act or is_alarm) and self._list is not None and self._list.is_paged:
            decision = self._fate(slb_host, progress, 0.0)
        if decision.console == "unavailable":
            return self._telling.said_once(decision, decision.console_words)
        if decision.action in ("install", "replace") and not self._asked["unlisted"]:
            decision = self._with_a_session(decision)
        # What a run has begun it ends: only the begin is approved.
        return decision if progress.rounds else self._approved(decision, slb_host)

    def _approved(self, decision: Decision, slb_host: Mapping[str, Any]) -> Decision:
        """Where a plan was approved, nothing else is done."""
        wants = self._work(decision, slb_host)
        self._store.note_work(self._host, wants)
        plan = self._settings["approved_plan"]
        if plan is None or not wants:
            return decision
        objection = ApprovedPlan(plan, self._store).objection(self._host, wants, begins=self._asked["begins"])
        if not objection:
            return decision
        return replace(decision, action="fail", code="not_in_approved_plan", reason=f"{decision.reason} {objection}")

    def _work(self, decision: Decision, slb_host: Mapping[str, Any]) -> str:
        return work_of(decision.action, self._engine, slb_host["engine_container"], self._settings)

    def _with_a_session(self, decision: Decision) -> Decision:
        """Before anything on a host is touched, it is known that the management node can be asked."""
        try:
            connection = Connection.from_options(self._options)
            Client(connection, RunCache(connection)).log_in()
        except FleetError as error:
            trouble = in_variables(error)
            words = f"{decision.reason} The install was not begun: {trouble}"
            told = replace(decision, action="fail", code="management_node_unavailable", reason=words)
            return self._telling.said_once(told, trouble)
        return decision

    def _fate(self, slb_host: Mapping[str, Any], progress: Progress, max_age: float | None) -> Decision:
        def excerpt(name: str, manage_ip: str) -> Excerpt | str:
            return self._list.shows(name, manage_ip, max_age) if self._list else ""

        return host_plan(
            self._host,
            slb_host,
            self._engine,
            excerpt if self._list is not None else None,
            self._policy(),
            progress,
            self._store,
            counts_only=self._asked["so_far"] is None,
        )

    def _policy(self) -> Policy:
        settings, is_named = self._settings, self._asked["unlisted"]
        size = len(self._task_vars.get("ansible_play_hosts_all", ()))
        return Policy(
            unrecorded="replace" if is_named else settings["unverified_engine"],
            wait=settings["wait_timeout"],
            settle=settings["settle"],
            attempts=settings["attempts"],
            allow_established=settings["allow_established"],
            remove_leftovers=settings["remove_leftovers"],
            unlisted=is_named,
            may_be_empty=settings["engine_list_may_be_empty"],
            max_replaced=settings["max_replaced"],
            fleet=self._store.fleet(size),
            installs=not is_named,
            is_translated=settings["manage_ip_translated"],
        )

    def _wait(self, decision: Decision, slb_host: Mapping[str, Any], progress: Progress) -> Progress:
        if decision.wait_for == "engine_list":
            return self._wait_for_the_console(progress, decision.wait_seconds)
        is_pending = slb_host["record"]["state"] == "requested"
        return self._wait_for_the_host(progress, decision.wait_seconds, after_request=is_pending)

    def _wait_for_the_host(self, progress: Progress, seconds: float, *, after_request: bool) -> Progress:
        arguments = {
            "state": "running",
            "timeout": seconds,
            "settle": self._settings["settle"],
            "after_request": after_request,
        }
        begin = time.monotonic()
        with Heartbeat(self._host, "the container slb to run steadily", seconds):
            # What it means that no engine came up is decided after the next look.
            self._action.on_host("slb.fleet.engine_container", arguments, seconds + STEP_SECONDS, self._task_vars)
        return progress.after("wait", {"waited": time.monotonic() - begin}, awake_or_asleep())

    def _wait_for_the_console(self, progress: Progress, seconds: float) -> Progress:
        begin = time.monotonic()
        with Heartbeat(self._host, "the console's list to be up to date", seconds):
            # What the decision has just read is not asked for again at once.
            time.sleep(min(_POLL_SECONDS, seconds))
            wait_for(self._is_worth_a_decision, seconds - _POLL_SECONDS, _POLL_SECONDS)
        return progress.after("wait", {"waited": time.monotonic() - begin}, awake_or_asleep())

    def _is_worth_a_decision(self) -> bool:
        seen = self._list.shows(self._engine.name, self._engine.manage_ip, _POLL_SECONDS) if self._list else ""
        return not isinstance(seen, Excerpt) or "running" in {engine["state"] for engine in seen.here}


_ENGINE = ("engine_name", "manage_ip", "user_credential_id", "is_change_hostname")
