# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read ``--limit``, also from a file that this run may replace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ansible.inventory.manager import split_host_pattern


def patterns_of(limit: str) -> dict[str, Sequence[str]]:
    """Return the patterns of each part: itself, or the lines of its file as the first call of the run read them."""
    parts = [part for part in split_host_pattern(limit) if part.strip()]
    return {part: _lines(part[1:]) if part.startswith("@") else (part,) for part in parts}


@cache
def _lines(path: str) -> tuple[str, ...]:
    """Return the lines without blank ones and comments; none if the file cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        text = ""
    lines = (line.strip() for line in text.split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#"))
