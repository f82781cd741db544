# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine list: its configuration, its pages and its states. The API documents no call that lists engines.

An engine is known to be missing only if the list is whole and fresh (``extent.py``). Pages that contradict each other
are an error; any other part still shows which engines run.
"""

from __future__ import annotations

import contextlib
import difflib
import ipaddress
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_plus

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, mask_query, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS,
    invalid,
    missing,
    read_boolean,
    read_number,
    require_text,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.extent import (
    NO_GAP,
    Gap,
    Sign,
    Signs,
    find_doubt,
    find_gap,
    find_more,
    find_signs,
    find_stale,
    find_total,
    first_gap,
    read_count,
    reports_end,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import is_found
from ansible_collections.slb.fleet.plugins.module_utils._management_node.query import find_filter
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request

STATES = ("running", "deploying", "failed")
UNMAPPED = "unmapped"
LIST_LIMIT = 16 * 1024 * 1024
"""Maximum number of bytes of one answer: 10,000 engines of more than a kilobyte."""

ENGINE_LIST_OPTIONS: dict[str, dict[str, Any]] = {
    "path": {"type": "str", "required": True},
    "items": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "required": True},
    "running": {"type": "list", "elements": "str", "required": True},
    "deploying": {"type": "list", "elements": "str", "default": []},
    "failed": {"type": "list", "elements": "str", "default": []},
    "total": {"type": "str", "default": ""},
    "complete": {"type": "bool"},
    "page_parameter": {"type": "str", "default": ""},
    "first_page": {"type": "int", "default": 1},
    "page_step": {"type": "int", "default": 1},
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "engine_list": {"type": "dict", "required": True, "options": ENGINE_LIST_OPTIONS},
}

_MAX_PAGES = 1000
_CALLS = 5  # all pages must be read within the time of 5 calls
_LARGE = 1024 * 1024  # bytes
_MAX_VALUE = 500  # characters
_FIX_PAGES = "Check the pages in the browser: page_parameter, first_page and page_step of slb_engine_list."
_ONE_READING = Gap("unproven", "its pages have no total, and their engines change", "Set total in slb_engine_list.")
_ONE_PAGE = Gap("unproven", "the page before its first one is not read", _FIX_PAGES)
# An address with a port, or in a URL
_LOCATION = re.compile(
    r"(?:[a-z][\w+.-]*://)?(?:[^/@\s]*@)?(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?(?:[/?#].*)?", re.IGNORECASE
)


@dataclass(frozen=True)
class EngineList:
    """The configuration of the engine list.

    ``items``, ``name``, ``address``, ``state`` and ``total`` are keys of JSON, joined by dots. A number is an index of
    a list, and ``*`` in ``items`` is each member. ``words`` maps the words of the management node to the states of
    STATES. ``complete``: whether the operator states that one answer has all engines. ``page_parameter`` is empty if
    one answer has all engines; otherwise that parameter of the query is ``first_page`` for the first page and
    ``page_step`` more for each further page.
    """

    path: str
    items: str
    name: str
    address: str
    state: str
    words: Mapping[str, str]
    total: str
    complete: bool | None
    page_parameter: str
    first_page: int
    page_step: int

    @classmethod
    def from_option(cls, value: Any) -> EngineList:
        """Return the configured list. ``value``: a mapping, or its JSON. Raises FleetError."""
        given = _read_mapping(value)
        for key in given:
            if key not in ENGINE_LIST_OPTIONS:
                near = difflib.get_close_matches(str(key), list(ENGINE_LIST_OPTIONS), 1)
                fix = f"Did you mean {near[0]}?" if near else f"Use {', '.join(ENGINE_LIST_OPTIONS)}."
                raise invalid("engine_list", f"{str(key)[:40]!r} is not a key of it", fix)
        values = {key: _read_value(key, rules, given.get(key)) for key, rules in ENGINE_LIST_OPTIONS.items()}
        words: dict[str, str] = {}
        for state in STATES:
            for word in values.pop(state):
                if words.setdefault(word, state) != state:
                    raise invalid(f"engine_list.{state}", f"{word!r} also means {words[word]}", "Use each word once.")
        path = values["path"]
        if not path.startswith("/") or path.startswith("//") or "#" in path:
            raise invalid(
                "engine_list.path",
                "it is not a path without '#'",
                "Set the path of the request, such as /api/engines?page_size=1000.",
            )
        return cls(words=words, **values)

    def page_path(self, number: int) -> str:
        """Return the path of the page ``number``, with the page parameter in its query."""
        path, _mark, query = self.path.partition("?")
        pairs = [each for each in query.split("&") if each]
        kept = [each for each in pairs if unquote_plus(each.partition("=")[0]) != self.page_parameter]
        return f"{path}?{'&'.join([*kept, f'{quote(self.page_parameter)}={number}'])}"

    def find_items(self, document: Any) -> list[Any]:
        """Return the list in an answer. Raises FleetError if there is none."""
        items = self._find(document, self.items)
        if not isinstance(items, (list, type(None))):
            raise self._unlike(f"'{self.items}' is not a list", document)
        return items or []

    def find_total(self, document: Any) -> float | None:
        """Return the configured total; None if none is configured. Raises FleetError if it is not a number."""
        if not self.total:
            return None
        value = self._find(document, self.total)
        is_count = isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value)
        if isinstance(value, bool) or not (is_count or isinstance(value, (int, float))):
            raise self._unlike(f"'{self.total}' is not a number", document)
        return read_count(value)

    def has_items(self, document: Any, *, may_be_empty: bool = True) -> bool:
        """Return whether an answer contains the list."""
        try:
            return bool(self.find_items(document)) or may_be_empty
        except FleetError:
            return False

    def read_engines(self, items: list[Any]) -> list[dict[str, str]]:
        """Return name, address, state and the management node's own word for the state of each item."""
        return [self._read_engine(item) for item in items]

    def _read_engine(self, item: Any) -> dict[str, str]:
        name, address, word = (self._read_text(item, key) for key in (self.name, self.address, self.state))
        return {
            "name": show(name, _MAX_VALUE),
            "address": comparable(show(address, _MAX_VALUE)),
            "state": self.words.get(word, UNMAPPED),
            "console_state": show(word, _MAX_VALUE),
        }

    def _read_text(self, item: Any, dotted: str) -> str:
        value = self._find(item, dotted)
        if isinstance(value, (dict, list)):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise self._unlike(f"'{dotted}' of an engine is {kind}", item)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)

    def _find(self, value: Any, dotted: str) -> Any:
        key, _dot, rest = dotted.partition(".")
        while key:
            if key == "*" and isinstance(value, (dict, list)):
                below = [self._find(each, rest) for each in (value.values() if isinstance(value, dict) else value)]
                # A group without engines may have null.
                parts = [part or [] if rest else part for part in below]
                return [each for part in parts for each in (part if isinstance(part, list) else [part])]
            if isinstance(value, list) and re.fullmatch(r"\d{1,6}", key) and int(key) < len(value):
                value = value[int(key)]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            else:
                raise self._unlike(f"key {key!r} of {dotted!r} is missing", value)
            key, _dot, rest = rest.partition(".")
        return value

    def _unlike(self, cause: str, value: Any) -> FleetError:
        there = show(", ".join(map(str, value)), 60) if isinstance(value, dict) else type(value).__name__
        return FleetError(
            "engine_list_not_as_configured",
            f"Engine list at {mask_query(self.path)[:60]} not as configured: {cause[:60]}; present: {there}.",
            "Correct slb_engine_list, then run slb.fleet.show_engine_list.",
        )


