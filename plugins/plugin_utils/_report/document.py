# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run as one document, from which everything else is rendered. docs/report.schema.json describes it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible

FORMAT, VERSION = "slb.fleet.report", 1

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
CHANGES: dict[str, tuple[str, str]] = {
    "install_requested": ("installation requested", "installation{} requested"),
    "install_unknown": ("installation requested, outcome unknown", "installation{} with unknown outcome"),
    "installed": ("engine installed", "engine{} installed"),
    "container_set_aside": ("leftover set aside", "leftover{} set aside"),
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


@dataclass(frozen=True)
class Change:
    """One thing that was done on or for a host; in check mode, that would be done."""

    code: str
    text: str


@dataclass(frozen=True)
class HostEntry:
    """One host. ``code``: the same for all hosts with the same trouble. ``seen``: the observed state. ``steps``: what a
    rollout would do, in order. ``seconds``: of its tasks. ``batch``: index of its last one in the run's batches.
    """

    name: str
    status: HostStatus
    action: str = ""
    code: str = ""
    summary: str = ""
    fix: str = ""
    seen: tuple[str, ...] = ()
    verified_by: str | None = None
    steps: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    seconds: float = 0
    batch: int | None = None


@dataclass(frozen=True)
class Batch:
    """Hosts that a play takes together. ``ended``: None while it runs, or if the run ended in it."""

    play: str
    hosts: int
    began: str
    ended: str | None
    failed: int


@dataclass(frozen=True)
class Group:
    """Hosts with the same status and code. ``summary`` and ``fix`` are empty if they differ between the hosts."""

    code: str
    status: HostStatus
    summary: str
    fix: str
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """``began``, ``updated``, ``ended``: in UTC. ``inventory``: the options of the command that name it."""

    playbook: str
    check: bool
    status: RunStatus = "running"
    began: str = ""
    updated: str = ""
    ended: str | None = None
    seconds: float = 0
    inventory: tuple[str, ...] = ()
    limit: str | None = None
    awx_job_id: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    management_nodes: tuple[str, ...] = ()
    batches: tuple[Batch, ...] = ()
    next: str = ""

    @property
    def is_plan(self) -> bool:
        """Return whether the run shows what would be done, and does nothing."""
        return self.check or self.playbook == "slb.fleet.diagnose"


@dataclass(frozen=True)
class Plan:
    """The work of each host that needs some. ``digest`` is the same for the same work, in any order of hosts."""

    digest: str
    hosts: Mapping[str, str]

    @classmethod
    def of(cls, work: Mapping[str, str]) -> Plan:
        wanted = {host: text for host, text in sorted(work.items()) if text}
        return cls(digest_of(wanted), wanted)

    def by_action(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for host, text in self.hosts.items():
            found.setdefault(text.partition(":")[0], []).append(host)
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class UnknownEngine:
    """An engine of the engine list that no host of the run stands for."""

    engine: str
    management_node: str


@dataclass(frozen=True)
class Document:
    run: Run
    hosts: tuple[HostEntry, ...]
    plan: Plan | None = None
    unknown_engines: tuple[UnknownEngine, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of hosts, of changed hosts, and of hosts with each status."""
        found = Counter(host.status for host in self.hosts)
        changed = 0 if self.run.check else sum(1 for host in self.hosts if host.changes)
        return {"hosts": len(self.hosts), "changed": changed, **{status: found[status] for status in STATUSES}}  # type: ignore[index]

    def groups(self) -> list[Group]:
        """Return the hosts that need attention by status and code: the largest group first, those not started last."""
        members: dict[tuple[HostStatus, str], list[HostEntry]] = {}
        for host in self.hosts:
            if host.status in BAD:
                members.setdefault((host.status, host.code), []).append(host)
        found = [
            Group(
                code,
                status,
                _common(host.summary for host in alike),
                _common(host.fix for host in alike),
                tuple(host.name for host in alike),
            )
            for (status, code), alike in members.items()
        ]
        return sorted(found, key=lambda group: (group.status == "not_started", -len(group.hosts)))

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "run": {**_plain(self.run), "batches": [_plain(batch) for batch in self.run.batches]},
            "counts": self.counts,
            "groups": [_plain(group) for group in self.groups()],
            "plan": _plain(self.plan) if self.plan else None,
            "unknown_engines": [_plain(each) for each in self.unknown_engines],
            "hosts": [{**_plain(host), "changes": [_plain(change) for change in host.changes]} for host in self.hosts],
        }


def digest_of(work: Mapping[str, str]) -> str:
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def can_be_named(name: str) -> bool:
    """Return whether ``--limit`` takes ``name`` for a name and not for a pattern or an option."""
    is_plain = name not in ("", "all", "ungrouped") and name[0] not in "!&~@#-" and not set(name) & set("*?[],:\\ ")
    return is_plain and visible(name) == name


def names_for_retry(document: Document) -> list[str]:
    return [host.name for host in document.hosts if host.status in BAD and can_be_named(host.name)]


def _common(texts: Iterable[str]) -> str:
    different = set(texts)
    return different.pop() if len(different) == 1 else ""


def _plain(entry: Any) -> dict[str, Any]:
    # dataclasses.asdict copies in depth, which takes ten times as long.
    values = {each.name: getattr(entry, each.name) for each in fields(entry)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
