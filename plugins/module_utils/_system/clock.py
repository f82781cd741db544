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
