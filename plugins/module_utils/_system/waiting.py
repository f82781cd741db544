# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a condition, by a clock that nobody sets."""

import time
from typing import Callable


def wait_for(condition: Callable[[], object], seconds: float, interval: float = 0.1) -> bool:
    """Whether ``condition()`` became true in time; it is tried at least once, and a last time when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(interval, left))
    return True
