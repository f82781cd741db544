# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the engine list an answer has: totals, further pages, and copies of caches. No I/O.

The API documents no list, so names of members and headers that other APIs use are recognized. A sign of more wins over
every other one: an engine that is missing from a part of the list may be live.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import show

Signs = list[tuple[str, Any]]

# Members outside the list that report its extent; keys as ``_bare`` returns them. None of them is documented.
# fmt: off
_TOTALS = frozenset({
    "total", "totalcount", "totalelements", "totalitems", "totalrecords", "totalrow", "totalrows", "totalsize",
    "totalhits", "totalresults", "totalnum", "totalentries", "recordstotal", "recordcount", "records", "odatacount",
    "countall",
})
_COUNTS = frozenset({"count", "itemcount", "numresults", "numitems"})  # of all engines, or of those of one page
_PAGES = frozenset({"pages", "totalpages", "totalpage", "pagecount", "numpages", "lastpage"})
_LAST = frozenset({"last", "lastpage", "islast", "islastpage"})
_SIZES = frozenset({"pagesize", "perpage", "limit", "size", "itemsperpage", "maxresults", "rowsperpage", "pagelimit"})
_PAGINATION = frozenset({"pagination", "page", "pageinfo", "pager", "paging", "meta", "metadata", "links"})
# fmt: on
_MORE = re.compile(
    r"(odata|has)?next|(has|is)?more|(is|was|results?)*truncated|continu|(is)?partial|(is)?incomplete|remaining"
)
_OF_CACHES = ("X-Cache", "X-Cache-Status", "X-Proxy-Cache", "CF-Cache-Status", "Cache-Status")
_LARGEST = 2.0**53  # an integer of JSON may be too large for a float
_FIX_PART = "Set page_parameter in slb_engine_list, or a larger page size in its path."


class Gap(NamedTuple):
    """Why an engine that the list does not have may exist; empty if the list is whole and fresh.

    ``part``: it reports that there is more. ``stale``: it is the copy of a cache. ``unproven``: no sign of its size.
    """

    kind: Literal["", "part", "stale", "unproven"] = ""
    cause: str = ""
    fix: str = ""


NO_GAP = Gap()


def find_signs(document: Any, items: str, headers: Mapping[str, str]) -> Signs:
    """Return key and value of the members outside the list, of the objects about pages there, and of such headers."""
    signs = list(_in_headers(headers))
    levels = [document]
    for key in [*(items.split(".") if items else []), ""]:
        below: list[Any] = []
        for level in levels:
            if key == "*":  # its members are engines, or groups of them
                below += level.values() if isinstance(level, dict) else level if isinstance(level, list) else []
            elif isinstance(level, dict):
                signs += _in_object(level)
                below.append(level.get(key))
            elif isinstance(level, list):
                below += level[int(key) : int(key) + 1] if re.fullmatch(r"\d{1,6}", key) else []
        levels = below
    return signs


def find_stale(headers: Mapping[str, str]) -> Gap:
    """Return whether the answer is the copy of a cache, in which an engine that started meanwhile is missing."""
    age = headers.get("Age", "").strip()
    cause = f"the answer is {show(age, 20)} s old" if re.fullmatch(r"[\d.]+", age) and age.strip("0.") else ""
    if re.search("[1-9]", headers.get("X-Cache-Hits", "")):
        cause = "the answer is a copy (X-Cache-Hits)"
    if re.match(r"\s*11[0-9]\b", headers.get("Warning", "")):
        cause = f"a proxy warns: {show(headers['Warning'], 60)}"
    for name in _OF_CACHES:
        if re.search(r"(?<![a-z])(hit|stale|updating)(?![a-z])", headers.get(name, "")[:1024], re.IGNORECASE):
            cause = f"the answer is a copy ({name}: {show(headers[name], 40)})"
    return Gap("stale", cause, "Exclude this path from the cache of the proxy.") if cause else NO_GAP


def find_gap(
    signs: Signs, rows: int, path: str, *, total: float | None = None, complete: bool | None = None, status: int = 200
) -> Gap:
    """Return why one answer with ``rows`` engines may not be the whole list.

    Args:
        signs: From ``find_signs``.
        rows: Number of engines in the answer.
        path: Of the request: its query may contain the page size.
        total: The value of the configured key; it outranks all other signs.
        complete: What the operator states.
        status: Of HTTP.
    """
    if total is not None and total == rows and complete is not False:
        return NO_GAP
    if total is not None:
        return Gap("part" if total > rows else "unproven", f"it has {rows} engines of {total:.15g}", _FIX_PART)
    totals = {read_count(value) for key, value in signs if key in _TOTALS} - {0.0}
    more = find_more(signs, rows, 1, 200 if totals == {rows} else status)
    if more:
        return Gap("part", f"it has {rows} engines and reports {more}", _FIX_PART)
    if totals == {rows} and complete is not False:
        return NO_GAP
    sizes = [value for _key, value in parse_qsl(path.partition("?")[2])] + [v for k, v in signs if k in _SIZES]
    if rows and rows in map(read_count, sizes):
        return Gap("part", f"it has {rows} engines, as many as its page size", "Raise the page size, or set total.")
    if totals:
        shown = " and ".join(f"{each:.15g}" for each in sorted(totals))
        return Gap("unproven", f"it has {rows} engines and reports {shown}", "Set total in slb_engine_list.")
    is_end = any(rows == read_count(value) > 0 if key in _COUNTS else is_last(key, value) for key, value in signs)
    if complete or (is_end and complete is None):
        return NO_GAP
    return Gap(
        "unproven",
        "it reports no total" if complete is None else "complete is false in slb_engine_list",
        "Set total or page_parameter in slb_engine_list, or complete: true if one answer has all engines.",
    )


