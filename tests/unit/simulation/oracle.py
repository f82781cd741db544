"""Judges runs by the world's truth and by the promises of the design, never by how the decision is made."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import host_plan
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.tests.unit.simulation.driver import Remediation, Run, Sight
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import ENGINE, Container, Host
from ansible_collections.slb.fleet.tests.unit.simulation.world import Line, World

_COMPARED = 0.025
"""The share of decisions that are made again from evidence that differs in what must not matter."""
_LATEST = 90.0
"""Seconds from the note to its request: what a step on a host may take that waits for nothing. What is later was asked
by a controller that has slept; and of the wait that the record promises, half is left."""
_FRESH = 100.0
"""Seconds that a reading may be old where a run acts or claims: 10 of its own, and what a step on a host may take."""
_BEGAN_NOTHING = ("exists", "rejected", "port_in_use")
_DEPLOYS = ("install", "replace")


@dataclass(frozen=True)
class Violation:
    seed: str
    promise: str
    story: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.promise} (history {self.seed})\n  " + "\n  ".join(self.story)


@dataclass
class Note:
    """A request as it was noted on a host, in true time."""

    requested_at: float
    at: float
    boot: int
    had_been: str
    """The state of the record in whose place the note is."""
    outcome: str = ""


def shown(reading: Any, line: Line) -> str:
    """What a reading says of this line's engine: nothing, unreadable, empty, elsewhere, not listed, or its state."""
    if reading is None:
        return "none"
    if isinstance(reading, str):
        return "engine_list_unavailable"
    if not reading:
        return "empty"
    mine = [one["state"] for one in reading if one["name"] == line.name and one["address"] == line.address]
    if mine:
        return mine[0] if len(set(mine)) == 1 else "unknown"
    if any(one["name"] == line.name or one["address"] == line.address for one in reading):
        return "elsewhere"
    return "not listed"


def differs(look: dict[str, Any], line: Line) -> list[str]:
    """What a confirmed record names and does not hold any more."""
    record = look["record"]
    now = {
        "name": line.name,
        "manage_ip": line.address,
        "base_url": line.url,
        "container_id": look["engine_container"]["id"],
    }
    return [key for key, value in now.items() if record[key] != value]


def holds(look: dict[str, Any], line: Line) -> bool:
    return look["record"]["state"] == "verified" and not differs(look, line)


def is_own_request(look: dict[str, Any], line: Line) -> bool:
    record = look["record"]
    return bool(
        record["state"] == "requested"
        and record["name"] == line.name
        and record["manage_ip"] == line.address
        and record["base_url"] == line.url
    )


def is_clone(look: dict[str, Any], line: Line) -> bool:
    """Whether the record is another host's: it names an address that is not one of this host's own."""
    addresses, recorded = look["addresses"], look["record"]["manage_ip"]
    # Behind NAT, a host is reached at an address that it does not know.
    return addresses is not None and recorded not in addresses and recorded != line.address


