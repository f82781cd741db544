# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a lock, with a time limit."""

import fcntl

from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for


def is_got(descriptor: int, seconds: float, interval: float = 0.1) -> bool:
    """Return whether the file was locked in time; closing it releases the lock. Raises OSError."""

    def take() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return wait_for(take, seconds, interval)
