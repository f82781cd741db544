# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the workers of a run wait for, as small files in the run's own temporary folder.

Not in the database of the run: the thread that reads this lives where workers are forked, and a fork while a thread is
inside of SQLite leaves the worker with a lock that nobody holds, for ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

_NAME = "slb-fleet-wait-"


class Waits:
    """``folder``: the run's own temporary one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, host: str, since: float, seconds: float) -> None:
        """``host`` is waited for since then, by the monotonic clock, and so many seconds at most."""
        with contextlib.suppress(OSError):
            self._file(host).write_text(json.dumps([host, since, seconds]), encoding="utf-8")

    def end(self, host: str) -> None:
        with contextlib.suppress(OSError):
            self._file(host).unlink()

    def all(self) -> Iterator[tuple[str, float, float]]:
        """The hosts that are waited for: since when, and how many seconds at most."""
        for path in self._folder.glob(f"{_NAME}*"):
            # One that ends, or is just being written.
            with contextlib.suppress(OSError, ValueError):
                host, since, seconds = json.loads(path.read_text(encoding="utf-8"))
                yield host, since, seconds

    def _file(self, host: str) -> Path:
        return self._folder / f"{_NAME}{hashlib.sha256(host.encode()).hexdigest()[:32]}"
