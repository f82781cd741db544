# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observed state of one engine host, and the operator's policy: the two inputs of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import comparable
from ansible_collections.slb.fleet.plugins.module_utils._typed import NEEDED, NOT_NEGATIVE, Amount, Name
from ansible_collections.slb.fleet.plugins.module_utils._visible import amount
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Listed

ContainerState = Literal["absent", "created", "running", "restarting", "paused", "exited", "unknown"]
RecordState = Literal["none", "preparing", "prepared", "requested", "restoring", "verified", "invalid"]
Health = Literal["", "starting", "healthy", "unhealthy", "silent"]
Outcome = Literal["none", "requested", "exists", "port_in_use", "rejected", "unknown"]

LIVE = ("running", "restarting", "paused")
"""States of a container that may serve traffic."""
OPEN = ("preparing", "prepared", "restoring")
"""States of a record whose step is in progress or was interrupted."""
OPEN_SECONDS = 120
"""Age at which a step that is still open counts as interrupted, if it is of another run."""

RESTARTED_FACTOR = 6
"""How many times longer a container must run if its runtime has restarted it: it may end again and again."""


@dataclass(frozen=True)
class Engine:
    """The wanted engine, and the management node that installs it."""

    name: str = ""
    manage_ip: str = ""
    base_url: str = ""


@dataclass(frozen=True)
class Policy:
    """The operator's variables that a plan depends on. Times in seconds."""

    unverified_engine: Literal["fail", "adopt", "replace"] = "fail"
    stopped_engine: Literal["fail", "start"] = "fail"
    wait_timeout: float = 180
    settle: float = 5
    allow_established: bool = False
    remove_leftovers: bool = False
    remediates: bool = False
    """``slb.fleet.remediate``: the operator states that the engine list does not list this host's engine."""
    retires: bool = False
    """``slb.fleet.retire``: the host gets no engine any more."""


@dataclass(frozen=True)
class Container:
    """The container ``slb``. ``connections``: inbound; None if they cannot be seen.

    ``health``: of its health check; empty without one; ``silent`` if the check should have reported and did not.
    """

    state: ContainerState = field(default="absent", metadata=NEEDED)
    id: Name | None = None
    runtime: Literal["docker", "podman"] = "docker"
    uptime: Amount | None = None
    restart_count: Annotated[int, NOT_NEGATIVE] = 0
    auto_remove: bool = field(default=False, metadata=NEEDED)
    manager: str = ""
    manager_fix: str = ""
    start_obstacle: str = ""
    restore_obstacle: str = ""
    is_dead: bool = False
    connections: int | None = 0
    peers: tuple[str, ...] = ()
    why: str = ""
    fix: str = ""
    health: Health = ""
    health_output: str = ""

    @property
    def is_live(self) -> bool:
        return self.state in LIVE


@dataclass(frozen=True)
class SetAside:
    """The container that this collection set aside last. ``exists``: None if unknown."""

    id: Name = field(default="", metadata=NEEDED)
    name: Name = field(default="", metadata=NEEDED)
    purpose: str = field(default="replace", metadata=NEEDED)
    exists: bool | None = True
    stop_timeout: Amount = 0


@dataclass(frozen=True)
class Record:
    """The deployment record. ``age``: seconds since the request. ``containers_before``: all ids on the host before it.

    ``wait_timeout``: of the run that sent the request; other runs do not wait less. ``sent``: whether this request, or
    the one of the record before, may have been sent. ``replaced_gone``: whether the verified container replaced one
    that was gone; ``age`` is then that of the verification.
    ``set_aside``: the container that this request set aside. ``earlier``: the one of the record before.
    """

    state: RecordState = field(default="none", metadata=NEEDED)
    why: str = ""
    unwritable: str = ""
    request_id: str | None = None
    engine: Engine = field(default_factory=Engine)
    age: Amount = 0
    wait_timeout: Amount = 0
    sent: bool = False
    replaced_gone: bool = False
    containers_before: tuple[Name, ...] = ()
    last_verified: Name | None = None
    set_aside: SetAside | None = None
    earlier: SetAside | None = None
    verified_name: Name = ""
    """Name of the container ``last_verified``, if it exists and is neither ``slb`` nor set aside."""


@dataclass(frozen=True)
class Port:
    """A TCP port on which a process of the host listens; ``container``: in which that process runs."""

    port: int
    process: str = ""
    container: Name | None = None


@dataclass(frozen=True)
class RunState:
    """What the run knows beyond the host. Times and hosts of other management nodes do not count.

    ``replacements``: hosts whose live container only the engine list calls a leftover. ``missing``: hosts whose
    verified engine runs and is not listed. ``shows_verified``: whether the list shows that of another host.
    ``limit``: of replacements; None while hosts are still checked. ``difference``: from the approved plan. ``session``:
    why the management node gives none.
    """

    replacements: tuple[str, ...] = ()
    limit: int | None = None
    missing: tuple[str, ...] = ()
    shows_verified: bool = False
    difference: str = ""
    session: FleetError | None = None

    @property
    def is_list_doubted(self) -> bool:
        """Return whether the engine list lacks more running engines than allowed: it may be that of another account."""
        if self.limit is None or not self.missing:
            return False
        return len(self.missing) + len(self.replacements) > self.limit or not self.shows_verified


