# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document that a run makes of itself, from which every report is rendered. No I/O; docs/report.md describes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

FORMAT, VERSION = "slb.fleet.report", 1

Status = Literal["running", "finished", "interrupted"]
HostStatus = Literal["healthy", "done", "planned", "failed", "unreachable", "interrupted", "not_started"]
Since = Literal["intended", "corrected", "drifted"]
Phase = Literal["look", "clear", "adopt", "ask", "wait", "prove"]
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
SINCE: dict[str, str] = {
    "drifted": "changed by another process or user",
    "corrected": "changed by another process or user, and corrected",
    "intended": "brought to what is wanted now",
}
"""Each with its words after a number of hosts, or one."""
DRIFTS: tuple[Since, ...] = ("drifted", "corrected")
"""What somebody else has done."""
BAD = ("failed", "unreachable", "interrupted", "not_started")
"""Those after which somebody has to do something."""
AGAIN = ("failed", "unreachable", "interrupted", "not_started")
"""Those that a next run is for."""
_AT = " at "
PHASES: tuple[Phase, ...] = ("look", "clear", "adopt", "ask", "wait", "prove")


@dataclass(frozen=True)
class Reason:
    """``code``: the same for all hosts with the same trouble. ``fix``: what a person can do; empty if nothing."""

    code: str
    summary: str
    fix: str = ""

    @property
    def text(self) -> str:
        return f"{self.summary} {self.fix}".rstrip()


@dataclass(frozen=True)
class Verified:
    """``by``: host or console. ``at``: when this run has seen it, in UTC."""

    by: str
    at: str


@dataclass(frozen=True)
class Change:
    """One thing that was done on or for a host, or, in check mode, that would be."""

    code: str
    sentence: str


@dataclass(frozen=True)
class HostEntry:
    """What became of one host. ``action``: what was decided last, empty where nothing was."""

    name: str
    status: HostStatus
    action: str = ""
    reason: Reason | None = None
    evidence: tuple[str, ...] = ()
    verified: Verified | None = None
    done: tuple[Change, ...] = ()
    would_do: tuple[Change, ...] = ()
    seconds: Mapping[Phase, float] = field(default_factory=dict)
    batch: int | None = None
    next: str = ""
    steps: tuple[str, ...] = ()
    """What a rollout would do, in order."""
    console: str = ""
    """What its list says, where it was asked."""
    since: Since | None = None
    """How it has changed since the last run that proved it."""

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def code(self) -> str:
        return self.reason.code if self.reason else self.status

    @property
    def summary(self) -> str:
        return self.reason.summary if self.reason else ""

    @property
    def fix(self) -> str:
        return self.reason.fix if self.reason else ""

    @property
    def status_in_words(self) -> str:
        """Of one host."""
        if self.status == "healthy":
            return f"verified by {self.verified.by}" if self.verified else "healthy"
        return STATUSES[self.status]


@dataclass(frozen=True)
class Batch:
    """Hosts that a play has taken together. ``ended``: None while it goes on, or where the run was ended in it."""

    play: str
    hosts: int
    began: str
    ended: str | None
    troubled: int


@dataclass(frozen=True)
class Group:
    """Hosts with the same status and code. ``summary`` and ``fix`` are empty if they differ between the hosts."""

    code: str
    status: HostStatus
    summary: str
    fix: str
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class RunEntry:
    """``began``, ``updated``, ``ended``: in UTC."""

    playbook: str
    check: bool
    status: Status
    began: str
    updated: str
    ended: str | None
    seconds: float
    limit: str | None = None
    awx_job_id: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    management_nodes: tuple[str, ...] = ()
    batches: tuple[Batch, ...] = ()
    next: str = ""
    """Variables that the command was given, and that ``next`` does not tell, because they may be secrets."""

    @property
    def is_plan(self) -> bool:
        """Nothing was to be changed, but said what would be."""
        return self.check or self.playbook == "slb.fleet.diagnose"


