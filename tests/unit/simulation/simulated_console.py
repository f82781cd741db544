"""A model of the management node: its list, its deployments, and what can go wrong with them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simulated_host import Container, Host

_DEPLOY_SECONDS = 6.0


@dataclass(frozen=True)
class Faults:
    stuck: bool = False
    half_way: str = ""
    """listed or unlisted: the container is started, then the deployment fails."""
    slow_start: float = 0.0
    crashes_after: float | None = None
    answer_lost: bool = False
    unreachable: bool = False

    @classmethod
    def any(cls, chance: random.Random, wait: float) -> Faults:
        if chance.random() < 0.4:
            return cls()
        return cls(
            stuck=chance.random() < 0.2,
            half_way=chance.choice(["", "", "", "listed", "unlisted"]),
            slow_start=chance.choice([0.0, 0.0, 0.0, 20.0, 1.5 * wait]),
            crashes_after=chance.choice([None, None, None, 0.1, 1.0]),
            answer_lost=chance.random() < 0.2,
            unreachable=chance.random() < 0.1,
        )


@dataclass
class Deployment:
    asked_at: float
    start_at: float
    end_at: float
    faults: Faults
    is_ours: bool
    boot: int
    container: Container | None = None
    has_started: bool = False


class Console:
    """Holds at most one engine: that of the host. ``status`` is the truth, which ``shown`` may not tell."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.faults = Faults()
        self.status: str | None = None
        self.is_listed = True
        self.is_stuck = False
        self.deployment: Deployment | None = None
        self.calls = 0

    def shown(self) -> str:
        """What a list that is described right says, or unreadable."""
        self.calls += 1
        if self.faults.unreachable:
            return "unreadable"
        if self.status is None or not self.is_listed:
            return "not_listed"
        return "deploying" if self.is_stuck else self.status

    def install(self, is_ours: bool) -> str:
        """The answer, as the module ``engine`` understands it."""
        self.calls += 1
        if is_ours and self.faults.unreachable:
            return "refused"
        answer = self._install(is_ours)
        return "unknown" if is_ours and self.faults.answer_lost else answer

    def _install(self, is_ours: bool) -> str:
        host, now = self._host, self._host.clock.now
        if self.status in ("running", "deploying") or (host.engine and not host.runtime_is_down):
            return "exists"
        if host.foreign_port_holder:
            return "port_occupied"
        self.status, self.is_listed, self.is_stuck = "deploying", True, False
        start_at = now + _DEPLOY_SECONDS / 2 + self.faults.slow_start
        self.deployment = Deployment(now, start_at, start_at + _DEPLOY_SECONDS / 2, self.faults, is_ours, host.boot)
        return "requested"

    def forget(self) -> None:
        if self.status == "running" and self._host.engine:
            self._host.engine.is_live = False
        self.status, self.deployment = None, None

    def restart(self) -> None:
        if self.deployment:
            self._end("failed")

    def next_event(self) -> float | None:
        if self.deployment is None:
            return None
        return self.deployment.end_at if self.deployment.has_started else self.deployment.start_at

    def happen(self) -> None:
        """What is due now in the deployment."""
        deployment, host = self.deployment, self._host
        assert deployment is not None
        if deployment.boot != host.boot or host.runtime_is_down:
            self._end("failed")
        elif not deployment.has_started:
            if host.engine or host.foreign_port_holder:
                self._end("failed")
                return
            deployment.has_started = True
            deployment.container = host.start_engine(deployment.faults.crashes_after)
        elif deployment.faults.half_way:
            self._end("failed", is_listed=deployment.faults.half_way == "listed")
        elif not host.engine or deployment.container is not host.engine or not self._serves(deployment):
            self._end("failed")
        else:
            host.engine.is_live = True
            self.is_stuck = deployment.faults.stuck
            self._end("running")

    def _serves(self, deployment: Deployment) -> bool:
        return self._host.state == "running" and deployment.faults.crashes_after is None

    def _end(self, status: str, is_listed: bool = True) -> None:
        self.status, self.is_listed, self.deployment = status, is_listed, None
