# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure time by the host's uptime, which no one can set."""

import time

# Python 3.6 has no time.CLOCK_BOOTTIME. The kernel uses this clock for the start of a process;
# some containers have a /proc/uptime of their own.
_CLOCK_BOOTTIME = 7


def uptime() -> float:
    """Return the seconds since the boot of the host."""
    return time.clock_gettime(_CLOCK_BOOTTIME)


def boot_id() -> str:
    """Return the identifier of this boot."""
    with open("/proc/sys/kernel/random/boot_id") as stream:
        return stream.read().strip()


def age(noted_in: str, noted_uptime: float, noted_at: float) -> float:
    """Return the seconds since this boot id, uptime and time; by the uptime if the host was not rebooted since."""
    if noted_in == boot_id():
        return max(0.0, uptime() - noted_uptime)
    # If the clock was set back, the age is at least that of this boot.
    return max(uptime(), time.time() - noted_at)
