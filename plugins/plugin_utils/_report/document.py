# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run as one document, from which everything else is rendered.

docs/report.schema.json is generated from the dataclasses and the descriptions of their fields.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Annotated, Any, Literal

from ansible.inventory.manager import split_host_pattern

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible

FORMAT, PLAN_FORMAT, VERSION = "slb.fleet.report", "slb.fleet.plan", 1

Action = Literal["none", "wait", "record", "restore", "start", "install", "replace", "fail"]
RunStatus = Literal["running", "finished", "interrupted"]
HostStatus = Literal["healthy", "done", "planned", "failed", "unreachable", "interrupted", "not_started"]
STATUSES: dict[str, str] = {
    "healthy": "healthy",
    "done": "done",
    "planned": "to be changed",
    "failed": "failed",
    "unreachable": "unreachable",
    "interrupted": "interrupted",
    "not_started": "not started",
}
"""Each with its words after a number of hosts."""
BAD = ("failed", "unreachable", "interrupted", "not_started")
"""Hosts that need attention, and that the file ``retry`` names."""
MAX_NAMES = 30
"""Hosts that a command names one by one."""
IDLE = ("healthy:", "blocked:")
"""Lines of a plan about hosts without work."""
RETIRED = "engine_retired"
"""Code of a host as slb.fleet.retire leaves it: ``next`` of a read-only run does not install its engine again."""
CHANGES: dict[str, tuple[str, str]] = {
    "install_requested": ("installation requested", "installation{} requested"),
    "install_unknown": ("installation requested, outcome unknown", "installation{} with unknown outcome"),
    "installed": ("engine installed", "engine{} installed"),
    "container_set_aside": ("container set aside", "container{} set aside"),
    "container_deleted": ("container deleted", "container{} deleted"),
    "install_allowed": ("installation allowed again", "installation{} allowed again"),
    "engine_started": ("stopped engine started", "stopped engine{} started"),
    "container_restored": ("container restored", "container{} restored"),
    "container_partially_restored": ("container partially restored", "container{} partially restored"),
    "step_unknown": ("step on the host cut, result unknown", "step{} with unknown result"),
    "record_verified": ("engine recorded as verified", "engine{} recorded"),
    "record_restored": ("deployment record restored", "deployment record{} restored"),
    "record_removed": ("deployment record removed", "deployment record{} removed"),
    "motd_aside": ("login banner moved aside", "login banner{} moved aside"),
    "motd_restored": ("login banner restored", "login banner{} restored"),
    "interfaces_adopted": ("interfaces adopted", "host{} with adopted interfaces"),
    "interfaces_released": ("interfaces released", "host{} with released interfaces"),
    "license_downloaded": ("license downloaded", "license{} downloaded"),
}
"""What a run may have done, by code: of one host, and after a number, where the plural has an s."""