def find_total(signs: Signs, length: int) -> float | None:
    """Return the number of all engines that a page of ``length`` engines reports; None if it reports none."""
    totals = [read_count(value) for key, value in signs if key in _TOTALS]
    counts = [read_count(value) for key, value in signs if key in _COUNTS]
    return max([each for each in totals if each] + [each for each in counts if each not in (0, length)], default=None)


def are_all(signs: Signs, read: int, pages: int, length: int) -> bool:
    """Return whether a member reports that ``read`` engines on ``pages`` pages are all; False if none reports it."""
    if any(reports_more(key, value, read, pages) for key, value in signs):
        return False
    return any(
        (key in _TOTALS | _PAGES and read_count(value) > 0)
        or (key in _COUNTS and read_count(value) > length)
        or is_last(key, value)
        for key, value in signs
    )


def find_more(signs: Signs, read: int, pages: int, status: int) -> str:
    """Return which sign reports more than ``read`` engines on ``pages`` pages, in words; empty if none does."""
    more = next((sign for sign in signs if reports_more(*sign, read, pages)), None)
    if not more and status == 206:
        more = ("HTTP status", 206)
    return f"{show(more[0], 30)}={_shown(more[1])}" if more else ""


def reports_more(key: str, value: Any, read: int, pages: int) -> bool:
    """Return whether a sign reports more than ``read`` engines on ``pages`` pages."""
    return (
        (key in _TOTALS | _COUNTS and read_count(value) > read)
        or (key in _PAGES and read_count(value) > pages)
        or (bool(_MORE.match(key)) and _is_true(value))
        or (key in _LAST and _word(value) == "false")
    )


def is_last(key: str, value: Any) -> bool:
    """Return whether a sign reports that no further page follows."""
    return (bool(_MORE.match(key)) and not _is_true(value)) or (key in _LAST and _word(value) == "true")


def _in_object(value: Mapping[str, Any], depth: int = 2) -> Iterator[tuple[str, Any]]:
    for key, member in value.items():
        is_nested = _bare(key) in _TOTALS and isinstance(member, dict)  # as Elasticsearch reports it
        yield _bare(key), member.get("value") if is_nested else member
        if depth and isinstance(member, dict) and _bare(key) in _PAGINATION:
            yield from _in_object(member, depth - 1)


def _in_headers(headers: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, value in headers.items():
        key = _bare(name).removeprefix("x").removeprefix("wp").removeprefix("pagination")
        if key in _TOTALS | _PAGES or re.match(r"next(page|cursor|token|link)|hasmore", key):
            yield key, value
        elif _bare(name) == "xpagination":
            try:
                page = json.loads(value[:4096])
            except (ValueError, RecursionError):
                continue
            yield from _in_object(page) if isinstance(page, dict) else ()
    ranged = re.fullmatch(r"\s*[\w-]*\s*(?:\d{1,15}-\d{1,15}|\*)/(\d{1,15})\s*", headers.get("Content-Range", "")[:200])
    if ranged:
        yield "total", ranged[1]
    if re.search(r"rel\s{0,5}=\s{0,5}[\"']?[^\"',;]{0,100}\bnext\b", headers.get("Link", "")[:8192], re.IGNORECASE):
        yield "next", "Link"


def _bare(key: str) -> str:
    """Return a key in lower case, without anything but letters and digits."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _is_true(value: Any) -> bool:
    if isinstance(value, dict):  # a link
        return any(map(_is_true, value.values()))
    return bool(value) and _word(value) not in ("false", "0", "null", "none", "no")


def _word(value: Any) -> str:
    """Return a scalar in lower case; the text of a deep list could exceed Python's recursion limit."""
    return str(value).strip().lower() if isinstance(value, (str, int, float)) else ""


def _shown(value: Any) -> str:
    return show(str(value), 30) if isinstance(value, (str, int, float)) else "..."


def read_count(value: Any) -> float:
    """Return a number, also one in a text; 0 for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
        return float(value) if len(value) <= 20 else _LARGEST
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return max(-_LARGEST, min(value, _LARGEST)) if is_number else 0


def first_gap(gaps: Iterable[Gap]) -> Gap:
    """Return the first of ``gaps`` that is one."""
    return next((gap for gap in gaps if gap.kind), NO_GAP)
