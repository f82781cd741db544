# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as metrics for Prometheus, in the form that OpenMetrics and the textfile collector both read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import STATUSES, Document

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics(document: Document) -> str:
    run, counts = document.run, document.counts
    of = {"playbook": run.playbook, "check": str(run.check).lower()}
    by_status = [({**of, "status": status}, counts[status]) for status in STATUSES]
    by_code = [({**of, "status": each.status, "code": each.code}, len(each.hosts)) for each in document.groups()]
    by_host = [({**of, "host": host.name}, host.status == "healthy") for host in document.hosts]
    updated = datetime.strptime(run.updated, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
    parts = (
        *_gauge("hosts", "Number of hosts by status.", by_status),
        *_gauge("hosts_changed", "Number of hosts that the last run changed.", [(of, counts["changed"])]),
        *_gauge("troubled_hosts", "Number of hosts that need attention, by status and code.", by_code),
        *_gauge("host_healthy", "1 if the last run verified the engine of the host, else 0.", by_host),
        *_gauge("run_complete", "1 if the last run finished, else 0.", [(of, run.status == "finished")]),
        *_gauge("run_duration_seconds", "Duration of the last run.", [(of, run.seconds)], "seconds"),
        *_gauge("run_timestamp_seconds", "Time of the last update of the last run.", [(of, updated)], "seconds"),
        "# EOF",
    )
    return "".join(f"{line}\n" for line in parts)


def _gauge(name: str, text: str, samples: Iterable[tuple[Mapping[str, str], float]], unit: str = "") -> Iterator[str]:
    full = f"slb_fleet_{name}"
    yield f"# TYPE {full} gauge"
    if unit:
        yield f"# UNIT {full} {unit}"
    yield f"# HELP {full} {text}"
    for labels, value in samples:
        inside = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
        yield f"{full}{{{inside}}} {float(value):.15g}"