@lru_cache(maxsize=65536)
def comparable(address: str) -> str:
    """Return an IP address in its short form, without the length of a prefix; any other text as it is."""
    location = _LOCATION.fullmatch(address.strip())
    try:
        found = ipaddress.ip_interface((location[1] or location[2]) if location else address.strip()).ip
    except ValueError:
        return address
    return str(getattr(found, "ipv4_mapped", None) or found)


class Listing(NamedTuple):
    """The engines of the list, each as ``EngineList.read_engines`` returns it, and why they may not be all."""

    engines: list[dict[str, str]]
    gap: Gap = NO_GAP


def fetch_engines(client: Client, engine_list: EngineList) -> Listing:
    """Return all engines of the list. Raises FleetError."""

    def get(path: str) -> Answer:
        return _get(client, engine_list, path)

    if not engine_list.page_parameter:
        return read_answer(engine_list, get(engine_list.path))
    before: set[tuple[str, str]] | None = None
    has_changed = False
    for _reading in range(3):
        try:
            listing = read_pages(engine_list, get, client.connection.deadline(_CALLS))
        except _ChangedError:
            # An engine may have been added or removed meanwhile. If it happens twice, the cause is another one.
            if has_changed:
                raise
            has_changed = True
            continue
        # Without a total, an engine that moved to a page that was read before shows only in another reading.
        engines = {(engine["name"], engine["address"]) for engine in listing.engines}
        if listing.gap == _ONE_PAGE or (listing.gap == _ONE_READING and engines == before):
            _check_start(engine_list, get, engines)
            return listing._replace(gap=NO_GAP)
        if listing.gap != _ONE_READING:
            return listing
        before = engines
    return listing


