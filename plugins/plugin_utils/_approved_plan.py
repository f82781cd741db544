# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan that somebody has approved: what differs from it by now is not done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import digest_of, plan_of
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

_DIGEST, _ROLLOUT = "sha256:", "slb.fleet.rollout"
_AGAIN = (
    "Nothing was done. Make a new plan with slb.fleet.rollout --check (in AWX: launch the workflow again), "
    "and have that approved."
)


class ApprovedPlan:
    """``plan``: a digest, the path of a report, or what stands in one under plan."""

    def __init__(self, plan: Any, store: RunStore) -> None:
        self._plan, self._store = plan, store

    def objection(self, host: str, wants: str, *, begins: bool) -> str:
        """Why what is wanted for ``host`` was not approved; empty if it was. ``begins``: it is about to be done, and
        all hosts have been looked at, which a digest needs.
        """
        if isinstance(self._plan, str) and self._plan.startswith(_DIGEST):
            if not begins or digest_of(self._store.work()) == self._plan:
                return ""
            return f"But what is to be done on the fleet is not what was approved as {self._plan}. {_AGAIN}"
        approved = self._approved(host)
        if approved == wants:
            return ""
        had = "nothing for this host"
        if approved:
            had = f"{approved.partition(':')[0]} for this host, or another container, node, credential or option"
        return f"But the approved plan has {had}. {_AGAIN}"

    def _approved(self, host: str) -> str:
        source = digest_of(self._plan["hosts"]) if isinstance(self._plan, Mapping) else str(self._plan)
        found = self._store.approved(source, host)
        if found is not None:
            return found
        work = _work(self._plan if isinstance(self._plan, Mapping) else _in_file(self._plan), str(source))
        self._store.keep_approved(source, work)
        return work.get(host, "")


def approved_plan(value: Any) -> Plan | None:
    """What ``slb_approved_plan`` names; None where that is a digest, or no plan."""
    if not isinstance(value, Mapping) and str(value).startswith(_DIGEST):
        return None
    try:
        return plan_of(_work(value if isinstance(value, Mapping) else _in_file(str(value)), ""))
    except FleetError:
        return None  # which the hosts say


def _in_file(path: str) -> Any:
    try:
        document = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FleetError(
            f"The plan {path} cannot be read: {error}.",
            "Set slb_approved_plan to the report.json of slb.fleet.rollout --check, or to the digest that it shows.",
        ) from None
    run = document.get("run") if isinstance(document, Mapping) else None
    playbook = run.get("playbook") if isinstance(run, Mapping) else None
    if playbook not in (None, _ROLLOUT):
        raise FleetError(
            f"{path} is the report of {playbook}, and no plan that somebody can have approved.",
            "Set slb_approved_plan to the report.json of slb.fleet.rollout --check, or to the digest that it shows.",
        )
    return document.get("plan") if isinstance(document, Mapping) else None


def _work(plan: Any, source: str) -> dict[str, str]:
    hosts = plan.get("hosts") if isinstance(plan, Mapping) else None
    if not isinstance(hosts, Mapping) or not all(isinstance(each, str) for pair in hosts.items() for each in pair):
        raise FleetError(
            f"There is no plan in {source}.", "Set slb_approved_plan to the report.json of slb.fleet.rollout --check."
        )
    work = {str(host): str(wants) for host, wants in hosts.items()}
    if digest_of(work) != plan.get("digest"):
        raise FleetError(
            f"The plan in {source} is not the one that its digest was made of: it has been changed.",
            "Make a new plan with slb.fleet.rollout --check, and have that approved.",
        )
    return work
