# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the engine list an answer has: totals, further pages, and copies of caches. No I/O.

The API documents no list, so names of members and headers that other APIs use are recognized. A sign of more wins over
every other one: an engine that is missing from a part of the list may be live. A member shows by its full name that a
list is whole; it raises a doubt also by a part of its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import read_date, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import GOOD_WORDS

Signs = list[tuple[str, Any]]

# Members outside the list that report its extent; keys as ``_bare`` returns them. None of them is documented.
# fmt: off
_TOTALS = frozenset({
    "total", "totalcount", "totalelements", "totalitems", "totalrecords", "totalrow", "totalrows", "totalsize",
    "totalhits", "totalresults", "totalnum", "totalentries", "recordstotal", "recordcount", "records", "odatacount",
    "countall", "recordsfiltered", "grandtotal", "overalltotal", "totalunfiltered", "totalengines", "enginestotal",
    "enginecount",
})
_COUNTS = frozenset({"count", "itemcount", "numresults", "numitems"})  # of all engines, or of those of one page
_PAGES = frozenset({"pages", "totalpages", "totalpage", "pagecount", "numpages", "lastpage"})
_LAST = frozenset({"last", "lastpage", "islast", "islastpage"})
_FIRST = frozenset({"first", "firstpage", "isfirst", "isfirstpage"})
_OFFSETS = {  # the largest value on a first page
    **dict.fromkeys(("offset", "skip", "startat", "number"), 0),
    **dict.fromkeys(("startindex", "currentpage", "pagenumber", "pageno", "pagenum", "pageindex", "page"), 1),
}
_SIZES = frozenset({"pagesize", "perpage", "limit", "size", "itemsperpage", "maxresults", "rowsperpage", "pagelimit"})
_DONE = (GOOD_WORDS - {"accepted", "started"}) | frozenset({
    "complete", "completed", "done", "finished", "final", "ready", "loaded", "fresh", "true", "active", "online", "up",
    "healthy", "normal", "available", "完成", "已完成", "正常",
})
# fmt: on
_NESTED = re.compile(
    r"pag(e|er|es|ing|einfo|eable|inat\w*)|\w*meta(data)?|links|cursors?|(response)?header|result|response|status"
    r"|extensions|sync|job|task"
)
_MORE = re.compile(
    r"(odata|has)?next|(has|is)?more|(is|was|results?)*truncated|continu|(is)?partial|(is)?incomplete|remaining"
    r"|(is|results?)*(limited|capped)|(is)?overflow|(max|limit|size|rows)\w*(reached|exceeded)"
)
_MORE_OR_END = re.compile(
    r"(odata|has)?next(page|results?|records)?(token|cursor|link|url|uri|href|marker|offset|start|key)?"
    r"|(has|is)?more(results|items|pages|records|data|available)?|(is|was|results?)*truncated|continue|continuation(token)?"
)
_BEFORE = re.compile(r"(odata|has)?prev(ious)?(page)?(token|cursor|link|url|uri|href|marker|offset)?")
_ABOUT = r"(?:is|are|was|were|has|have|still|from|in|list|data|items?|results?|response|search|all)*"
_DOUBT = re.compile(
    _ABOUT
    + r"(?:(?:load|pend|process|initiali[sz]|refresh|sync|index|rebuild|updat|collect|scann)ing|(?<=in)progress|busy"
    r"|filtered\w*|partial\w*|sampled|degraded|timedout|omitted|unavailable|unreachable|deferred"
    r"|errors?|err|exception|warnings?|filters?|cached(?:at|on)?|(?<=from)cache|stale|outdated)"
)
_CERTAIN = re.compile(
    _ABOUT + r"(?:complete|completed|ready|finished|done|loaded|final|whole|exhaustive\w*|fresh|exact|synced|uptodate"
    r"|consistent|ok|success|succeed|succeeded|successful)"
)
_HEADER_DOUBT = re.compile(r"filtered|truncated|partial|incomplete")
_STATE = re.compile(_ABOUT + r"(?:sync|load|job|task|query|cache)?(?:state|status|phase|stage)|code|statuscode|result")
# A participle such as "loading"; "running" may be the state of the service.
_BUSY = re.compile(
    r"\w(?<!runn)ing\b|progress|queue|waiting|partial|accepted|started|scheduled|truncated|incomplete|stale|cached"
    r"|time.?d?.?out|degraded|中$"
)
_LARGEST = 2.0**53  # an integer of JSON may be too large for a float
_PAGE_OF_LINK = re.compile(r"[?&]page(?:\[number\]|%5bnumber%5d|_?no|_?num|_?number)?=(\d{1,9})(?!\d)")
# A parameter of a path that selects engines. Its value "all" selects none.
_FILTER = re.compile(
    r"(?:status|state|filter\w*|search|q|query|keywords?|name|ip|group\w*|online|enabled|active|running)$"
)
_FRESH = 10.0  # seconds; so old may the list be that a run shares
_YEAR = 365 * 86400
_FIX_PART = "Set page_parameter in slb_engine_list, or a larger page size in its path."
_FIX_DOUBT = "Open its path in a browser. Correct slb_engine_list, or run again later."


