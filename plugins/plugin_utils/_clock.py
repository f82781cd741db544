# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How old something is that may have been seen before the controller slept."""

from __future__ import annotations

import time


def awake_or_asleep() -> float:
    """Seconds by a clock that nobody sets and that, where the system has one, goes on while the controller sleeps."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)
