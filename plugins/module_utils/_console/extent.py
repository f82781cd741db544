# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer says of how much there is beyond the items in it. Pure.

Consoles say it beside the list, under many names; none of them is documented.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

_LONGEST_NUMBER = 20  # characters
_DIGITS = re.compile(r"\s*[0-9]+\s*")
# Names without case, "_" and "-".
_TOTALS = (
    *("total", "totalcount", "totalelements", "totalitems", "totalrecords", "totalrows", "totalsize"),
    "recordstotal",
)
# To some consoles these are all that there are, to others those of this page.
_COUNTS = ("count", "itemcount", "numresults", "numitems")
_PAGES = ("pages", "totalpages", "totalpage", "pagecount", "numpages", "lastpage")
_MORE = (
    *("next", "nextpage", "nextlink", "nextcursor", "nexttoken", "nextpagetoken"),
    *("hasmore", "hasnext", "hasnextpage"),
)
_LAST = ("last", "lastpage", "islast", "islastpage")
_PAGINATION = ("pagination", "page", "pageinfo", "pager", "paging", "meta", "metadata", "links")


class Extent:
    """``answer``: parsed JSON; ``items``: the keys that lead to the list in it; ``length``: how many items that has."""

    def __init__(self, answer: Any, items: str, length: int) -> None:
        self._length = length
        self._said = [pair for beside in _beside(answer, items) for pair in beside.items()]

    def more(self, read: int, pages: int) -> tuple[str, Any] | None:
        """What says that there is more than the ``read`` items of ``pages`` pages; None where nothing does."""
        return next((pair for pair in self._said if _says_more(_plain(pair[0]), pair[1], read, pages)), None)

    def is_all(self, read: int, pages: int) -> bool:
        """Whether something says that these are all; not where nothing says either."""
        return self.more(read, pages) is None and any(
            _says_all(_plain(key), value, self._length) for key, value in self._said
        )

    @property
    def total(self) -> float | None:
        """How many there are on all pages; None where nothing says so."""
        totals = [_number(value) for key, value in self._said if _plain(key) in _TOTALS]
        counts = [_number(value) for key, value in self._said if _plain(key) in _COUNTS]
        known = [number for number in totals if number] + [
            number for number in counts if number and number != self._length
        ]
        return max(known, default=None)


def _beside(answer: Any, items: str) -> Iterator[dict[str, Any]]:
    """The objects on the way to the list and those in them about pages: there consoles say how much there is."""
    for key in [*(items.split(".") if items else []), ""]:
        if isinstance(answer, dict):
            yield answer
            yield from (
                value for name, value in answer.items() if isinstance(value, dict) and _plain(name) in _PAGINATION
            )
            answer = answer.get(key)


def _says_more(key: str, value: Any, read: int, pages: int) -> bool:
    return (
        (key in _TOTALS + _COUNTS and _number(value) > read)
        or (key in _PAGES and _number(value) > pages)
        or (key in _MORE and _is_true(value))
        or (key in _LAST and str(value).lower() == "false")
    )


def _says_all(key: str, value: Any, length: int) -> bool:
    """Of something that does not say that there is more."""
    return (
        (key in _TOTALS + _PAGES and _number(value) > 0)
        or (key in _COUNTS and _number(value) > length)
        or (key in _MORE and not _is_true(value))
        or (key in _LAST and str(value).lower() == "true")
    )


def _is_true(value: Any) -> bool:
    return bool(value) and str(value).lower() not in ("false", "0")


def _number(value: Any) -> float:
    """A number, also one in a string; 0 for anything else."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return float(value) if len(value) <= _LONGEST_NUMBER else math.inf
    return value if isinstance(value, (int, float)) else 0


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")
