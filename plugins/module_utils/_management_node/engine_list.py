# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine list: its configuration, its pages and its states. The API documents no call that lists engines.

The list verifies engines that it shows as running. An engine is known to be missing only from a list without a ``Gap``.
"""

from __future__ import annotations

import ipaddress
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote_plus

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import contract
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import Case, judge
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request
from ansible_collections.slb.fleet.plugins.module_utils._secrets import mask_query
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid, missing, read_mapping, read_value

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

_RANGES = {"first_page": (0, 10**6), "page_step": (1, 10**6)}
_MAX_PAGES = 1000
_CALLS = 5  # all pages must be read within the time of 5 calls
_MAX_VALUE = 500  # characters
_OLD = 10  # seconds; so old may the list be that a run shares
_EMPTY: tuple[Any, ...] = (None, "", [], {})
TOTALS = ("total", "totalCount", "total_count", "totalElements")
"""Members with the number of all engines, where no other one is configured."""
_COUNT = re.compile(r"\s*([0-9]{1,15})(?:\.0)?\s*")
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
        options = read_mapping("engine_list", value, ENGINE_LIST_OPTIONS)
        values = {key: _read_key(key, options.get(key)) for key in ENGINE_LIST_OPTIONS}
        words: dict[str, str] = {}
        for state in STATES:
            for word in values.pop(state):
                if words.setdefault(word, state) != state:
                    raise invalid(f"engine_list.{state}", f"{word!r} also means {words[word]}", "Use each word once.")
        check_path(values["path"])
        return cls(words=words, **values)

    def page_path(self, number: int) -> str:
        """Return the path of the page ``number``, with the page parameter in its query."""
        path, _mark, query = self.path.partition("?")
        pairs = [each for each in query.split("&") if each]
        others = [each for each in pairs if unquote_plus(each.partition("=")[0]) != self.page_parameter]
        return f"{path}?{'&'.join([*others, f'{quote(self.page_parameter)}={number}'])}"

    def find_items(self, document: Any, *, has_success: bool = False) -> list[Any]:
        """Return the list in an answer, also if it is empty in any form. Raises FleetError if there is none.

        ``has_success``: of an answer that states success, an object without any list has no engines.
        """
        place = self._containers(document)[-1]
        if place in _EMPTY:
            return []
        try:
            items = self._find(document, self.items)
        except FleetError:
            if not isinstance(place, dict) or not _has_no_engines(place, has_success):
                raise
            return []
        if items not in _EMPTY and not isinstance(items, list):
            raise self._unlike(f"'{self.items}' is not a list", document)
        return items or []

    def find_totals(self, document: Any, headers: Mapping[str, str]) -> set[int]:
        """Return the numbers of all engines that an answer reports. Raises FleetError if the configured one is none."""
        if self.total.startswith("header:"):
            counts = [headers.get(self.total.removeprefix("header:").strip())]
        elif self.total:
            counts = [self._find(document, self.total)]
        else:
            places = [place for place in self._containers(document) if isinstance(place, dict)]
            counts = [place[name] for place in places for name in TOTALS if name in place]
        totals = {int(count[1]) for count in map(_COUNT.fullmatch, map(str, counts)) if count}
        if self.total and not totals:
            raise self._unlike(f"'{self.total}' is not a number", document)
        return totals

    def _containers(self, document: Any) -> list[Any]:
        """Return the values on the way to the list, from the top, as far as it exists."""
        places = [document]
        for key in self.items.split(".") if self.items else ():
            if not isinstance(places[-1], dict) or key not in places[-1]:
                break
            places.append(places[-1][key])
        return places

    def read_engines(self, items: list[Any]) -> list[dict[str, str]]:
        """Return name, address, state and the management node's own word for the state of each item."""
        keys = (self.name, self.address, self.state)
        return [
            {
                "name": show(name, _MAX_VALUE),
                "address": comparable(show(address, _MAX_VALUE)),
                "state": self.words.get(word, UNMAPPED),
                "console_state": show(word, _MAX_VALUE),
            }
            for name, address, word in ([self._read_text(item, key) for key in keys] for item in items)
        ]

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
        ip = ipaddress.ip_interface((location[1] or location[2]) if location else address.strip()).ip
    except ValueError:
        return address
    return str(getattr(ip, "ipv4_mapped", None) or ip)


class Gap(NamedTuple):
    """Why an engine that the list does not have may exist, and what to set; empty if there is no reason.

    ``old``: the answer is the copy of a cache. ``part``: the list has more engines. ``unproven``: it may have more.
    """

    kind: Literal["", "old", "part", "unproven"] = ""
    cause: str = ""
    fix: str = ""


class Listing(NamedTuple):
    """The engines of the list, each as ``EngineList.read_engines`` returns it. ``at``: of time.monotonic()."""

    engines: list[dict[str, str]]
    gap: Gap = Gap()
    at: float = 0.0


