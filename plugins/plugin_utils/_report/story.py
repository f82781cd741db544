# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has happened on one host of a run so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Change, HostStatus, Phase, Reason, Since
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import HostPlan, Record

Ending = Literal["ok", "failed", "unreachable"]
_ENDS_A_PROOF = (
    "container_set_aside",
    "container_restored",
    "record_removed",
    "install_requested",
    "install_unknown",
)
"""Codes of changes after which the container, or what the record says of it, is not what was looked at before."""

_LOOKS = ("slb.fleet.engine_plan", "slb.fleet.host_info")
_UNDER_WAY = {
    "slb.fleet.interface": (
        "The run ended during an adoption.",
        "The host rolls back within slb_confirm_timeout; then run again.",
    ),
    "slb.fleet.engine_info": ("The run ended while the engine list was read.", "Run again."),
    "slb.fleet.license": ("The run ended during the download of the license.", "Run again."),
}
"""By the module of the task that the run was ended in, which says more of the host than what was done before."""


@dataclass
class Story:
    """``tasks``: those that go on, and since when; ``module``: of the one that has begun last. ``batch``: of the last
    play that has come to it.
    """

    host_plan: HostPlan | None = None
    is_outdated: bool = False
    """This run has done something since its last look that no proof outlives."""
    is_decided: bool = False
    record: Record | None = None
    was_good: bool = False
    has_drifted: bool = False
    wants: str = ""
    verified_at: float = 0
    trouble: Ending = "ok"
    trouble_before: bool = False
    """A task had failed before the one that failed last."""
    reason: Reason | None = None
    changes: list[Change] = field(default_factory=list)
    seconds: dict[Phase, float] = field(default_factory=dict)
    tasks: dict[str, float] = field(default_factory=dict)
    module: str = ""
    waited: float = 0
    rounds: int = 0
    play: int = -1
    has_begun: bool = False
    batch: int | None = None

    @property
    def is_verified(self) -> bool:
        return self.trouble == "ok" and self._is_good and not self.is_outdated

    @property
    def is_undone(self) -> bool:
        """It was healthy, and this run has itself taken away what was: what was decided then says nothing of it now."""
        return self._is_good and self.is_outdated

    @property
    def _is_good(self) -> bool:
        return self.host_plan is not None and self.host_plan.action == "none"

    @property
    def needs_a_person(self) -> bool:
        return self.host_plan is not None and self.host_plan.action == "fail"

    def add(self, change: Change) -> None:
        self.changes.append(change)
        self.is_outdated = self.is_outdated or change.code in _ENDS_A_PROOF

    def spend(self, phase: Phase | None, seconds: float) -> None:
        if phase and seconds > 0:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds

    def since(self, status: HostStatus) -> Since | None:
        """What has changed since the run whose proof the record holds, told from the first look of this one."""
        is_good = status == "healthy"
        if self.record == "this" and self.has_drifted:
            return "corrected" if is_good else "drifted"
        is_new = self.record in ("none", "other") and not self.was_good
        return "intended" if is_new and is_good else None

    def unfinished(self, check: bool) -> Reason:
        """What was decided last is not so any more. ``check``: in check mode, in which all only look."""
        if self.tasks and not check and self.module in _UNDER_WAY:
            return Reason("interrupted", *_UNDER_WAY[self.module])
        if self.host_plan is None and not self.changes and (check or self.module in _LOOKS):
            return Reason("interrupted", "The run ended while the host was checked.", "Run again.")
        done = f" after: {self.changes[-1].sentence}" if self.changes else " during a task on the host"
        return Reason("interrupted", f"The run ended{done}.", "Run again: the next run continues.")