def _check_start(engine_list: EngineList, get: Callable[[str], Answer], engines: set[tuple[str, str]]) -> None:
    """Read the page before the first one. Raises FleetError if it has engines that are on no other page."""
    number = max(0, engine_list.first_page - engine_list.page_step)
    if number == engine_list.first_page:
        return
    try:
        before = engine_list.read_engines(engine_list.find_items(get(engine_list.page_path(number)).parsed[0]))
    except FleetError as error:
        is_none = error.code in ("engine_list_unavailable", "engine_list_not_as_configured")
        if is_none and error.values.get("status_code") not in (429, 502, 503, 504):
            return
        raise
    unseen = next((each["name"] for each in before if (each["name"], each["address"]) not in engines), None)
    if unseen is not None:
        cause = f"{unseen[:40]} is on the page {number}, before the first one"
        raise _unreliable(engine_list, cause, f"Set first_page to {number} in slb_engine_list.")


def read_answer(engine_list: EngineList, answer: Answer) -> Listing:
    """Return the engines of the only answer. Raises FleetError."""
    document = answer.parsed[0]
    items = engine_list.find_items(document)
    signs, total = find_signs(document, engine_list.items, answer.headers), engine_list.find_total(document)
    gap = find_gap(signs, len(items), engine_list.path, total=total, complete=engine_list.complete)
    engines = engine_list.read_engines(items)
    is_twice = len(_rows(engines, items)) < len(items)
    return Listing(engines, first_gap((*_gaps_of(engine_list, answer, signs, is_twice=is_twice), gap)))


def _gaps_of(
    engine_list: EngineList, answer: Answer, signs: Signs, *, is_twice: bool, is_first: bool = True
) -> Iterator[Gap]:
    """Yield why an engine may exist that an answer does not have. ``is_twice``: whether it has two equal rows."""
    doubt = find_doubt(signs, answer.status, answer.headers, is_first=is_first)
    if doubt.kind != "unproven" or not engine_list.complete:
        yield doubt
    found = "" if engine_list.complete else find_filter(engine_list.path, engine_list.page_parameter)
    if found:
        fix = "Remove it. If it leaves no engine out, set complete: true."
        yield Gap("unproven", f"its path may select engines by {show(mask_query(found), 40)}", fix)
    if is_twice and not engine_list.complete:
        yield Gap("unproven", "it has an engine twice", "If each engine may have several rows, set complete: true.")
    yield find_stale(answer.headers, answer.age)
    # Some management nodes use a code such as 1 for success.
    if answer.verdict is False and is_found("failure", answer.messages) and not engine_list.complete:
        fix = "Check the list in the web console. If it is the whole one, set complete: true."
        yield Gap("unproven", f"it reports message={answer.shown()[:60]}", fix)


