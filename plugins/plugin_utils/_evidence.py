# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was observed of one engine, and the operator's policy: the two things that decide a plan of a host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.module_utils.management_node.engine_list import comparable
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ConsoleState, Listed
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress

ContainerState = Literal["absent", "created", "running", "restarting", "paused", "exited", "unknown"]
Runtime = Literal["docker", "podman"]
RecordState = Literal["none", "requested", "verified", "invalid"]
Unrecorded = Literal["fail", "adopt", "replace"]
ALIVE = ("running", "restarting", "paused")
# The operator is told to type such a name.
LEFTOVER = re.compile(r"slb-leftover-[A-Za-z0-9_.-]{1,64}")
_MOST_LEFTOVERS = 5


@dataclass(frozen=True)
class EngineIdentity:
    """Which engine is wanted. ``base_url``: the management node; empty where it is not known.

    ``trouble``: why no install can be asked for with these values; empty if one can.
    """

    name: str
    manage_ip: str
    base_url: str
    trouble: str = ""


@dataclass(frozen=True)
class Policy:
    """What the operator wants. Times in seconds; the default of ``wait`` is the 2 to 3 minutes of the rules."""

    unrecorded: Unrecorded = "fail"
    wait: float = 180
    settle: float = 5
    attempts: int = 3
    allow_established: bool = False
    remove_leftovers: bool = False
    unlisted: bool = False
    """The operator says of this host, by its name, that the console does not list its engine."""
    may_be_empty: bool = False
    """A list that shows no engine at all may be right."""
    max_replaced: int | str = "10%"
    fleet: int = 1
    """How many hosts the run has."""
    is_translated: bool = False
    """The engine's address leads to the host by address translation: the host itself need not have it."""
    installs: bool = True
    """Whether an install follows where the way is clear."""

    @property
    def replacements(self) -> int:
        """How many running containers a run may take out of the way on the list's word alone."""
        if isinstance(self.max_replaced, int):
            return self.max_replaced
        share = float(self.max_replaced.rstrip("%")) / 100
        return max(1, int(self.fleet * share)) if share else 0

    @property
    def most_rounds(self) -> int:
        return 5 * self.attempts + 5


@dataclass(frozen=True)
class SetAside:
    """What this collection last took out of the way on the host. ``state``: what it was before. ``mistaken``: what
    took it out of the way was wrong. ``going_back``: a run has begun to put it back.
    """

    id: str
    name: str
    state: ContainerState
    because: str
    exists: bool
    mistaken: bool = False
    going_back: bool = False