def fetch_engines(client: Client, engine_list: EngineList) -> Listing:
    """Return the engines of all pages. Raises FleetError."""
    at, end, number = time.monotonic(), client.connection.deadline(_CALLS), engine_list.first_page
    engines: list[dict[str, str]] = []
    totals, rows, before, age, is_on_two = set[int](), set[tuple[str, ...]](), None, 0, False
    for _index in range(_MAX_PAGES):
        path = engine_list.page_path(number) if engine_list.page_parameter else engine_list.path
        answer = get_answer(client, path, is_first=before is None)
        items: list[Any] = []
        if answer:
            case = Case("list", answer)
            # A message such as "no permission" stands in place of the engines.
            has_success = case.has_success and case.message.lower() in ("", "ok", "success")
            items = engine_list.find_items(answer.document, has_success=has_success)
            age = max([age, *map(int, re.findall(r"\d{1,9}", answer.headers.get("Age", "")[:100]))])
            try:
                totals |= engine_list.find_totals(answer.document, answer.headers)
            except FleetError:
                if items:  # a page without engines needs no total
                    raise
        if items and items == before:
            cause = f"two pages are the same: {engine_list.page_parameter} has no effect, or the last page is repeated"
            raise _unreliable(engine_list, cause, "Correct page_parameter and first_page, or set total.")
        page = engine_list.read_engines(items)
        # With its "id", because a list may have several rows for one engine.
        ids = [str(item.get("id")) if isinstance(item, dict) else "" for item in items]
        page_rows = {(engine["name"], engine["address"], own) for engine, own in zip(page, ids, strict=True)}
        is_on_two |= not rows.isdisjoint(page_rows)
        rows, engines, before = rows | page_rows, engines + page, items
        if not items or not engine_list.page_parameter or (totals and len(engines) >= max(totals)):
            return Listing(engines, _find_gap(engine_list, len(rows), totals, age, is_on_two=is_on_two), at)
        if time.monotonic() > end:
            raise _unreliable(engine_list, "reading all pages takes too long", "Configure larger pages.")
        # A parameter that counts engines: also if the management node gives smaller pages than requested.
        number += len(items) if engine_list.page_step > 1 else 1
    raise _unreliable(engine_list, f"it has more than {_MAX_PAGES} pages", "Configure larger pages.")


def _find_gap(engine_list: EngineList, count: int, totals: set[int], age: int, *, is_on_two: bool) -> Gap:
    """Return why an engine may be missing from a list with ``count`` engines: the first reason that applies."""
    if age > _OLD:
        return Gap("old", f"the answer is {age} s old", "Exclude this path from the cache of the proxy.")
    if is_on_two:
        return Gap("unproven", "an engine is on two pages", "Sort the list in its path.")
    if totals and max(totals) > count:
        fix = "Set page_parameter or a larger page size. If the number counts something else, set total to another key."
        return Gap("part", f"it has {count} engines and reports {max(totals)}", fix)
    query = parse_qsl(engine_list.path.partition("?")[2])
    filters = [f"{name}={value}" for name, value in query if re.search(r"[^\W\d_]", value)]
    if filters and not engine_list.complete:
        cause = f"its path may select engines by {show(mask_query(filters[0]), 40)}"
        return Gap("unproven", cause, "Remove it. If it leaves no engine out, set complete: true.")
    sizes = [f"{name}={value}" for name, value in query if re.fullmatch("[0-9]+", value) and 0 < int(value) == count]
    if sizes and totals != {count}:
        return Gap("part", f"it has as many engines as {sizes[0][:30]} in its path", "Raise that number, or set total.")
    if totals == {count} or engine_list.complete:
        return Gap()
    return Gap("unproven", "it reports no total of its engines", "Set total in slb_engine_list, or complete: true.")


def get_answer(client: Client, path: str, *, is_first: bool = True) -> Answer | None:
    """Return the answer with a page of the list; None behind the last page. Raises FleetError."""
    request = Request("list", "GET", path, limit=LIST_LIMIT)
    answer = client.call(request)
    meaning = judge(Case("list", answer)).meaning
    if meaning == contract.LIST:
        return answer
    if meaning == contract.NO_ENGINES or (meaning == contract.NO_LIST and not is_first):
        return None
    code, state, shown = "engine_list_unavailable", "unavailable", ""
    fix = "Check what the management node reports, then run again."
    if meaning == contract.NO_LIST:
        code, state = "engine_list_not_as_configured", "not as configured"
        fix = "Correct path in slb_engine_list, then run slb.fleet.show_engine_list."
    elif answer.defect.startswith("the body is larger"):
        fix = "Configure smaller pages in slb_engine_list."
    elif answer.is_success and not answer.parsed and not answer.defect:
        shown = f"HTTP {answer.status} and no JSON that can be read; it begins with {client.shown(answer.text[:20])!r}"
        fix = "Correct path in slb_engine_list: the answer to this request must be JSON."
    elif answer.status == 403:
        fix = "Give the user the right to see the engines in the web console."
    raise client.failure(code, f"Engine list {state}", request, answer, fix, shown)


def check_path(path: str) -> None:
    """Raise OptionError if ``path`` is not that of a request."""
    if not path.startswith("/") or path.startswith("//") or "#" in path:
        fix = "Set the path of the request, such as /api/engines?page_size=1000."
        cause = "it is a whole address" if "://" in path else "it is not a path without '#'"
        raise invalid("engine_list.path", cause, fix)


def _read_key(key: str, value: Any) -> Any:
    """Return the value of a key of the configuration, or its default."""
    option, rules = f"engine_list.{key}", ENGINE_LIST_OPTIONS[key]
    value = value.strip() if isinstance(value, str) else value
    if value in (None, "", []):
        if rules.get("required"):
            raise missing(option)
        return rules.get("default")
    return read_value(option, {**rules, "range": _RANGES.get(key)}, value)


def _has_no_engines(place: Mapping[str, Any], has_success: bool) -> bool:
    """Return whether an object in place of the list has no other list, and states success or a total of 0."""
    has_list = any(isinstance(each, list) or (isinstance(each, dict) and each) for each in place.values())
    return not has_list and (has_success or any(place.get(name) in (0, "0") for name in TOTALS))


def _unreliable(engine_list: EngineList, cause: str, fix: str) -> FleetError:
    summary = f"Engine list at {mask_query(engine_list.path)[:60]} unreliable: {cause}."
    return FleetError("engine_list_unreliable", summary, fix)
