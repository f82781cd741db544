# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document in short, for AWX: small, however large the fleet is."""

from __future__ import annotations

from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    VERSION,
    Document,
    names_for_retry,
)

FILE = "slb-fleet-summary.json"
"""In the run's own temporary folder."""
_MAX_GROUPS, _MAX_HOSTS, _MAX_TEXT, _MAX_LIMIT = 15, 10, 300, 20_000


def summary(document: Document) -> dict[str, Any]:
    """Return less than 100 KB. ``again``: the limit for the next run; None if it is too long."""
    run, groups, again = document.run, document.groups(), ",".join(names_for_retry(document))
    work = document.plan.by_action() if document.plan else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "playbook": run.playbook,
        "check": run.check,
        "began": run.began,
        "updated": run.updated,
        "seconds": run.seconds,
        "limit": in_short(run.limit, _MAX_TEXT) if run.limit else None,
        "awx_job_id": run.awx_job_id,
        "counts": document.counts,
        "complete": not {host.status for host in document.hosts} & {"not_started", "interrupted"},
        "groups": [
            {
                "code": group.code,
                "status": group.status,
                "count": len(group.hosts),
                "hosts": list(group.hosts[:_MAX_HOSTS]),
                "summary": in_short(group.summary, _MAX_TEXT),
                "fix": in_short(group.fix, _MAX_TEXT),
            }
            for group in groups[:_MAX_GROUPS]
        ],
        "groups_left_out": len(groups[_MAX_GROUPS:]),
        "plan": document.plan.digest if document.plan else None,
        "work": [
            {"action": action, "count": len(hosts), "hosts": hosts[:_MAX_HOSTS]} for action, hosts in work.items()
        ],
        "unknown_engines": len(document.unknown_engines),
        "again": again if len(again) <= _MAX_LIMIT else None,
    }
