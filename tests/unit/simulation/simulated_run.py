"""What the roles host_preparation and engine_deployment do, step by step, with the decision that they use.

A run is a generator: each ``yield`` is a moment at which it can be killed, and gives the seconds that have passed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, cast

from simulated_console import Console
from simulated_host import Host

from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Decision, decide
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import ConsoleState, Evidence, Policy, evidence_from

Steps = Generator[float, None, None]


class RefusedError(Exception):
    """A task of the run failed, and with it the run for this host."""


_TASK = 1.5
_POLL = 5.0
_SLICE = 5.0
_STOP = 10.0


@dataclass
class Run:
    """``broke`` is told of every broken promise, ``note`` of what is done. After the end, ``decision`` is the last."""

    host: Host
    console: Console
    policy: Policy
    is_listing_described: bool
    broke: Callable[[str], None]
    note: Callable[[str], None]
    decision: Decision = field(init=False)
    seen: dict[str, Any] = field(init=False)
    console_says: ConsoleState = "unknown"
    asked: int = 0
    waited: float = 0.0
    answer: Any = "none"

    def steps(self) -> Steps:
        try:
            yield from self._roles()
        except RefusedError as refusal:
            self.decision = Decision("fail", str(refusal))

    def _roles(self) -> Steps:
        yield from self._look()
        if self.decision.action == "fail":
            return
        if self.decision.action == "replace":
            yield from self._take_aside()
        rounds = 0
        while self.decision.action not in ("nothing", "fail"):
            rounds += 1
            if rounds > 5 * self.policy.attempts + 5:
                raise RefusedError("The host is still not in a steady state.")
            yield from self._act()
            yield from self._look()

    def _act(self) -> Steps:
        action = self.decision.action
        self.note(f"{action}: {self.decision.reason} Seen: {'; '.join(self.decision.evidence)}")
        if action == "wait":
            yield from self._wait()
        elif action == "add":
            yield from self._add()
        elif action == "replace":
            yield from self._take_aside()
            self.answer = "none"
        else:
            yield from self._confirm()

    def _look(self) -> Steps:
        self.seen = self.host.look()
        self._decide()
        yield _TASK
        if self.is_listing_described and self.decision.action != "nothing":
            self.console_says = self._listed()
            self._decide()
            yield _TASK

    def _listed(self) -> ConsoleState:
        return cast(ConsoleState, self.console.shown())

    def _decide(self) -> None:
        self.decision = decide(self._evidence(), self.policy)

    def _evidence(self) -> Evidence:
        words = f"{self.answer}: port 8000" if self.answer != "none" else ""
        return evidence_from(
            self.seen,
            console=self.console_says,
            console_words="503",
            answer=self.answer,
            answer_words=words,
            asked=self.asked,
            waited=self.waited,
        )

    def _wait(self) -> Steps:
        if self.decision.wait_for == "console":
            for _ in range(1 + int(self.decision.wait_seconds / _POLL)):
                self.console_says = self._listed()
                self.waited += _POLL
                yield _POLL
                if self.console_says in ("running", "unreadable"):
                    break
            return
        begin = self.host.clock.now
        started_after = self.seen["record"].get("requested_at", 0)
        while self.host.clock.now - begin < self.decision.wait_seconds:
            container = self.host.look_at_engine()
            if (container.get("uptime") or 0) >= self.policy.settle and container["started_at"] >= started_after:
                break
            yield _SLICE
        self.waited += self.host.clock.now - begin
        yield _TASK

    def _add(self) -> Steps:
        self.host.record = dict(self.host.fresh_request(), container_id=None)
        yield _TASK
        self._see_that_none_is_under_way()
        self.answer = self.console.install(is_ours=True)
        self.asked += 1
        if self.asked > self.policy.attempts:
            self.broke("the attempts are limited")
        yield _TASK
        if self.answer in ("port_occupied", "refused"):
            self.host.record = None
            yield _TASK

    def _see_that_none_is_under_way(self) -> None:
        deployment = self.console.deployment
        if deployment is None or deployment.boot != self.host.boot:
            return
        age = self.host.clock.now - deployment.asked_at
        if deployment.is_ours and age < self.policy.wait - 2 * _TASK:
            self.broke(f"no install is asked for while ours of {age:.0f} s ago may still be running")

    def _take_aside(self) -> Steps:
        """Restart policy off, stop, rename: in this order, and it can be killed between them."""
        container, decided = self.host.engine, self.seen["engine_container"]
        if container is None or self.host.runtime_is_down or container.id != decided["id"]:
            raise RefusedError("The container is another one by now.")
        if decided["state"] in ("exited", "created") and self.host.state == "running":
            raise RefusedError("The container was started again.")
        if container.established and not self.policy.allow_established:
            raise RefusedError("It carries established connections.")
        if container.is_live and self.host.state not in ("exited", "created") and self.policy.unrecorded != "replace":
            self.broke(f"no engine that is live is stopped without the operator's word: {self.decision.reason}")
        self.note(f"takes the container aside: {self.decision.reason} Seen: {'; '.join(self.decision.evidence)}")
        container.restarts = False
        yield 0.3
        if container.held != "created":
            yield _STOP
            container.held, container.is_live, container.established = "exited", False, 0
        yield 0.3
        if self.host.engine is container:
            self.host.rename(container)
        yield from self._look()

    def _confirm(self) -> Steps:
        container, record = self.seen["engine_container"], self.host.record
        request = record if isinstance(record, dict) else self.host.fresh_request()
        proof = {"state": "confirmed", "container_id": container["id"], "verified_by": self.decision.verified_by}
        self.host.record = {**request, **proof}
        yield _TASK