# The schema is made of these annotations: a text is the description of a field, a pattern limits its value.
Moment = Annotated[str, re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Digest = Annotated[str, re.compile("^sha256:[0-9a-f]{64}$")]


@dataclass(frozen=True)
class Change:
    """One thing that was done on or for a host; in check mode, that would be done."""

    code: Annotated[str, "Code of the change."]
    text: Annotated[str, "The change in words."]


@dataclass(frozen=True)
class HostPlan:
    """The plan of a host, as ``engine_plan`` returns it."""

    action: Annotated[Action, "What is to be done."]
    code: Annotated[str, "Code of the plan, see [codes](messages.md)."] = ""
    summary: Annotated[str, "One sentence."] = ""
    fix: Annotated[str, "Next step for the operator, if the action is `fail` or `wait`."] = ""
    steps: Annotated[tuple[str, ...], "Steps, in order."] = ()
    seen: Annotated[tuple[str, ...], "Observed state."] = ()
    verified_by: Annotated[
        Literal["engine_list", "host"] | None, "Source of the verification; null if the engine is not verified."
    ] = None


@dataclass(frozen=True)
class HostEntry:
    """One host. ``code``, ``summary`` and ``fix`` are those of its plan, unless a task failed or the run ended."""

    name: Annotated[str, "Name in the inventory."]
    status: Annotated[
        HostStatus,
        "Status. `done`: playbooks that verify nothing. `planned`: check mode and `diagnose`. `failed`: also a blocked "
        "host. `interrupted`: the run ended during a task of the host.",
    ]
    code: Annotated[str, "Code of the result, see [codes](messages.md): of the failure, else of the plan."] = ""
    summary: Annotated[str, "One sentence."] = ""
    fix: Annotated[str, "Next step for the operator."] = ""
    plan: Annotated[HostPlan | None, "Last plan of the host; null if there is none."] = None
    changes: Annotated[tuple[Change, ...], "Changes that were made; in check mode, that would be made."] = ()
    afterwards: Annotated[str, "State of the host after a failed step; `unknown` after a cut step."] = ""
    seconds: Annotated[float, "Seconds of the host's tasks."] = 0
    batch: Annotated[int | None, "Index of the last batch in `run.batches`, from 0."] = None
    settled: Annotated[
        Moment | None, "Time when the status was known; null if the host is `done`, `interrupted` or `not_started`."
    ] = None

    @property
    def action(self) -> str:
        return self.plan.action if self.plan else ""

    @property
    def verified_by(self) -> str | None:
        return self.plan.verified_by if self.plan and self.status == "healthy" else None

    @property
    def observations(self) -> tuple[str, ...]:
        """Return the observed state. After a step that was cut, the state before is not that of the host any more."""
        afterwards = (f"afterwards: {self.afterwards}",) if self.afterwards else ()
        return (self.plan.seen if self.plan else ()) + afterwards


@dataclass(frozen=True)
class Batch:
    """Hosts that a play takes together."""

    play: Annotated[str, "Name of the play."]
    hosts: Annotated[int, "Number of hosts."]
    began: Annotated[Moment, "Time of the start."]
    ended: Annotated[Moment | None, "Time of the end; null until then."]
    failed: Annotated[int, "Number of failed or unreachable hosts."]
    late: Annotated[int, "Number of hosts in progress at its end."] = 0


@dataclass(frozen=True)
class Group:
    """Hosts with the same status and code."""

    code: Annotated[str, "Code of the hosts."]
    status: Annotated[HostStatus, "Status of the hosts."]
    summary: Annotated[str, "Summary, if all hosts have the same."]
    fix: Annotated[str, "Fix, of most hosts if they differ."]
    hosts: Annotated[tuple[str, ...], "Names of the hosts."]


@dataclass(frozen=True)
class Run:
    playbook: Annotated[str, "Name of the playbook."]
    check: Annotated[bool, "Whether the run was in check mode."]
    status: Annotated[RunStatus, "Status of the run. A killed run stays `running`."] = "running"
    began: Annotated[Moment, "Time of the start."] = ""
    updated: Annotated[Moment, "Time of the last update of the report."] = ""
    ended: Annotated[Moment | None, "Time of the end; null until then."] = None
    seconds: Annotated[float, "Duration in seconds."] = 0
    inventory: Annotated[tuple[str, ...], "Options of the command that name the inventory."] = ()
    options: Annotated[tuple[str, ...], "Options of the command about login, privileges and vault."] = ()
    limit: Annotated[str | None, "Value of `--limit`."] = None
    extra_vars: Annotated[tuple[str, ...], "Values of `-e`. Secret and long ones are `...`."] = ()
    awx_job_id: Annotated[int | None, "Number of the AWX job; null outside of AWX."] = None
    versions: Annotated[Mapping[str, str], "Versions of collection, ansible-core and Python."] = field(
        default_factory=dict
    )
    management_nodes: Annotated[tuple[str, ...], "Addresses of the management nodes."] = ()
    batches: Annotated[tuple[Batch, ...], "Batches of the plays, in their order."] = ()
    next: Annotated[str, "Command to run next; empty for none."] = ""

    @property
    def is_plan(self) -> bool:
        """Return whether the run shows what would be done, and does nothing."""
        return self.check or self.playbook == "slb.fleet.diagnose"

    @property
    def is_read_only(self) -> bool:
        return self.is_plan or self.playbook == "slb.fleet.audit"


@dataclass(frozen=True)
class Plan:
    """What is done on each host, healthy and blocked ones included. The order of the hosts does not matter."""

    digest: Annotated[Digest, "Digest of the plan. The same plan has the same digest."]
    hosts: Annotated[
        Mapping[str, str],
        "Work of each host: action, engine, address, management node, container, credential, options that are not the "
        "default. For a host without work, healthy or blocked.",
    ]

    @classmethod
    def of(cls, work: Mapping[str, str]) -> Plan:
        wanted = {host: text for host, text in sorted(work.items()) if text}
        return cls(digest_of(wanted), wanted)

    def by_action(self) -> dict[str, list[str]]:
        """Return the hosts with work, by the action."""
        hosts: dict[str, list[str]] = {}
        for host, text in self.hosts.items():
            if not text.startswith(IDLE):
                hosts.setdefault(text.partition(":")[0], []).append(host)
        return dict(sorted(hosts.items()))


@dataclass(frozen=True)
class UnknownEngine:
    """An engine of the engine list that no host of the run stands for."""

    engine: Annotated[str, "Name and address."]
    management_node: Annotated[str, "Address of the management node that lists it."]


@dataclass(frozen=True)
class Document:
    run: Annotated[Run, "The run."]
    hosts: Annotated[tuple[HostEntry, ...], "The hosts."]
    plan: Annotated[Plan | None, "Work of a rollout, before anything was done; null if there is none."] = None
    unknown_engines: Annotated[
        tuple[UnknownEngine, ...],
        "Engines in the engine list that no host of an audit has. Empty with --limit or slb_hosts.",
    ] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of hosts, of changed hosts, and of hosts with each status."""
        statuses = Counter(host.status for host in self.hosts)
        changed = 0 if self.run.check else sum(1 for host in self.hosts if host.changes)
        return {"hosts": len(self.hosts), "changed": changed, **{status: statuses[status] for status in STATUSES}}  # type: ignore[index]

    @property
    def result(self) -> str:
        """Return the result of the run in one word."""
        if self.run.status != "finished":
            return self.run.status.upper()
        return "FAILED" if any(host.status in BAD for host in self.hosts) else "OK"

    @property
    def is_uneventful(self) -> bool:
        """Return whether no host needs attention or a change, none was changed, and no listed engine is unknown."""
        is_same = all(host.status in ("healthy", "done") and not host.changes for host in self.hosts)
        return is_same and self.result == "OK" and not self.unknown_engines

    @property
    def is_approvable(self) -> bool:
        """Return whether the document has a plan to approve: work that a whole check of a rollout found."""
        is_checked = self.run.playbook == "slb.fleet.rollout" and self.run.check and self.run.status == "finished"
        return is_checked and bool(self.plan and self.plan.by_action())

    def groups(self) -> list[Group]:
        """Return the hosts that need attention by status and code: the largest group first, those not started last."""
        members: dict[tuple[HostStatus, str], list[HostEntry]] = {}
        for host in self.hosts:
            if host.status in BAD:
                members.setdefault((host.status, host.code), []).append(host)
        groups = [
            Group(
                code,
                status,
                _common(host.summary for host in alike),
                _most_common([host.fix for host in alike]),
                tuple(host.name for host in alike),
            )
            for (status, code), alike in members.items()
        ]
        return sorted(groups, key=lambda group: (group.status == "not_started", -len(group.hosts)))

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "run": _plain(self.run),
            "counts": self.counts,
            "groups": _plain(tuple(self.groups())),
            "plan": _plain(self.plan),
            "unknown_engines": _plain(self.unknown_engines),
            "hosts": _plain(self.hosts),
        }


def digest_of(work: Mapping[str, str]) -> str:
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def can_be_named(name: str) -> bool:
    """Return whether ``--limit`` can contain the name. Ansible compares it with its hosts before it reads a pattern."""
    is_part = "," not in name and split_host_pattern(name) == [name]
    return is_part and name not in ("all", "ungrouped") and name[0] not in "!&@#-" and visible(name) == name


def names_for_retry(document: Document) -> list[str]:
    return [host.name for host in document.hosts if host.status in BAD and can_be_named(host.name)]


def file_for_retry(names: Iterable[str]) -> str:
    """Return the name of a file of these hosts, which no run with other hosts writes."""
    return f"retry-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:8]}"


def _common(texts: Iterable[str]) -> str:
    different = set(texts)
    return different.pop() if len(different) == 1 else ""


def _most_common(texts: Sequence[str]) -> str:
    """Return the text that most hosts have, with their number if others have another one."""
    for text, number in Counter(filter(None, texts)).most_common(1):
        return text if number == len(texts) else f"{number} of {len(texts)} hosts: {text}"
    return ""


def _plain(value: Any) -> Any:
    # dataclasses.asdict copies in depth, which takes ten times as long.
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in vars(value).items()} if is_dataclass(value) else value
