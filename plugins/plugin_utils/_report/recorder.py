# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record the events of a run, and make the document of them. No I/O and no clock of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    Batch,
    Change,
    Document,
    HostEntry,
    HostPlan,
    HostStatus,
    Plan,
    Run,
    RunStatus,
    UnknownEngine,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_command import next_command, run_again
from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import STEP_UNKNOWN, Observed

Ending = Literal["ok", "failed", "unreachable"]
_ROLLOUT, _AUDIT = "slb.fleet.rollout", "slb.fleet.audit"
_SET_ASIDE = ("slb.fleet.remediate", "slb.fleet.retire")
_LATE = "Collect late hosts"
"""Play of a rollout with hosts of its batches: no further batch."""
_OF_RUN = "Download the license"
"""Play of a rollout whose failure is not one of a host: it ends the run."""
_PARTIALLY = "container_partially_restored"
_WAIT_SECONDS = 10
_WITH_PLANS = (_ROLLOUT, _AUDIT, *_SET_ASIDE, "slb.fleet.diagnose")


@dataclass
class _Host:
    """One host so far.

    ``tasks``: those that run, with their start. ``steps``: those of them that may change its container.
    ``has_begun``: in the play that named it last. ``settled``: the last status that is final, and since when.
    """

    plan: HostPlan | None = None
    work: str | None = None
    ending: Ending = "ok"
    code: str = ""
    summary: str = ""
    fix: str = ""
    changes: list[Change] = field(default_factory=list)
    afterwards: str = ""
    steps: set[str] = field(default_factory=set)
    tasks: dict[str, float] = field(default_factory=dict)
    seconds: float = 0
    has_begun: bool = False
    is_late: bool = False
    batch: int | None = None
    settled: tuple[HostStatus, float] | None = None

    def add(self, changes: Iterable[Change]) -> None:
        for change in changes:
            # One lost answer after another is one unknown result, and a step that fails restores what it set aside.
            if change.code not in ("step_unknown", "container_restored") or change not in self.changes[-1:]:
                self.changes.append(change)

    def fail(self, ending: Ending, observed: Observed) -> None:
        repeats = self.ending != "ok" or (bool(self.summary) and observed.summary.startswith(self.summary))
        self.ending = ending
        if observed.plan:
            self.code, self.summary, self.fix = observed.plan.code, observed.plan.summary, observed.plan.fix
        elif ending == "unreachable":
            self.code, self.summary, self.fix = "host_unreachable", observed.summary, observed.fix
        elif observed.code or not (self.code and repeats):
            # Else a task without a code repeats the plan or the failure before.
            self.code, self.summary, self.fix = observed.code or "task_failed", observed.summary, observed.fix


