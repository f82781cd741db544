# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A point on the monotonic clock by which something has to be done."""

from __future__ import annotations

import time


class Deadline:
    """``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    def postpone(self, seconds: float) -> None:
        """For a time that is not to be counted."""
        self._end += seconds

    def is_over(self) -> bool:
        return self.remaining() == 0.0