class Gap(NamedTuple):
    """Why an engine that the list does not have may exist; empty if the list is whole and fresh.

    ``part``: it reports that there is more. ``stale``: it is the copy of a cache. ``unproven``: no sign of its size.
    """

    kind: Literal["", "part", "stale", "unproven"] = ""
    cause: str = ""
    fix: str = ""


NO_GAP = Gap()
_KINDS = ("", "unproven", "part", "stale")


def find_signs(document: Any, items: str, headers: Mapping[str, str]) -> Signs:
    """Return key and value of the members outside the list, of the objects about pages there, and of such headers."""
    signs = list(_in_headers(headers))
    levels = [document]
    for key in items.split(".") if items else ("",):
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


def find_stale(headers: Mapping[str, str], age: float = 0.0) -> Gap:
    """Return whether the answer is the copy of a cache, in which an engine that started meanwhile is missing.

    ``age``: as in Answer. Last-Modified is no witness: a list that did not change is old and right.
    """
    cause = f"the answer is {age:.0f} s old by its Date" if age > _FRESH else ""
    # Many caches write a Date of their own, but keep the date until which the answer was made to be kept.
    date, expires = read_date(headers.get("Date", "")), read_date(headers.get("Expires", ""))
    control = headers.get("Cache-Control", "")[:1024]
    lifetime = re.search(r"\bmax-age\s{0,5}=\s{0,5}\"?(\d{1,9})", control, re.IGNORECASE)
    if date is not None and expires is not None and lifetime and int(lifetime[1]):
        kept = date - (expires - int(lifetime[1]))
        cause = f"the answer is {kept:.0f} s old by Expires" if _FRESH < kept < _YEAR else cause
    shown = headers.get("Age", "").strip()
    if re.fullmatch(r"[\d., ]+", shown) and shown.strip("0., "):
        cause = f"the answer is {show(shown, 20)} s old"
    if re.match(r"\s*11[0-9]\b", headers.get("Warning", "")):
        cause = f"a proxy warns: {show(headers['Warning'], 60)}"
    for name, value in headers.items():
        key, text, is_copy = _bare(name), value[:1024], False
        if ("cache" in key and "control" not in key) or (key == "servertiming" and "cache" in text.lower()):
            is_copy = bool(
                re.search(r"(?<![a-z])(hit|stale|updating)(?![a-z])", text, re.IGNORECASE)
                or (key.endswith("hits") and re.search("[1-9]", text))
                or (re.search("cached$|(from|in)cache$", key) and _is_true(text))
            )
        elif key == "xvarnish":  # with the number of the request that filled the cache
            is_copy = bool(re.fullmatch(r"\s*\d+\s+\d+\s*", text))
        cause = f"the answer is a copy ({show(name, 30)}: {show(value, 40)})" if is_copy else cause
    fix = "Exclude this path from the cache of the proxy, or set the clocks of the management node right."
    return Gap("stale", cause, fix) if cause else NO_GAP


