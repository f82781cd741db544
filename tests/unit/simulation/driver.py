"""Carries out runs over the simulated world, step by step. Each ``yield`` is a moment at which a run may be killed."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity, Policy
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import host_plan, proves_the_list_wrong
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import Container, RefusedError, UnreachableError
from ansible_collections.slb.fleet.tests.unit.simulation.world import Line, World

INSIDE = -0.2
"""Yielded inside of a module, which takes 0.2 s: it may be killed there, but nobody else's step comes in between."""

_MOST_ROUNDS = 40
_FRESH_SECONDS = 10.0
_POLL_SECONDS = 5.0
_HANGS = (3.0, 10.0, 80.0)
"""For how long the answer of a host may be on its way."""
_SLEEPS = (200.0, 3600.0)
_STEP_SECONDS = 90.0
"""What a step on a host may take. If more has gone by, it was the controller that has slept."""

Look = dict[str, Any]
Reading = Any


class Witness(Protocol):
    """Sees what a run decides and does, as it happens."""

    def decided(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, phase: int) -> None: ...

    def taking(self, run: Run, line: Line, container: Container) -> None: ...

    def taken_note_of(self, container: Container) -> None: ...

    def stopping(self, run: Run, line: Line, container: Container, decision: Any, seen: Sight) -> None: ...

    def noted(self, run: Run, line: Line, before: Any, seen: Sight) -> None: ...

    def asked(self, run: Run, line: Line, outcome: str, seen: Sight) -> None: ...

    def confirmed(self, run: Run, line: Line, decision: Any, seen: Sight) -> None: ...

    def putting_back(self, run: Run, line: Line) -> None: ...

    def was_put_back(self, run: Run, line: Line) -> None: ...

    def asked_again(self, line: Line, decision: Any, again: Any) -> None: ...

    def tell(self, what: str) -> None: ...


@dataclass
class Sight:
    """What a decision was made from. ``touched`` tells whether anybody has worked on the host since."""

    look: Look
    reading: Reading
    touched: int
    read_at: float = 0.0
    """When the list was read, in true time."""


@dataclass
class Course:
    """What became of a host in a run."""

    first: str = ""
    """The first thing decided in phase 3."""
    decision: Any = None
    failure: str = ""
    """Of a module, or of SSH: then ``decision`` is the last that was made."""
    asked: list[str] = field(default_factory=list)
    asked_at: float = 0.0
    is_unreachable: bool = False
    """It has failed, and nobody can do anything about it."""
    stopped: list[tuple[Container, Any, str, str]] = field(default_factory=list)
    """Each with the decision, what the list said of it, and in which state it was."""
    has_ended: bool = False
    begun_with: int = 0
    reading: Reading = None
    """That of the last decision."""

    @property
    def is_fine(self) -> bool:
        return not self.failure and self.decision is not None and self.decision.action == "none"