class _ChangedError(FleetError):
    """The pages of the list contradict each other."""


def read_pages(engine_list: EngineList, get: Callable[[str], Answer], deadline: float) -> Listing:
    """Return the engines of all pages. ``get`` returns the answer at a path; ``deadline``: of time.monotonic()."""
    pages = _Pages(engine_list)
    for _index in range(_MAX_PAGES):
        try:
            answer = get(engine_list.page_path(pages.number))
        except FleetError as error:
            if pages.engines and error.values.get("status_code") in (204, 404):  # behind the last page
                return pages.finish()
            raise
        if pages.add(answer):
            return pages.finish()
        if time.monotonic() > deadline:
            raise _unreliable(engine_list, "reading all pages takes too long", "Configure larger pages.")
    raise _unreliable(engine_list, f"it has more than {_MAX_PAGES} pages", "Configure larger pages.")


class _Pages:
    """The pages that are read. ``number``: of the next one. ``short``: the length of one below page_step, else 0."""

    def __init__(self, engine_list: EngineList) -> None:
        self.list, self.number, self.count, self.short = engine_list, engine_list.first_page, 0, 0
        self.engines: list[dict[str, str]] = []
        self.seen: set[tuple[str, ...]] = set()
        self.total: float | None = None
        self.before: list[Any] = []
        self.frame: tuple[set[str], str] | None = None
        self.more: Sign | None = None
        self.gap = Gap("unproven", "complete is false in slb_engine_list") if engine_list.complete is False else NO_GAP

    def add(self, answer: Answer) -> bool:
        """Add a page. Return whether it is the end. Raises FleetError if it contradicts the pages before."""
        document = answer.parsed[0]
        items = self.list.find_items(document)
        page, signs = self.list.read_engines(items), find_signs(document, self.list.items, answer.headers)
        rows, is_first = _rows(page, items), not self.count
        found = _gaps_of(self.list, answer, signs, is_twice=len(rows) < len(items), is_first=is_first)
        self.gap = first_gap((self.gap, *found))
        # Some answer a number behind the last page with the last page.
        if items and ((self.short and rows <= self.seen) or (items == self.before and self.total == len(self.engines))):
            return True
        self._check(rows, is_same=items == self.before)
        configured = self.list.find_total(document)
        reported = find_total(signs, len(items)) if configured is None else configured
        if None not in (self.total, reported) and self.total != reported:
            raise _unreliable(self.list, f"it reports {self.total:.0f}, then {reported:.0f} engines", is_change=True)
        self.total = reported if self.total is None else self.total
        self.seen, self.engines, self.before, self.count = self.seen | rows, self.engines + page, items, self.count + 1
        self.more = find_more(signs, len(self.engines), self.count, has_total=configured is not None)
        is_end = reports_end(signs, len(items)) if configured is None else len(self.engines) >= configured
        # An empty page that is unlike the others may be an error.
        frame = (set(document) if isinstance(document, dict) else set[str](), answer.messages)
        self.frame = self.frame or frame
        if not (items or self.more) and (frame[0] - self.frame[0] or frame[1] != self.frame[1]):
            gap = Gap("unproven", f"its empty page {self.count} is unlike the others", _FIX_PAGES)
            self.gap = first_gap((self.gap, gap))
        # The offset of the next engine, even if the management node gives smaller pages than requested.
        self.short = len(items) if len(items) < self.list.page_step else 0
        self.number += self.short or self.list.page_step
        return not items or (not self.more and is_end)

    def _check(self, rows: set[tuple[str, ...]], *, is_same: bool) -> None:
        if rows and self.short:
            cause = f"its page {self.count} has {self.short} engines, and page_step is {self.list.page_step}"
            raise _unreliable(self.list, cause, f"Set page_step to {self.short} in slb_engine_list.", is_change=True)
        if rows and is_same:
            cause = f"two pages are the same: {self.list.page_parameter} has no effect, or the last page is repeated"
            raise _unreliable(self.list, cause, "Correct page_parameter and first_page, or set total.")
        if rows & self.seen:
            raise _unreliable(self.list, f"{min(rows & self.seen)[0][:40]} is on two pages", is_change=True)

    def finish(self) -> Listing:
        """Return the list after its last page."""
        if self.total not in (None, len(self.engines)):
            cause = f"it reports {self.total:.0f} engines, its pages have {len(self.engines)}"
            raise _unreliable(self.list, cause, is_change=True)
        if self.more:
            gap = Gap("part", f"its page {self.count} is the last and reports {self.more}", _FIX_PAGES)
            self.gap = first_gap((self.gap, gap))
        unproven = NO_GAP if self.total is not None else _ONE_PAGE if self.count == 1 else _ONE_READING
        return Listing(self.engines, first_gap((self.gap, unproven)))