def find_doubt(signs: Signs, status: int, *, is_first: bool = True, has_total: bool = False) -> Gap:
    """Return what an answer reports against itself, whatever its size: it is not ready, filtered, or an error.

    ``is_first``: whether the list has to begin with it. ``has_total``: whether the operator names its total.
    """
    has_total = has_total or any(key in _TOTALS and read_count(value) > 0 for key, value in signs)
    is_whole = status == 200 or (status == 206 and has_total)
    doubts = [] if is_whole else [Gap("part", f"it came with HTTP {status}", _FIX_DOUBT)]
    for key, value in signs:
        word = _word(value)
        kind: Literal["", "part", "stale", "unproven"] = ""
        if _STATE.fullmatch(key):
            is_plain = word in _DONE or re.fullmatch(r"[-\d.]*", word)
            kind = "part" if _BUSY.search(word) or word in ("202", "206") else "" if is_plain else "unproven"
        elif _DOUBT.fullmatch(key) and _is_true(value) and not _is_number(value):  # a number may count engines
            is_old = re.search("cache|stale|outdated", key)
            kind = "unproven" if re.search("warn|filters?$", key) else "stale" if is_old else "part"
        elif (_CERTAIN.fullmatch(key) and word in ("false", "no")) or (is_first and _is_behind_first(key, value)):
            kind = "part"
        if kind:
            doubts.append(Gap(kind, f"it reports {show(key, 30)}={_shown(value)}", _FIX_DOUBT))
    return first_gap(doubts)


def find_filter(path: str) -> Gap:
    """Return whether a parameter of the configured path selects engines: the total is that of the selected ones."""
    for name, value in parse_qsl(path.partition("?")[2]):
        if _FILTER.match(_bare(name)) and value.lower() not in ("all", "*", "-1"):
            return Gap("unproven", f"its path has the filter {show(name, 30)}", "Remove it, or set complete: true.")
    return NO_GAP


def _is_behind_first(key: str, value: Any) -> bool:
    return (
        (bool(_BEFORE.fullmatch(key)) and _is_true(value))
        or (key in _FIRST and _word(value) == "false")
        or (key in _OFFSETS and read_count(value) > _OFFSETS[key])
    )


def find_gap(signs: Signs, rows: int, path: str, *, total: float | None = None, complete: bool | None = None) -> Gap:
    """Return why one answer with ``rows`` engines may not be the whole list.

    Args:
        signs: From ``find_signs``.
        rows: Number of engines in the answer.
        path: Of the request: its query may contain the page size.
        total: The value of the configured key; it outranks all other signs.
        complete: What the operator states.
    """
    if total is not None and total == rows and complete is not False:
        return NO_GAP
    if total is not None:
        return Gap("part" if total > rows else "unproven", f"it has {rows} engines of {total:.15g}", _FIX_PART)
    totals = {read_count(value) for key, value in signs if key in _TOTALS} - {0.0}
    more = find_more(signs, rows, 1)
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
    # A count that is also a usual page size may be that of one page.
    is_size = rows >= 8 and (rows % 10 == 0 or rows % 25 == 0 or rows & (rows - 1) == 0)
    is_end = any(
        rows == read_count(value) > 0 and not is_size if key in _COUNTS else is_last(key, value) for key, value in signs
    )
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


def reports_end(signs: Signs, length: int) -> bool:
    """Return whether a page of ``length`` engines reports which page is the last, if none of its signs reports more."""
    return any(
        (key in _TOTALS | _PAGES and read_count(value) > 0)
        or (key in _COUNTS and read_count(value) > length)
        or is_last(key, value)
        for key, value in signs
    )


