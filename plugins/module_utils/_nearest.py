# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the known word that is nearest to an unknown one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the one of ``words`` that is nearest to ``word``; empty if there is none."""
    return next(iter(difflib.get_close_matches(word, list(words), 1)), "")
