# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock that nobody sets: the host's uptime."""

import time

# time.CLOCK_BOOTTIME is there from Python 3.7 on. It is the clock by which the kernel notes when a process began;
# /proc/uptime is not always: some containers are shown one of their own.
_CLOCK_BOOTTIME = 7


def uptime() -> float:
    """Seconds since the host was booted."""
    return time.clock_gettime(_CLOCK_BOOTTIME)


def boot_id() -> str:
    """What tells this boot from any other."""
    with open("/proc/sys/kernel/random/boot_id") as stream:
        return stream.read().strip()


def age(noted_in: str, noted_uptime: float, noted_at: float) -> float:
    """Seconds since a note of this boot id, uptime and time: by the uptime where the host has not been booted since."""
    if noted_in == boot_id():
        return max(0.0, uptime() - noted_uptime)
    # A clock that was set back must not make it young again: it is older than this boot.
    return max(uptime(), time.time() - noted_at)
