# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is logged in. Sessions live in memory: a restart ends them all."""

import secrets
import time

MARK = "session-of-the-lab-"
"""Each identifier begins so, for tests that look for one where none may be."""


class Sessions:
    """A session lasts a number of seconds from its login, whatever is done with it."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def begin(self, seconds: float) -> str:
        """A new session's identifier."""
        self._drop_expired(seconds)
        identifier = f"{MARK}{secrets.token_hex(16)}"
        self._since[identifier] = time.monotonic()
        return identifier

    def is_alive(self, identifier: str, seconds: float) -> bool:
        since = self._since.get(identifier)
        return since is not None and time.monotonic() - since < seconds

    def end_all(self) -> int:
        """How many were alive."""
        ended = len(self._since)
        self._since.clear()
        return ended

    def count(self, seconds: float) -> int:
        self._drop_expired(seconds)
        return len(self._since)

    def _drop_expired(self, seconds: float) -> None:
        self._since = {i: since for i, since in self._since.items() if self.is_alive(i, seconds)}
