"""A model of an engine host: its clocks, its containers and what ``host_info`` would return of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

EPOCH = 1_800_000_000.0
_LONGEST_PAUSE = 60.0


@dataclass
class Clock:
    """``now`` is true time, in seconds; ``wall`` is what the host's clock shows, which somebody may set."""

    now: float = 0.0
    skew: float = 0.0

    @property
    def wall(self) -> float:
        return EPOCH + self.now + self.skew


@dataclass
class Container:
    """``crashes_after``: seconds that its process lives each time. ``is_live``: the console's engine is in it."""

    id: str
    began: float
    started_at: float | None
    crashes_after: float | None = None
    is_live: bool = False
    established: int = 0
    held: str | None = None
    """created, paused or exited: a state in which it stays. Otherwise it runs, or crashes again and again."""
    restarts: bool = True
    """Whether its restart policy is on."""

    def at(self, now: float) -> tuple[str, float, int]:
        """State, age of its process and the number of its restarts, as a runtime with growing pauses has it."""
        age = now - self.began
        if self.held or self.crashes_after is None:
            return self.held or "running", age, 0
        pause, count = 0.1, 0
        while age >= self.crashes_after:
            age -= self.crashes_after
            count += 1
            if age < pause:
                return "restarting", age, count
            age -= pause
            pause = min(2 * pause, _LONGEST_PAUSE)
        return "running", age, count


@dataclass
class Host:
    clock: Clock
    containers: dict[str, Container] = field(default_factory=dict)
    record: dict[str, Any] | str | None = None
    """A text is a damaged one."""
    boot: int = 1
    booted: float = 0.0
    runtime_is_down: bool = False
    foreign_port_holder: bool = False
    made: int = 0

    @property
    def engine(self) -> Container | None:
        return self.containers.get("slb")

    @property
    def state(self) -> str:
        return self.engine.at(self.clock.now)[0] if self.engine else "absent"

    def start_engine(self, crashes_after: float | None) -> Container:
        self.made += 1
        made = Container(f"c{self.made}", self.clock.now, self.clock.wall, crashes_after)
        self.containers["slb"] = made
        return made

    def restart(self, container: Container) -> None:
        container.held, container.began, container.started_at = None, self.clock.now, self.clock.wall

    def reboot(self) -> None:
        self.boot, self.booted, self.runtime_is_down = self.boot + 1, self.clock.now, False
        for container in self.containers.values():
            container.established = 0
            if container.held in (None, "paused"):
                self.restart(container)
                container.held = None if container.restarts else "exited"

    def rename(self, container: Container) -> None:
        del self.containers["slb"]
        self.containers[f"slb-leftover-{len(self.containers)}-{container.id}"] = container

    def look(self) -> dict[str, Any]:
        return {"engine_container": self.look_at_engine(), "record": self._record(), "ports": self._ports()}

    def fresh_request(self) -> dict[str, Any]:
        uptime = self.clock.now - self.booted
        return {"state": "pending", "requested_at": self.clock.wall, "boot": self.boot, "uptime": uptime}

    def look_at_engine(self) -> dict[str, Any]:
        if self.runtime_is_down:
            return {"state": "unknown", "why": "docker does not answer"}
        if self.engine is None:
            return {"state": "absent"}
        state, age, restarts = self.engine.at(self.clock.now)
        # A process that was restarted began at a time that is known from the age; the first one's was noted.
        started_at = self.clock.wall - age if restarts else self.engine.started_at
        return {
            "state": state,
            "id": self.engine.id,
            "started_at": started_at,
            "uptime": age if state == "running" else None,
            "restart_count": restarts,
            "established": self.engine.established,
        }

    def _record(self) -> dict[str, Any]:
        if self.record is None:
            return {"state": "none"}
        if isinstance(self.record, str):
            return {"state": "invalid", "why": self.record}
        uptime, wall = self.clock.now - self.booted, self.clock.wall
        if self.record["boot"] == self.boot:
            return dict(self.record, age=max(0.0, uptime - self.record["uptime"]))
        return dict(self.record, age=max(uptime, wall - self.record["requested_at"]))

    def _ports(self) -> list[dict[str, Any]]:
        return [{"port": 8000, "pid": 217, "process": "python3"}] if self.foreign_port_holder else []
