"""A model of a management node: what it manages in truth, what its list shows, and what becomes of an install."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import Clock, Container, Host

_DEPLOY_SECONDS = 6.0
LIES = (
    "empty", "some hidden", "all hidden", "stale", "foreign", "words", "paged", "unavailable", "doubled", "names",
    "twice", "old rows", "shifts",
)  # fmt: skip
_OPPOSITE = {"running": "failed", "failed": "running", "deploying": "running"}


@dataclass(frozen=True)
class Faults:
    """What goes wrong with the next deployments."""

    stuck: bool = False
    """It gets through, and the front end goes on showing its progress bar."""
    half_way: str = ""
    """listed or unlisted: the container is started, then the deployment fails."""
    slow_start: float = 0.0
    crashes_after: float | None = None
    answer_lost: str = ""
    """before or after: whether the request got through before the connection was lost."""
    refused: bool = False
    late_check: bool = False
    """What is on the host is looked at after the answer."""

    @classmethod
    def any(cls, chance: random.Random, wait: float) -> Faults:
        if chance.random() < 0.5:
            return cls()
        return cls(
            stuck=chance.random() < 0.2,
            half_way=chance.choice(["", "", "", "listed", "unlisted"]),
            slow_start=chance.choice([0.0, 0.0, 0.0, 20.0, 1.5 * wait]),
            crashes_after=chance.choice([None, None, None, 0.1, 1.0, 20.0]),
            answer_lost=chance.choice(["", "", "", "before", "after"]),
            refused=chance.random() < 0.1,
            late_check=chance.random() < 0.2,
        )


@dataclass(eq=False)
class Entry:
    """An engine of a console. ``state``: deploying, failed or running, in truth."""

    name: str
    address: str
    state: str
    container: Container | None = None
    host: Host | None = None
    is_stuck: bool = False


@dataclass(eq=False)
class Deployment:
    entry: Entry
    start_at: float
    end_at: float
    faults: Faults
    asked_at: float
    line: str
    """Whose request it is: a line of the inventory, or nothing where a person asked."""
    host: Host | None = None
    boot: int = 0
    container: Container | None = None
    has_started: bool = False
    has_ended: bool = False


@dataclass(eq=False)
class Node:
    url: str
    clock: Clock
    at: Callable[[str], Host | None]
    """Who answers at an address."""
    entries: list[Entry] = field(default_factory=list)
    faults: Faults = Faults()
    deployments: list[Deployment] = field(default_factory=list)
    is_described: bool = True
    is_up: bool = True
    notices: bool = False
    """It shows an engine that does not answer as failed; otherwise as it was deployed."""
    blocks_failed: bool = False
    """An entry that failed is in the way of adding it again."""
    lie: str = ""
    older: list[Entry] | None = None
    """A copy of its list, as a cache or a backup has it."""
    foreign: Node | None = None
    page: int = 0
    is_paged: bool = False
    """Its list is read page by page, as it is described."""
    calls: int = 0
    requests: int = 0

    def entry(self, name: str, address: str) -> Entry | None:
        for entry in self.entries:
            if entry.name == name and entry.address == address:
                return entry
        return None

    def word(self, entry: Entry) -> str:
        """What the console shows of it, and a person sees there."""
        if entry.is_stuck:
            return "deploying"
        if entry.state == "running" and self.notices:
            lives = entry.container and entry.host and entry.host.is_live(entry.container) and not entry.host.cut_off
            return "running" if lives else "failed"
        return entry.state

    def list(self) -> list[dict[str, str]] | str | None:
        """What the run reads: None where no list is described, words where it cannot be read."""
        if not self.is_described:
            return None
        self.calls += 1
        if not self.is_up or self.lie == "engine_list_unavailable":
            return "https://node.example does not answer: timed out. Look whether the management node is up."
        if self.lie in ("empty", "all hidden"):
            return []
        if self.lie == "words":
            return [_item(entry, "unknown", "3") for entry in self.entries]
        if self.lie == "stale":
            return [_item(entry, self.word(entry)) for entry in self.older or []]
        if self.lie == "foreign":
            return [_item(entry, self.foreign.word(entry)) for entry in self.foreign.entries] if self.foreign else []
        if self.lie == "doubled":
            return [
                *(_item(one, self.word(one)) for one in self.entries),
                *(_item(one, "failed") for one in self.entries),
            ]
        if self.lie == "names":
            return [{**_item(one, self.word(one)), "address": f"{one.name}.example"} for one in self.entries]
        if self.lie == "twice":
            return self._twice()
        if self.lie == "old rows":
            rows = [_item(one, self.word(one)) for one in self.entries]
            return [*({**row, "address": f"10.8.8.{number}"} for number, row in enumerate(rows)), *rows]
        shown = self.entries
        if self.lie == "some hidden":
            shown = shown[self.page :: 2]
        elif self.lie == "paged":
            shown = shown[: self.page]
        elif self.is_shifting:
            shown = self._while_they_shift()
        return [_item(entry, self.word(entry)) for entry in shown]

    @property
    def is_shifting(self) -> bool:
        return self.is_paged and self.lie == "shifts"

    def _while_they_shift(self) -> list[Entry]:
        """Rows come and go while the pages are read: now and then one is on none of them, never twice in succession."""
        missed, is_missed = divmod(self.calls, 3)
        shown = self.entries[:]
        if not is_missed and shown:
            del shown[missed % len(shown)]
        return shown

    def _twice(self) -> list[dict[str, str]]:
        """Some are there twice, and the two rows contradict each other; their order is another one each time."""
        rows = []
        for number, one in enumerate(self.entries):
            word = self.word(one)
            rows.append(_item(one, word))
            if number % 2 == self.page % 2:
                rows.append(_item(one, _OPPOSITE.get(word, "unknown")))
        return rows if self.calls % 2 else rows[::-1]

    def install(self, name: str, address: str, line: str) -> str:
        """The answer, as the module ``engine`` understands it."""
        self.calls += 1
        self.requests += 1
        faults = self.faults if line else Faults()
        if not self.is_up or faults.refused:
            return "rejected"
        if faults.answer_lost == "before":
            return "unknown"
        answer = self._install(name, address, faults, line)
        return "unknown" if faults.answer_lost else answer

    def _install(self, name: str, address: str, faults: Faults, line: str) -> str:
        for entry in [entry for entry in self.entries if entry.name == name or entry.address == address]:
            if entry.state != "failed" or self.blocks_failed:
                return "exists"
            self.forget(entry)
        host = self.at(address)
        if host and not faults.late_check and not host.runtime_is_down and not host.cut_off:
            if host.engine:
                return "port_in_use" if host.state == "running" and self.page else "exists"
            if host.foreign_port:
                return "port_in_use"
        entry = Entry(name, address, "deploying", host=host)
        self.entries.append(entry)
        start_at = self.clock.now + _DEPLOY_SECONDS / 2 + faults.slow_start
        boot = host.boot if host else 0
        self.deployments.append(
            Deployment(
                entry, start_at, start_at + _DEPLOY_SECONDS / 2, faults, self.clock.now, line, host=host, boot=boot
            )
        )
        return "requested"

    def forget(self, entry: Entry) -> None:
        """Somebody removes it in the console: its container is left to itself."""
        if entry in self.entries:
            self.entries.remove(entry)
        if entry.container:
            entry.container.entry = None
        entry.container = None
        self.deployments = [deployment for deployment in self.deployments if deployment.entry is not entry]

    def restart(self) -> None:
        for deployment in list(self.deployments):
            self._end(deployment, "failed")

    def is_deploying(self, name: str, address: str) -> bool:
        return any(one.entry.name == name and one.entry.address == address for one in self.deployments)

    def next_event(self) -> float | None:
        if not self.deployments:
            return None
        return min(one.end_at if one.has_started else one.start_at for one in self.deployments)

    def happen(self) -> None:
        """What is due now in the first of its deployments."""
        deployment = min(self.deployments, key=lambda one: one.end_at if one.has_started else one.start_at)
        host, faults = self.at(deployment.entry.address), deployment.faults
        gone = host is None or host is not deployment.host or host.boot != deployment.boot
        unusable = host is None or not host.is_up or host.cut_off == "management node" or host.runtime_is_down
        if gone or host is None or unusable or host.disk == "full":
            self._end(deployment, "failed")
        elif not deployment.has_started:
            if host.engine or host.foreign_port:
                self._end(deployment, "failed")
                return
            deployment.has_started = True
            deployment.container = host.start_engine(crashes_after=faults.crashes_after, by_hand=not deployment.line)
        elif faults.half_way:
            self._end(deployment, "failed", is_listed=faults.half_way == "listed")
        elif host.engine is not deployment.container or host.state != "running" or faults.crashes_after:
            self._end(deployment, "failed")
        else:
            entry = deployment.entry
            entry.container, entry.host, entry.is_stuck = deployment.container, host, faults.stuck
            assert entry.container is not None
            entry.container.entry = entry
            self._end(deployment, "running")

    def _end(self, deployment: Deployment, state: str, is_listed: bool = True) -> None:
        deployment.has_ended = True
        self.deployments.remove(deployment)
        deployment.entry.state = state
        if not is_listed and deployment.entry in self.entries:
            self.entries.remove(deployment.entry)


def _item(entry: Entry, state: str, console_state: str = "") -> dict[str, Any]:
    return {"name": entry.name, "address": entry.address, "state": state, "console_state": console_state or state}
