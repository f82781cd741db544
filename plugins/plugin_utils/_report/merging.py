# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the documents of several runs and make one of them: of slices, or of a run and those after it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._typed import build
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    VERSION,
    Document,
    HostEntry,
    Plan,
    Run,
    UnknownEngine,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_command import next_command


def read_document(path: Path) -> Document:
    """Return the document in a report.json, or in the folder that has one. Raises FleetError ``report_invalid``."""
    file = path
    try:
        file = path / "report.json" if path.is_dir() else path
        return document_from(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError) as error:
        why = getattr(error, "strerror", None) or in_short(str(error), 100)
        raise FleetError(
            "report_invalid",
            f"Report {file} invalid: {why}.",
            "Set slb_reports to report.json files of the callback slb.fleet.report, or to their folders.",
        ) from None


def document_from(text: str) -> Document:
    """Return the document of a report.json. Raises any of the errors that ``read_document`` names."""
    values = json.loads(text)
    if (values["format"], values["version"]) != (FORMAT, VERSION):
        raise ValueError(f"its format is not {FORMAT}, version {VERSION}")
    run: Run = build(Run, values["run"], "run")
    if not re.fullmatch(r"slb\.fleet\.[a-z_]+", run.playbook):
        raise ValueError("its playbook is not of this collection")
    hosts: tuple[HostEntry, ...] = build(tuple[HostEntry, ...], values["hosts"], "hosts")
    if not {host.batch for host in hosts} <= {None, *range(len(run.batches))}:
        raise ValueError("a host has an unknown batch")
    times = {time for batch in run.batches for time in (batch.began, batch.ended)} | {host.settled for host in hosts}
    for moment in filter(None, {run.began, run.updated, run.ended, *times}):
        datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")
    plan = Plan.of(values["plan"]["hosts"]) if values["plan"] else None
    return Document(run, hosts, plan, build(tuple[UnknownEngine, ...], values["unknown_engines"]))


def merge_documents(documents: Sequence[Document], folder: str) -> Document:
    """Return one document. For a host that is in several, the run that was updated last counts. Raises FleetError."""
    kinds = {f"{each.run.playbook}{' in check mode' if each.run.check else ''}" for each in documents}
    if len(kinds) != 1:
        raise FleetError(
            "report_invalid",
            f"Reports not merged: they are of {' and '.join(sorted(kinds)) or 'no run'}.",
            "Merge the reports of one playbook at a time.",
        )
    hosts: dict[str, HostEntry] = {host.name: host for document in documents for host in document.hosts}
    batches = [batch for document in documents for batch in document.run.batches]
    offsets = [sum(len(each.run.batches) for each in documents[:at]) for at in range(len(documents))]
    work: dict[str, str] = {}
    deciding: dict[str, Run] = {}  # a run whose hosts all were in later ones is over, however it ended
    for document, offset in sorted(zip(documents, offsets, strict=True), key=lambda pair: pair[0].run.updated):
        work.update(document.plan.hosts if document.plan else {})
        for host in document.hosts:
            hosts[host.name] = host if host.batch is None else replace(host, batch=host.batch + offset)
            deciding[host.name] = document.run
    without_hosts = [each.run for each in documents if not each.hosts]
    merged = _merge_runs([each.run for each in documents], [*deciding.values(), *without_hosts])
    run = replace(merged, batches=tuple(batches))
    return Document(
        replace(run, next=next_command(run, tuple(hosts.values()), folder)),
        tuple(hosts.values()),
        Plan.of(work) if any(each.plan for each in documents) else None,
        _merge_unknown(documents),
    )


def _merge_runs(runs: Sequence[Run], deciding: Sequence[Run]) -> Run:
    """Return one run. ``deciding``: those whose state is the state of the whole."""
    statuses = {run.status for run in deciding}
    began, updated = min(run.began for run in runs), max(run.updated for run in runs)
    seconds = datetime.fromisoformat(updated.rstrip("Z")) - datetime.fromisoformat(began.rstrip("Z"))
    return replace(
        runs[0],
        status="running" if "running" in statuses else "interrupted" if "interrupted" in statuses else "finished",
        began=began,
        updated=updated,
        ended=None if any(run.ended is None for run in deciding) else max(run.ended or "" for run in deciding),
        seconds=seconds.total_seconds(),
        # A report may come from elsewhere: it adds no option to a command.
        inventory=("-i", "INVENTORY") if any(run.inventory for run in runs) else (),
        options=(),
        limit=None,
        extra_vars=("...",) if any(run.extra_vars for run in runs) else (),
        awx_job_id=None,
        management_nodes=tuple(dict.fromkeys(node for run in runs for node in run.management_nodes)),
    )


def _merge_unknown(documents: Sequence[Document]) -> tuple[UnknownEngine, ...]:
    """Return the engines that every run with their management node calls unknown: others may be of another slice."""
    unknown = dict.fromkeys(each for document in documents for each in document.unknown_engines)
    return tuple(
        each
        for each in unknown
        if all(
            each in document.unknown_engines
            for document in documents
            if each.management_node in document.run.management_nodes
        )
    )
