# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limit for the whole fleet means for one run of several that share it out, and when it is exceeded. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_FORM = re.compile(r"\s*(\d{1,6}|\?)\s*/\s*(\d{1,6})\s*", re.ASCII)


@dataclass(frozen=True)
class Slice:
    """``number`` of ``count``, from 1; None where only the count is known."""

    number: int | None = 1
    count: int = 1

    @classmethod
    def read(cls, value: Any) -> Slice:
        """From a text such as ``2/5`` or ``?/5``. Raises ValueError with what it has to be."""
        match = _FORM.fullmatch(str(value))
        count = int(match[2]) if match else 0
        number = None if not match or match[1] == "?" else int(match[1])
        if count < 1 or (number is not None and not 1 <= number <= count):
            raise ValueError("a slice such as 2/5, or ?/5 where only their number is known")
        return cls(number, count)

    def share(self, limit: int | str) -> int | str:
        """Of so many hosts of the whole fleet; the shares of all slices together are never more. A percentage is of the
        slice's own hosts, and stays.
        """
        if isinstance(limit, str):
            return limit
        whole, rest = divmod(limit, self.count)
        return whole + (self.number is not None and self.number <= rest)

    def at_once(self, most: int) -> int:
        """Of so many at the same time, at least one; 0 is no limit."""
        return max(1, most // self.count) if most else 0


def is_exceeded(limit: int | str, failed: int, hosts: int) -> bool:
    """``limit``: a number of hosts, or a percentage of the run's."""
    if isinstance(limit, str):
        return 100 * failed > float(limit.rstrip("%")) * hosts
    return failed > limit