@dataclass(frozen=True)
class Evidence:
    """What was seen. Times in seconds; ``requested_at`` by the host's clock."""

    engine: EngineIdentity = field(default_factory=lambda: EngineIdentity("", "", ""))
    container: ContainerState = "absent"
    container_id: str | None = None
    container_why: str | None = None
    runtime: Runtime = "docker"
    """The command that the operator has on the host; Docker's where the host has none."""
    uptime: float | None = None
    restarts: int = 0
    auto_remove: bool = False
    systemd_unit: str = ""
    """The one that makes the container, and makes it anew when it is gone."""
    established: int | None = 0
    """Connections; None where they cannot be seen."""
    after_request: bool = False
    """The container was started after the request that the record is about."""
    addresses: tuple[str, ...] = ()
    """The host's own; empty where they cannot be seen."""
    ports: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    record: RecordState = "none"
    record_why: str | None = None
    record_verified_by: str | None = None
    record_age: float = 0
    unwritable: str | None = None
    """Why the record could not be written."""
    set_aside_unwritable: str | None = None
    differences: tuple[str, ...] = ()
    """What the record names and is not so."""
    is_of_this_container: bool = False
    """The record is confirmed, of this very container, whatever else it names."""
    is_of_another_node: bool = False
    """The confirmed record names another management node."""
    is_listed_as_recorded: bool = False
    """The list shows what the record names, not as failed, and this host may be the one that is meant."""
    recorded_as: str = ""
    """The name of the container that the confirmed record names, where that is not slb and this collection did not give
    it.
    """
    set_aside: SetAside | None = None
    running_leftovers: tuple[str, ...] = ()
    """What was taken out of the way and runs again; not looked for where the engine runs well."""
    is_half_gone: bool = False
    """A run was ended while it took this container out of the way or put it back: it is not as it was."""
    as_root: bool = True
    console: ConsoleState = "undescribed"
    console_words: str = ""
    console_is_about_it: bool = False
    disputed: str = ""
    """Another host of the run wants this name or this address: which, in words."""
    distrusted: str = ""
    """The host of the run for which the list was wrong."""
    progress: Progress = field(default_factory=Progress)

    @property
    def verified(self) -> bool:
        """The record is confirmed, and everything that it names still holds."""
        return self.record == "verified" and not self.differences

    @property
    def ours_pending(self) -> bool:
        return self.record == "requested" and not self.differences

    def stable(self, policy: Policy) -> bool:
        return self.container == "running" and self.uptime is not None and self.uptime >= policy.settle

    def settling(self, policy: Policy) -> bool:
        """It runs, not yet long enough to tell, and it was never restarted by the runtime."""
        return self.container == "running" and not self.stable(policy) and self.restarts == 0

    def restarted_lately(self, policy: Policy) -> bool:
        """It runs, not yet long enough to tell, after its runtime has restarted it."""
        return self.container == "running" and not self.stable(policy) and self.restarts > 0

    def remaining(self, policy: Policy) -> float:
        """What is left of the wait for our own request; 0 where there is none."""
        return max(0.0, policy.wait - self.record_age) if self.record == "requested" else 0.0

    def in_words(self) -> list[str]:
        """One short phrase for each thing that was seen."""
        return [self._container_in_words(), self._record_in_words(), self._console_in_words(), *self._rest_in_words()]

    def _container_in_words(self) -> str:
        words = f"container slb: {self.container}"
        if self.uptime is not None:
            words += f" for {self.uptime:.0f} s"
        if self.restarts:
            words += f", restarted {self.restarts} times"
        if self.established is None:
            words += ", its connections cannot be seen"
        elif self.established:
            words += f", {self.established} established connections"
        if self.container == "unknown":
            words += f" ({self.container_why})"
        return words

    def _record_in_words(self) -> str:
        words = f"record: {self.record}"
        if self.record == "requested":
            words += f" for {self.record_age:.0f} s"
        elif self.record == "invalid":
            words += f" ({self.record_why})"
        elif self.record == "verified" and not self.differences:
            words += ", of this engine and container"
        if self.differences:
            words += f", but {' and '.join(self.differences)}"
        return words

    def _console_in_words(self) -> str:
        shown = {"not_listed": "not in it", "undescribed": "not described"}.get(self.console, self.console)
        # Why it cannot be read is long, the same for all hosts, and said in the reason.
        words = "" if self.console == "unavailable" else self.console_words
        return f"console's list: {shown}" + (f" ({words})" if words else "")

    def _rest_in_words(self) -> Iterator[str]:
        if self.progress.put_off:
            yield f"put off by the management node: {self.progress.put_off} times"
        if self.progress.answer != "none":
            yield f"answer to the install: {self.progress.answer}"
        if self.set_aside and self.set_aside.exists:
            yield f"taken out of the way before: {self.set_aside.name}"
        if self.running_leftovers:
            yield f"runs again, though it was taken out of the way: {', '.join(self.running_leftovers)}"


