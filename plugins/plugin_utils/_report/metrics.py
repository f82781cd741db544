# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as metrics for Prometheus, in the form that OpenMetrics and the textfile collector both read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import STATUSES, Document

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[Mapping[str, str], float]


def metrics(document: Document) -> str:
    return "".join(f"{line}\n" for line in (*_lines(document), "# EOF"))


def _lines(document: Document) -> Iterator[str]:
    run, counts = document.run, document.counts
    of = {"playbook": run.playbook, "check": str(run.check).lower()}
    yield from _gauge("hosts", "Hosts of the last run, by their status.", (
        ({**of, "status": status}, counts[status]) for status in STATUSES
    ))  # fmt: skip
    yield from _gauge("hosts_changed", "Hosts on which the last run changed something.", [(of, counts["changed"])])
    troubles: Counter[tuple[str, str]] = Counter()
    for group in document.groups():
        troubles[group.status, group.code] += len(group.hosts)
    yield from _gauge("troubled_hosts", "Hosts about which something has to be done, by the code of the reason.", (
        ({**of, "status": status, "code": code}, number) for (status, code), number in troubles.items()
    ))  # fmt: skip
    yield from _gauge("host_healthy", "1 where the last run has healthy that the host's engine runs, 0 otherwise.", (
        ({**of, "host": host.name}, host.status == "healthy") for host in document.hosts
    ))  # fmt: skip
    yield from _gauge("run_complete", "1 where the last run came to its end, 0 where it was ended before.", [
        (of, run.status == "finished")
    ])  # fmt: skip
    yield from _gauge("run_duration_seconds", "How long the last run took.", [(of, run.seconds)], "seconds")
    at = datetime.fromisoformat(run.updated.replace("Z", "+00:00")).timestamp()
    yield from _gauge("run_timestamp_seconds", "When the last run ended, or was last heard of.", [(of, at)], "seconds")


def _gauge(name: str, words: str, samples: Iterable[Sample], unit: str = "") -> Iterator[str]:
    full = f"slb_fleet_{name}"
    yield f"# TYPE {full} gauge"
    if unit:
        yield f"# UNIT {full} {unit}"
    yield f"# HELP {full} {words}"
    for labels, value in samples:
        inside = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
        yield f"{full}{{{inside}}} {float(value):.15g}"
