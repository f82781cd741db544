# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a condition, by the monotonic clock."""

import time
from typing import Callable


def wait_for(condition: Callable[[], object], seconds: float, interval: float = 0.1) -> bool:
    """Return whether ``condition()`` became true in time. It is tried at least once, and once more at the end."""
    deadline = time.monotonic() + seconds
    while not condition():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(interval, left))
    return True
