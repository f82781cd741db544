# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the engine list an answer has: totals, further pages, and copies of caches. No I/O.

The API documents no list. A key is about the list if all of its words are words of lists: then it states how many
engines there are, that there are more, or that the list ends. A key with other words, such as alarm_count, is only a
doubt. A sign of more wins over every other one: an engine that is missing from a part of the list may be live.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import mask_query, read_date, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import (
    BAD_WORDS,
    GOOD_WORDS,
    is_found,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.query import find_sizes

# The words of a key that is about the list, by what they state; any other word is about something else.
# fmt: off
_KINDS_OF_WORDS = {
    "total": "total totals 总",
    "all": "all found odata record engine",  # a count of these is no count of one page
    "all count": "matches records engines",
    "count": "count counts num nb sum amount hits rows results matched entities entries items elements members objects",
    "more": "more truncated partial incomplete remaining limited capped overflow exceeded reached omitted",
    "next": "next continue continuation cursor marker",
    "before": "prev previous",
    "last": "last end",
    "place": "first start current offset index begin self",
    "size": "size limit per max",
    "page": "page",
    "pages": "pages",
    "": "is has have are was were still in of the by not no i n x wp hydra list data response search query result row"
        " item element entry entity hit object member match slb number grand overall display available pager paging"
        " pagination range transfer token link links url uri href key 数 量 条 页 记录 引擎",
}
_OFFSETS = {  # the largest value on a first page
    **dict.fromkeys(("offset", "skip", "startat", "number"), 0),
    **dict.fromkeys(("startindex", "currentpage", "pagenumber", "pageno", "pagenum", "pageindex", "page"), 1),
}
_ABOUT = frozenset({
    "is", "are", "was", "were", "has", "have", "still", "in", "list", "data", "item", "items", "result", "results",
    "response", "search", "query", "all", "by", "no", "nb", "hits",
})
_DONE = (GOOD_WORDS - {"accepted", "started"}) | frozenset({
    "complete", "completed", "done", "finished", "final", "ready", "loaded", "fresh", "true", "active", "online", "up",
    "healthy", "normal", "available", "running", "完成", "已完成", "正常",
})
# fmt: on
_WORDS = {word: kinds.split() for kinds, words in _KINDS_OF_WORDS.items() for word in words.split()}
_WORD = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_NESTED = re.compile(
    r"pag(e|er|es|ing|einfo|eable|inat\w*)|\w*meta(data)?|links|hydraview|cursors?|(response)?head(er)?|result|response"
    r"|status|extensions|sync|job|task"
)
# A key about the state of the list has one of these, and no words but the ones above.
_STATE = r"(?:sync|load|job|task|cache|http)?(?:state|status|phase|stage)"
_CODE = r"(?:ret(?:urn)?|rtn|resp|err(?:or)?|http|status)*code|errno|ret|rc|error|err|exception"
_DOUBT = (
    r"(?:load|pend|process|initiali[sz]|refresh|sync|index|rebuild|updat|collect|scann)ing|progress|busy|filtered\w*"
    r"|sampled|degraded|timedout|unavailable|unreachable|deferred|errors?|err|exception|fail(?:ed|ures?)?\w*"
    r"|warnings?|filters?|cached(?:at|on)?|fromcache|stale|outdated"
)
_CERTAIN = (
    r"complete|completed|ready|finished|done|loaded|final|whole|exhaustive\w*|fresh|exact|synced|uptodate"
    r"|consistent|ok|success|succeed|succeeded|successful"
)
_HEADER_DOUBT = re.compile(r"filtered|truncated|partial|incomplete")
# A participle such as "loading"; "running" may be the state of the service.
_BUSY = re.compile(
    r"\w(?<!runn)ing\b|progress|queue|waiting|partial|accepted|started|scheduled|truncated|incomplete|stale|cached"
    r"|time.?d?.?out|degraded|中$"
)
_SOFT = re.compile(r"[a-z]?0+|1|2\d\d|6\d\d|(?!400|500)[1-9]0{2,}")  # codes that some management nodes use for success
_LARGEST = 2.0**53  # an integer of JSON may be too large for a float
_PAGE_OF_LINK = re.compile(r"[?&]page(?:\[number\]|%5bnumber%5d|_?no|_?num|_?number)?=(\d{1,9})(?!\d)")
_FRESH = 10.0  # seconds; so old may the list be that a run shares
_YEAR = 365 * 86400
_FIX_MORE = "Set page_parameter in slb_engine_list, or a larger page size in its path."
_FIX_COUNT = f"{_FIX_MORE} If the number counts something else, set total to the key of the right one."
_FIX_TOTAL = "Set total in slb_engine_list to the key of the number of all engines"
_FIX_DOUBT = "Open its path in a browser. Correct slb_engine_list, or run again later."


class Sign(NamedTuple):
    """A member outside the list. ``words``: those of its key about lists. ``rest``: the other ones, joined.

    ``counts``: what its number is: of all engines, perhaps of one page only, or of other things. ``word``: a scalar in
    lower case.
    """

    key: str
    value: Any
    word: str
    number: float
    words: frozenset[str]
    kinds: frozenset[str]
    rest: str
    counts: str  # total, count, other, pages, size, or some: of one group

    @classmethod
    def of(cls, key: str, value: Any) -> Sign:
        # The text of a deep list could exceed Python's recursion limit.
        word = str(value).strip().lower() if isinstance(value, (str, int, float)) else ""
        return cls(key, value, word, read_count(value), *_read_key(key[:100]))

    def __str__(self) -> str:
        shown = show(mask_query(str(self.value)[:500]), 30) if self.word else "..."
        return f"{show(self.key, 30)}={shown}"


Signs = list[Sign]


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
        objects = [list(_in_object(level)) for level in levels if isinstance(level, dict)] if key != "*" else []
        signs += _add_up(objects) if len(objects) > 1 else (sign for each in objects for sign in each)
        for level in levels:
            if key == "*":  # its members are engines, or groups of them
                below += level.values() if isinstance(level, dict) else level if isinstance(level, list) else []
            elif isinstance(level, dict):
                below.append(level.get(key))
            elif isinstance(level, list):
                below += level[int(key) : int(key) + 1] if re.fullmatch(r"\d{1,6}", key) else []
        levels = below
    return signs


def _add_up(groups: list[Signs]) -> Signs:
    """Return the signs of all groups of engines. Only if each has a total, they have it together."""
    sums, others = defaultdict[str, list[float]](list), list[Sign]()
    for sign in (sign for group in groups for sign in group):
        is_total = sign.counts in ("total", "count") and sign.number
        sums[sign.key] += [sign.number] if is_total else []
        others.append(sign._replace(counts="some") if is_total else sign)
    return [*(Sign.of(key, sum(each)) for key, each in sums.items() if len(each) == len(groups)), *others]


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


def find_doubt(signs: Signs, status: int, headers: Mapping[str, str], *, is_first: bool = True) -> Gap:
    """Return what an answer reports against itself, whatever its size: it is not ready, filtered, or an error.

    ``is_first``: whether the list has to begin with it.
    """
    ranged = _find_range(headers) if status == 206 else None
    is_all = status == 200 or (ranged and ranged[1] == "0" and int(ranged[2]) + 1 == int(ranged[3]))
    doubts = [] if is_all else [Gap("part", f"it came with HTTP {status}", _FIX_DOUBT)]
    success = (*GOOD_WORDS, "true")
    has_success = any(each.word in success for each in signs if re.fullmatch(f"{_STATE}|{_CERTAIN}", each.rest))
    for sign in signs:
        kind = "part" if is_first and _is_behind_first(sign) else _doubt(sign, has_success=has_success)
        if kind:
            fix = _FIX_DOUBT if kind != "unproven" else "Correct its path. If it is the whole list, set complete: true."
            doubts.append(Gap(kind, f"it reports {sign}", fix))
    return first_gap(doubts)


def _doubt(sign: Sign, *, has_success: bool) -> Literal["", "part", "stale", "unproven"]:
    if not sign.words <= _ABOUT:
        return ""
    word, rest, is_number = sign.word, sign.rest, re.fullmatch(r"-?\d{1,18}(?:\.0)?", sign.word)
    is_code, is_doubt = re.fullmatch(_CODE, rest), re.fullmatch(_DOUBT, rest)
    is_state = re.fullmatch(_STATE, rest) or (not rest and sign.words == {"result"})
    if is_number and (is_state or is_code):
        number = int(float(word))
        if number < 0 or 400 <= number < 600 or number in (202, 206):
            return "part"
        return "" if is_state or has_success or _SOFT.fullmatch(str(number)) else "unproven"
    if is_state or (is_code and not is_doubt):
        if _BUSY.search(word) or word in (*BAD_WORDS, "false"):
            return "part"
        return "" if not word or word in _DONE or _SOFT.fullmatch(word) or is_found("success", word) else "unproven"
    if is_doubt and _is_true(sign.value) and not is_number:  # a number may count engines
        is_old = re.search("cache|stale|outdated", rest)
        return "unproven" if re.search("warn|filters?$", rest) else "stale" if is_old else "part"
    return "part" if re.fullmatch(_CERTAIN, rest) and word in ("false", "no") else ""


def _is_behind_first(sign: Sign) -> bool:
    if sign.number > _OFFSETS.get(_bare(sign.key), _LARGEST):
        return True
    is_not_first = sign.word == "false" and "first" in sign.words and sign.words <= {"is", "first", "page"}
    return not sign.rest and (is_not_first or ("before" in sign.kinds and _is_true(sign.value)))


def find_gap(signs: Signs, rows: int, path: str, *, total: float | None = None, complete: bool | None = None) -> Gap:
    """Return why one answer with ``rows`` engines may not be the whole list.

    Args:
        signs: From ``find_signs``.
        rows: Number of engines in the answer.
        path: Of the request: its query may contain the page size.
        total: The value of the configured key; it outranks all other numbers.
        complete: What the operator states.
    """
    more = find_more(signs, rows, 1, has_total=total is not None)
    if more:
        return Gap("part", f"it has {rows} engines and reports {more}", _FIX_COUNT if more.number else _FIX_MORE)
    if total is not None and not total <= rows:
        return Gap("part" if total > rows else "unproven", f"it has {rows} engines of {total:.15g}", _FIX_MORE)
    if complete is False:
        return Gap("unproven", "complete is false in slb_engine_list", "Remove it, if one answer has all engines.")
    none = {0.0} if rows else set[float]()
    totals = {total} if total is not None else _numbers(signs, "total") - none
    if totals == {rows}:
        return NO_GAP
    sizes = find_sizes(path) | _numbers(signs, "size")
    if rows and rows in sizes:
        return Gap("part", f"it has {rows} engines, as many as its page size", "Raise the page size, or set total.")
    if totals:
        shown = " and ".join(f"{each:.15g}" for each in sorted(totals))
        return Gap("unproven", f"it has {rows} engines and reports {shown}", f"{_FIX_TOTAL}.")
    if complete:
        return NO_GAP
    doubt = next((sign for sign in signs if _read_extent(sign, rows, 1) == "doubt"), None)
    # A count that is also a usual page size may be that of one page, unless the page has room for more.
    is_size = rows >= 8 and (rows % 10 == 0 or rows % 25 == 0 or rows & (rows - 1) == 0)
    is_size = is_size and not min(sizes - {0.0}, default=0.0) > rows
    count = next((sign for sign in signs if sign.counts == "count" and sign.number == rows > 0), None)
    if not doubt and ((count and not is_size) or any(_read_extent(sign, rows, 1) == "end" for sign in signs)):
        return NO_GAP
    seen = doubt or count
    cause = f"it has {rows} engines, and reports {seen} and no total" if seen else "it reports no total"
    return Gap("unproven", cause, f"{_FIX_TOTAL}, page_parameter, or complete: true if one answer has all.")


def find_total(signs: Signs, length: int) -> float | None:
    """Return the number of all engines that a page of ``length`` engines reports; None if it reports none."""
    totals, counts = _numbers(signs, "total") - {0.0}, _numbers(signs, "count") - {0.0, length}
    return max(totals or counts, default=None)


def reports_end(signs: Signs, length: int) -> bool:
    """Return whether a page of ``length`` engines reports which page is the last, if none of its signs reports more."""
    least = {"total": 0, "pages": 0, "count": length}
    numbers = any(sign.number > least.get(sign.counts, _LARGEST) for sign in signs)
    return numbers or any(_read_extent(sign, length, 1) == "end" for sign in signs)


def find_more(signs: Signs, read: int, pages: int, *, has_total: bool) -> Sign | None:
    """Return the sign that reports more than ``read`` engines on ``pages`` pages.

    ``has_total``: whether the operator names the total, so that other numbers of engines and pages decide nothing.
    """
    used = (sign for sign in signs if not (has_total and sign.counts and sign.number))
    return next((sign for sign in used if _read_extent(sign, read, pages) == "more"), None)


def _read_extent(sign: Sign, read: int, pages: int) -> Literal["", "more", "doubt", "end"]:
    """Return whether a sign reports more than ``read`` engines on ``pages`` pages, may do so, or reports the end."""
    words, kinds, rest, count = sign.words, sign.kinds, sign.rest, sign.number
    if sign.counts not in ("", "size") and count > (pages if sign.counts == "pages" else read):
        return "doubt" if sign.counts == "other" else "more"
    if not rest and "last" in kinds and words <= {"is", "last", "end", "page", "link", "url", "href"}:
        link = str(sign.value.get("href")) if isinstance(sign.value, dict) else sign.word
        is_later = any(int(page) > pages for page in _PAGE_OF_LINK.findall(link[:2048]))
        return "more" if is_later or sign.word == "false" else "end" if sign.word == "true" else ""
    is_next = "next" in kinds and ("next" in words or not kinds & {"place", "last", "before"})
    if not (is_next or ("more" in kinds and "no" not in words)) or sign.counts == "other":
        return ""
    if not _is_true(sign.value):
        return "end" if words & {"next", "more", "truncated", "continue", "continuation"} and not rest else ""
    # On the last page, some report the number of this page.
    return "doubt" if rest or (is_next and 0 < count <= pages) else "more"


def _numbers(signs: Signs, counts: str) -> set[float]:
    return {sign.number for sign in signs if sign.counts == counts and (sign.number or sign.word == "0")}


@lru_cache(maxsize=4096)
def _read_key(key: str) -> tuple[frozenset[str], frozenset[str], str, str]:
    """Return ``words``, ``kinds``, ``rest`` and ``counts`` of a sign."""
    words, rest = set[str](), ""
    for word in map(str.lower, re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+", key)):
        pieces = _WORD.findall(word)
        words.update(pieces if "".join(pieces) == word else ())
        rest += "" if "".join(pieces) == word else word
    kinds = frozenset(kind for word in words for kind in _WORDS[word])
    is_total, is_place = "total" in kinds or "total" in rest, kinds & {"size", "last", "place", "before", "next"}
    counts = "size" if "size" in kinds and not rest and not words & {"engine", "engines"} else ""
    if kinds & {"page", "pages"}:
        is_number = "pages" in kinds or kinds & {"total", "count", "last"}
        counts = counts or ("pages" if is_number and not rest else "")
    elif is_total or (("all" in words or "count" in kinds) and not is_place):
        is_other = re.sub("(un)?filtered", "", rest) or words & {"limit", "max"}
        counts = "other" if is_other else "total" if is_total or "all" in kinds else "count"
    return frozenset(words), kinds, rest, counts


def _in_object(value: Mapping[str, Any], depth: int = 2) -> Iterator[Sign]:
    for key, member in value.items():
        sign = Sign.of(key, member)
        if isinstance(member, dict) and "total" in sign.words and "value" in member:  # as Elasticsearch reports it
            yield Sign.of(key, member["value"])
            if member.get("relation", "eq") != "eq":  # a lower bound
                yield Sign.of("more", member["relation"])
            continue
        yield sign
        if isinstance(member, dict) and _bare(key) == "shards" and member.get("failed"):
            yield Sign.of("failed", f"{member['failed']} shards")
        elif isinstance(member, dict) and depth and _NESTED.fullmatch(_bare(key)):
            yield from _in_object(member, depth - 1)
        elif isinstance(member, list) and "links" in sign.words:
            links = [each for each in member if isinstance(each, dict)]
            yield from (Sign.of(str(each.get("rel")), each.get("href")) for each in links)


def _in_headers(headers: Mapping[str, str]) -> Iterator[Sign]:
    for name, value in headers.items():
        sign = Sign.of(name, value)
        if _HEADER_DOUBT.search(_bare(name)):
            yield Sign.of("filtered", value)
        elif _bare(name) == "xpagination":
            with contextlib.suppress(ValueError, RecursionError):
                page = json.loads(value[:4096])
                yield from _in_object(page) if isinstance(page, dict) else ()
        elif sign.words - {"link"} and not sign.rest:
            yield sign
    ranged = _find_range(headers)
    if ranged:
        yield Sign.of("total", ranged[3])
    for link in headers.get("Link", "")[:8192].split("<")[1:]:
        for key in ("next", "prev", "last"):
            if re.search(rf"rel\s{{0,5}}=\s{{0,5}}[\"']?[^\"',;]{{0,100}}\b{key}", link, re.IGNORECASE):
                yield Sign.of(key, link.partition(">")[0])


def _find_range(headers: Mapping[str, str]) -> re.Match[str] | None:
    """Return first, last and number of the engines in Content-Range."""
    pattern = r"\s*(?!bytes)[\w-]*\s*(?:(\d{1,15})-(\d{1,15})|\*)/(\d{1,15})\s*"
    return re.fullmatch(pattern, headers.get("Content-Range", "")[:200])


def _bare(key: str) -> str:
    """Return a key in lower case, without anything but letters and digits."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _is_true(value: Any) -> bool:
    if isinstance(value, dict):  # a link
        return any(map(_is_true, value.values()))
    return bool(value) and str(value)[:9].strip().lower() not in ("false", "0", "null", "none", "no", "ok", "success")


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
