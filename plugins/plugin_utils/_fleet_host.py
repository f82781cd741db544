# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One host of a run: its variables, its engine, and its plan in the light of the engine list and the other hosts."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection, normalize_base_url
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    Listing,
    comparable,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine as InstallRequest
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import read_meanings
from ansible_collections.slb.fleet.plugins.module_utils._values import OptionError, missing
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Plan, decide
from ansible_collections.slb.fleet.plugins.plugin_utils._facts import state_from_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Listed, listed
from ansible_collections.slb.fleet.plugins.plugin_utils._options import connection_options
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache
from ansible_collections.slb.fleet.plugins.plugin_utils._state import (
    OPEN_SECONDS,
    RESTARTED_FACTOR,
    Engine,
    Policy,
    State,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import HOST_VARIABLES, is_empty, read_variables

_MAX_NAMES = 10
_SECOND_READING_SECONDS = 5.0
"""Least time between two readings of the engine list that lack the engine of a container that runs."""
_WAIT_MARGIN_SECONDS = 60
"""Of the wait, beyond the longest call: 30 s until the request is sent, and time for its deployment."""
_NAMES = {"name": "slb_engine_name", "base_url": "slb_base_url", **{each: f"slb_{each}" for each in HOST_VARIABLES}}
POLL_SECONDS = 5
"""Seconds between two checks of a deployment, as in the role's tasks; the greatest age of the engine list meanwhile."""

_UNKNOWN, _NOT_CONFIGURED, _NO_LISTING = State(), Listed("not_configured"), Listing([])


@dataclass
class FleetHost:
    """``connection``: options of the management node. ``size``: number of hosts of the play.

    ``end``: of time.monotonic(), when calls of the management node have to be over.
    """

    name: str
    variables: dict[str, Any]
    connection: dict[str, Any]
    engine: Engine
    request: InstallRequest
    policy: Policy
    size: int
    is_limited: bool
    end: float = math.inf
    reservations: Reservations = field(default_factory=Reservations)
    last_state: State = _UNKNOWN
    _conflict: str = ""
    _listed: Listed = _NOT_CONFIGURED
    _listing: Listing = _NO_LISTING

    @classmethod
    def from_variables(cls, task_vars: Mapping[str, Any], templar: Any, *, phase: str = "check") -> FleetHost:
        """Read and check the variables of a host. Raises FleetError."""
        try:
            variables = read_variables(task_vars, templar)
            connection = connection_options(task_vars, templar)
            if not connection["base_url"]:
                raise missing("base_url")
            request = InstallRequest.from_options({**variables, "name": variables["engine_name"]})
            base_url = normalize_base_url(connection["base_url"])
            read_meanings(variables)
            if variables["engine_list"]:
                variables["engine_list"] = EngineList.from_option(variables["engine_list"])
            _check_times(variables["wait_timeout"], _call_seconds(connection))
            _check_license_host(variables["license_host"], task_vars.get("groups") or {})
        except OptionError as error:
            raise error.named(_NAMES) from None
        return cls(
            name=str(task_vars.get("inventory_hostname")),
            variables=variables,
            connection=connection,
            engine=Engine(request.name, request.manage_ip, base_url),
            request=request,
            policy=Policy(
                unverified_engine=variables["unverified_engine"],
                # A run starts a container once.
                stopped_engine=variables["stopped_engine"] if phase in ("check", "compare", "deploy") else "fail",
                wait_timeout=variables["wait_timeout"],
                settle=variables["settle"],
                allow_established=variables["allow_established"],
                remove_leftovers=variables["remove_leftovers"],
                remediates=phase in ("remediate", "retire"),
                retires=phase == "retire",
            ),
            size=len(task_vars.get("ansible_play_hosts_all") or ()),
            is_limited=str(task_vars.get("ansible_limit") or "all") != "all"
            or not is_empty(task_vars.get("slb_hosts")),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Return what a role's tasks need of the variables, in its type."""
        names = ["stop_timeout", "wait_timeout", "adopt_interfaces"]
        names += ["allow_established", "remove_leftovers", "ignored_starters"]
        state, record, aside = self.last_state, self.last_state.record, self.last_state.record.set_aside
        interrupted = OPEN_SECONDS + (aside.stop_timeout if aside else 0)
        of_record = record.wait_timeout if record.state == "requested" else interrupted if state.is_open else 0
        waits = max(self.variables["wait_timeout"], of_record) + (RESTARTED_FACTOR + 1) * self.variables["settle"]
        return {
            **{name: self.variables[name] for name in names},
            "open_age": interrupted,
            "polls": math.ceil(waits / POLL_SECONDS) + 3,
            "step_timeout": self.step_seconds,
            "install_timeout": 2 * (self.step_seconds + _call_seconds(self.connection)),
        }

    @property
    def step_seconds(self) -> int:
        """Return the time limit of one module of a step on the host."""
        return int(self.variables["host_timeout"] + self.variables["stop_timeout"])

    @property
    def has_other_work(self) -> bool:
        """Return whether there is work on a host whose engine is healthy."""
        return bool(self.variables["adopt_interfaces"] or self.variables["motd_after"] == "restored")

    def connect(self) -> Connection:
        """Return the connection to the management node. Raises FleetError."""
        return replace(Connection.from_options(self.connection), end=self.end)

    def reserve(self) -> None:
        """Reserve name and address, before the host is contacted. An address is one host, whatever manages it."""
        engine = self.engine
        for what, subject in (
            (f"engine name {engine.name}", f"name {engine.base_url} {engine.name}"),
            (f"address {engine.manage_ip}", f"address {comparable(engine.manage_ip)}"),
        ):
            others = self.reservations.reserve(subject, self.name)
            if others and not self._conflict:
                self._conflict = f"Other hosts of the run want the {what}: {', '.join(others[:_MAX_NAMES])}."

    def plan(
        self, slb_host: Mapping[str, Any], sent: Mapping[str, Any] | None = None, *, is_compared: bool = False
    ) -> Plan:
        """Return the plan for a host with these facts.

        ``sent``: the result of this run's last install request, with the number of ``requests``.
        ``is_compared``: all hosts of the run have been checked.
        """
        sent = sent or {}
        state = state_from_facts(slb_host, self.engine, self._listed)
        if slb_host.get("machine") and not self._conflict:
            others = self.reservations.reserve(f"machine {slb_host['machine']}", self.name)
            if others:
                self._conflict = f"Other hosts of the run lead to the same machine: {', '.join(others[:_MAX_NAMES])}."
        is_translated = self.variables["manage_ip_translated"]
        self.last_state = replace(
            state,
            requests=int(sent.get("requests") or 0),
            outcome="unknown" if sent.get("outcome") == "unknown" else "none",
            answer=str(sent.get("msg") or "").rstrip("."),
            is_translated=is_translated,
            conflict=self._conflict,
        )
        plan, notes, node = decide(self.last_state, self.policy), self.reservations, self.engine.base_url
        if plan.code == "healthy" and self._listed.state == "running":
            notes.is_first(f"list shows {node}")
        if plan.code == "leftover":  # only the engine list calls the live container so
            notes.note("replacements", self.name)
            notes.note(f"missing since {node} {self.name}", str(self._listing.at))
        elif plan.code == "missing_from_engine_list" and state.container.state == "running":
            notes.note(f"missing {node}", self.name)
        else:
            return plan
        limit = self._replacement_limit()
        return self.plan_again(
            replacements=tuple(sorted(set(notes.noted("replacements")))),
            missing=tuple(sorted(set(notes.noted(f"missing {node}")))),
            shows_verified=notes.was_first(f"list shows {node}"),
            limit=limit if is_compared else None,
        )

    def plan_again(self, **known: Any) -> Plan:
        """Return the plan for the last state, with what else is known of the run: fields of ``RunState``."""
        self.last_state = replace(self.last_state, run=replace(self.last_state.run, **known))
        return decide(self.last_state, self.policy)

    def fetch_list(self, *, is_deploying: bool = False) -> None:
        """Read the engine list of the run; while hosts are deployed, at most 5 s old.

        Then, if it has called a container that runs a leftover, read it once more, at least 5 s later.
        Call it before facts are gathered: an engine that starts in between is then a new engine, not a missing one.
        """
        engine_list = self.variables["engine_list"]
        if not engine_list:
            return
        name, address = self.engine.name, self.engine.manage_ip
        not_before = time.monotonic() - POLL_SECONDS if is_deploying else 0.0
        missing = self.reservations.noted(f"missing since {self.engine.base_url} {self.name}") if is_deploying else []
        for since in missing[:1]:
            not_before = max(not_before, float(since) + _SECOND_READING_SECONDS)
            time.sleep(max(0.0, min(_SECOND_READING_SECONDS, not_before - time.monotonic())))
        try:
            listing = self._listing = RunCache(self.connect()).engines(engine_list, not_before)
            engine_state = listed(listing.engines, name, address, listing.gap)
            if engine_state.state == "empty" and self.variables["engine_list_may_be_empty"]:
                cause, fix = listing.gap.cause, listing.gap.fix
                engine_state = Listed("incomplete", cause, fix=fix) if listing.gap.kind else Listed("not_listed")
        except FleetError as error:
            engine_state = Listed("unavailable", error.summary, fix=error.fix, code=error.code)
        self._listed = engine_state

    def lists_running(self, engine: Engine) -> bool:
        """Return whether the engine list that was read last shows this engine as running."""
        engines = self._listing.engines if engine.base_url == self.engine.base_url else []
        return listed(engines, engine.name, engine.manage_ip).state == "running"

    def _replacement_limit(self) -> int:
        """Return how many live containers the run may replace because of the engine list alone."""
        limit = self.variables["max_replaced"]
        if isinstance(limit, int):
            return limit
        # The first play has all hosts of the run, those that follow have fewer.
        self.reservations.note("sizes", str(self.size))
        size, share = max(map(int, self.reservations.noted("sizes"))), float(limit.rstrip("%"))
        return max(1, int(size * share / 100)) if share else 0

    def steps(self, plan: Plan, slb_host: Mapping[str, Any]) -> list[str]:
        """Return what a rollout would do, in its order."""
        steps = []
        if plan.action in ("install", "replace", "restore") and self.variables["adopt_interfaces"]:
            steps.append("adopt interfaces")
        if plan.action in ("install", "replace") and self.moves_banner(slb_host) and not self.policy.retires:
            motd = slb_host["motd"]
            steps.append(f"move {motd['path']} aside ({motd['bytes']} bytes, limit {self.variables['motd_max_bytes']})")
        aside = "delete slb" if self.policy.remediates and self.policy.remove_leftovers else "set slb aside"
        steps += {
            "record": ["record the engine"],
            "restore": ["restore the set-aside container"],
            "start": ["start the container"],
            "replace": [aside] if self.policy.remediates else [aside, "install"],
            "install": [] if self.policy.remediates else ["install"],
            "wait": ["wait for the deployment"],
        }.get(plan.action, [])
        return steps

    def moves_banner(self, slb_host: Mapping[str, Any]) -> bool:
        """Return whether to move /etc/motd: the move brings the banner below the limit, or the file exceeds it."""
        motd, most = slb_host.get("motd") or {}, self.variables["motd_max_bytes"]
        names = (motd.get("path"), f"{motd.get('path')} ({motd.get('target')})")  # not those in /etc/motd.d
        sources = [each for each in motd.get("sources") or () if each["source"] in names]
        own = sum(int(each.get("bytes") or 0) for each in sources)
        total = int(motd.get("bytes") or 0)
        return self.variables["motd"] == "aside" and total > most and own > 0 and (own > most or total - own <= most)

    def is_first_to_list_unknown(self, use: str = "check") -> bool:
        """Return whether the host is the first of its management node, in a run of all hosts."""
        has_list = bool(self.variables["engine_list"]) and not self.is_limited
        return has_list and self.reservations.is_first(f"unknown engines {use} {self.engine.base_url}")

    def unknown_engines(self) -> list[str]:
        """Return the engines of the list that no host of the run wants, once a run; none if a host may want any one."""
        node = self.engine.base_url
        if not self.is_first_to_list_unknown("list") or self.reservations.noted("invalid variables"):
            return []
        try:
            engines = RunCache(self.connect()).engines(self.variables["engine_list"]).engines
        except FleetError:
            return []
        return [
            f"{each['name']} ({each['address']})"
            for each in sorted(engines, key=lambda each: each["name"])
            if not self.reservations.noted(f"name {node} {each['name']}")
            and not self.reservations.noted(f"address {each['address']}")
        ]


def _call_seconds(connection: Mapping[str, Any]) -> int:
    return Connection("", timeout=connection["timeout"], retries=connection["retries"]).call_seconds


def _check_times(wait_timeout: float, call: float) -> None:
    """Raise FleetError if a request could still be sent or answered when the wait for its deployment is over."""
    if wait_timeout < call + _WAIT_MARGIN_SECONDS:
        raise FleetError(
            "invalid_variable",
            f"Variable slb_wait_timeout invalid: {wait_timeout:g} s are not {_WAIT_MARGIN_SECONDS} s more than a call "
            f"of {call:g} s (slb_timeout x (slb_retries + 1)).",
            f"Set slb_wait_timeout to {call + _WAIT_MARGIN_SECONDS:g} or more, or lower slb_timeout or slb_retries.",
        )


def _check_license_host(name: str | None, groups: Mapping[str, Any]) -> None:
    """Raise FleetError for a text that is not a host of the inventory: Ansible would log in to it."""
    if name and name != "localhost" and name not in groups.get("all", ()):
        raise FleetError(
            "invalid_variable",
            f"Variable slb_license_host invalid: {in_short(name, 60)} is not a host of the inventory.",
            "Set a host of the inventory, or unset it for the controller.",
        )