@dataclass(frozen=True)
class Plan:
    """What is to be done, and the digest of it: the same for the same decisions about the same hosts."""

    digest: str
    hosts: Mapping[str, str]

    @property
    def by_action(self) -> dict[str, tuple[str, ...]]:
        """The hosts, by what is to be done about them."""
        found: dict[str, list[str]] = {}
        for host, wants in self.hosts.items():
            found.setdefault(wants.partition(":")[0], []).append(host)
        return {action: tuple(hosts) for action, hosts in sorted(found.items())}


@dataclass(frozen=True)
class Document:
    run: RunEntry
    hosts: tuple[HostEntry, ...]
    plan: Plan | None = None
    unknown_engines: tuple[str, ...] = ()
    """What the console lists and the inventory lacks, where the run has compared them; of several consoles, with the
    management node.
    """

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The hosts whose engines the console's list, where it was read, does not show."""
        return tuple(host.name for host in self.hosts if host.console in ("not_listed", "elsewhere", "empty"))

    def changed(self, since: Since) -> tuple[str, ...]:
        """The hosts that have changed so since they were healthy."""
        return tuple(host.name for host in self.hosts if host.since == since)

    @property
    def counts(self) -> dict[str, int]:
        """Hosts, and how many of them have which status."""
        found = Counter(host.status for host in self.hosts)
        return {"hosts": len(self.hosts), "changed": sum(1 for host in self.hosts if host.done), **{
            status: found[status] for status in STATUSES  # type: ignore[index]
        }}  # fmt: skip

    def groups(self) -> list[Group]:
        """Return the hosts that need attention, by status and code, the largest group first."""
        members: dict[tuple[HostStatus, str], list[HostEntry]] = {}
        for host in self.hosts:
            if host.status in BAD:
                members.setdefault((host.status, host.code), []).append(host)
        found = [
            Group(code, status, _common(host.summary for host in alike), _common(host.fix for host in alike),
                  tuple(host.name for host in alike))
            for (status, code), alike in members.items()
        ]  # fmt: skip
        # Hosts that were only not started come last: the others are the cause.
        return sorted(found, key=lambda group: (group.status == "not_started", -len(group.hosts)))

    def as_json(self) -> dict[str, Any]:
        """As docs/report.schema.json has it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "run": {**_plain(self.run), "batches": [_plain(batch) for batch in self.run.batches]},
            "counts": self.counts,
            "groups": [_plain(group) for group in self.groups()],
            "plan": _plain(self.plan) if self.plan else None,
            "unknown_engines": list(self.unknown_engines),
            "unlisted": list(self.unlisted),
            "hosts": [_host(host) for host in self.hosts],
        }


def at_their_nodes(engines: Iterable[tuple[str, str]], nodes: Sequence[str]) -> tuple[str, ...]:
    """Each engine with the management node that lists it, where there are several."""
    return tuple(f"{engine}{_AT}{node}" if node and nodes[1:] else engine for engine, node in engines)


def with_its_node(engine: str, nodes: Sequence[str]) -> tuple[str, str]:
    """The reverse."""
    words, _at, node = engine.rpartition(_AT)
    return (words, node) if nodes[1:] and node in nodes else (engine, nodes[0] if len(nodes) == 1 else "")


def _common(texts: Iterable[str]) -> str:
    """Return the text if all are the same; else an empty one."""
    different = set(texts)
    return different.pop() if len(different) == 1 else ""


def _plain(entry: Any) -> dict[str, Any]:
    """One level of a dataclass. Written out, because what copies in depth takes ten times as long."""
    values = {each.name: getattr(entry, each.name) for each in fields(entry)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _host(host: HostEntry) -> dict[str, Any]:
    return {
        **_plain(host),
        "reason": _plain(host.reason) if host.reason else None,
        "verified": _plain(host.verified) if host.verified else None,
        "done": [_plain(change) for change in host.done],
        "would_do": [_plain(change) for change in host.would_do],
        "seconds": {phase: round(value, 1) for phase, value in _in_order(host.seconds)},
    }


def _in_order(seconds: Mapping[Phase, float]) -> Iterator[tuple[str, float]]:
    return ((phase, seconds[phase]) for phase in PHASES if phase in seconds)
