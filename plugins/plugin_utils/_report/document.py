# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document that a run makes of itself, from which every report is rendered. No I/O; docs/report.md describes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
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
SAME_AS = "the same as is said of"
"""In the sentence of a host, before the name of another, whose sentence has the cause."""
FOR_ONE = ", for one: "
"""Between the name of a host and its sentence, where others of its group say something else."""
_OF_MANY_KINDS = ("task_failed", "host_unreachable", "engine_list_unavailable", "management_node_unavailable")
"""Codes that do not say which trouble it is, or of which management node."""
_AT = " at "
_FEW_KINDS = 5
"""Of any other code: where its reasons are of more kinds, words that are each host's own are likely in them."""
_KINDS_KEPT = 16_384
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4})(?![\w])")
_URL = re.compile(r"(https?://[^\s?#,;()'\"]+)")
"""Of a management node: which one it is, is a difference."""
_WORD = re.compile(r"\w[\w-]*(?:\.[\w-]+)*")
_NUMBER = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{12,}\b|\d+")
"""Or the identity of a container."""
PHASES: tuple[Phase, ...] = ("look", "clear", "adopt", "ask", "wait", "prove")


@dataclass(frozen=True)
class Reason:
    """``code``: the same for all hosts that have the same trouble; ``sentence``: of this host."""

    code: str
    sentence: str


@dataclass(frozen=True)
class Verified:
    """``by``: host or console. ``at``: when this run has seen it, in UTC."""

    by: str
    at: str


@dataclass(frozen=True)
class Deed:
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
    done: tuple[Deed, ...] = ()
    would_do: tuple[Deed, ...] = ()
    seconds: Mapping[Phase, float] = field(default_factory=dict)
    batch: int | None = None
    next: str = ""
    console: str = ""
    """What its list says, where it was asked."""
    since: Since | None = None
    """How it has changed since the last run that proved it."""

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

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
    """Hosts with the same trouble, of one kind unless there are too many: then ``sentence``, that of the first, names
    whose it is.
    """

    code: str
    status: HostStatus
    sentence: str
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
        return self._groups

    @cached_property
    def _groups(self) -> list[Group]:
        """The hosts about which something has to be done, by their reasons, the largest group first."""
        named = {host.name: host for host in self.hosts}
        members: dict[tuple[str, HostStatus], list[HostEntry]] = {}
        for host in self.hosts:
            if host.status in BAD:
                members.setdefault((host.reason.code if host.reason else host.status, host.status), []).append(host)
        found = [
            Group(code, status, sentence, tuple(host.name for host in hosts))
            for (code, status), alike in members.items()
            for sentence, hosts in _by_kind(code, alike, named)
        ]
        # Those that were only not started come last: the others are why.
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


def _by_kind(
    code: str, hosts: list[HostEntry], named: Mapping[str, HostEntry]
) -> Iterator[tuple[str, list[HostEntry]]]:
    """Hosts of one code, as their reasons are of one kind, and what is said of them."""
    kinds: dict[str, list[HostEntry]] = {}
    for host in hosts:
        kinds.setdefault(_kind(host, named), []).append(host)
    if len(kinds) <= _FEW_KINDS or code in _OF_MANY_KINDS:
        for alike in kinds.values():
            yield _sentence(_who_says_it(alike)), alike
    else:
        first = _who_says_it(hosts)
        yield f"{first.name}{FOR_ONE}{_sentence(first)}", hosts


def _kind(host: HostEntry, named: Mapping[str, HostEntry]) -> str:
    """The same for hosts whose reasons differ in what is each one's own alone."""
    words, says_the_same, more = _sentence(host).partition(f"{SAME_AS} ")
    if not says_the_same:
        return without_names(words, host.name)
    name = more.partition(". ")[0].removesuffix(".")
    other = named.get(name)
    # It may have come to something else by now.
    is_told = other is not None and SAME_AS not in _sentence(other) and _sentence(other).startswith(words)
    return without_names(_sentence(named[name]), name) if is_told else f"{without_names(words, host.name)}{name}"


def _who_says_it(hosts: list[HostEntry]) -> HostEntry:
    """The first. But some say no more than that it is the same as of another."""
    return next((host for host in hosts if SAME_AS not in _sentence(host)), hosts[0])


def _sentence(host: HostEntry) -> str:
    return host.reason.sentence if host.reason else ""


def without_names(sentence: str, host: str) -> str:
    """What is left where the names, addresses and numbers of one host are taken out of a sentence about it. What
    management node it speaks of is left.
    """
    return _without(sentence, host if host.partition(".")[0] in sentence else "")


@lru_cache(maxsize=_KINDS_KEPT)
def _without(sentence: str, host: str) -> str:
    """Many hosts say the same, in which they are not named."""

    def taken_out(found: re.Match[str]) -> str:
        word = found[0]
        is_name = bool(host) and (word == host or word.startswith(f"{host}.") or host.startswith(f"{word}."))
        return "<host>" if is_name else _NUMBER.sub("<number>", word)

    parts = _URL.split(sentence)
    parts[::2] = [_WORD.sub(taken_out, _ADDRESS.sub("<address>", part)) for part in parts[::2]]
    return "".join(parts)


def _plain(entry: Any) -> dict[str, Any]:
    """One level of a dataclass. Written out, because what copies in depth takes ten times as long."""
    values = {each.name: getattr(entry, each.name) for each in fields(entry)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _host(host: HostEntry) -> dict[str, Any]:
    return {
        **_plain(host),
        "reason": _plain(host.reason) if host.reason else None,
        "verified": _plain(host.verified) if host.verified else None,
        "done": [_plain(deed) for deed in host.done],
        "would_do": [_plain(deed) for deed in host.would_do],
        "seconds": {phase: round(value, 1) for phase, value in _in_order(host.seconds)},
    }


def _in_order(seconds: Mapping[Phase, float]) -> Iterator[tuple[str, float]]:
    return ((phase, seconds[phase]) for phase in PHASES if phase in seconds)
