# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What jobs of AWX have published of themselves, by its API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.error import HTTPError

from ansible.module_utils.urls import open_url

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._report.reading import summary_from

_MOST_BYTES = 4 << 20
_SECONDS = 30
_MOST_PAGES = 100
_NOT_FOUND = 404
_UNDER_WAY = ("new", "pending", "waiting", "running")


class AwxError(FleetError):
    """AWX did not give what was asked for."""


class Awx:
    def __init__(self, url: str, token: str, validate_certs: bool) -> None:
        self._url, self._token, self._validate_certs = url.rstrip("/"), token, validate_certs

    def summaries(self, jobs: Sequence[int]) -> list[dict[str, Any]]:
        """Of these jobs; of a job that was sliced, which AWX calls a workflow job, those of its slices."""
        found = {summary["awx_job_id"]: summary for job in dict.fromkeys(jobs) for summary in self._of(job)}
        return list(found.values())

    def _of(self, number: int) -> Iterator[dict[str, Any]]:
        job = self._get(f"/api/v2/jobs/{number}/")
        if job is not None:
            yield self._summary(number, job)
            return
        for node in self._nodes(number):
            slice_ = (node.get("summary_fields") or {}).get("job")
            if not slice_:
                raise AwxError(
                    f"A slice of the job {number} of {self._url} has not run, and its hosts would be missing.",
                    "Wait until the whole job has ended, or give the numbers of the slices that ran.",
                )
            number_of_slice = int(slice_["id"])
            yield self._summary(number_of_slice, self._get(f"/api/v2/jobs/{number_of_slice}/") or {})

    def _nodes(self, number: int) -> Iterator[Mapping[str, Any]]:
        for page in range(1, _MOST_PAGES + 1):
            nodes = self._get(f"/api/v2/workflow_jobs/{number}/workflow_nodes/?page_size=200&page={page}")
            if nodes is None:
                raise AwxError(f"{self._url} has no job {number}.", "Give the numbers that its page of jobs shows.")
            yield from nodes.get("results", ())
            if not nodes.get("next"):
                return
        raise AwxError(f"The list of the slices of job {number} of {self._url} does not end.", "Check O(awx_url).")

    def _summary(self, number: int, job: Mapping[str, Any]) -> dict[str, Any]:
        if job.get("status") in _UNDER_WAY:
            raise AwxError(
                f"Job {number} of {self._url} has not ended: its status is {job['status']}.", "Wait until it has."
            )
        found = (job.get("artifacts") or {}).get(f"slb_fleet_{number}")
        if found is None:
            raise AwxError(
                f"Job {number} of {self._url} has published no report.",
                "Give jobs of rollout or audit in which the callback slb.fleet.report was enabled.",
            )
        summary = summary_from(found, f"What job {number} of {self._url} has published")
        if summary["awx_job_id"] != number:
            raise AwxError(
                f"What job {number} of {self._url} has published is of job {summary['awx_job_id']}.",
                "Find out which task of that job sets slb_fleet_… with set_stats, or leave the job out.",
            )
        return summary

    def _get(self, path: str) -> dict[str, Any] | None:
        """None for what is not there."""
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            with open_url(
                f"{self._url}{path}", headers=headers, timeout=_SECONDS, validate_certs=self._validate_certs,
                follow_redirects="none",
            ) as answer:  # fmt: skip
                values = json.loads(answer.read(_MOST_BYTES))
        except HTTPError as error:
            if error.code == _NOT_FOUND:
                return None
            raise AwxError(
                f"{self._url}{path} answers HTTP {error.code}.",
                "Check O(awx_url), and that O(awx_token) may read the job.",
            ) from None
        except (OSError, ValueError) as error:
            raise AwxError(
                f"{self._url}{path} gave no answer that can be read: {error}.", "Check O(awx_url)."
            ) from None
        return values if isinstance(values, dict) else None
