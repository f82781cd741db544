# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document on a terminal: the plan of a run that changes nothing, or the result of any other run."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from ansible_collections.slb.fleet.plugins.module_utils._visible import amount, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    BAD,
    CHANGES,
    STATUSES,
    Document,
    HostEntry,
    can_be_named,
)

_AUDIT = "slb.fleet.audit"
_MAX_HOSTS = 6
_MAX_ALIKE = 3
"""Hosts with one cause that a plan shows one by one, each with what was seen."""
_SIGNS = {"install": "+", "none": " ", **dict.fromkeys(("replace", "restore", "start", "record", "wait"), "~")}
_WORDS = {"slb.fleet.remediate": "set aside", "slb.fleet.retire": "retire"}
"""What a playbook does on a host, if it does not follow the plan to its end. ``slb_remove_leftovers`` deletes."""
_PLANNED = {
    "install": "to install",
    "replace": "to replace",
    "restore": "to restore",
    "start": "to start",
    "record": "to record",
    "wait": "to wait for",
}


def lines(document: Document, *, report: str = "") -> Iterator[str]:
    """Return what an operator reads at the end of a run. ``report``: the path of the page, if it was written."""
    return map(visible, _plan(document) if document.run.is_plan else _result(document, report))


def fitted(line: str, width: int) -> str:
    """Return the line, wrapped between words at ``width`` columns. Further lines begin below its text.

    A command stays whole.
    """
    start = re.match(r"(?:.{0,38}\s\s)?", line)
    indent = start.end() if start else 0
    if not width or len(line) <= width or line[indent:].startswith("ansible-playbook "):
        return line
    parts = textwrap.wrap(line[indent:], max(width - indent, 20), break_long_words=False, break_on_hyphens=False)
    return line[:indent] + f"\n{' ' * indent}".join(parts)


