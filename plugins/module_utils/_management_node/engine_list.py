# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine list: its configuration, its pages and its states. The API documents no call that lists engines.

The list verifies engines that it shows as running. An engine is known to be missing only from a list without a ``Gap``.
"""

from __future__ import annotations

import contextlib
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
from ansible_collections.slb.fleet.plugins.module_utils._values import (
    invalid,
    missing,
    read_boolean,
    read_mapping,
    read_number,
    require_text,
)

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
_OLD = 10  # seconds; so old may the list be that a run shares
_EMPTY: tuple[Any, ...] = (None, "", [], {})
TOTALS = ("total", "totalCount", "total_count", "totalElements")
"""Members with the number of all engines, where no other one is configured."""
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
        given = read_mapping("engine_list", value, ENGINE_LIST_OPTIONS)
        values = {key: _read_value(key, rules, given.get(key)) for key, rules in ENGINE_LIST_OPTIONS.items()}
        words: dict[str, str] = {}
        for state in STATES:
            for word in values.pop(state):
                if words.setdefault(word, state) != state:
                    raise invalid(f"engine_list.{state}", f"{word!r} also means {words[word]}", "Use each word once.")
        _check_path(values["path"])
        return cls(words=words, **values)

    def page_path(self, number: int) -> str:
        """Return the path of the page ``number``, with the page parameter in its query."""
        path, _mark, query = self.path.partition("?")
        pairs = [each for each in query.split("&") if each]
        kept = [each for each in pairs if unquote_plus(each.partition("=")[0]) != self.page_parameter]
        return f"{path}?{'&'.join([*kept, f'{quote(self.page_parameter)}={number}'])}"

    def find_items(self, document: Any, *, has_success: bool = False) -> list[Any]:
        """Return the list in an answer, also if it is empty in any form. Raises FleetError if there is none.

        ``has_success``: of an answer that states success, an object without any list has no engines.
        """
        try:
            items = self._find(document, self.items)
        except FleetError:
            place = self._containers(document)[-1]
            if place in _EMPTY:
                return []
            values = place.values() if isinstance(place, dict) else [document]
            is_zero = isinstance(place, dict) and any(place.get(name) in (0, "0") for name in TOTALS)
            has_list = any(isinstance(each, list) or (isinstance(each, dict) and each) for each in values)
            if has_list or not isinstance(place, dict) or not (has_success or is_zero):
                raise
            return []
        if items not in _EMPTY and not isinstance(items, list):
            raise self._unlike(f"'{self.items}' is not a list", document)
        return items or []

    def find_totals(self, document: Any, headers: Mapping[str, str], *, is_empty: bool = False) -> set[float]:
        """Return the numbers of all engines that an answer reports. Raises FleetError if the configured one is none.

        ``is_empty``: the answer has no engines, and needs no total.
        """
        kind, _colon, header = self.total.partition("header:")
        found: list[Any] = []
        if self.total and not kind:
            found = [headers.get(header.strip())]
        elif self.total:
            with contextlib.suppress(*([FleetError] if is_empty else [])):
                found = [self._find(document, self.total)]
        else:
            places = [place for place in self._containers(document) if isinstance(place, dict)]
            found = [place[name] for place in places for name in TOTALS if name in place]
        totals = {float(str(each)) for each in found if _is_count(each)}
        if self.total and not totals and not is_empty:
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
    totals, rows, before, age, is_on_two = set[float](), set[tuple[str, ...]](), None, 0, False
    for _index in range(_MAX_PAGES):
        path = engine_list.page_path(number) if engine_list.page_parameter else engine_list.path
        answer = get_answer(client, path, is_first=before is None)
        document = answer.parsed[0] if answer and answer.parsed else None
        case = Case("list", answer) if answer else None
        # A message such as "no permission" stands in place of the engines.
        has_success = case is None or (case.has_success and case.message.lower() in ("", "ok", "success"))
        items = engine_list.find_items(document, has_success=has_success)
        if answer:
            age = max([age, *map(int, re.findall(r"\d{1,9}", answer.headers.get("Age", "")[:100]))])
            totals |= engine_list.find_totals(document, answer.headers, is_empty=not items)
        if items and items == before:
            cause = f"two pages are the same: {engine_list.page_parameter} has no effect, or the last page is repeated"
            raise _unreliable(engine_list, cause, "Correct page_parameter and first_page, or set total.")
        page = engine_list.read_engines(items)
        is_on_two |= bool(rows & _rows(page, items))
        rows, engines, before = rows | _rows(page, items), engines + page, items
        if not items or not engine_list.page_parameter or (totals and len(engines) >= max(totals)):
            gap = _find_gap(engine_list, len(rows), totals, age, is_on_two=is_on_two)
            return Listing(engines, gap, at)
        if time.monotonic() > end:
            raise _unreliable(engine_list, "reading all pages takes too long", "Configure larger pages.")
        # A parameter that counts engines: also if the management node gives smaller pages than requested.
        number += len(items) if engine_list.page_step > 1 else 1
    raise _unreliable(engine_list, f"it has more than {_MAX_PAGES} pages", "Configure larger pages.")


def _find_gap(engine_list: EngineList, count: int, totals: set[float], age: int, *, is_on_two: bool) -> Gap:
    """Return why an engine may be missing from a list with ``count`` engines."""
    pairs = parse_qsl(engine_list.path.partition("?")[2])
    filters = [f"{name}={value}" for name, value in pairs if re.search(r"[^\W\d_]", value)]
    sizes = [f"{name}={value}" for name, value in pairs if re.fullmatch("[0-9]+", value) and 0 < int(value) == count]
    if age > _OLD:
        return Gap("old", f"the answer is {age} s old", "Exclude this path from the cache of the proxy.")
    if is_on_two:
        return Gap("unproven", "an engine is on two pages", "Sort the list in its path.")
    if totals and max(totals) > count:
        fix = "Set page_parameter or a larger page size. If the number counts something else, set total to another key."
        return Gap("part", f"it has {count} engines and reports {max(totals):.15g}", fix)
    if filters and not engine_list.complete:
        cause = f"its path may select engines by {show(mask_query(filters[0]), 40)}"
        return Gap("unproven", cause, "Remove it. If it leaves no engine out, set complete: true.")
    if totals == {count}:
        return Gap()
    if sizes:
        return Gap("part", f"it has as many engines as {sizes[0][:30]} in its path", "Raise that number, or set total.")
    if engine_list.complete:
        return Gap()
    return Gap("unproven", "it reports no total of its engines", "Set total in slb_engine_list, or complete: true.")


def get_answer(client: Client, path: str, *, is_first: bool = True) -> Answer | None:
    """Return the answer with a page of the list; None behind the last page. Raises FleetError."""
    answer = client.call(Request("list", "GET", path, limit=LIST_LIMIT))
    meaning = judge(Case("list", answer)).meaning
    if meaning == contract.LIST:
        return answer
    if meaning == contract.NO_ENGINES or (meaning == contract.NO_LIST and not is_first):
        return None
    place = f"{client.connection.base_url}{mask_query(path)[:60]}"
    if meaning == contract.NO_LIST:
        raise FleetError(
            "engine_list_not_as_configured",
            f"Engine list not as configured: {place} answered {client.describe(answer)}.",
            "Correct path in slb_engine_list, then run slb.fleet.show_engine_list.",
            status_code=answer.status,
        )
    shown, fix = client.describe(answer), "Check what the management node reports, then run again."
    if answer.defect.startswith("the body is larger"):
        fix = "Configure smaller pages in slb_engine_list."
    elif answer.is_success and not answer.parsed and not answer.defect:
        shown = f"HTTP {answer.status} and no JSON that can be read; it begins with {client.shown(answer.text[:20])!r}"
        fix = "Correct path in slb_engine_list: the answer to this request must be JSON."
    elif answer.status == 403:
        fix = "Give the user the right to see the engines in the web console."
    raise FleetError(
        "engine_list_unavailable",
        f"Engine list unavailable: {place} answered {shown}.",
        fix,
        status_code=answer.status,
    )


def get_document(client: Client, path: str) -> tuple[Any, Mapping[str, str]]:
    """Return the JSON at ``path`` and the headers of its answer. Raises FleetError."""
    _check_path(path)
    answer = get_answer(client, path)
    return (answer.parsed[0], answer.headers) if answer else (None, {})


def _is_count(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\s*[0-9]{1,15}\s*", value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53


def _check_path(path: str) -> None:
    if not path.startswith("/") or path.startswith("//") or "#" in path:
        fix = "Set the path of the request, such as /api/engines?page_size=1000."
        raise invalid("engine_list.path", "it is not a path without '#'", fix)


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


def _unreliable(engine_list: EngineList, cause: str, fix: str) -> FleetError:
    summary = f"Engine list at {mask_query(engine_list.path)[:60]} unreliable: {cause}."
    return FleetError("engine_list_unreliable", summary, fix)


def _rows(page: list[dict[str, str]], items: list[Any]) -> set[tuple[str, ...]]:
    """Return what identifies each row; with its "id", because a list may have several rows for one engine."""
    return {
        (engine["name"], engine["address"], _word(item.get("id")) if isinstance(item, dict) else "")
        for engine, item in zip(page, items, strict=True)
    }


def _word(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""
