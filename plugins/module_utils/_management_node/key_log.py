# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make SSL contexts that write no keys."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_NAME = "SSLKEYLOGFILE"


@contextlib.contextmanager
def without_key_log() -> Iterator[None]:
    """Ignore SSLKEYLOGFILE: its keys reveal the password, and a file that cannot be written would end the run."""
    given = os.environ.pop(_NAME, None)
    try:
        yield
    finally:
        if given is not None:
            os.environ[_NAME] = given