def find_more(signs: Signs, read: int, pages: int) -> str:
    """Return which sign reports more than ``read`` engines on ``pages`` pages, in words; empty if none does."""
    more = next((sign for sign in signs if reports_more(*sign, read, pages)), None)
    return f"{show(more[0], 30)}={_shown(more[1])}" if more else ""


def reports_more(key: str, value: Any, read: int, pages: int) -> bool:
    """Return whether a sign reports more than ``read`` engines on ``pages`` pages."""
    return (
        (key in _TOTALS | _COUNTS and read_count(value) > read)
        or (key in _PAGES and read_count(value) > pages)
        or (bool(_MORE.match(key)) and _is_true(value))
        or (key in _LAST and _word(value) == "false")
        or (key in _LAST and any(int(page) > pages for page in _PAGE_OF_LINK.findall(_word(value)[:2048])))
    )


def is_last(key: str, value: Any) -> bool:
    """Return whether a sign reports that no further page follows."""
    return (bool(_MORE_OR_END.fullmatch(key)) and not _is_true(value)) or (key in _LAST and _word(value) == "true")


def _in_object(value: Mapping[str, Any], depth: int = 2) -> Iterator[tuple[str, Any]]:
    for key, member in value.items():
        is_nested = _bare(key) in _TOTALS and isinstance(member, dict)  # as Elasticsearch reports it
        yield _bare(key), member.get("value") if is_nested else member
        if is_nested and member.get("relation", "eq") != "eq":  # a lower bound
            yield "more", member["relation"]
        if depth and isinstance(member, dict) and _NESTED.fullmatch(_bare(key)):
            yield from _in_object(member, depth - 1)


def _in_headers(headers: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, value in headers.items():
        key = _bare(name).removeprefix("x").removeprefix("wp").removeprefix("pagination")
        if key in _TOTALS | _PAGES or re.match(r"(next|prev)(page|cursor|token|link|range)|hasmore", key):
            yield key, value
        elif _HEADER_DOUBT.search(key):
            yield "filtered", value
        elif _bare(name) == "xpagination":
            try:
                page = json.loads(value[:4096])
            except (ValueError, RecursionError):
                continue
            yield from _in_object(page) if isinstance(page, dict) else ()
    ranged = re.fullmatch(r"\s*[\w-]*\s*(?:\d{1,15}-\d{1,15}|\*)/(\d{1,15})\s*", headers.get("Content-Range", "")[:200])
    if ranged:
        yield "total", ranged[1]
    links = headers.get("Link", "")[:8192]
    for key in ("next", "prev"):
        if re.search(rf"rel\s{{0,5}}=\s{{0,5}}[\"']?[^\"',;]{{0,100}}\b{key}", links, re.IGNORECASE):
            yield key, "Link"


def _bare(key: str) -> str:
    """Return a key in lower case, without anything but letters and digits."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _is_true(value: Any) -> bool:
    if isinstance(value, dict):  # a link
        return any(map(_is_true, value.values()))
    return bool(value) and _word(value) not in ("false", "0", "null", "none", "no", "ok", "success")


def _word(value: Any) -> str:
    """Return a scalar in lower case; the text of a deep list could exceed Python's recursion limit."""
    return str(value).strip().lower() if isinstance(value, (str, int, float)) else ""


def _shown(value: Any) -> str:
    return show(str(value), 30) if isinstance(value, (str, int, float)) else "..."


def read_count(value: Any) -> float:
    """Return a number, also one in a text; 0 for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
        return float(value) if len(value) <= 20 else _LARGEST
    return max(-_LARGEST, min(value, _LARGEST)) if _is_number(value) else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def first_gap(gaps: Iterable[Gap]) -> Gap:
    """Return the first of the gravest ``gaps``."""
    return max(gaps, key=lambda gap: _KINDS.index(gap.kind), default=NO_GAP)
