# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents of several runs become one: of slices that ran side by side, or of a run and those after it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    Document,
    HostEntry,
    RunEntry,
    Status,
    at_their_nodes,
    with_its_node,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep, inventory_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import plan_of


class NotMergeableError(FleetError):
    """The documents are not of one kind."""


def merged(documents: Sequence[Document], next_step: NextStep) -> Document:
    """Of a host that is in several, the entry of the run that was heard of last counts."""
    if not documents:
        raise NotMergeableError("There is no report to merge.", "Give one at least.")
    _see_one_kind({(document.run.playbook, document.run.check) for document in documents})
    entries: dict[str, HostEntry] = {host.name: host for document in documents for host in document.hosts}
    offset, offsets = 0, []
    for document in documents:
        offsets.append(offset)
        offset += len(document.run.batches)
    in_time = sorted(zip(documents, offsets, strict=True), key=lambda pair: pair[0].run.updated)
    for document, first in in_time:
        for host in document.hosts:
            entries[host.name] = host if host.batch is None else replace(host, batch=host.batch + first)
    hosts = tuple(entries.values())
    next_step = replace(next_step, inventory=_inventory(documents) or next_step.inventory)
    run = _run([document.run for document in documents])
    plans = [document.plan for document, _first in in_time if document.plan]
    return Document(
        replace(run, next=next_step.of_run(run, hosts)),
        hosts,
        plan_of({host: wants for plan in plans for host, wants in plan.hosts.items()}) if plans else None,
        _unknown(documents),
    )


def _see_one_kind(kinds: set[tuple[str, bool]]) -> None:
    if len(kinds) > 1:
        said = " and ".join(sorted(f"{playbook}{' in check mode' if check else ''}" for playbook, check in kinds))
        raise NotMergeableError(
            f"The reports are of runs that cannot be told as one: {said}.", "Merge those of one playbook at a time."
        )


def _run(runs: Sequence[RunEntry]) -> RunEntry:
    began, updated = min(run.began for run in runs), max(run.updated for run in runs)
    ended = [run.ended for run in runs if run.ended]
    return RunEntry(
        playbook=runs[0].playbook,
        check=runs[0].check,
        status=_status({run.status for run in runs}),
        began=began,
        updated=updated,
        ended=max(ended) if len(ended) == len(runs) else None,
        seconds=(_moment(updated) - _moment(began)).total_seconds(),
        versions=runs[0].versions,
        management_nodes=tuple(dict.fromkeys(node for run in runs for node in run.management_nodes)),
        batches=tuple(batch for run in runs for batch in run.batches),
    )


def _inventory(documents: Sequence[Document]) -> tuple[str, ...]:
    """That which the next commands of all name that have one; none where they are of several."""
    told = ((document.run.next, *(host.next for host in document.hosts)) for document in documents)
    found = {inventory_of(command) for commands in told for command in list(filter(None, commands))[:1]}
    return found.pop() if len(found) == 1 else ()


def _status(found: set[Status]) -> Status:
    """That of the run which is least at its end."""
    return "running" if "running" in found else "interrupted" if "interrupted" in found else "finished"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _unknown(documents: Sequence[Document]) -> tuple[str, ...]:
    """What is unknown to one slice may be another's: only what all of them miss that have its node is missing."""
    nodes = tuple(dict.fromkeys(node for document in documents for node in document.run.management_nodes))
    parts = [
        (document.run.management_nodes, dict.fromkeys(
            with_its_node(engine, document.run.management_nodes) for engine in document.unknown_engines
        )) for document in documents
    ]  # fmt: skip
    found = dict.fromkeys(each for _nodes, part in parts for each in part)
    return at_their_nodes(
        (each for each in found if all(each in part for known, part in parts if not known or each[1] in known)), nodes
    )
