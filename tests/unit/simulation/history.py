"""Random histories of a fleet: runs that are killed, deployments that fail, people who work on hosts and consoles.

After each, undisturbed runs have to converge: in engines that need nothing, or in errors that an operator can act on,
and once that was done, in engines that need nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.slb.fleet.tests.unit.simulation.driver import Course, Remediation, Run
from ansible_collections.slb.fleet.tests.unit.simulation.happenings import (
    ANY_TIME,
    BETWEEN_RUNS,
    other_node,
    set_variable,
)
from ansible_collections.slb.fleet.tests.unit.simulation.oracle import Oracle, Violation, shown
from ansible_collections.slb.fleet.tests.unit.simulation.remedies import Operator
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_node import Faults
from ansible_collections.slb.fleet.tests.unit.simulation.world import Line, World

_DAY = 86_400.0
_MOST_SECONDS = 20_000.0
_DEFAULTS: dict[str, Any] = {"allow_established": False, "remove_leftovers": False, "unrecorded": "fail"}


@dataclass
class Counts:
    histories: int = 0
    runs: int = 0
    killed: int = 0
    converged: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    rounds: Counter[int] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        self.histories += other.histories
        self.runs += other.runs
        self.killed += other.killed
        self.converged += other.converged
        self.actions += other.actions
        self.rounds += other.rounds

    def __str__(self) -> str:
        rounds = ", ".join(f"{number}: {count}" for number, count in sorted(self.rounds.items()))
        actions = ", ".join(f"{name} {count}" for name, count in self.actions.most_common())
        return (
            f"{self.histories} histories, {self.runs} runs ({self.killed} killed), {self.converged} converged\n"
            f"decided: {actions}\nruns until all was well: {rounds}"
        )


@dataclass
class _UnderWay:
    """A run among those that are under way at the same time."""

    run: Run
    steps: Generator[float, None, None]
    goes_on_at: float


_SETTINGS: dict[str, Callable[[random.Random], Any]] = {
    "wait": lambda chance: chance.choice([30.0, 180.0]),
    "settle": lambda chance: chance.choice([2.0, 5.0]),
    "attempts": lambda chance: chance.choice([1, 2, 3]),
    "max_replaced": lambda chance: chance.choice(["10%", "10%", "50%", "100%", 0, 1, 2]),
    "may_be_empty": lambda chance: chance.random() < 0.1,
}
"""What is set for the whole fleet."""


class History:
    """One history; ``violations`` after ``live`` are the promises that were broken."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)
        self.world = World(self.chance)
        self.oracle = Oracle(self.world, seed)
        self.counts = Counts(histories=1)
        chance = self.chance
        self.policy: dict[str, Any] = {**_DEFAULTS, **{name: some(chance) for name, some in _SETTINGS.items()}}

    @property
    def violations(self) -> list[Violation]:
        return self.oracle.violations

    def live(self) -> None:
        chance = self.chance
        for line in self.world.lines:
            if chance.random() < 0.6:
                kinds = ["verified"] * 17 + ["none"] * 2 + ["damaged"]
                self.world.make_healthy(line, chance.choice(kinds))
        self.oracle.tell(f"policy {self.policy}")
        self._tell()
        for _ in range(chance.randint(1, 4)):
            self._episode()
            if self.oracle.is_broken:
                break
        else:
            self._converge()
        self.counts.actions.update(self.oracle.actions)

    # Episodes.

    def _episode(self) -> None:
        chance = self.chance
        for node in self.world.nodes.values():
            node.faults = Faults.any(chance, self.policy["wait"])
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            self._something_happens(BETWEEN_RUNS)
        word = chance.choice(["fail"] * 8 + ["adopt", "replace"])
        policy = {
            **self.policy,
            "unrecorded": word,
            "allow_established": chance.random() < 0.1,
            "remove_leftovers": chance.random() < 0.1,
        }
        kind = chance.random()
        if kind < 0.08:
            named = chance.sample(self.world.lines, 1)
            self._drive([Remediation(self.world, self.oracle, named, policy)], self._kill_after())
        elif kind < 0.18:
            runs = [Run(self.world, self.oracle, lines, policy, disturbed=True) for lines in self._two_slices()]
            if chance.random() < 0.2:
                runs[1] = Remediation(self.world, self.oracle, chance.sample(self.world.lines, 1), policy)
            self._drive(runs, self._kill_after(), disturbed=chance.random() < 0.5)
        elif kind < 0.35 and self._is_quiet():
            self._check_then_run(policy)
        elif kind < 0.45:
            self._interrupt_and_set(policy)
        else:
            self._drive_one(policy)
        self.world.pass_time(chance.choice([0.0, 5.0, self.policy["wait"], _DAY]))

    def _two_slices(self) -> list[list[Line]]:
        """For two controllers at once: each has the whole fleet, or its part of it."""
        lines = self.world.lines[:]
        if len(lines) < 2 or self.chance.random() < 0.6:
            return [lines, lines[:]]
        self.chance.shuffle(lines)
        return [lines[::2], lines[1::2]]

    def _drive_one(self, policy: dict[str, Any]) -> None:
        chance = self.chance
        disturbed = chance.random() < 0.4
        is_whole = chance.random() < 0.9
        lines = self.world.lines[:] if is_whole else chance.sample(self.world.lines, 1)
        run = Run(self.world, self.oracle, lines, policy, disturbed)
        self._drive([run], self._kill_after(), disturbed)
        if run.is_fine and is_whole and not disturbed and self.world.is_quiet():
            self._see_that_a_second_run_changes_nothing(run)

    def _interrupt_and_set(self, policy: dict[str, Any]) -> None:
        """The operator ends a run half-way, sets something otherwise, and starts the next one at once."""
        chance = self.chance
        self._drive([Run(self.world, self.oracle, self.world.lines[:], policy)], chance.randrange(60))
        for _ in range(chance.choice([1, 1, 2])):
            if chance.random() < 0.5:
                self._something_happens([set_variable, set_variable, other_node])
                continue
            name = chance.choice(list(_SETTINGS))
            self.policy[name] = policy[name] = _SETTINGS[name](chance)
            self.oracle.tell(f"MEANWHILE {name} is set to {policy[name]}")
        self._drive([Run(self.world, self.oracle, self.world.lines[:], policy)])

    def _kill_after(self) -> int | None:
        most = self.chance.choice([5, 20, 60, None, None, None])
        return None if most is None else self.chance.randrange(most)

    def _something_happens(self, which: list[Any]) -> None:
        happening = self.chance.choice(which)
        what = happening(self.world)
        if what:
            self.oracle.tell(f"MEANWHILE {what}")
            if which is BETWEEN_RUNS:
                self._tell()

    def _drive(self, runs: list[Run], kill_after: int | None = None, disturbed: bool = False) -> None:
        """Lets runs proceed, interleaved; the first of them is killed at the given step, if it gets there."""
        chance = self.chance
        self.counts.runs += len(runs)
        words = ", ".join(f"{key} {runs[0].policy[key]}" for key in ("unrecorded", "allow_established"))
        self.oracle.tell(f"RUN {' and '.join(type(run).__name__ for run in runs)}: {words}")
        begin = self.world.clock.now
        under_way: list[_UnderWay] = [_UnderWay(run, run.steps(), begin) for run in runs]
        number = 0
        seconds: float | None = 0.0
        while under_way:
            if seconds is None or seconds >= 0:
                current = min(under_way, key=lambda one: one.goes_on_at)
                self.world.pass_time(max(0.0, current.goes_on_at - self.world.clock.now))
            run = current.run
            if number == kill_after and run is runs[0]:
                self.oracle.tell("the run is killed")
                self.counts.killed += 1
                under_way.remove(current)
                current.steps.close()
                seconds = None
                continue
            number += run is runs[0]
            seconds = next(current.steps, None)
            if seconds is None:
                under_way.remove(current)
                self.oracle.ended(run, disturbed or len(runs) > 1)
                continue
            current.goes_on_at = self.world.clock.now + seconds
            if len(under_way) > 1:
                current.goes_on_at += chance.choice([0.0, 0.0, 0.1, 0.5, 2.0])
            if disturbed and seconds >= 0 and chance.random() < 0.03:
                self._something_happens(ANY_TIME)
            if seconds < 0:
                self.world.pass_time(-seconds)
        if self.world.clock.now - begin > _MOST_SECONDS:
            self.oracle.broke("a run ends in time", f"{self.world.clock.now - begin:.0f} s")

    def _check_then_run(self, policy: dict[str, Any]) -> None:
        """What --check says, the next run does first."""
        before = self._footprint()
        check = Run(self.world, self.oracle, self.world.lines[:], policy, is_check=True)
        self._drive([check])
        if self._footprint() != before:
            self.oracle.broke("check mode touches nothing")
        lists = [node.list() for node in self.world.nodes.values()]
        run = Run(self.world, self.oracle, self.world.lines[:], policy)
        self._drive([run])
        for line, plan in check.plans.items():
            if line in run.plans and run.plans[line].action != plan.action:
                self.oracle.broke("check mode says what the run then plans", f"{plan.action}, {run.plans[line].action}")
        acting = [line for line in run.lines if line in run.plans and run.courses[line].first]
        if acting and [node.list() for node in self.world.nodes.values()] == lists:
            canary = acting[0]
            if run.courses[canary].first != check.plans[canary].action:
                detail = f"{check.plans[canary].action}, then {run.courses[canary].first}"
                self.oracle.broke("check mode says what the run then does first", detail)

    def _see_that_a_second_run_changes_nothing(self, first: Run) -> None:
        for line, course in first.courses.items():
            if shown(self.world.node(line).list(), line) != shown(course.reading, line):
                return  # the list has changed under the first run
            if any(one.address == line.address and one.url != line.url for one in self.world.lines):
                self.oracle.broke("nothing is done where two hosts, of two nodes, want one address")
                return
        before = self._footprint()
        self.oracle.tell("once more, over a healthy fleet")
        run = Run(self.world, self.oracle, self.world.lines[:], {**self.policy, **_DEFAULTS})
        self._drive([run])
        if not run.is_fine:
            reason = self._first_failure(run)
            self.oracle.broke(f"a second run over a healthy fleet finds nothing to do: {reason}")
        elif self._footprint() != before:
            self.oracle.broke("a second run over a healthy fleet changes nothing")

    def _is_quiet(self) -> bool:
        """Whether a few seconds change nothing: no wait for a request is about to be over, either."""
        records = [host.record for host in self.world.hosts]
        is_over = all(
            not isinstance(record, dict) or record["state"] != "requested" or host.age() > self.policy["wait"]
            for host, record in zip(self.world.hosts, records, strict=True)
        )
        return is_over and self.world.is_quiet()

    def _footprint(self) -> Any:
        return [host.writes for host in self.world.hosts], [node.requests for node in self.world.nodes.values()]

    # Convergence.

    def _converge(self) -> None:
        self.oracle.tell("CALM")
        for node in self.world.nodes.values():
            node.faults = Faults()
        policy = {**self.policy, **_DEFAULTS}
        operator = Operator(self.world, policy)
        most = 6 + 3 * len(self.world.lines)
        for number in range(1, most + 1):
            run = Run(self.world, self.oracle, self.world.lines[:], policy)
            self._drive([run])
            if self.oracle.is_broken:
                return
            if run.is_fine:
                self.counts.converged += 1
                self.counts.rounds[number] += 1
                self._see_that_all_is_well(run)
                return
            if not self._mend(run, operator):
                return
            self._tell()
        self.oracle.broke(f"what the reasons say leads out: {self._first_failure(run)}")

    def _mend(self, run: Run, operator: Operator) -> bool:
        operator.has_mended = False
        for line, course in run.courses.items():
            failed = course.failure or (course.decision is not None and course.decision.action == "fail")
            if not failed or line not in self.world.lines:
                continue
            done = operator.mend(line, course)
            self.oracle.tell(f"OPERATOR about {line.label}: {', '.join(done) or 'does not know what to do'}")
            if not done:
                self.oracle.broke(f"a reason lets an operator act: {_pattern(_reason(course))}")
                return False
        if operator.to_remediate:
            named = [line for line in operator.to_remediate if line in self.world.lines]
            operator.to_remediate = []
            if named:
                policy = {**self.policy, **_DEFAULTS}
                remediation = Remediation(self.world, self.oracle, named, policy)
                self._drive([remediation])
                for line, course in remediation.courses.items():
                    if course.failure or course.decision.action == "fail":
                        self.oracle.tell(f"OPERATOR about {line.label}: {', '.join(operator.mend(line, course))}")
        return True

    def _see_that_all_is_well(self, run: Run) -> None:
        for line in self.world.lines:
            if line.host.state != "running" and not (line.host.engine and line.host.engine.crashes_after):
                self.oracle.broke("in the end an engine runs", line.label)
        self.oracle.in_the_end()
        if self.world.is_quiet():
            self._see_that_a_second_run_changes_nothing(run)

    def _first_failure(self, run: Run) -> str:
        for course in run.courses.values():
            if course.has_ended and not course.is_fine:
                return _pattern(_reason(course))
        return "no host has failed"

    def _tell(self) -> None:
        lines = "; ".join(f"{line.label}={line.name} {line.address} on {line.host.label}" for line in self.world.lines)
        self.oracle.tell(f"  world: {self.world.picture()} | {lines}")


def _reason(course: Course) -> str:
    return course.failure or (course.decision.reason if course.decision else "")


def _pattern(reason: str) -> str:
    """A reason without what differs from host to host, to count by."""
    words = ("#" if any(letter.isdigit() for letter in word) else word for word in reason.split())
    return " ".join(words)


def live_through(seed: int, first: int, number: int) -> tuple[Counts, list[Violation]]:
    """That many histories, from the ``first`` on: their counts, and which promises were broken."""
    counts, violations = Counts(), []
    for index in range(first, first + number):
        history = History(f"{seed}-{index}")
        history.live()
        counts.add(history.counts)
        violations += history.violations
    return counts, violations


__all__ = ["Counts", "History", "Line", "live_through"]