def terminal_width() -> int:
    """Return the width to which lines are fitted; 0 if the output is not a terminal."""
    return max(80, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 0


def _plan(document: Document) -> Iterator[str]:
    run = document.run
    number = amount(len(document.hosts), "host")
    yield f"{run.playbook}{' --check' if run.check else ''}   {number}   read-only   {run.began}"
    yield ""
    unchanged = [host for host in document.hosts if host.status in ("healthy", "done") and not host.changes]
    shown = [host for host in document.hosts if host not in unchanged]
    width = max((len(visible(host.name)) for host in shown), default=0)
    is_deleted = any(change.code == "container_deleted" for host in shown for change in host.changes)
    word = _WORDS.get(run.playbook, "").replace("set aside", "delete" if is_deleted else "set aside")
    groups: dict[tuple[str, ...], list[HostEntry]] = {}
    for host in shown:
        cause = (host.status, host.code, host.summary, host.fix)
        groups.setdefault(cause if host.status in BAD else (host.name,), []).append(host)
    for hosts in groups.values():
        if len(hosts) > _MAX_ALIKE:
            yield from _shared_cause(hosts)
        else:
            for host in hosts:
                yield from _plan_of(host, width, word)
    if shown:
        yield ""
    actions = Counter(host.action for host in document.hosts if host.status == "planned")
    planned = [f"{actions[action]} {words}" for action, words in _PLANNED.items() if actions[action]]
    if planned and word:
        planned = [f"{actions.total()} to {word}"]
    others = [f"{document.counts[status]} {STATUSES[status]}" for status in BAD if document.counts[status]]
    is_digest_of_work = document.plan and document.plan.by_action() and not word
    digest = f"      {document.plan.digest}" if document.plan and is_digest_of_work else ""
    others_changed = sum(1 for host in document.hosts if host.changes and host.action not in _PLANNED)
    planned += [f"{others_changed} {STATUSES['planned']}"] if others_changed else []
    alike = Counter("healthy" if host.status == "healthy" else "unchanged" for host in unchanged)
    numbers = ", ".join([*planned, *others, *(f"{alike[words]} {words}" for words in alike)])
    yield f"Plan: {numbers}{digest}"
    yield from _differences(document)
    yield from _next(document, "Next: ")


def _plan_of(host: HostEntry, width: int, word: str = "") -> Iterator[str]:
    indent = " " * (width + 6)
    sign, name = "~" if word else _SIGNS.get(host.action, "!"), f"{visible(host.name):{width}}"
    if host.status not in BAD and not host.plan:
        yield f"  ~ {name}  {', '.join(change.text for change in host.changes)}"
        return
    if host.status == "planned" and host.plan:
        yield f"  {sign} {name}  {word or host.action:9} {host.summary}"
        # These playbooks run the steps in check mode: what they find is what they would change.
        if steps := [change.text for change in host.changes] if word else host.plan.steps:
            yield indent + "   ".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
        return
    yield f"  ! {name}  {STATUSES[host.status]}  {host.code}: {host.summary}"
    yield from (f"{indent}{line}" for line in _seen_and_fix(host.observations, host.fix))


def _shared_cause(hosts: Sequence[HostEntry]) -> Iterator[str]:
    first = hosts[0]
    yield f"  ! {join_names([host.name for host in hosts])}"
    yield f"      {len(hosts)} {STATUSES[first.status]}  {first.code}: {first.summary}"
    yield from (f"      {line}" for line in _seen_and_fix((), first.fix))


def _seen_and_fix(seen: Sequence[str], fix: str) -> Iterator[str]:
    if seen:
        yield f"Seen:  {'; '.join(seen)}"
    if fix:
        yield f"Fix:   {fix}"


def failure(name: str, status: str, code: str, summary: str, seen: Sequence[str], fix: str) -> Iterator[str]:
    """Return the lines of one host's failure, while the run goes on."""
    yield f"{name}  {status.upper()}  {code}: {summary}"
    yield from (f"          {line}" for line in _seen_and_fix(seen, fix))


def _result(document: Document, report: str) -> Iterator[str]:
    run, counts = document.run, document.counts
    word = document.result.replace("RUNNING", "FAILED")
    if word == "OK" and counts["healthy"] == counts["hosts"]:
        numbers = f"{counts['healthy']}/{counts['hosts']} healthy"
    else:
        numbers = ", ".join(f"{counts[status]} {words}" for status, words in STATUSES.items() if counts[status])
    yield f"Result:  {word}   {numbers or 'no hosts'}   {span(run.seconds)}"
    groups = document.groups()
    width = max((len(group.code) for group in groups), default=0)
    for group in groups:
        yield f"  {len(group.hosts)} x {group.code:{width}}   {join_names(group.hosts)}"
        if group.status == "not_started" and group.fix and run.status == "interrupted":  # no task has shown it
            yield f"      {group.summary} {group.fix}"
    if run.playbook != _AUDIT:
        yield f"Changed: {changed(document) or 'nothing'}"
    yield from _differences(document)
    if run.playbook == _AUDIT and document.plan and document.plan.by_action():
        work = document.plan.by_action().items()
        numbers = ", ".join(f"{len(hosts)} {_PLANNED.get(action, action)}" for action, hosts in work)
        yield f"Plan:    {numbers}   {document.plan.digest}"
    if report:
        yield f"Report:  {report}"
    yield from _next(document, "Next:    ")


def _next(document: Document, label: str) -> Iterator[str]:
    """Return the next command. One for planned hosts does not wait for the blocked ones."""
    if not document.run.next:
        return
    is_for_planned = any(host.status == "planned" for host in document.hosts)
    blocked = sum(1 for host in document.hosts if host.status == "failed" and host.fix)
    if blocked and not is_for_planned:
        yield f"{label}fix {amount(blocked, 'host')} as shown, then"
        label = " " * len(label)
    if "..." in document.run.next:
        yield f"{label}put your own value for each ... into this command:"
        label = " " * len(label)
    yield f"{label}{document.run.next}"


def changed(document: Document) -> str:
    """Return what was changed on all hosts, in numbers."""
    changes = Counter(code for host in document.hosts for code in _changes_of(host))
    return ", ".join(
        f"{changes[code]} {words.format('s' if changes[code] > 1 else '')}"
        for code, (_of_one, words) in CHANGES.items()
        if changes[code]
    )


def _changes_of(host: HostEntry) -> list[str]:
    """Return the codes of what was changed; a requested and verified installation is one change."""
    codes = [change.code for change in host.changes]
    if host.status != "healthy" or not {"install_requested", "install_unknown"} & set(codes):
        return codes
    return ["installed", *(code for code in codes if not code.startswith(("install_", "record_")))]


def _differences(document: Document) -> Iterator[str]:
    """Return engines that the inventory lacks, and names that no limit can have."""
    if unknown := [each.engine for each in document.unknown_engines]:
        yield f"  {len(unknown)} in the engine list only: {join_names(unknown)}"
    if unnamed := [host.name for host in document.hosts if host.status in BAD and not can_be_named(host.name)]:
        yield f"  {len(unnamed)} not in Next and retry, because --limit cannot contain the name: {join_names(unnamed)}"


def host_lines(document: Document) -> Iterator[str]:
    """Return one line for each host: status, time, observed state, changes, reason."""
    width = max((len(visible(host.name)) for host in document.hosts), default=0)
    for host in document.hosts:
        seconds = f"{host.seconds:.0f} s" if host.seconds else ""
        reason = f"{host.code}: {host.summary}" if host.status in BAD else ""
        rest = " | ".join(
            filter(None, ("; ".join(host.observations), ", ".join(each.text for each in host.changes), reason))
        )
        status = f"verified by {host.verified_by}" if host.verified_by else STATUSES[host.status]
        yield visible(f"{visible(host.name):{width}}  {status:23}  {seconds:>6}  {rest}".rstrip())


def join_names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_HOSTS
    return ", ".join(names[:_MAX_HOSTS]) + (f" and {more} more" if more > 0 else "")


def span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