class Recorder:
    """``run``: what is known when it starts. ``wall``: the time of day then; other times are of one monotonic clock.

    ``folder``: of the reports, empty for none. ``lost``: hosts that failed in an earlier playbook of the command, each
    with its name. ``is_quiet``: show no progress.
    """

    is_quiet = False

    def __init__(
        self, run: Run, folder: str, wall: datetime, began: float, lost: Mapping[str, str] | None = None
    ) -> None:
        self.folder, self._lost = folder, lost or {}
        self._run, self._wall, self._began = run, wall, began
        self._hosts: dict[str, _Host] = {}
        self.left_out: dict[str, None] = {}
        self._batches: list[Batch] = []
        self._play_name, self._taken = "", set[str]()
        self._cause: tuple[str, Ending, Observed] | None = None
        self._nodes: dict[str, None] = {}
        self._unknown: dict[UnknownEngine, None] = {}
        self._status: RunStatus = "running"
        self._ended: float | None = None

    @property
    def is_in_awx(self) -> bool:
        return self._run.awx_job_id is not None

    @property
    def has_hosts(self) -> bool:
        return bool(self._hosts)

    @property
    def has_begun(self) -> bool:
        return any(host.has_begun or host.plan for host in self._hosts.values())

    def play(self, name: str, hosts: Iterable[str], batch: Iterable[str], now: float) -> None:
        """Record that a play begins, or its next batch. ``hosts``: all that the play names."""
        named = [each for each in hosts if each not in self.left_out]
        taken = set(batch).intersection(named)
        if not named:
            return
        if name == _LATE:
            self._end_batch(now)
            return
        # Ansible starts a play again for each batch, and may give each one another identity.
        if name != self._play_name or taken & self._taken:
            self._play_name, self._taken = name, set()
            for each in named:
                self._hosts.setdefault(each, _Host()).has_begun = False
        self._taken |= taken
        self._end_batch(now)
        if taken:
            self._batches.append(Batch(name, len(taken), self._time(now), None, 0))
        for each in taken:
            self._hosts[each].batch = len(self._batches) - 1

    def start(self, name: str, task: str, now: float, *, is_step: bool = False) -> None:
        """Record that a task begins on a host. ``is_step``: it may change the container of the host."""
        if name in self.left_out:
            return
        host = self._hosts.setdefault(name, _Host())
        host.has_begun = True
        if is_step:
            host.steps.add(task)
        host.tasks[task] = now

    def end(self, name: str, task: str, ending: Ending, observed: Observed | None, now: float) -> None:
        """Record the end of a task on a host. ``observed``: None for a skipped task."""
        if name in self.left_out:
            return
        host = self._hosts.setdefault(name, _Host())
        host.seconds += now - host.tasks.pop(task, now)
        host.steps.discard(task)
        if observed is None:
            return
        if plan := observed.plan:
            if observed.is_first and not host.changes:
                host.work = observed.work
            host.plan = plan
            host.code, host.summary, host.fix = plan.code, plan.summary, plan.fix
            host.is_late = observed.is_late
            if observed.management_node:
                self._nodes.setdefault(observed.management_node)
            self._unknown.update(
                {UnknownEngine(each, observed.management_node): None for each in observed.unknown_engines}
            )
        if any(each.code in ("container_restored", _PARTIALLY) for each in observed.changes):
            # The rescue tries again to restore the same container.
            host.changes = [each for each in host.changes if each.code != _PARTIALLY]
        host.add(observed.changes)
        host.afterwards = observed.afterwards or host.afterwards
        if ending != "ok" and self._run.playbook == _ROLLOUT and self._play_name == _OF_RUN:
            self._cause = self._cause or (name, ending, observed)
        elif ending != "ok":
            host.fail(ending, observed)
        status = self._settled(host)
        if status is None or host.settled is None or host.settled[0] != status:
            host.settled = (status, now) if status else None

    def leave_out(self, name: str) -> None:
        """Record that the condition of an import excludes a host, if nothing is known of it."""
        host = self._hosts.get(name)
        if host and not host.plan and not host.changes and host.ending == "ok":
            del self._hosts[name]
            self.left_out[name] = None

    def blame(self, observed: Observed) -> None:
        """Record why the run ended before the first task of a host."""
        self._cause = self._cause or ("", "failed", observed)

    def finish(self, status: RunStatus, now: float) -> None:
        self._ended, self._status = now, status
        if status == "finished":
            self._end_batch(now)

    def document(self, now: float) -> Document:
        end = now if self._ended is None else self._ended
        failed = Counter(host.batch for host in self._hosts.values() if host.ending != "ok")
        run = replace(
            self._run,
            status=self._status,
            began=self._time(self._began),
            updated=self._time(end),
            ended=None if self._ended is None else self._time(end),
            seconds=round(end - self._began, 1),
            management_nodes=tuple(self._nodes),
            batches=tuple(replace(batch, failed=failed[number]) for number, batch in enumerate(self._batches)),
        )
        hosts = tuple(self._entry(name, host) for name, host in self._hosts.items())
        if self._cause and not any(host.status == "not_started" for host in hosts):
            # All hosts are healthy, but the run is not.
            name, ending, observed = self._cause
            why: dict[str, Any] = {
                "status": ending,
                "code": observed.code or "task_failed",
                "summary": observed.summary,
                "fix": observed.fix,
            }
            hosts = tuple(replace(host, **why) if host.name == name else host for host in hosts)
        work = {name: host.work for name, host in self._hosts.items() if host.work is not None}
        plan = Plan.of(work) if work else None
        return Document(replace(run, next=next_command(run, hosts, self.folder)), hosts, plan, tuple(self._unknown))

    def progress(self, now: float) -> str:
        """Return such as: 412/500 healthy · 3 failed · longest wait edge-7 42 s."""
        kinds = Counter(filter(None, map(self._settled, self._hosts.values())))
        parts = [f"{kinds['healthy']}/{len(self._hosts)} healthy"]
        if self._run.is_read_only:
            parts = [f"{kinds.total()}/{len(self._hosts)} checked", f"{kinds['healthy']} healthy"]
        parts += [f"{kinds[status]} {status}" for status in ("failed", "unreachable") if kinds[status]]
        waits = ((start, name) for name, host in self._hosts.items() for start in host.tasks.values())
        start, name = min(waits, default=(now, ""))
        if now - start >= _WAIT_SECONDS:
            parts.append(f"longest wait {name} {now - start:.0f} s")
        return " · ".join(parts)

    def _entry(self, name: str, host: _Host) -> HostEntry:
        status, plan = self._host_status(host), host.plan
        code, summary, fix = host.code or status, host.summary, host.fix
        changes = tuple(host.changes)
        if status == "failed" and plan:
            fix = fix or run_again(plan, _ROLLOUT if self._run.playbook == _AUDIT else "again")
        if status == "interrupted":
            after = f" after: {host.changes[-1].text}" if host.changes else " before the host was done"
            code, summary = "interrupted", f"The run ended{after}."
            fix = "Run again: the next run continues or restores."
            if host.steps:
                changes = (*changes, STEP_UNKNOWN)
        elif status == "not_started" and self._cause:
            _host, _ending, observed = self._cause
            code, summary, fix = observed.code or "task_failed", observed.summary, observed.fix
        elif status == "not_started" and name in self._lost:
            summary = f"Host failed in {self._lost[name]}. Ansible leaves it out of later playbooks of the command."
            fix = f"Fix the host, then run {self._run.playbook} in a command of its own."
        elif status == "not_started" and summary and self._status != "running":
            summary = f"{summary} The run ended before the host was changed."
        elif status == "not_started" and self._status != "running":
            is_whole = self._status == "finished"
            summary = "Ansible started no task on the host." if is_whole else "The run ended before the host's turn."
        return HostEntry(
            name,
            status,
            code,
            summary,
            fix,
            plan,
            changes,
            afterwards=host.afterwards or ("unknown" if STEP_UNKNOWN in changes else ""),
            seconds=round(host.seconds, 1),
            batch=host.batch,
            settled=self._time(host.settled[1]) if host.settled and host.settled[0] == status else None,
        )

    def _host_status(self, host: _Host) -> HostStatus:
        if host.ending != "ok":
            return host.ending
        if host.tasks and self._status != "finished" and (host.steps or self._settled(host) != "healthy"):
            return "interrupted"
        if not host.has_begun:
            return "not_started"
        if status := self._settled(host):
            return status
        if host.plan is None and self._run.playbook not in _WITH_PLANS:
            return "done"
        if (
            host.plan
            and self._run.playbook in _SET_ASIDE
            and (host.changes or host.plan.action not in ("replace", "restore"))
        ):
            return "done"
        is_begun = any(each.code != "license_downloaded" for each in host.changes)
        return "interrupted" if is_begun else "not_started"

    def _settled(self, host: _Host) -> HostStatus | None:
        """Return the status of a host that this run has nothing more to do for; None for others."""
        if host.ending != "ok":
            return host.ending
        if host.plan is None:
            return None
        if host.plan.action == "none":
            return "healthy"
        if host.plan.action == "fail" or self._run.playbook == _AUDIT:
            return "failed"
        # These playbooks install nothing: a host without a container may have nothing to do.
        is_idle = self._run.playbook in _SET_ASIDE and host.plan.action == "install" and not host.changes
        return "planned" if self._run.is_plan and not is_idle else None

    def _end_batch(self, now: float) -> None:
        if self._batches and self._batches[-1].ended is None:
            last = len(self._batches) - 1
            late = sum(1 for host in self._hosts.values() if host.batch == last and host.is_late)
            self._batches[last] = replace(self._batches[last], ended=self._time(now), late=late)

    def _time(self, now: float) -> str:
        at = self._wall + timedelta(seconds=now - self._began)
        return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


current: Recorder | None = None
"""Of the playbook that runs, if the callback ``report`` is enabled; the callback ``fleet`` shows its progress."""

begin_at: Callable[[Any], object] = id
"""Ends the playbook before a play of another one. The callback ``fleet`` calls it first, before it shows the play."""

is_refused = False
"""Whether the lookup ``hosts`` ends the command because the next playbook must not begin."""
