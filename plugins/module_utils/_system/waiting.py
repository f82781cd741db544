# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a condition, and end a step in time, by the monotonic clock."""

import threading
import time
from typing import Any, Callable, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


class Deadline:
    """The end of a step. ``seconds``: time for the step; None for no limit."""

    def __init__(self, seconds: Optional[float] = None) -> None:
        self._seconds = seconds
        self._began = time.monotonic()

    @property
    def used(self) -> float:
        """Return the seconds since the step began."""
        return time.monotonic() - self._began

    def check(self, needed: float) -> None:
        """Raise FleetError ``host_timeout`` if fewer than ``needed`` seconds are left."""
        if self._seconds is None or self._seconds - self.used >= needed:
            return
        left = max(0.0, self._seconds - self.used)
        raise _too_slow(f"{self.used:.0f} s used, {left:.0f} s left, {needed:.0f} s needed")


def within(seconds: Optional[float], work: Callable[[], Any]) -> Any:
    """Return the result of ``work()``. Raises FleetError ``host_timeout`` after ``seconds``, and leaves its thread."""
    results: List[Any] = []
    errors: List[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if results:
        return results[0]
    raise _too_slow(f"not read within {seconds:.0f} s")


def _too_slow(why: str) -> FleetError:
    fix = "Check the load, the disks and the container runtime of the host, or raise slb_host_timeout."
    return FleetError("host_timeout", f"Host too slow: {why}.", fix)


def wait_for(condition: Callable[[], object], seconds: float, interval: float = 0.1) -> bool:
    """Return whether ``condition()`` became true in time. It is tried at least once, and once more at the end."""
    deadline = time.monotonic() + seconds
    while not condition():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(interval, left))
    return True
