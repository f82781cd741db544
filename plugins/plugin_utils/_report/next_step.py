# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to run next, for one host and for all that need it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, HostEntry, RunEntry

_FEW = 30
_REST = "…"
"""Stands for options that may hold secrets, which are not told."""
_REMEDIED = ("gone_from_the_list", "ailing")
"""Reasons for which the operator's word is needed before the engine is installed anew."""
_ROLLOUT = "slb.fleet.rollout"


@dataclass(frozen=True)
class NextStep:
    """``options``: those of the command that has been run which the next one needs, the inventory above all.
    ``folder``: where the reports are, empty where there are none.
    """

    options: tuple[str, ...] = ()
    folder: str = ""

    def of_host(self, host: HostEntry, run: RunEntry) -> str:
        if host.verdict not in (*AGAIN, "needs_you", "planned"):
            return ""
        what = self._what(run)
        if host.reason and host.reason.code in _REMEDIED:
            what = "slb.fleet.remediate"
        check = ("--check",) if host.reason and host.reason.code == "not_approved" else ()
        return self._command(what, run, *check, "--limit", host.name)

    def of_run(self, run: RunEntry, again: Sequence[str], planned: Sequence[str]) -> str:
        """``again``: hosts that a next run is for. ``planned``: those about which check mode has found work."""
        if run.status == "running":
            return ""
        if run.is_plan and planned:
            approved = ("-e", f"slb_plan={self.folder}/report.json") if self.folder and run.check else ()
            limit = ("--limit", run.limit) if run.limit else ()
            return self._command(self._what(run), run, *limit, *approved)
        if not again:
            return ""
        if run.awx_job_id is None and self.folder:
            return self._command(self._what(run), run, "--limit", f"@{self.folder}/retry")
        if len(again) > _FEW:
            # A file of names is what SLB_REPORT_DIR is for.
            return self._command(self._what(run), run, "--limit", "@retry")
        return self._command(self._what(run), run, "--limit", ",".join(again))

    @staticmethod
    def _what(run: RunEntry) -> str:
        return _ROLLOUT if run.playbook in ("slb.fleet.diagnose", "slb.fleet.audit") else run.playbook

    def _command(self, what: str, run: RunEntry, *more: str) -> str:
        if run.awx_job_id is not None:
            return f"Launch {what} again, with {' '.join(more)}." if more else f"Launch {what}."
        words = ("ansible-playbook", *self.options, what, *more)
        return " ".join(word if word == _REST else shlex.quote(word) for word in words)