class Oracle:
    def __init__(self, world: World, seed: str) -> None:
        self._world = world
        self._seed = seed
        self._chance = world.chance
        self.violations: list[Violation] = []
        self.is_broken = False
        self.story: list[str] = []
        self.stopped_live: list[tuple[Container, Line, Host, int]] = []
        """Each with the line and the host, and how often somebody had worked on the host by then."""
        self.actions: dict[str, int] = {}
        self._told: dict[Line, str] = {}
        self._came_back: dict[Container, tuple[int, str, bool]] = {}
        """What was put back because the list was wrong, and the world as it was then, as far as it matters."""
        self._notes: dict[Host, Note] = {}
        """Of the last request that was noted on each host."""
        self._asked: dict[tuple[Host, str, int], tuple[float, float]] = {}
        """When the request was noted that may have begun something last, of those that the host can still know of, and
        its wait: one that is over does not begin again where an operator sets a longer one."""
        self._as_it_was: dict[Container, tuple[int, str, str]] = {}
        """Of what was taken out of the way: how often somebody had worked on the host, its state and restart policy."""
        self._about_to_be_noted: dict[Container, tuple[int, str, str]] = {}
        self._put_back: dict[tuple[Host, float], list[str]] = {}
        """By the request that is noted on a host: what was put back there since, which nobody has deployed."""

    def tell(self, what: str) -> None:
        self.story.append(f"{self._world.clock.now:9.1f} s {what}")

    def broke(self, promise: str, detail: str = "", goes_on: bool = False) -> None:
        """``goes_on``: it is of the words alone, and what follows can still be judged."""
        self.is_broken = self.is_broken or not goes_on
        if any(violation.promise == promise for violation in self.violations):
            return
        self.tell(f"BROKEN: {promise} {detail}")
        self.violations.append(Violation(self._seed, promise, (*self.story, self._world.picture())))

    # What is decided.

    def decided(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, phase: int) -> None:
        self.actions[decision.action] = self.actions.get(decision.action, 0) + 1
        run.book.setdefault("seen", set()).add(line)
        self._tell_decision(line, seen, decision, phase)
        says = shown(seen.reading, line)
        if decision.verified_by == "engine_list" and says != "running":
            self.broke("verified_by console only where the list that was read says running", says)
        if (decision.action, decision.verified_by, phase) == ("none", "engine_list", 3):
            self._judge_fresh(seen, "verified in the engine list is what the list says now")
        judge = getattr(self, f"_judge_{decision.action}", None)
        if judge is None:
            self.broke(f"there is no action {decision.action}")
            return
        judge(run, line, seen, progress, decision, says)
        if decision.action != "fail" and seen.look["engine_container"]["state"] == "unknown":
            self.broke("where the container's state is unknown, nothing is decided", decision.action)
        if decision.action in _DEPLOYS and not isinstance(run, Remediation):
            self._judge_rivals(run, line, seen, decision, phase)
        if phase == 1 and not isinstance(run, Remediation):
            self._judge_row(run, line, seen, decision, says)
        if not decision.evidence or not all(isinstance(words, str) and words for words in decision.evidence):
            self.broke("every result names its evidence", str(decision.evidence), goes_on=True)
        if phase == 2 and decision.because == "list" and _runs(seen):
            run.book["wishes"] = run.book.get("wishes", 0) + 1
        if self._chance.random() < _COMPARED:
            self._compare(run, line, seen, progress, decision, says)

    def _tell_decision(self, line: Line, seen: Sight, decision: Any, phase: int) -> None:
        state, says = seen.look["engine_container"]["state"], shown(seen.reading, line)
        known = f"{line.wants} {state} {seen.look['record']['state']} {says} {decision.action} {decision.reason}"
        if self._told.get(line) == known:
            self.tell(f"{line.label} phase {phase}: as before: {decision.action}")
            return
        self._told[line] = known
        self.tell(
            f"{line.label} ({line.name} {line.address}) phase {phase}: {state}, {_record(seen.look['record'])}, "
            f"list: {says} -> {_act(decision)}: {decision.reason}"
        )

    def _judge_none(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        look = seen.look
        if isinstance(run, Remediation):
            return  # there, it is that nothing is to be taken away
        if look["engine_container"]["state"] != "running":
            self.broke("where nothing is to be done, a container runs")
        if look["record"]["state"] != "verified":
            self.broke("nothing is to be done only where the record is confirmed")
        elif differs(look, line):
            self.broke(
                "what was true once is no proof: something that the record names differs", str(differs(look, line))
            )
        if says not in ("none", "running", "deploying"):
            self.broke(f"nothing is to be done only where the described list says running: {says}")

    def _judge_record(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        engine, policy = seen.look["engine_container"], run.policy_for(line)
        if engine["state"] != "running":
            self.broke("only an engine that runs is confirmed", engine["state"])
        if decision.verified_by not in ("host", "engine_list"):
            self.broke("a confirmation says who has verified it")
        if says == "running":
            return
        finished = (
            is_own_request(seen.look, line) and engine["after_request"] and (engine["uptime"] or 0) >= policy.settle
        )
        if finished:
            if engine["id"] in self._put_back.get((line.host, seen.look["record"]["requested_at"]), ()):
                self.broke("a container that was put back is not taken for what our request has deployed")
            return
        if policy.unrecorded != "adopt":
            self.broke(f"confirmed without evidence: {says}, {seen.look['record']['state']}")
        elif says in ("not listed", "failed", "elsewhere"):
            self.broke(f"adopting against a list is a contradiction: {says}")

    def _judge_wait(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        if not 0 < decision.wait_seconds <= run.policy["wait"] + 0.01:
            self.broke("a wait is bounded by the policy", f"{decision.wait_seconds}")
        if decision.wait_for not in ("host", "engine_list"):
            self.broke("a wait says what it waits for")
        if decision.wait_for == "engine_list" and says in ("none", "engine_list_unavailable"):
            self.broke("only a list that is read can be waited for", says)

    def _judge_install(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        if seen.look["engine_container"]["state"] != "absent":
            self.broke("an engine is added only where there is no container", seen.look["engine_container"]["state"])
        if says in ("running", "deploying"):
            self.broke(f"nothing is asked for that the list shows as {says}")

    def _judge_restore(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        aside, engine = seen.look["set_aside"], seen.look["engine_container"]
        if not aside or not aside["exists"]:
            self.broke("only what was put aside can be put back")
        elif engine["state"] != "absent" and engine["id"] != aside["id"]:
            self.broke("nothing is put back in the place of another container")

    def _judge_fail(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        reason = decision.reason
        if (
            len(reason) < 30
            or not reason.rstrip().endswith((".", "`", "?", ")"))
            or re.search(r"None|[{}]|[.?!:][.:]|  ", reason)
        ):
            self.broke("a reason is a plain sentence", reason, goes_on=True)

    def _judge_replace(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        look, policy = seen.look, run.policy_for(line)
        engine = look["engine_container"]
        if engine["state"] == "absent":
            self.broke("there is nothing to replace")
        if decision.because not in ("list", "operator", "record", "ended"):
            self.broke("a replacement says why", str(decision.because))
        if says == "running":
            self.broke(f"never against a list that says running: {engine['state']}, because {decision.because}")
        if look["record"].get("unwritable"):
            self.broke("no container is taken away before the record can be written")
        by_word = policy.unlisted
        if not by_word and holds(look, line) and engine["state"] in ("running", "paused", "exited", "created"):
            self.broke(f"what was verified before is not replaced, unless remediate is run for it: {says}")
        if says == "elsewhere" and not by_word:
            self.broke("no container is taken away while the list shows its name or address elsewhere")
        if _runs(seen):
            self._judge_reason(run, line, seen, decision, says)

    def _judge_reason(self, run: Run, line: Line, seen: Sight, decision: Any, says: str) -> None:
        """A running container is to be taken away: on whose word?"""
        look, policy = seen.look, run.policy_for(line)
        engine = look["engine_container"]
        if decision.because == "list":
            if says == "empty" and not policy.may_be_empty:
                self.broke("a list that shows no engine says nothing about running containers")
            elif says not in ("not listed", "failed", "empty"):
                self.broke(f"the list has not said that it is a leftover: {says}")
            if line.url in run.book.get("distrusted", ()):
                self.broke("no other is stopped on a reading that was wrong once")
            self._judge_earlier_proof(line, seen)
        elif decision.because == "operator":
            if policy.unrecorded != "replace":
                self.broke("the operator has not said that it be replaced")
        elif decision.because == "record":
            if not is_own_request(look, line):
                self.broke("only an attempt of our own is a leftover by its record", _record(look["record"]))
            elif look["record"]["age"] < policy.wait - 0.01 and not _has_failed(says):
                self.broke("a leftover of our own attempt only after its wait", f"{look['record']['age']:.0f} s")
            elif (
                engine["after_request"]
                and (engine["uptime"] or 0) >= policy.settle
                and says in ("none", "engine_list_unavailable")
            ):
                self.broke("our deployment that finished is confirmed, not replaced")
        else:
            self.broke("a running container has not ended")

    def _judge_rivals(self, run: Run, line: Line, seen: Sight, decision: Any, phase: int) -> None:
        if phase == 3:
            for other in run.book["seen"]:
                if other is line:
                    continue
                if other.url != line.url:
                    if other.address == line.address:
                        self.broke("nothing is done where two hosts, of two nodes, want one address", other.label)
                elif other.name == line.name or other.address == line.address:
                    self.broke("nothing is done where two hosts of the run want one name or one address", other.label)
        if decision.action == "install" and isinstance(seen.reading, list):
            for one in seen.reading:
                if (one["name"] == line.name) != (one["address"] == line.address):
                    self.broke("nothing is asked for while the list shows the name or the address elsewhere", str(one))
                    return

    def _judge_row(self, run: Run, line: Line, seen: Sight, decision: Any, says: str) -> None:
        """The rows of the design's table that are clear, where none of its guards stands in the way."""
        engine, record, policy = seen.look["engine_container"], seen.look["record"], run.policy_for(line)
        others = [one for one in run.lines if one is not line]
        rivals = any(one.name == line.name or one.address == line.address for one in others)
        listed = seen.reading if isinstance(seen.reading, list) else []
        elsewhere = any((one["name"] == line.name) != (one["address"] == line.address) for one in listed)
        own = seen.look["addresses"]
        elsewhere_now = own is not None and line.address not in own and line.host.own != "NAT"
        settles = engine["state"] == "running" and (engine["uptime"] < policy.settle or engine["restart_count"])
        if (
            settles
            or rivals
            or elsewhere
            or elsewhere_now
            or not seen.look["root"]
            or record.get("unwritable")
            or seen.look["set_aside"]
        ):
            return
        expected = _expected(engine, record, holds(seen.look, line), says, policy)
        another = _shown_of_another(seen, line) if says == engine["state"] == "running" else None
        if another:
            # The list's word is about the container of which engine? If the other one has failed, of this one.
            expected = {"running": ("fail",), "failed": ("record", "none")}.get(another, (*expected, "fail"))
        if not self._world.node(line).is_up and any(action in _DEPLOYS for action in expected):
            # Nothing on a host is touched before everything that the whole act needs is known to be there.
            expected = (*expected, "fail")
        if expected and decision.action not in expected:
            verified = "healthy" if holds(seen.look, line) else f"record {record['state']}"
            row = f"{engine['state']}, {verified}, list: {says}, {policy.unrecorded}"
            self.broke(f"the table says {' or '.join(expected)}, and not {decision.action}: {row}", decision.reason)

    # What must not matter.

    def _compare(self, run: Run, line: Line, seen: Sight, progress: Any, decision: Any, says: str) -> None:
        def again(look: dict[str, Any], reading: Any) -> str:
            engine = EngineIdentity(line.name, line.address, line.url)
            store = RunStore.in_memory()
            now = self._world.clock.now
            return str(host_plan(line.label, look, engine, reading, run.policy_for(line), progress, store, now).action)

        base = again(seen.look, seen.reading)
        look = deepcopy(seen.look)
        by = self._chance.choice([-1e7, -3600.0, 3600.0, 1e7])
        look["observed_at"] += by
        if look["engine_container"]["started_at"] is not None:
            look["engine_container"]["started_at"] += self._chance.choice([-by, by])
        if look["record"].get("requested_at"):
            look["record"]["requested_at"] += self._chance.choice([-by, by, 0])
        if look["set_aside"]:
            look["set_aside"]["at"] += by
        if again(look, seen.reading) != base:
            self.broke("a clock that is set changes nothing", f"{base} becomes {again(look, seen.reading)}")
        if seen.look["record"]["state"] == "verified":
            look = deepcopy(seen.look)
            look["record"]["age"] = look["record"]["age"] * 100 + 1e7
            if (found := again(look, seen.reading)) != base:
                self.broke("nothing is done because a record is old", f"{base} becomes {found}")
        if isinstance(seen.reading, list) and seen.reading:
            others = [
                {"name": f"o{number}", "address": f"10.9.9.{number}", "state": state, "console_state": state}
                for number, state in enumerate(("running", "failed", "unknown"))
            ]
            found = again(seen.look, [*others, *reversed(seen.reading)])
            if found != base:
                self.broke("other engines of the list and their order change nothing", f"{base} becomes {found}")

    # What is done.

    def taking(self, run: Run, line: Line, container: Container) -> None:
        host, note = line.host, line.host.note
        if run.policy_for(line).unrecorded == "replace":
            self._came_back.pop(container, None)  # now it is somebody's word as well, and no longer the list's alone
        is_same_move = note is not None and (note["id"], note["name"]) == (container.id, ENGINE)
        if not is_same_move or (note["mistaken"] and not note["going_back"]):
            self._about_to_be_noted[container] = host.touched, host.state_of(container), container.policy

    def taken_note_of(self, container: Container) -> None:
        """A move begins with its note: one that was killed before has changed nothing, and is none."""
        if container in self._about_to_be_noted:
            self._as_it_was[container] = self._about_to_be_noted.pop(container)

    def was_put_back(self, run: Run, line: Line) -> None:
        """The result says that the container is as it was."""
        host, engine = line.host, line.host.engine
        if engine is None or engine not in self._as_it_was:
            return
        touched, state, policy = self._as_it_was.pop(engine)
        if touched != host.touched or engine.crashes_after:
            return
        is_as_it_was = host.state == state or state not in ("running", "paused")
        if not is_as_it_was or engine.policy != policy:
            self.broke("what was put back is as it was", f"{state} {policy}, and now {host.state} {engine.policy}")

    def stopping(self, run: Run, line: Line, container: Container, decision: Any, seen: Sight) -> None:
        host, says = line.host, shown(seen.reading, line)
        state, lives = host.state_of(container), self._world.is_live(container)
        course = run.courses[line]
        course.stopped.append((container, decision, says, state))
        live = ", LIVE" if lives else ""
        self.tell(f"{line.label}: stops {container.id} ({state}{live}) because {decision.because}")
        if run.is_check:
            self.broke("check mode touches nothing")
        if state == "running" and decision.because == "list":
            self._count_against_budget(run)
            self._judge_shifted(line)
            self._judge_fresh(seen, "what is stopped on the list's word is stopped on a fresh one")
        is_word = run.policy_for(line).unrecorded == "replace"
        came_back = state in ("running", "paused", "restarting") and not container.crashes_after
        if not is_word and came_back and self._came_back.get(container) == self._surroundings(line):
            self.broke(f"what came back because the list was wrong is not stopped by every run: {decision.because}")
        if lives:
            self._judge_live(run, line, container, decision, seen, says)

    def _judge_live(self, run: Run, line: Line, container: Container, decision: Any, seen: Sight, says: str) -> None:
        policy, record = run.policy_for(line), seen.look["record"]
        if policy.unrecorded == "replace" and says != "running":
            return
        self.stopped_live.append((container, line, line.host, line.host.touched))
        if decision.because != "list":
            self.broke(f"a live engine is never stopped: because {decision.because}, {record['state']}, list: {says}")

    def _judge_earlier_proof(self, line: Line, seen: Sight) -> None:
        """The record is of this container and names something else: the list's word is about another engine."""
        record = seen.look["record"]
        if record["state"] != "verified" or record["container_id"] != seen.look["engine_container"]["id"]:
            return
        if is_clone(seen.look, line):
            return
        if record["base_url"] != line.url:
            self.broke("an engine that is verified on another management node is not stopped on this one's list")
        elif isinstance(seen.reading, list) and any(
            (one["name"], one["address"], one["state"]) == (record["name"], record["manage_ip"], "running")
            for one in seen.reading
        ):
            self.broke("an engine that its record names and the list shows as running is not stopped")

    def _judge_shifted(self, line: Line) -> None:
        """A row that was on no page while they shifted is a matter of one reading."""
        node = self._world.node(line)
        if node.is_shifting and self._is_listed_as_running(line):
            self.broke("no engine is stopped because its row has moved between two pages")

    def _judge_fresh(self, seen: Sight, promise: str) -> None:
        age = self._world.clock.now - seen.read_at
        if age > _FRESH:
            self.broke(promise, f"{age:.0f} s")

    def _is_listed_as_running(self, line: Line) -> bool:
        entry = self._world.entry(line)
        return entry is not None and self._world.node(line).word(entry) == "running"

    def _count_against_budget(self, run: Run) -> None:
        taken = run.book["taken"] = run.book.get("taken", 0) + 1
        most = budget(run)
        if taken > most:
            self.broke("a run stops at most slb_max_replaced on the list's word", f"{taken} of {most}")
        if run.book.get("wishes", 0) > most:
            self.broke("the budget is counted before anything is touched", f"{run.book['wishes']} of {most}")

    def asked(self, run: Run, line: Line, outcome: str, seen: Sight) -> None:
        course, now = run.courses[line], self._world.clock.now
        self.tell(f"{line.label}: asks to install {line.name} at {line.address}: {outcome}")
        if run.is_check or isinstance(run, Remediation):
            self.broke("check mode and remediate ask for nothing")
        if len(course.asked) + 1 > run.policy["attempts"]:
            self.broke("attempts are limited", f"{len(course.asked) + 1}")
        self._judge_asking_twice(run, line, outcome, now)
        course.asked_at = now
        if outcome in ("requested", "unknown"):
            # The node knows nothing of what was stopped for it, or it is the operator's again.
            self.stopped_live = [one for one in self.stopped_live if one[2] is not line.host]

    def heard(self, run: Run, line: Line, outcome: str, seen: Sight) -> None:
        """The answer has come in: what is decided from now on is decided with it."""
        unlisted = ("not listed", "empty")
        if outcome == "exists" and shown(seen.reading, line) in unlisted and self._is_hidden(line):
            run.book.setdefault("distrusted", set()).add(line.url)

    def _is_hidden(self, line: Line) -> bool:
        """Whether the list does not show it even now, so that it was not only too old."""
        return shown(self._world.node(line).list(), line) in ("not listed", "empty")

    def _judge_asking_twice(self, run: Run, line: Line, outcome: str, now: float) -> None:
        host, node = line.host, self._world.node(line)
        note = run.book["note", line]
        late = now - note.at
        if late > min(_LATEST, run.policy["wait"]):
            self.broke("a request is made right after its note", f"{late:.0f} s after it")
        is_under_way = any(
            one.line == line.label and one.entry.name == line.name and one.host is host and one.asked_at < now
            for one in node.deployments
        )
        before, wait = self._asked.get((host, line.name, host.forgotten), (-1e9, 0.0))
        # The wait is the record's, and who finds the record knows of its note alone.
        # A container that somebody started meanwhile may have been taken for what the request had brought.
        was_taken_for_it = note.had_been == "verified"
        if is_under_way and not was_taken_for_it and note.at - before < min(wait, run.policy["wait"]):
            self.broke("an install is not asked for while one of ours may be running")
        note.outcome = outcome
        if outcome in ("requested", "unknown"):
            self._asked[host, line.name, host.forgotten] = note.at, run.policy["wait"]

    def noted(self, run: Run, line: Line, before: Any, seen: Sight) -> None:
        """``before``: the record in whose place the note of the request is."""
        host, earlier, now = line.host, self._notes.get(line.host), self._world.clock.now
        assert isinstance(host.record, dict)
        had_been = before["state"] if isinstance(before, dict) else ""
        self._notes[host] = run.book["note", line] = Note(host.record["requested_at"], now, host.boot, had_been)
        if earlier is None or not isinstance(before, dict) or not is_own_request(seen.look, line):
            return
        is_known = (before["requested_at"], host.boot) == (earlier.requested_at, earlier.boot)
        is_over = earlier.outcome in _BEGAN_NOTHING or shown(seen.reading, line) not in (
            "none",
            "engine_list_unavailable",
        )
        if is_known and not is_over and now - earlier.at < run.policy["wait"] - 0.01:
            self.broke("nothing is asked for before the wait of the record is over", f"{now - earlier.at:.0f} s")

    def putting_back(self, run: Run, line: Line) -> None:
        host = line.host
        self.tell(f"{line.label}: puts back {host.note['id'] if host.note else None}")
        if run.is_check:
            self.broke("check mode touches nothing")
        name = host.named(host.note["id"]) if host.note else None
        was_unlisted = any(one[2] in ("not listed", "empty") for one in run.courses[line].stopped)
        if name and was_unlisted and host.note["because"] == "list" and "exists" in run.courses[line].asked:
            self._came_back[host.containers[name]] = self._surroundings(line)
        if host.note and isinstance(host.record, dict):
            self._put_back.setdefault((host, host.record["requested_at"]), []).append(host.note["id"])

    def _surroundings(self, line: Line) -> tuple[int, str, bool]:
        node = self._world.node(line)
        return line.host.touched, f"{node.lie} {line.wants} {len(node.entries)}", node.is_described

    def asked_again(self, line: Line, decision: Any, again: Any) -> None:
        if (again.action, again.because, again.verified_by) != (
            decision.action,
            decision.because,
            decision.verified_by,
        ):
            self.broke("the same evidence, twice in a run, gives the same", f"{_act(decision)}, then {_act(again)}")

    def confirmed(self, run: Run, line: Line, decision: Any, seen: Sight) -> None:
        if run.is_check:
            self.broke("check mode touches nothing")

    def ended(self, run: Run, disturbed: bool) -> None:
        """Of a run that was not killed."""
        if "endless" in run.book:
            self.broke("a run ends", run.book["endless"].label)
        if disturbed:
            return
        for line, course in run.courses.items():
            if course.is_unreachable or line.host.touched != course.begun_with:
                continue
            if "exists" in course.asked and all(outcome in _BEGAN_NOTHING for outcome in course.asked):
                self._judge_earlier(line)
            for container, decision, says, state in course.stopped:
                if decision.because != "list" or state not in ("running", "paused", "restarting"):
                    continue
                if says == "failed" and "exists" in course.asked:
                    continue  # the list was right: it is the entry that failed that is in the way
                if all(outcome in _BEGAN_NOTHING for outcome in course.asked):
                    self._judge_put_aside(line, course, container, state)

    def _judge_put_aside(self, line: Line, course: Any, container: Container, state: str) -> None:
        host = line.host
        if host.named(container.id) is None:
            return
        is_as_it_was = host.state == state or container.crashes_after is not None
        if host.containers.get(ENGINE) is not container or not is_as_it_was:
            answers = ", ".join(course.asked) or "nobody asked"
            self.broke(f"what was put aside on the list's word runs again if nothing was begun: {answers}")

    def _judge_earlier(self, line: Line) -> None:
        """The node says that the engine exists: what a killed run has stopped is the engine that it means."""
        host = line.host
        for container, _, where, touched in self.stopped_live:
            entry = container.entry
            if where is not host or host.touched != touched:
                continue
            if entry is None or entry not in self._world.node(line).entries:
                continue
            if host.named(container.id) and host.state_of(container) != "running":
                self.broke("what a killed run has stopped comes back when the node says that it exists", container.id)

    def in_the_end(self) -> None:
        """Everything has converged: nothing that a run has stopped is missing."""
        for container, line, *_ in self.stopped_live:
            entry = container.entry
            if entry is None or entry.container is not container:
                continue
            host = entry.host
            engine = host.containers.get(ENGINE)
            by_hand = container.held == "exited" and engine is container
            # A person who has put another one in its place has decided what runs on this host.
            by_hand = by_hand or bool(engine and engine.by_hand and engine.began > container.began)
            if host.named(container.id) and host.state_of(container) != "running" and not by_hand:
                self.broke("a live engine is not left stopped", f"{container.id} of {entry.name}, by {line.label}")


def _expected(
    engine: dict[str, Any], record: dict[str, Any], is_verified: bool, says: str, policy: Any
) -> tuple[str, ...]:
    state = engine["state"]
    is_taken = engine["established"] and not policy.allow_established
    would_be_lost = engine["auto_remove"] and not policy.remove_leftovers
    if state == "unknown":
        return ("fail",)
    if says == "running":
        if state == "running":
            return ("none",) if is_verified else ("record", "none")
        is_over = record["state"] != "requested" and state in ("absent", "exited", "created", "paused")
        return ("fail",) if is_over else ()
    if is_verified:
        if state == "running":
            return {"none": ("none",), "not listed": ("fail",), "failed": ("fail",)}.get(says, ())
        if state in ("exited", "paused"):
            return ("fail",) if says in ("none", "not listed", "failed") else ()
    if says == "deploying":
        return ("wait", "record", "none", "fail")
    if record["state"] in ("requested", "verified", "invalid"):
        return ()
    if state == "absent":
        return ("install",) if says in ("none", "not listed", "empty") else ()
    if state == "exited" and says in ("none", "not listed", "failed", "empty"):
        return ("replace",)
    if state == "running" and says == "none":
        if policy.unrecorded == "replace":
            return ("fail",) if is_taken or would_be_lost else ("replace",)
        return ("record",) if policy.unrecorded == "adopt" else ("fail",)
    if state == "running" and says == "not listed":
        is_left = policy.unrecorded == "adopt" or is_taken or would_be_lost
        return ("fail",) if is_left else ("replace", "fail")  # the budget may say no
    return ()


def budget(run: Run) -> int:
    most = run.policy["max_replaced"]
    if isinstance(most, int):
        return most
    return max(1, math.ceil(len(run.lines) * int(most.rstrip("%")) / 100))


def _runs(seen: Sight) -> bool:
    return bool(seen.look["engine_container"]["state"] == "running")


def _act(decision: Any) -> str:
    if decision.action == "wait":
        return f"wait {decision.wait_seconds:.0f} s for the {decision.wait_for}"
    said = decision.because or decision.verified_by
    return f"{decision.action} ({said})" if said else str(decision.action)


def _shown_of_another(seen: Sight, line: Line) -> str | None:
    """What the list shows of another engine that the record proves this very container for; None if that is not so.

    Where the host knows its addresses, and the inventory's is one of them, it is no other engine's host. Which
    management node the record names does not matter: the list shows that engine at the recorded address.
    """
    record, own = seen.look["record"], seen.look["addresses"]
    if record["state"] != "verified" or record["container_id"] != seen.look["engine_container"]["id"]:
        return None
    recorded, is_here = (record["name"], record["manage_ip"]), own is not None and line.address in own
    if is_here or recorded == (line.name, line.address):
        return None
    states = {one["state"] for one in seen.reading if (one["name"], one["address"]) == recorded}
    return (states.pop() if len(states) == 1 else "unknown") if states else None


def _has_failed(says: str) -> bool:
    return says in ("failed", "not listed")


def _record(record: dict[str, Any]) -> str:
    if record["state"] in ("none", "invalid"):
        return f"record {record['state']}"
    node = re.sub(r"https://|\.example", "", record["base_url"])
    return f"record {record['state']} {record['name']} {record['manage_ip']} {node} age {record['age']:.0f}"
