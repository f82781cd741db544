# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a misspelt word may have been meant for."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, words: Iterable[str]) -> str:
    """The one of ``words`` that ``word`` may have been meant for; empty where there is none."""
    return next(iter(difflib.get_close_matches(word, list(words), 1)), "")