class Run:
    """A rollout; ``is_check``: as --check and diagnose, which decide and do nothing."""

    def __init__(
        self,
        world: World,
        witness: Witness,
        lines: list[Line],
        policy: dict[str, Any],
        disturbed: bool = False,
        is_check: bool = False,
    ) -> None:
        self.world = world
        self.lines = lines
        self.policy = policy
        self.is_check = is_check
        self.courses: dict[Line, Course] = {line: Course(begun_with=line.host.touched) for line in lines}
        self.plans: dict[Line, Any] = {}
        self.book: dict[str, Any] = {}
        """What the witness remembers of this run."""
        self.has_ended = False
        self._witness = witness
        self._chance: random.Random | None = world.chance if disturbed else None
        self._store = RunStore.in_memory()
        self._first: dict[str, tuple[float, Reading]] = {}
        self._read: dict[str, tuple[float, Reading]] = {}
        self._sessions: set[str] = set()
        """The management nodes that the run has logged in to."""
        self._is_in_lockstep = world.chance.random() < 0.5
        """As the strategy linear has it: the hosts of a batch take their steps in turn."""

    @property
    def is_fine(self) -> bool:
        return self.has_ended and all(course.is_fine for course in self.courses.values())

    def policy_for(self, line: Line) -> Policy:
        own: dict[str, Any] = {}
        if line.unrecorded and not self.policy.get("unlisted"):
            own["unrecorded"] = line.unrecorded
        if line.allow_established:
            own["allow_established"] = True
        if line.remove_leftovers:
            own["remove_leftovers"] = True
        if line.host.own == "NAT":
            own["is_translated"] = True
        return Policy(**{**self.policy, "fleet": len(self.lines), **own})

    def steps(self) -> Generator[float, None, None]:
        with contextlib.closing(self._steps()) as steps:
            for seconds in steps:
                yield seconds
                if seconds >= 0 and self._chance and self._chance.random() < 0.002:
                    asleep = self._chance.choice(_SLEEPS)
                    self._witness.tell(f"the controller sleeps for {asleep:.0f} s")
                    yield from self._pass(asleep)

    def _steps(self) -> Generator[float, None, None]:
        sights: dict[Line, Sight] = {}
        order = list(self.lines)
        if self._chance:
            self._chance.shuffle(order)
        for line in order:
            if not self._look_first(line, sights):
                continue
            yield 0.3
            self._plan(line, sights[line], 1)
        at_work = [line for line in order if not self.courses[line].has_ended]
        for line in at_work:
            self._plan(line, sights[line], 2)
        if not self.is_check:
            yield 0.1
            yield from self._act([line for line in self.lines if not self.courses[line].has_ended])
        self.has_ended = True

    def _look_first(self, line: Line, sights: dict[Line, Sight]) -> bool:
        try:
            look, touched = self._look(line)
        except UnreachableError as error:
            self._fail(line, str(error))
            return False
        if line.url not in self._first:
            self._first[line.url] = self._reading(line, 0)
        sights[line] = Sight(look, self._first[line.url][1], touched, self._first[line.url][0])
        return True

    def _plan(self, line: Line, sight: Sight, phase: int) -> None:
        decision = self._decide(line, sight, Progress(), phase)
        self.plans[line] = decision
        if decision.action in ("none", "fail"):
            self._end(line, decision)

    def _act(self, lines: list[Line]) -> Iterator[float]:
        """One canary, then 10 %, then the rest."""
        tenth = max(1, math.ceil(len(lines) / 10))
        batches = [lines[:1], lines[1 : 1 + tenth], lines[1 + tenth :]]
        for number, batch in enumerate(batches):
            hosts = [self._host(line) for line in batch]
            yield from self._proceed(hosts)
            if number == 0 and any(not self.courses[line].is_fine for line in batch):
                return

    def _proceed(self, hosts: list[Generator[float, None, None]]) -> Iterator[float]:
        """The hosts of a batch, interleaved."""
        seconds: float | None = 0.0
        turn = 0
        try:
            while hosts:
                if seconds is None or seconds >= 0:
                    turn += self._is_in_lockstep
                    host = self._chance.choice(hosts) if self._chance else hosts[turn % len(hosts)]
                seconds = next(host, None)
                if seconds is None:
                    hosts.remove(host)
                else:
                    yield seconds
        finally:
            for host in hosts:
                host.close()

    def _host(self, line: Line) -> Generator[float, None, None]:
        course, progress = self.courses[line], Progress()
        try:
            for _ in range(_MOST_ROUNDS):
                look, touched = self._look(line)
                yield 0.3
                # What was answered is understood by what the list shows since.
                since = math.inf if progress.asked_at is None else self.world.clock.now - progress.asked_at
                read_at, reading = self._reading(line, min(_FRESH_SECONDS, since))
                sight = Sight(look, reading, touched, read_at)
                if not course.first:
                    # The role looks anew, and only then sees what the looks at all hosts say together.
                    decision = self._decide(line, sight, progress, 0)
                    if decision.because == "list" and self.world.node(line).is_paged:
                        decision = self._read_again(line, sight, progress, 0)
                    if decision.action in ("none", "fail"):
                        course.first = decision.action
                        self._end(line, decision)
                        return
                    yield 0.1
                decision = self._decide(line, sight, progress, 3)
                if decision.because == "list" and self.world.node(line).is_paged:
                    decision = self._read_again(line, sight, progress, 3)
                course.first = course.first or decision.action
                if decision.action in ("none", "fail"):
                    self._end(line, decision)
                    return
                yield 0.0
                try:
                    result = yield from self._do(line, decision, sight, progress)
                except RefusedError as error:
                    yield from self._rescue(line, decision, sight, str(error))
                    return
                progress = progress.after(decision.action, result, self.world.clock.now)
                if decision.action == "install" and result.get("outcome") in ("requested", "unknown"):
                    waited = yield from self._wait_for_the_host(line, self.policy["wait"], after_request=True)
                    progress = progress.after("wait", waited, self.world.clock.now)
        except (RefusedError, UnreachableError) as error:
            self._fail(line, str(error))
            course.is_unreachable = True  # or what was to rescue it has failed
            return
        self._fail(line, "this run goes on for ever")
        self.book["endless"] = line

    def _read_again(self, line: Line, sight: Sight, progress: Any, phase: int) -> Any:
        """What is on no page may have moved from one to another while they were read."""
        sight.read_at, sight.reading = self._reading(line, -1.0)
        return self._decide(line, sight, progress, phase)

    def _rescue(self, line: Line, decision: Any, sight: Sight, trouble: str) -> Iterator[float]:
        """Between the stop and the request, whatever fails leaves the host as it was."""
        if decision.undo:
            writes = line.host.writes
            self._witness.putting_back(self, line)
            yield from self._module(line, line.host.put_back(False, _request_of(sight)))
            self._witness.was_put_back(self, line)
            if line.host.writes != writes:
                trouble = f"{trouble} The container that was taken out of the way was put back as it was."
        self._fail(line, trouble)

    def _do(self, line: Line, decision: Any, sight: Sight, progress: Any) -> Generator[float, None, Any]:
        if decision.action == "replace":
            overtaken = self._overtaken(line, decision, sight)
            if overtaken:
                return {"changed": False, "overtaken": overtaken, "msg": f"Nothing was stopped: {overtaken}"}
            yield from self._replace(line, decision, sight)
            return {"before": {"id": sight.look["engine_container"]["id"]}}
        if decision.action == "restore":
            yield from self._put_back(line, decision, sight, progress)
            return {}
        if decision.action == "record":
            return (yield from self._confirm(line, decision, sight))
        if decision.action == "install":
            return (yield from self._add(line, decision, sight, progress))
        assert decision.action == "wait", decision
        return (yield from self._wait(line, decision, sight))

    def _overtaken(self, line: Line, decision: Any, sight: Sight) -> str:
        """Why what was decided on the list's word no longer holds; empty if it does."""
        if decision.because != "list":
            return ""
        if wrong := self._store.distrusted(line.url):
            return f"the console's list was wrong about {wrong}."
        engine = EngineIdentity(line.name, line.address, line.url)
        sight.read_at, reading = self._reading(line, _FRESH_SECONDS)
        aside = RunStore.in_memory()  # it is asked only what the list says: nobody else shall hear of it
        by_now = host_plan(line.label, sight.look, engine, reading, self.policy_for(line), Progress(), aside, 0.0)
        if by_now.console == decision.console:
            return ""
        return f"the console's list says {by_now.console} by now, and said {decision.console}."

    def _replace(self, line: Line, decision: Any, sight: Sight) -> Iterator[float]:
        seen, policy, host = sight.look["engine_container"], self.policy_for(line), line.host
        module = host.take_aside(
            seen["id"], seen["state"], policy.allow_established, policy.remove_leftovers, decision.because
        )

        def witness(step: str) -> None:
            container = host.engine
            if step == "begin" and container:
                self._witness.taking(self, line, container)
            if step == "noted" and container:
                self._witness.taken_note_of(container)
            if step == "stop" and container:
                self._witness.stopping(self, line, container, decision, sight)

        yield from self._module(line, module, witness)

    def _confirm(self, line: Line, decision: Any, sight: Sight) -> Generator[float, None, Any]:
        seen = sight.look["engine_container"]
        module = line.host.note_confirmed(line.name, line.address, line.url, seen["id"], decision.verified_by)
        yield from self._module(line, module, lambda _: self._witness.confirmed(self, line, decision, sight))
        return {}

    def _put_back(self, line: Line, decision: Any, sight: Sight, progress: Any) -> Iterator[float]:
        self._witness.putting_back(self, line)
        mistaken = progress.answer == "exists" or decision.console == "running"
        yield from self._module(line, line.host.put_back(mistaken, _request_of(sight)))
        self._witness.was_put_back(self, line)

    def _add(self, line: Line, decision: Any, sight: Sight, progress: Any) -> Generator[float, None, Any]:
        """One task: it notes the request, makes it at once, and takes the note back where nothing was begun."""
        host, course, clock = line.host, self.courses[line], self.world.clock
        self._reach(line)
        begin = clock.now
        yield 0.2
        about = _request_of(sight)
        before = host.record
        host.note_pending(line.name, line.address, line.url, progress.asked + 1, about, absent=True)
        self._witness.noted(self, line, before, sight)
        assert isinstance(host.record, dict)
        requested_at = host.record["requested_at"]
        yield from self._answer(line)
        if clock.now - begin > min(_STEP_SECONDS, self.policy["wait"]):
            self._witness.tell(f"{line.label}: the controller has slept since the note, and does not ask")
            yield from self._withdraw(line, requested_at)
            return {"changed": False, "skipped": True}
        node = self.world.node(line)
        outcome = node.install(line.name, line.address, line.label)
        self._witness.asked(self, line, outcome, sight)
        course.asked.append(outcome)
        yield 0.3
        self._witness.heard(self, line, outcome, sight)
        if outcome in ("port_in_use", "rejected"):
            yield from self._withdraw(line, requested_at)
        seen = {"slb_host": sight.look, "plan": {"console": decision.console}}
        if proves_the_list_wrong(seen, outcome):
            self._store.distrust(line.url, line.label)
        return {"outcome": outcome, "msg": f"The management node answered: {outcome}."}

    def _withdraw(self, line: Line, requested_at: float) -> Iterator[float]:
        self._reach(line)
        yield 0.2
        line.host.withdraw(requested_at)
        yield from self._answer(line)

    def _answer(self, line: Line) -> Iterator[float]:
        """What was done on the host is done; that it was may come late, or never."""
        yield 0.3
        if self._chance and self._chance.random() < 0.01:
            yield from self._pass(self._chance.choice(_HANGS))
        if not line.host.is_up or line.host.cut_off == "controller" or (self._chance and self._chance.random() < 0.004):
            raise UnreachableError("Failed to connect to the host via ssh: lost")

    def _pass(self, seconds: float) -> Iterator[float]:
        """In pieces, so that others go on meanwhile."""
        end = self.world.clock.now + seconds
        while (left := end - self.world.clock.now) > 0:
            yield min(left, max(_POLL_SECONDS, seconds / 20))

    def _wait(self, line: Line, decision: Any, sight: Sight) -> Generator[float, None, Any]:
        if decision.wait_for == "host":
            is_pending = sight.look["record"]["state"] == "requested"
            return (yield from self._wait_for_the_host(line, decision.wait_seconds, after_request=is_pending))
        clock = self.world.clock
        begin, end = clock.now, self._end_of(decision.wait_seconds)
        while clock.now < end:
            yield min(_POLL_SECONDS, end - clock.now)
            reading = self._reading(line, _POLL_SECONDS)[1]
            if not isinstance(reading, list) or any(_is_of(one, line) and one["state"] == "running" for one in reading):
                break
        return {"waited": clock.now - begin}

    def _wait_for_the_host(self, line: Line, seconds: float, after_request: bool) -> Generator[float, None, Any]:
        """engine_container state=running. That no engine came up is no failure: it is looked at anew."""
        clock = self.world.clock
        begin, end = clock.now, self._end_of(seconds)
        while clock.now < end:
            self._reach(line)
            if after_request and not isinstance(line.host.record, dict):
                break  # nobody knows which request the engine has to be newer than
            if self._has_settled(line, after_request):
                break
            yield max(0.5, min(self.policy["settle"], end - clock.now))
        return {"waited": clock.now - begin}

    def _end_of(self, seconds: float) -> float:
        """It wakes up a little late, never early."""
        return self.world.clock.now + seconds + 0.01

    def _has_settled(self, line: Line, after_request: bool) -> bool:
        seen = line.host.look()["engine_container"]
        is_new = bool(seen["after_request"]) or not after_request
        return bool(seen["state"] == "running" and is_new and seen["uptime"] >= self.policy["settle"])

    # SSH, and the list.

    def _look(self, line: Line) -> tuple[Look, int]:
        self._reach(line)
        return line.host.look(), line.host.touched

    def _reach(self, line: Line) -> None:
        if not line.host.is_up or line.host.cut_off == "controller":
            raise UnreachableError("Failed to connect to the host via ssh")
        if self._chance and self._chance.random() < 0.004:
            raise UnreachableError("Failed to connect to the host via ssh: timed out")

    def _module(
        self, line: Line, module: Generator[str, None, None], witness: Callable[[str], None] = lambda _: None
    ) -> Iterator[float]:
        """A step may fail, the connection may be lost in between, and the run may end: then see ``_go_on``."""
        self._reach(line)
        for step in module:
            if self._chance and self._chance.random() < 0.004:
                module.throw(RefusedError("a command of docker has failed"))
            witness(step)
            if self._chance and self._chance.random() < 0.004:
                self._go_on(line, module, witness)
                raise UnreachableError("Failed to connect to the host via ssh: lost")
            try:
                yield INSIDE
            except GeneratorExit:
                self._go_on(line, module, witness)
                raise
            if not line.host.is_up:
                raise UnreachableError("the host is down")

    def _go_on(self, line: Line, module: Generator[str, None, None], witness: Callable[[str], None]) -> None:
        """Nobody listens any more: what is under way on the host goes on to its end, or ends with the connection."""
        if line.host.is_up and self.world.chance.random() < 0.5:
            with contextlib.suppress(RefusedError):
                for step in module:
                    witness(step)

    def _reading(self, line: Line, not_older: float) -> tuple[float, Reading]:
        """When it was read, and what."""
        now = self.world.clock.now
        read = self._read.get(line.url)
        if read is None or now - read[0] > not_older:
            read = self._read[line.url] = now, self.world.node(line).list()
        return read

    def _decide(self, line: Line, sight: Sight, progress: Any, phase: int) -> Any:
        engine = EngineIdentity(line.name, line.address, line.url)
        policy = self.policy_for(line)
        now = self.world.clock.now
        counts_only = phase in (0, 1)  # wishes are not refused before all of them are known
        decided = host_plan(
            line.label, sight.look, engine, sight.reading, policy, progress, self._store, now, counts_only=counts_only
        )
        decision = self._with_a_session(line, decided)
        self.courses[line].reading = sight.reading
        self._witness.decided(self, line, sight, progress, decision, phase)
        if not counts_only and self.world.chance.random() < 0.02:
            again = host_plan(line.label, sight.look, engine, sight.reading, policy, progress, self._store, now)
            self._witness.asked_again(line, decided, again)
        return decision

    def _with_a_session(self, line: Line, decision: Any) -> Any:
        """Before anything on a host is touched, it is known that the management node can be asked."""
        if decision.action not in ("install", "replace") or self.policy.get("unlisted") or line.url in self._sessions:
            return decision
        if self.world.node(line).is_up:
            self._sessions.add(line.url)
            return decision
        trouble = f"{line.url} does not answer: timed out. Look whether the management node is up."
        return replace(decision, action="fail", reason=f"{decision.reason} The install was not begun: {trouble}")

    def _end(self, line: Line, decision: Any) -> None:
        course = self.courses[line]
        course.decision, course.has_ended = decision, True

    def _fail(self, line: Line, why: str) -> None:
        course = self.courses[line]
        course.failure, course.has_ended = why, True
        self._witness.tell(f"{line.label} fails: {why}")


class Remediation(Run):
    """``remediate`` for named hosts: the operator's word that the console does not list their engines."""

    def __init__(self, world: World, witness: Witness, lines: list[Line], policy: dict[str, Any]) -> None:
        word = {"unrecorded": "replace", "unlisted": True, "installs": False}
        super().__init__(world, witness, lines, {**policy, **word})

    def steps(self) -> Generator[float, None, None]:
        for line in self.lines:
            try:
                look, touched = self._look(line)
                read_at, reading = self._reading(line, _FRESH_SECONDS)
                sight = Sight(look, reading, touched, read_at)
                decision = self._decide(line, sight, Progress(), 0)
                self._end(line, decision)
                yield 0.3
                if decision.action == "replace":
                    yield from self._replace(line, decision, sight)
            except (RefusedError, UnreachableError) as error:
                self._fail(line, str(error))
        self.has_ended = True


def _request_of(sight: Sight) -> float:
    """That of the record which was decided about."""
    return float(sight.look["record"].get("requested_at") or 0)


def _is_of(one: dict[str, str], line: Line) -> bool:
    return one["name"] == line.name and one["address"] == line.address