@dataclass(frozen=True)
class State:
    """Everything that a plan depends on, besides the policy.

    ``conflict``: which other host of the run wants the same engine or is the same machine. ``outcome`` and ``answer``:
    of this run's install request. ``requests``: number of install requests of this run for this host.
    """

    engine: Engine = field(default_factory=Engine)
    container: Container = field(default_factory=Container)
    record: Record = field(default_factory=Record)
    listed: Listed = field(default_factory=lambda: Listed("not_configured"))
    addresses: tuple[str, ...] = ()
    is_translated: bool = False
    is_root: bool = True
    running_leftovers: tuple[str, ...] = ()
    stopped_leftovers: tuple[str, ...] = ()
    ports: tuple[Port, ...] = ()
    conflict: str = ""
    run: RunState = field(default_factory=RunState)
    outcome: Outcome = "none"
    answer: str = ""
    requests: int = 0

    @property
    def has_list(self) -> bool:
        return self.listed.state != "not_configured"

    @property
    def record_is_current(self) -> bool:
        """Return whether the record is about this engine at this management node."""
        ours, recorded = self.engine, self.record.engine
        return (ours.name, comparable(ours.manage_ip), ours.base_url) == (
            recorded.name,
            comparable(recorded.manage_ip),
            recorded.base_url,
        )

    @property
    def is_verified(self) -> bool:
        """Return whether the record verifies the container ``slb`` for this engine."""
        return self.was_verified and self.container.id is not None and self.record.last_verified == self.container.id

    @property
    def was_verified(self) -> bool:
        """Return whether the record verifies a container for this engine, whatever became of the container."""
        return self.record.state == "verified" and self.record_is_current

    @property
    def is_new(self) -> bool:
        """Return whether the container came with the request in the record, for whatever engine."""
        is_known = self.container.id is None or self.container.id in self.record.containers_before
        return self.record.state == "requested" and not is_known

    @property
    def is_after_request(self) -> bool:
        """Return whether the container came with the request for this engine."""
        return self.is_new and self.record_is_current

    @property
    def is_down(self) -> bool:
        """Return whether there is a container that does not run."""
        return self.container.state in ("exited", "created")

    @property
    def is_open(self) -> bool:
        """Return whether the record shows a step that is in progress or was interrupted."""
        return self.record.state in OPEN

    @property
    def open_seconds_left(self) -> float:
        """Return for how long the step of an open record may be in progress, the stop of its container included."""
        aside = self.record.set_aside
        return OPEN_SECONDS + (aside.stop_timeout if aside else 0) - self.record.age

    @property
    def has_undo(self) -> bool:
        """Return whether the record's own container is set aside, or is back under the name ``slb``."""
        aside = self.record.set_aside
        is_free = self.container.state == "absent" or (aside is not None and self.container.id == aside.id)
        return aside is not None and aside.exists is not False and is_free

    @property
    def unresolved(self) -> list[SetAside]:
        """Return the containers that are set aside although nothing has replaced them."""
        asides = [self.record.set_aside, self.record.earlier] if self.record.state != "verified" else []
        return [aside for aside in asides if aside and aside.exists and aside.id != self.container.id]

    def remaining(self, policy: Policy) -> float:
        """Return the seconds left of the wait for a request, also of another run; 0 if there is none."""
        wait = max(policy.wait_timeout, self.record.wait_timeout)
        return max(0.0, wait - self.record.age) if self.record.state == "requested" else 0.0

    def has_settled(self, policy: Policy) -> bool:
        """Return whether the container runs for at least the settle time, after a restart by its runtime for longer."""
        needed = policy.settle * (RESTARTED_FACTOR if self.container.restart_count else 1)
        return self._runs_for(needed)

    def is_stable(self, policy: Policy) -> bool:
        """Return whether the container has settled, and its health check, if it reports, says healthy."""
        return self.has_settled(policy) and self.container.health not in ("starting", "unhealthy")

    def is_settling(self, policy: Policy) -> bool:
        """Return whether the container may soon be stable: it has just started, or its health check has not decided."""
        container = self.container
        if container.state != "running" or container.health == "unhealthy":
            return False
        if self.has_settled(policy):
            return container.health == "starting"
        return container.restart_count == 0 or self._runs_for(policy.settle)

    def _runs_for(self, seconds: float) -> bool:
        container = self.container
        return container.state == "running" and container.uptime is not None and container.uptime >= seconds

    def in_words(self) -> list[str]:
        """Return the observed state as short phrases."""
        return [phrase for phrase in self._phrases() if phrase]

    def _phrases(self) -> Iterator[str]:
        container, record = self.container, self.record
        words = f"container slb {container.state}"
        if container.uptime is not None:
            words += f" for {container.uptime:.0f} s"
        if container.restart_count:
            words += f", restarted {amount(container.restart_count, 'time')}"
        if container.is_live:
            count = container.connections
            words += ", connections unknown" if count is None else f", {amount(count, 'connection')}"
        yield words + (f" ({container.why})" if container.why else "")
        words = {"": "", "silent": "health check has never reported, and is ignored"}.get(
            container.health, f"health check {container.health}"
        )
        yield words + (f": {container.health_output}" if container.health == "unhealthy" else "")
        yield f"container slb managed by {container.manager}" if container.manager and container.id else ""
        words = "no deployment record" if record.state == "none" else f"deployment record {record.state}"
        if record.state == "requested":
            words += f" for {record.age:.0f} s"
        if record.state == "verified" and not self.record_is_current:
            words += " for another engine"
        elif record.state == "verified" and container.id not in (None, record.last_verified):
            words += " for another container"
        yield words + (f" ({record.why})" if record.why else "")
        shown = {"not_configured": "not configured", "not_listed": "does not list the engine"}.get(self.listed.state)
        words = f"engine list {shown or self.listed.state}"
        yield words + (f" ({self.listed.words})" if self.listed.words and self.listed.state != "unavailable" else "")
        yield f"install {self.outcome}: {self.answer}" if self.outcome != "none" else ""
        for aside in (record.set_aside, record.earlier):
            yield f"set aside: {aside.name}" if aside and aside.exists else ""
        if self.running_leftovers:
            yield f"leftovers that run: {', '.join(self.running_leftovers)}"
