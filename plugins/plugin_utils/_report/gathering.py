# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in a run, gathered event by event into the document. No I/O, and no clock of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    Batch,
    Change,
    Document,
    HostEntry,
    HostStatus,
    Phase,
    Plan,
    Reason,
    RunEntry,
    Status,
    Verified,
    at_their_nodes,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import plan_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_line import Tally
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import Seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.story import Ending, Story

_GOES_ON_UNTIL_PROVEN = "slb.fleet.rollout"
_AUDIT = "slb.fleet.audit"
_TOLD_OF_NO_CHANGE = (
    "duplicate_engine",
    "address_mismatch",
    "invalid_variable",
    "container_state_unknown",
    "engine_list_unavailable",
    "engine_list_unreliable",
    "replace_requested",
)
"""Codes of decisions for which an engine that is as it was healthy can be the reason, too."""
_NOT_ITS_TURN = "The run ended before the host was changed."
_LOOK_AT_HOSTS = (_GOES_ON_UNTIL_PROVEN, _AUDIT, "slb.fleet.diagnose", "slb.fleet.remediate")


class Gathering:
    """``facts``: what is known of the run when it begins. ``wall``: the time of day then; all other times are by one
    clock that only goes forward, as ``began`` is. ``approved``: the plan that the run was given.
    """

    def __init__(
        self, facts: RunEntry, next_step: NextStep, wall: datetime, began: float, approved: Plan | None = None
    ) -> None:
        self._facts, self._next, self._wall, self._began = facts, next_step, wall, began
        self._approved = approved
        self._stories: dict[str, Story] = {}
        self._batches: list[Batch] = []
        self._play, self._name, self._taken, self._play_began = -1, "", set[str](), began
        self._nodes: dict[str, None] = {}
        self._share: Mapping[str, str] = {}
        self._licensed = set[str]()
        self._unknown_engines: dict[tuple[str, str], None] = {}
        self._ended: float | None = None
        self._status: Status = "running"

    @property
    def check(self) -> bool:
        return self._facts.check

    @property
    def is_in_awx(self) -> bool:
        return self._facts.awx_job_id is not None

    def play(self, name: str, hosts: Iterable[str], batch: Iterable[str], now: float) -> None:
        """A play begins, or its next batch. ``hosts``: all that it names; those that it never comes to are told."""
        named = list(hosts)
        taken = set(batch).intersection(named)
        if not named:
            return
        # A play comes once for each batch, under an identity that may be another each time.
        if name != self._name or taken & self._taken:
            self._play, self._name, self._taken, self._play_began = self._play + 1, name, set(), now
            for host in named:
                story = self._stories.setdefault(host, Story())
                story.play, story.has_begun = self._play, False
        self._taken |= taken
        self._end_batch(now)
        if taken:
            self._batches.append(Batch(name, len(taken), self._time(now), None, 0))
        for host in taken:
            self._stories.setdefault(host, Story()).batch = len(self._batches) - 1

    def begin(self, host: str, task: str, module: str, now: float) -> None:
        story = self._stories.setdefault(host, Story())
        story.has_begun, story.module = True, module
        story.tasks[task] = now

    def end(
        self, host: str, task: str, ending: Ending, seen: Seen, phase: Phase | None, now: float, has_looked: bool = True
    ) -> None:
        """``phase``: what the task's time is counted for. ``has_looked``: no earlier look is what it speaks of."""
        story = self._stories.setdefault(host, Story())
        # What the main process had to do before it came to this host is not the host's time, where that can be told.
        took = now - story.tasks.pop(task, now)
        waited = 0.0 if seen.waited is None else max(0.0, min(took, seen.waited - story.waited))
        story.spend("wait", waited)
        story.spend(phase, took - waited)
        self._learn(story, seen, now, has_looked)
        if ending != "ok":
            story.trouble_before, story.trouble = story.trouble != "ok", ending
            story.reason = self._why(ending, seen, story)
        elif seen.host_plan:
            story.reason = Reason(seen.host_plan.code, seen.host_plan.summary, seen.host_plan.fix)

    def share(self, licenses: Mapping[str, str]) -> None:
        """Which license each host has, together with others for which one of them asks."""
        self._share = licenses

    def has_license(self, host: str) -> None:
        self._licensed.add(self._share.get(host, ""))

    def did(self, host: str, changes: Iterable[Change]) -> None:
        for change in changes:
            self._stories.setdefault(host, Story()).add(change)

    def _learn(self, story: Story, seen: Seen, now: float, has_looked: bool) -> None:
        if seen.host_plan:
            if story.record is None:
                story.record, story.was_good = seen.record, seen.host_plan.action == "none"
                is_ours = seen.is_set_aside or seen.host_plan.code in _TOLD_OF_NO_CHANGE
                story.has_drifted = not story.was_good and not is_ours
            story.host_plan = seen.host_plan
            if has_looked:
                story.verified_at, story.is_outdated = now, False
        if seen.host_plan and not (seen.rounds or story.rounds or story.changes):
            story.is_decided, story.wants = True, seen.wants
        story.waited = story.waited if seen.waited is None else seen.waited
        story.rounds = story.rounds if seen.rounds is None else seen.rounds
        for change in seen.changes:
            story.add(change)
        if seen.node:
            self._nodes.setdefault(seen.node)
        self._unknown_engines.update(dict.fromkeys((engine, seen.node) for engine in seen.unknown_engines))

    @staticmethod
    def _why(ending: Ending, seen: Seen, story: Story) -> Reason:
        if ending == "unreachable":
            return Reason("host_unreachable", seen.summary, seen.fix)
        if seen.host_plan:
            return Reason(seen.host_plan.code, seen.host_plan.summary, seen.host_plan.fix)
        is_repeated = story.reason is not None and seen.summary.startswith(story.reason.summary)
        if story.reason and not seen.code and (is_repeated or story.trouble_before):
            return story.reason  # of the plan or failure that a task without a code repeats
        return Reason(seen.code or "task_failed", seen.summary, seen.fix)

    def finish(self, status: Status, now: float) -> None:
        self._ended, self._status = now, status
        self._end_batch(now, whole=status == "finished")

    def tally(self, now: float) -> Tally:
        """What a line of progress says, which is made far more often than the document."""
        stories = self._stories.values()
        run = self._facts
        only_looks = run.is_plan or run.playbook == _AUDIT
        kinds = Counter(self._kind(each) for each in stories)
        in_play = [each for each in stories if each.play == self._play]
        return Tally(
            hosts=len(stories),
            healthy=kinds["healthy"],
            failed=kinds["failed"],
            unreachable=kinds["unreachable"],
            in_play=len(in_play),
            settled=sum(1 for each in in_play if self._kind(each) and not each.tasks),
            seconds=now - self._play_began,
            seen=sum(1 for each in stories if self._kind(each)) if only_looks else None,
        )

    def _kind(self, story: Story) -> HostStatus | None:
        """Of a host about which this run has nothing more to do."""
        if bad := self._bad(story):
            return bad
        if story.is_verified:
            return "healthy"
        if story.host_plan and self._facts.playbook == _AUDIT:
            return "failed"
        return "planned" if story.host_plan and self._facts.is_plan else None

    def _bad(self, story: Story) -> HostStatus | None:
        """Of a host that somebody has to see to, whatever else is known of it."""
        if story.trouble == "unreachable":
            return "unreachable"
        is_blocked = self._facts.is_plan and story.needs_a_person
        return "failed" if story.trouble == "failed" or is_blocked else None

    def forget_folder(self) -> None:
        """The reports cannot be written there."""
        self._next = replace(self._next, folder="")

    def document(self, now: float) -> Document:
        """As far as it is known."""
        end = now if self._ended is None else self._ended
        run = replace(
            self._facts,
            status=self._status,
            began=self._time(self._began),
            updated=self._time(end),
            ended=None if self._ended is None else self._time(end),
            seconds=round(end - self._began, 1),
            management_nodes=tuple(self._nodes),
            batches=tuple(self._batches),
        )
        decided = {name: story.wants for name, story in self._stories.items() if story.is_decided}
        plan = self._approved or (plan_of(decided) if decided else None)
        hosts = tuple(self._entry(name, story, run, self._next) for name, story in self._stories.items())
        return Document(
            replace(run, next=self._next.of_run(run, hosts)),
            hosts,
            plan,
            at_their_nodes(self._unknown_engines, run.management_nodes),
        )

    def _entry(self, name: str, story: Story, run: RunEntry, step: NextStep) -> HostEntry:
        status = self._host_status(name, story, run)
        host_plan = story.host_plan
        by = host_plan.verified_by if host_plan and status == "healthy" else None
        entry = HostEntry(
            name,
            status,
            host_plan.action if host_plan and not story.is_undone else "",
            self._reason(story, status),
            host_plan.evidence if host_plan else (),
            Verified(by, self._time(story.verified_at)) if by else None,
            () if run.check else tuple(story.changes),
            tuple(story.changes) if run.check else (),
            dict(story.seconds),
            story.batch,
            steps=host_plan.steps if host_plan else (),
            console=host_plan.console if host_plan else "",
            since=story.since(status),
        )
        return replace(entry, next=step.of_host(entry, run))

    def _reason(self, story: Story, status: HostStatus) -> Reason | None:
        if status == "interrupted":
            return story.unfinished(self.check)
        if story.is_undone and story.trouble == "ok":
            return None
        if status == "not_started" and story.reason and self._status != "running":
            return replace(story.reason, summary=f"{story.reason.summary} {_NOT_ITS_TURN}")
        return story.reason

    def _host_status(self, name: str, story: Story, run: RunEntry) -> HostStatus:
        if bad := self._bad(story):
            return bad
        if story.tasks and self._status != "finished":
            return "interrupted"
        if not story.has_begun:
            return "not_started"
        if story.host_plan is None:
            if run.playbook not in _LOOK_AT_HOSTS:
                # One has asked for the license of all.
                has_all = name not in self._share or self._share[name] in self._licensed
                return "done" if has_all else "not_started"
            # Its look was skipped, as by --tags.
            return "interrupted" if story.changes else "not_started"
        return "healthy" if story.is_verified else self._of_work(story, run)

    def _of_work(self, story: Story, run: RunEntry) -> HostStatus:
        """Something is to be done about the host, or was done about one that was healthy, and no task has failed."""
        if run.is_plan:
            return "planned"
        if run.playbook == _AUDIT:
            return "failed"
        if run.playbook != _GOES_ON_UNTIL_PROVEN:
            return "done"
        # Its play goes on until the engine is healthy: it was ended before.
        return "interrupted" if story.changes else "not_started"

    def _end_batch(self, now: float, whole: bool = True) -> None:
        if self._batches and self._batches[-1].ended is None and whole:
            number = len(self._batches) - 1
            troubled = sum(1 for each in self._stories.values() if each.batch == number and each.trouble != "ok")
            self._batches[-1] = replace(self._batches[-1], ended=self._time(now), troubled=troubled)

    def _time(self, now: float) -> str:
        at = self._wall + timedelta(seconds=now - self._began)
        return at.astimezone(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
