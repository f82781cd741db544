# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as people write them."""

from __future__ import annotations

import re
from typing import Any

_NUMERAL = re.compile(r"\s*[+-]?\d+(?:\.\d+)?\s*", re.ASCII)


def plain(value: Any) -> Any:
    """``value``. Raises ValueError for a text that Python reads as a number and not everybody does: ``1e1``, ``1_0``,
    ``inf``, digits of other scripts.
    """
    if isinstance(value, str) and not _NUMERAL.fullmatch(value):
        raise ValueError
    return value
