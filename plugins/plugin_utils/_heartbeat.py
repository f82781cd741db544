# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""While something is waited for on a host, the operator sees that it is."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType

from ansible import constants
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._waits import Waits

_SECONDS = 15


class Heartbeat:
    """Lets the run's line of progress know of the wait, until the block ends; with -v, tells it every 15 seconds."""

    def __init__(self, host: str, what: str, seconds: float) -> None:
        self._host, self._seconds = host, seconds
        self._text = f"[{visible(host)}]: waiting for {what}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._waits = Waits(Path(constants.DEFAULT_LOCAL_TMP))

    def __enter__(self) -> None:
        self._waits.begin(self._host, time.monotonic(), self._seconds)
        if Display().verbosity:
            self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self._waits.end(self._host)

    def _beat(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(_SECONDS):
            Display().display(
                f"{self._text}, {min(time.monotonic() - begin, self._seconds):.0f} s of {self._seconds:.0f} s"
            )