def _get(client: Client, engine_list: EngineList, path: str) -> Answer:
    def is_wanted(answer: Answer) -> bool:
        """An answer with the list needs nothing else; an empty list that comes with a failure is none."""
        return bool(
            answer.is_success
            and answer.parsed
            and engine_list.has_items(answer.parsed[0], may_be_empty=answer.verdict is not False)
        )

    answer = client.call(Request("GET", path, limit=LIST_LIMIT, is_wanted=is_wanted))
    if answer.parsed and answer.is_success and (answer.verdict is not False or is_wanted(answer)):
        return answer
    shown, fix = client.describe(answer), "Check the path in slb_engine_list, and the rights of the user."
    if answer.is_success and not answer.parsed:
        is_large = len(answer.body) > _LARGE
        content = "too many values or bytes" if is_large else "a web page" if answer.is_html else "no JSON"
        shown = f"HTTP {answer.status} with {content}"
        fix = "Configure smaller pages in slb_engine_list." if is_large else fix
    raise FleetError(
        "engine_list_unavailable",
        f"Engine list unavailable: {client.connection.base_url}{mask_query(path)[:60]} answered {shown}.",
        fix,
        status_code=answer.status,
    )


def _read_mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str) and value.strip():
        with contextlib.suppress(ValueError):  # a survey and the command line give JSON as text
            value = json.loads(value)
    if value in (None, "") or (isinstance(value, str) and not value.strip()):
        raise missing("engine_list")
    if not isinstance(value, Mapping):
        raise invalid("engine_list", "it is not a mapping", f"Set its keys: {', '.join(ENGINE_LIST_OPTIONS)}.")
    return value


def _read_value(key: str, rules: Mapping[str, Any], value: Any) -> Any:
    option = f"engine_list.{key}"
    if rules["type"] == "int":
        return rules["default"] if value in (None, "") else read_number(option, value, int(key == "page_step"), 10**6)
    if rules["type"] == "bool":
        return None if value in (None, "") else read_boolean(option, value)
    if rules["type"] == "list":
        words = [] if value in (None, "") else value if isinstance(value, (list, tuple)) else [value]
        read: Any = [require_text(option, word) for word in words]
    else:
        read = "" if value is None else require_text(option, value).strip()
    if rules.get("required") and not read:
        raise missing(option)
    return read


def _unreliable(engine_list: EngineList, cause: str, fix: str = "", *, is_change: bool = False) -> FleetError:
    fix = fix or "Sort the list in its path, and check page_parameter, first_page and page_step of slb_engine_list."
    error = _ChangedError if is_change else FleetError
    return error(
        "engine_list_unreliable", f"Engine list at {mask_query(engine_list.path)[:60]} unreliable: {cause}.", fix
    )


def _rows(page: list[dict[str, str]], items: list[Any]) -> set[tuple[str, ...]]:
    """Return what identifies each row; with its "id", because a list may have several rows for one engine."""
    return {
        (engine["name"], engine["address"], _word(item.get("id")) if isinstance(item, dict) else "")
        for engine, item in zip(page, items, strict=True)
    }


def _word(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""
