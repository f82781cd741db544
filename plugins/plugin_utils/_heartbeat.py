# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""While something is waited for on a host, the operator sees that it is."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from ansible.utils.display import Display

_SECONDS = 15


class Heartbeat:
    """Shows every 15 seconds, for one host, what is waited for and for how long, until the block ends."""

    def __init__(self, host: str, what: str, seconds: float) -> None:
        self._text = f"[{host}]: waiting for {what}"
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(_SECONDS):
            Display().display(
                f"{self._text}, {min(time.monotonic() - begin, self._seconds):.0f} s of {self._seconds:.0f} s"
            )
