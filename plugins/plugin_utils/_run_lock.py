# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lock that the workers of a run share, in the run's own temporary folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.slb.fleet.plugins.module_utils._system.locks import is_got

_POLL_SECONDS = 0.02


class LockedTooLongError(Exception):
    """Somebody else has held the lock for the whole time."""


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Holds the lock ``path``; waits for it for ``seconds`` at most. Raises OSError and LockedTooLongError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not is_got(descriptor, seconds, _POLL_SECONDS):
            raise LockedTooLongError
        yield
    finally:
        os.close(descriptor)
