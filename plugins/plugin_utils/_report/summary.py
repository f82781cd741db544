# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of the document for other programs: small, however large the fleet is."""

from __future__ import annotations

from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, FORMAT, VERSION, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import can_be_listed

FILE = "slb-fleet-summary.json"
"""In the run's own temporary folder."""
_MOST_GROUPS, _MOST_HOSTS, _LONGEST_SENTENCE, _LONGEST_LIMIT = 15, 10, 300, 20_000


def summary(document: Document) -> dict[str, Any]:
    """Less than 100 KB. ``again``: the limit for a next run, null where it would be too long."""
    run, groups = document.run, document.groups()
    again = ",".join(host.name for host in document.hosts if host.status in AGAIN and can_be_listed(host.name))
    return {
        "format": FORMAT,
        "version": VERSION,
        "playbook": run.playbook,
        "check": run.check,
        "began": run.began,
        "updated": run.updated,
        "seconds": run.seconds,
        "limit": in_short(run.limit, _LONGEST_SENTENCE) if run.limit else None,
        "awx_job_id": run.awx_job_id,
        "counts": document.counts,
        "groups": [
            {
                "code": group.code,
                "status": group.status,
                "count": len(group.hosts),
                "hosts": list(group.hosts[:_MOST_HOSTS]),
                "summary": in_short(group.summary, _LONGEST_SENTENCE),
                "fix": in_short(group.fix, _LONGEST_SENTENCE),
            }
            for group in groups[:_MOST_GROUPS]
        ],
        "groups_left_out": len(groups[_MOST_GROUPS:]),
        "plan": document.plan.digest if document.plan else None,
        # What that is the digest of, as somebody reads it who is to approve it.
        "work": [
            {"action": action, "count": len(hosts), "hosts": list(hosts[:_MOST_HOSTS])}
            for action, hosts in (document.plan.by_action if document.plan else {}).items()
        ],
        "unknown_engines": len(document.unknown_engines),
        "unlisted": len(document.unlisted),
        "again": again if len(again) <= _LONGEST_LIMIT else None,
    }
