"""Random histories of one engine host: runs that are killed, deployments that fail, people who work on the host.

After each, undisturbed runs have to converge: in an engine that needs nothing, or in an error that an operator can
act on, and once that was done, in an engine that needs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

from simulated_console import Console, Faults
from simulated_host import Clock, Host
from simulated_run import Run

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Policy

_DAY = 86_400.0
_LONGEST_RUN = 4_000.0
_REMEDIES = 4


@dataclass(frozen=True)
class Violation:
    seed: str
    promise: str
    story: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.promise} (history {self.seed})\n  " + "\n  ".join(self.story)


class History:
    """One history; ``violations`` after ``live`` are the promises that were broken."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._chance = random.Random(seed)
        self.clock = Clock()
        self.host = Host(self.clock)
        self.console = Console(self.host)
        self.violations: list[Violation] = []
        self.runs = 0
        self._story: list[str] = []
        self._is_described = self._chance.random() < 0.5
        self._policy = Policy(
            wait=self._chance.choice([30.0, 180.0]),
            settle=self._chance.choice([2.0, 5.0]),
            attempts=self._chance.choice([1, 2, 3]),
        )

    def live(self) -> None:
        for _ in range(self._chance.randint(1, 5)):
            self._episode()
        self._converge()

    def _episode(self) -> None:
        chance = self._chance
        self.console.faults = Faults.any(chance, self._policy.wait)
        for _ in range(chance.choice([0, 0, 1, 2])):
            self._something_happens()
        word = chance.choice(["fail", "fail", "fail", "adopt", "replace"])
        steps = chance.choice([3, 8, 20, 60, None])
        kill_after = None if steps is None else chance.randrange(steps)
        self._run(self._policy_with(word, chance.random() < 0.2), kill_after, disturbed=chance.random() < 0.3)
        self._pass(chance.choice([0.0, 5.0, self._policy.wait, _DAY]))

    def _policy_with(self, word: str, allow_established: bool = False) -> Policy:
        policy = self._policy
        return Policy(word, policy.wait, policy.settle, policy.attempts, allow_established)  # type: ignore[arg-type]

    def _run(self, policy: Policy, kill_after: int | None = None, disturbed: bool = False) -> Run:
        """One run, killed at the given step if it gets there."""
        self.runs += 1
        run = Run(self.host, self.console, policy, self._is_described, self._broke, self._note)
        begin = self.clock.now
        for number, seconds in enumerate(run.steps()):
            if number == kill_after:
                self._note(f"run killed at step {number} as it was about to {run.decision.action}")
                return run
            if disturbed and self._chance.random() < 0.1:
                self._something_happens(while_it_runs=True)
            self._pass(seconds)
        self._note(f"run ended: {run.decision.action}: {run.decision.reason}")
        if self.clock.now - begin > _LONGEST_RUN:
            self._broke(f"a run ends in time, not after {self.clock.now - begin:.0f} s")
        return run

    def _converge(self) -> None:
        self.console.faults = Faults()
        self.console.is_stuck = False
        self.host.runtime_is_down = False
        word = "fail"
        for _ in range(_REMEDIES):
            run = self._run(self._policy_with(word))
            if run.decision.action == "nothing":
                self._see_that_all_is_well()
                return
            remedies = list(self._remedies(run))
            if not remedies:
                break
            word = next((remedy for remedy in remedies if remedy in ("adopt", "replace")), word)
            self._note(f"operator: {', '.join(remedies)}")
        self._broke("an undisturbed run converges, or fails where an operator can mend it")

    def _see_that_all_is_well(self) -> None:
        if self.host.state != "running":
            self._broke("where nothing is to be done, an engine runs")
        record, calls = copy(self.host.record), self.console.calls
        if self._run(self._policy).decision.action != "nothing" or self.console.calls != calls:
            self._broke("a second run does nothing and asks the management node nothing")
        if self.host.record != record:
            self._broke("a second run changes nothing")

    def _remedies(self, run: Run) -> Iterator[str]:
        """What an operator does who looks at the host and at the console."""
        host, console, engine = self.host, self.console, self.host.engine
        if isinstance(host.record, str) and engine is None:
            host.record = None
            yield "removed the damaged record"
        if host.foreign_port_holder:
            host.foreign_port_holder = False
            yield "freed the port"
        if console.is_stuck:
            console.is_stuck = False
            yield "refreshed the console's page"
        if console.status and host.state != "running":
            console.forget()
            yield "removed the engine in the console"
        if engine and engine.established:
            engine.established = 0
            yield "ended the connections"
        if engine:
            yield "adopt" if engine.is_live and host.state == "running" else "replace"

    def _something_happens(self, while_it_runs: bool = False) -> None:
        """To the host, to the console or to the container; a person who does that takes over what is under way."""
        host, console, engine, chance = self.host, self.console, self.host.engine, self._chance
        events = ["human deploys", "human forgets", "clock", "port", "runtime", "console restarts"]
        by_hand = ["stop", "start", "pause", "remove", "connections", "create"] if engine else ["leftover"]
        event = chance.choice(events + by_hand + ([] if while_it_runs else ["record", "reboot"]))
        self._note(f"meanwhile: {event}")
        if console.deployment and event in [*by_hand, "record", "reboot"]:
            console.deployment.is_ours = False
        if event == "human deploys":
            console.install(is_ours=False)
        elif event == "human forgets":
            console.forget()
        elif event == "clock":
            self.clock.skew += chance.choice([-7200.0, -60.0, 60.0, 7200.0])
        elif event == "reboot":
            host.reboot()
        elif event == "record":
            host.record = chance.choice(["it is not JSON", None])
        elif event == "port":
            host.foreign_port_holder = engine is None and not host.foreign_port_holder
        elif event == "runtime":
            host.runtime_is_down = not host.runtime_is_down
        elif event == "console restarts":
            console.restart()
        elif event == "leftover":
            if not host.foreign_port_holder:
                host.start_engine(chance.choice([None, 0.1]))
        elif engine:
            self._to_engine(event)

    def _to_engine(self, event: str) -> None:
        engine = self.host.engine
        assert engine is not None
        if event == "remove":
            del self.host.containers["slb"]
        elif event == "connections":
            engine.established = 3 if self.host.state == "running" else 0
        elif event == "start":
            self.host.restart(engine)
        elif event == "create":
            engine.held, engine.started_at, engine.is_live, engine.established = "created", None, False, 0
        elif engine.held is None:
            engine.held = "paused" if event == "pause" else "exited"
            engine.established = 0

    def _pass(self, seconds: float) -> None:
        """Lets time go by, with what the management node does in it."""
        end = self.clock.now + seconds
        while True:
            event = self.console.next_event()
            if event is None or event > end:
                break
            self.clock.now = max(self.clock.now, event)
            self.console.happen()
        self.clock.now = end

    def _note(self, what: str) -> None:
        engine = self.host.engine
        lives = " (live)" if engine and engine.is_live else ""
        self._story.append(f"{self.clock.now:7.0f} s, {self.host.state}{lives}, {self.console.status}: {what}")

    def _broke(self, promise: str) -> None:
        self.violations.append(Violation(self._seed, promise, tuple(self._story)))


def live_through(seed: int, number: int) -> tuple[int, list[Violation]]:
    """That many histories: how many runs they had, and which promises were broken."""
    runs, violations = 0, []
    for index in range(number):
        history = History(f"{seed}-{index}")
        history.live()
        runs += history.runs
        violations += history.violations
    return runs, violations