def evidence_from(
    slb_host: Mapping[str, Any],
    engine: EngineIdentity,
    *,
    console: Listed | None = None,
    as_recorded: Listed | None = None,
    progress: Progress | None = None,
    now: float = 0,
    disputed: str = "",
    distrusted: str = "",
) -> Evidence:
    """Reads what M(slb.fleet.host_info) returned; the rest is what the run itself knows.

    ``as_recorded``: what the list says of the engine that the record names. ``now``: by the clock of
    ``progress.asked_at``. The note of a request is older than the request, by the time in which it had to wait.
    """
    container, record = slb_host["engine_container"], slb_host["record"]
    console, progress = console or Listed("undescribed"), progress or Progress()
    ages = [record.get("age", 0)] + ([] if progress.asked_at is None else [now - progress.asked_at])
    return Evidence(
        engine=engine,
        container=container["state"],
        container_id=container.get("id"),
        container_why=str(container.get("why") or "").rstrip("."),
        runtime=container.get("runtime") or "docker",
        uptime=container.get("uptime"),
        restarts=container.get("restart_count", 0),
        auto_remove=container.get("auto_remove", False),
        systemd_unit=quoted(container.get("systemd_unit") or ""),
        established=container.get("established", 0),
        after_request=bool(container.get("after_request")),
        addresses=tuple(slb_host.get("addresses") or ()),
        ports=tuple(slb_host.get("ports", ())),
        record=record["state"],
        record_why=record.get("why"),
        record_verified_by=record.get("verified_by"),
        record_age=min(ages),
        unwritable=record.get("unwritable"),
        set_aside_unwritable=slb_host.get("set_aside_unwritable"),
        differences=tuple(_differences(record, container, engine)),
        is_of_this_container=_is_of_this_container(record, container),
        is_of_another_node=record["state"] == "verified" and record["base_url"] != engine.base_url,
        is_listed_as_recorded=_is_listed_as_recorded(slb_host, engine, as_recorded),
        recorded_as=str(record.get("container_name") or ""),
        set_aside=_set_aside(slb_host),
        running_leftovers=tuple(filter(LEFTOVER.fullmatch, slb_host.get("running_leftovers") or ()))[:_MOST_LEFTOVERS],
        is_half_gone=_is_half_gone(slb_host),
        as_root=slb_host.get("root", True),
        console=console.state,
        console_words=console.words,
        console_is_about_it=console.is_about_it,
        disputed=disputed,
        distrusted=distrusted,
        progress=progress,
    )


def _differences(record: Mapping[str, Any], container: Mapping[str, Any], engine: EngineIdentity) -> Iterator[str]:
    if record["state"] not in ("requested", "verified"):
        return
    if record["name"] != engine.name:
        yield f"it is of the engine {quoted(record['name'])}, not {engine.name}"
    if comparable(record["manage_ip"]) != comparable(engine.manage_ip):
        yield f"it is of the address {quoted(record['manage_ip'])}, not {engine.manage_ip}"
    if not engine.base_url:
        yield f"it is of {quoted(record['base_url'])}, and slb_base_url is not set"
    elif record["base_url"] != engine.base_url:
        yield f"it is of {quoted(record['base_url'])}, not {engine.base_url}"
    if container["state"] == "unknown":
        return
    if record["state"] == "verified" and not _is_of_this_container(record, container):
        yield "its container is gone" if container["state"] == "absent" else "it is of another container"


def quoted(words: str, most: int = 80) -> str:
    """A host's own words, short, and told from ours where they are more than one."""
    short = in_short(" ".join(str(words).split()).replace("'", '"'), most)
    return f"'{short}'" if " " in short or ";" in short else short


def _is_of_this_container(record: Mapping[str, Any], container: Mapping[str, Any]) -> bool:
    known = container.get("id")
    return record["state"] == "verified" and known is not None and record.get("container_id") == known


def _is_listed_as_recorded(slb_host: Mapping[str, Any], engine: EngineIdentity, listed: Listed | None) -> bool:
    """A clone has the record of its original, which is listed rightly: it is known by its addresses."""
    if listed is None or not listed.is_about_it or listed.state not in ("running", "deploying", "unknown"):
        return False
    own = {comparable(address) for address in slb_host.get("addresses") or ()}
    recorded = comparable(slb_host["record"]["manage_ip"])
    is_clone = comparable(engine.manage_ip) in own and recorded not in own
    return not is_clone


def _is_half_gone(slb_host: Mapping[str, Any]) -> bool:
    note, container = slb_host.get("set_aside") or {}, slb_host["engine_container"]
    if "id" not in note or note["id"] != container.get("id") or (note.get("mistaken") and not note.get("going_back")):
        return False
    is_as_it_was = str(note.get("restart_policy")).partition(":")[0] == container.get("restart_policy") and (
        note["state"] not in ALIVE or container["state"] in ALIVE
    )
    return bool(note.get("going_back")) or not is_as_it_was


def _set_aside(slb_host: Mapping[str, Any]) -> SetAside | None:
    note = slb_host.get("set_aside")
    if not note:
        return None
    return SetAside(
        note["id"],
        note["name"],
        note["state"],
        note["because"],
        exists=bool(note["exists"]),
        mistaken=bool(note.get("mistaken")),
        going_back=bool(note.get("going_back")),
    )
