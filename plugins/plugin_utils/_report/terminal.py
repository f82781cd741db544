# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document on a terminal: twenty lines for a healthy fleet of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    AGAIN,
    DRIFTS,
    SINCE,
    STATUSES,
    Deed,
    Document,
    Group,
    Plan,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import can_be_named

_AUDIT = "slb.fleet.audit"
_MOST_GROUPS, _MOST_HOSTS = 8, 6
_PLANNED = {
    "install": "to install",
    "replace": "to replace",
    "restore": "to restore",
    "record": "to record",
    "wait": "to wait for",
    "none": "unchanged",
    "fail": "blocked",
}


def lines(document: Document) -> Iterator[str]:
    """What an operator reads at the end of a run. No name of a host makes a line of its own."""
    return map(visible, _lines(document))


def _lines(document: Document) -> Iterator[str]:
    run = document.run
    how = {"finished": "took", "interrupted": "was ended after", "running": "goes on for"}[run.status]
    what = f"{run.playbook}{' in check mode' if run.check else ''}"
    yield f"{what}: {_hosts(len(document.hosts))}, {how} {_span(run.seconds)}."
    yield f"  {in_plan(document) if run.is_plan else in_numbers(document)}"
    yield from _planned(document)
    yield from _deeds(document)
    yield from _troubles(document)
    unnamed = tuple(host.name for host in document.hosts if host.status in AGAIN and not can_be_named(host.name))
    if unnamed:
        yield f"  {len(unnamed)} not in retry, because --limit takes the name for something else: {_names(unnamed)}"
    yield from _drift(document)
    yield from _unknown_engines(document)
    if document.plan and document.plan.hosts and (run.is_plan or run.playbook == _AUDIT):
        # Of a plan, the first line has told it already.
        if not run.is_plan:
            yield f"  A rollout would find: {_work(document.plan)}."
        yield f"Plan: {document.plan.digest}"
    if run.next:
        yield f"Next: {run.next}"


def host_lines(document: Document) -> Iterator[str]:
    """One line for each host: how it stands, how long it took, what was seen, what was done, what is wrong with it."""
    return map(visible, _host_lines(document))


def _host_lines(document: Document) -> Iterator[str]:
    width = max((len(visible(host.name)) for host in document.hosts), default=0)
    kind = max((len(host.status_in_words) for host in document.hosts), default=0)
    for host in document.hosts:
        seconds = f"{host.total_seconds:.0f} s" if host.seconds else ""
        wrong = host.reason.sentence if host.reason and host.status not in ("healthy", "done") else ""
        deeds = ", ".join(deed.sentence for deed in host.done)
        rest = " | ".join(filter(None, ("; ".join(host.evidence[:2]), deeds, wrong)))
        yield f"{visible(host.name):{width}}  {host.status_in_words:{kind}}  {seconds:>6}  {rest}".rstrip()


def in_numbers(document: Document) -> str:
    """How many hosts have which status."""
    counts = document.counts
    parts = [f"{counts[status]} {words}" for status, words in STATUSES.items() if counts[status]]
    by = Counter(host.verified.by for host in document.hosts if host.verified)
    if by and parts:
        parts[0] += " (" + ", ".join(f"{number} by {who}" for who, number in sorted(by.items())) + ")"
    return " · ".join(parts) or "no hosts"


def in_plan(document: Document) -> str:
    """How many hosts have which decision, where nothing was done about it."""
    bad = ("failed", "unreachable", "not_started", "interrupted", "done")
    actions = Counter(host.action for host in document.hosts if host.action and host.status not in bad)
    parts = [f"{actions[action]} {words}" for action, words in _PLANNED.items() if actions[action]]
    undecided = sum(1 for host in document.hosts if host.status == "planned" and not host.action)
    parts += [f"{undecided} {STATUSES['planned']}"] if undecided else []
    parts += [f"{document.counts[status]} {STATUSES[status]}" for status in bad if document.counts[status]]
    return f"{', '.join(parts) or 'no hosts'}. Nothing was changed."


def _planned(document: Document) -> Iterator[str]:
    """Of which hosts something would be done, by name."""
    for action, words in _PLANNED.items():
        names = tuple(host.name for host in document.hosts if host.status == "planned" and host.action == action)
        if names:
            yield f"  {words}: {_names(names)}"


def _work(plan: Plan) -> str:
    return ", ".join(
        f"{len(hosts)} {_PLANNED.get(action, action)} ({_names(hosts)})" for action, hosts in plan.by_action.items()
    )


def _deeds(document: Document) -> Iterator[str]:
    for words, found in (("Done", _in_deeds(h.done for h in document.hosts)),
                         ("Would be done", _in_deeds(h.would_do for h in document.hosts))):  # fmt: skip
        if found:
            yield f"  {words}: {found}."


def _in_deeds(of_hosts: Iterable[tuple[Deed, ...]]) -> str:
    numbers = Counter(code for deeds in of_hosts for code in {deed.code for deed in deeds} if code in _TOLD)
    return ", ".join(f"{_TOLD[code]} on {_hosts(numbers[code])}" for code in _TOLD if numbers[code])


_TOLD = {
    "container_set_aside": "a leftover out of the way",
    "container_restored": "a container restored",
    "motd_aside": "the message of the day moved aside",
    "interfaces_adopted": "interfaces adopted",
    "interfaces_released": "interfaces released",
    "install_requested": "an install asked for",
    "install_unknown": "an install asked for whose outcome is not known",
    "record_verified": "an engine recorded",
    "motd_restored": "the message of the day brought back",
    "license_downloaded": "a license downloaded",
}


def _troubles(document: Document) -> Iterator[str]:
    groups = document.groups()
    for group in groups[:_MOST_GROUPS]:
        # As long as it is: what to do stands at its end.
        yield f"{_head(group)}: {group.sentence}" if group.sentence else _head(group)
        yield f"    {_names(group.hosts)}"
    if groups[_MOST_GROUPS:]:
        rest = groups[_MOST_GROUPS:]
        yield f"  and {len(rest)} more reasons, of {_hosts(sum(len(group.hosts) for group in rest))}"


def _head(group: Group) -> str:
    words = STATUSES[group.status]
    return f"  {len(group.hosts)} {words}" + ("" if group.code in (group.status, "task_failed") else f" ({group.code})")


def _unknown_engines(document: Document) -> Iterator[str]:
    if document.unknown_engines:
        number = len(document.unknown_engines)
        yield f"  {number} listed by the console and not in the inventory: {_names(document.unknown_engines)}"
    if document.run.playbook == _AUDIT and document.unlisted:
        yield f"  {len(document.unlisted)} in the inventory and not listed by the console: {_names(document.unlisted)}"


def _drift(document: Document) -> Iterator[str]:
    for since in DRIFTS:
        if names := document.changed(since):
            yield f"  {len(names)} {SINCE[since]}: {_names(names)}"


def _names(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_HOSTS
    return ", ".join(names[:_MOST_HOSTS]) + (f" and {more} more" if more > 0 else "")


def _hosts(number: int) -> str:
    return "1 host" if number == 1 else f"{number} hosts"


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
