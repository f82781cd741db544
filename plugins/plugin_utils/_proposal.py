# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Propose ``slb_engine_list`` from recorded answers. No I/O.

Of a recording, only these texts are returned: keys, paths and words that look like no secret, and messages.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import (
    Answer,
    names_parameter,
    names_secret,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    ENGINE_LIST_OPTIONS,
    EngineList,
    comparable,
    read_answer,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.extent import find_signs, find_total
from ansible_collections.slb.fleet.plugins.module_utils._management_node.query import (
    CERTAIN,
    LIKELY,
    OTHER,
    find_filter,
    kind_of,
    read_word,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import is_address
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import Exchange

Hosts = Mapping[str, tuple[str, str]]
"""Name and address of the engine, by host."""

# fmt: off
_STATE_KEYS = {"state", "status", "phase", "condition", "runstate", "runstatus", "enginestate", "enginestatus",
               "deploystate", "deploystatus", "health", "online"}
# Words of a path or key, in the singular.
_OF_ENGINES = {"engine", "slb", "forwarder", "forwarding", "balancer", "loadbalancer", "lb"}
_OF_OTHERS = {"host", "server", "machine", "device", "credential", "task", "job", "alarm", "alert", "event", "log",
              "audit", "user", "session", "metric", "monitor", "interface", "route", "history", "record", "message"}
# fmt: on
_KEY = re.compile(r"[\w$@-]{1,40}")
_SEGMENT = re.compile(r"[\w.~%+,:@-]{0,40}")
_PARAMETER = re.compile(r"[\w.$[\]-]{1,40}")
_VALUE = re.compile(r"[\w.,:*-]{1,30}")
_FILTER = re.compile(r"\d{1,6}|[a-z]{1,20}")
_STATE_WORD = re.compile(r"(?:[^\W\d_]|[ _./-]){1,24}|-?\d{1,3}")
_LONG_WORD = re.compile(r"[\w-]{16,}")
_OF_ADDRESSES = frozenset("0123456789abcdefABCDEF:[ ")
_MILLISECONDS = re.compile(r"1[5-9]\d{8}(?:\d{3})?")
_HIDDEN = "?"

_MAX_DEPTH, _ROW_DEPTH = 6, 3
_MAX_COLUMNS, _MAX_LISTS, _MAX_WORDS, _MAX_PAIRED = 100, 500, 12, 10
_MAX_CANDIDATES = 10
_NEAR = 15  # points


@dataclass(frozen=True)
class Candidate:
    """A list in the recorded answers that may be the engine list.

    ``option``: slb_engine_list. ``explained``: number of hosts of the inventory that it contains. ``problem``: why it
    cannot be configured. ``unsure``: words that are mapped but need a check. ``unmapped``: words without a known
    meaning. ``gap``: why an engine that is missing from it may exist.
    """

    method: str
    option: Mapping[str, Any]
    explained: int
    engines: int
    score: float
    doubts: tuple[str, ...] = ()
    problem: str = ""
    unsure: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
    gap: str = ""


class Known(NamedTuple):
    """The inventory: hosts by the name of the engine, and by its address. ``names``: of the engine, by host."""

    by_name: Mapping[str, set[str]]
    by_address: Mapping[str, set[str]]
    names: Mapping[str, str]

    @classmethod
    def of(cls, hosts: Hosts) -> Known:
        by_name, by_address = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for host, (name, address) in hosts.items():
            by_name[name].add(host)
            by_address[comparable(address)].add(host)
        return cls(dict(by_name), dict(by_address), {host: name for host, (name, _address) in hosts.items()})


class Query(NamedTuple):
    """``kept``: parameters for the path. ``page``: name and value of the parameter of pages. ``size``: of a page."""

    kept: tuple[tuple[str, str], ...] = ()
    page: tuple[str, int] | None = None
    size: int = 0
    doubts: tuple[str, ...] = ()


@dataclass
class _Source:
    """A list of one request, in all of its answers. ``pages``: the latest answer and rows, by the page's number."""

    method: str
    path: str
    query: Query
    items: str
    pages: dict[int, tuple[Answer, list[Any]]] = field(default_factory=dict)
    words: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def propose(exchanges: Sequence[Exchange], hosts: Hosts) -> list[Candidate]:
    """Return the lists in which hosts occur, the best first."""
    known = Known.of(hosts)
    found = [each for source in _find_sources(exchanges) if (each := _Reading(source, known)).explained]
    most, longest = max((each.explained for each in found), default=0), max((each.engines for each in found), default=0)
    rated = sorted(found, key=lambda each: -each.score(most, longest))[:_MAX_CANDIDATES]
    candidates = [each.candidate(most, longest) for each in rated]
    is_near = len(candidates) > 1 and candidates[0].score - candidates[1].score < _NEAR
    # With other parameters, the same request may show a part of the same list.
    if is_near and not (rated[0].place == rated[1].place and rated[1].engine_keys <= rated[0].engine_keys):
        doubts = (*candidates[0].doubts, "another list fits nearly as well")
        candidates[0] = replace(candidates[0], doubts=doubts)
    return candidates


def read_query(pairs: Iterable[tuple[str, str]]) -> Query:
    """Return which parameters of a query to keep. Values that change, and possible secrets, are left out."""
    kept, page, size, doubts = list[tuple[str, str]](), None, 0, list[str]()
    for name, value in pairs:
        kind, is_number = kind_of(name), re.fullmatch(r"\d{1,9}", value)
        if not value or kind == "volatile" or _MILLISECONDS.fullmatch(value):
            continue
        if kind in ("page", "offset") and is_number and page is None:
            page = (name, int(value))
            continue
        is_safe = not (names_parameter(name) or _is_opaque(value)) and kind != "cursor"
        is_known = kind in ("size", "sort") or _FILTER.fullmatch(value)
        if not (is_safe and is_known and _PARAMETER.fullmatch(name) and _VALUE.fullmatch(value)):
            doubts.append("a parameter of the query is left out")
            continue
        kept.append((name, value))
        if kind == "size" and is_number:
            size = int(value)
        elif kind not in ("sort", "form"):
            doubts.append(f"parameter {name} may filter the list")
    return Query(tuple(kept), page, size, tuple(dict.fromkeys(doubts)))


def find_lists(document: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the path of each list of objects in an answer, as ``items`` of slb_engine_list, with the objects.

    Lists at the same place of several objects are one list, and so are the members of an object that have equal keys.
    """
    found: dict[str, list[Any]] = {}
    pending: list[tuple[Any, tuple[str, ...]]] = [(document, ())]
    while pending:
        value, keys = pending.pop()
        if isinstance(value, list):
            rows = [each for each in value if isinstance(each, (dict, list))]
            place, below = keys, [(each, (*keys, "*")) for each in rows]
        elif isinstance(value, dict) and _is_map(value):
            rows = list(value.values())
            place = (*keys, "*")
            below = [(each, place) for each in rows]
        elif isinstance(value, dict):
            rows, place, below = [], keys, [(each, (*keys, key)) for key, each in value.items()]
        else:
            continue
        name = ".".join(map(_shown_key, place))
        if rows and (name in found or len(found) < _MAX_LISTS):
            found.setdefault(name, []).extend(rows)
        if len(keys) < _MAX_DEPTH:
            pending += [pair for pair in below if isinstance(pair[0], (dict, list))]
    yield from found.items()


def _is_map(value: Mapping[str, Any]) -> bool:
    """Return whether the members of an object are objects with mostly the same keys, such as engines by their id."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(each, dict) and each for each in members):
        return False
    common, every = set.intersection(*map(set, members)), set.union(*map(set, members))
    return 2 * len(common) > len(every) and len(common) > 1


def _find_sources(exchanges: Iterable[Exchange]) -> list[_Source]:
    sources: dict[tuple[Any, ...], _Source] = {}
    for exchange in exchanges:
        answer = exchange.answer
        if not answer.is_success or not answer.parsed:
            continue
        query = read_query(exchange.query)
        for items, rows in find_lists(answer.parsed[0]):
            page_name, page = query.page or ("", 0)
            identity = (exchange.method, exchange.path, query.kept, page_name, items)
            source = sources.setdefault(identity, _Source(exchange.method, exchange.path, query, items))
            source.pages[page] = (answer, rows)
            for key, texts in read_columns(rows).items():
                words = source.words[key]
                words.update(islice(filter(None, texts), 0 if len(words) > _MAX_WORDS else None))
    return list(sources.values())


def read_columns(rows: Sequence[Any]) -> dict[str, list[str | None]]:
    """Return the texts of each member of the rows, as the engine list reads them; None where it is missing."""
    columns: dict[str, list[str | None]] = {}
    for number, row in enumerate(rows):
        for key, text in islice(_flatten(row, "", _ROW_DEPTH), _MAX_COLUMNS):
            if key not in columns and len(columns) < _MAX_COLUMNS:
                columns[key] = [None] * len(rows)
            if key in columns:
                columns[key][number] = text
    return columns


def _flatten(value: Any, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    # Of a list within a row, only the first entry: the others are no part of each row.
    pairs = value.items() if isinstance(value, dict) else enumerate(value if not prefix else value[:1])
    for key, member in pairs:
        if _is_secret_key(str(key)):
            continue
        path = f"{prefix}{_shown_key(str(key))}"
        if isinstance(member, (dict, list)) and depth > 1:
            yield from _flatten(member, f"{path}.", depth - 1)
        elif isinstance(member, (str, int, float)):
            yield path, member if isinstance(member, str) else json.dumps(member)


_is_secret_key = lru_cache(maxsize=4096)(names_secret)


@lru_cache(maxsize=4096)
def _shown_key(key: str) -> str:
    """Return a key that can be configured and shown; a key of another kind may be a token."""
    is_plain = key == "*" or (_KEY.fullmatch(key) and not _is_opaque(key) and not names_secret(key))
    return key if is_plain else _HIDDEN


def _is_opaque(text: str) -> bool:
    """Return whether a text looks like a token or an identifier, and not like words."""
    pieces = re.split(r"[_.,:%~+-]", text)
    counts = [(len(piece), sum(each.isdigit() for each in piece)) for piece in pieces]
    is_mixed = any(length >= 8 and 3 <= digits < length for length, digits in counts)
    is_long = any(length > 30 or digits > 10 for length, digits in counts)
    return is_mixed or is_long or (len(text) > 24 and sum(digits for _length, digits in counts) >= 3)


class _Reading:
    """What a source is if it is the engine list: its columns, and the hosts that it explains."""

    def __init__(self, source: _Source, known: Known) -> None:
        self.source = source
        self.rows = [row for _answer, rows in source.pages.values() for row in rows]
        self.columns = read_columns(self.rows)
        self.doubts: list[str] = []
        self.name, self.address, self.explained = self._find_identity(known)
        self.engine_keys = set(zip(self._texts(self.name), map(comparable, self._texts(self.address)), strict=True))
        self.engines = len(self.engine_keys)
        self.place = (source.method, source.path, source.items)
        self.words = _tokens(".".join([*source.path.rstrip("/").split("/")[-2:], source.items]))
        self.state, self.state_points = self._find_state() if self.explained else ("", 0)

    def _texts(self, key: str) -> list[str]:
        return [text or "" for text in self.columns.get(key, [""] * len(self.rows))]

    def _find_identity(self, known: Known) -> tuple[str, str, int]:
        """Return the columns of name and address, and the number of hosts that they explain together."""
        named, addressed = dict[str, list[set[str]]](), dict[str, list[set[str]]]()
        for key, texts in self.columns.items():
            for table, places, read in ((named, known.by_name, str), (addressed, known.by_address, _read_address)):
                hits = [places.get(read(text[:100]), set()) if text else set() for text in texts]
                # A name in a list within each row: the row is a group of engines.
                if any(hits) and not (table is named and ".0" in key):
                    table[key] = hits
        best = ("", "", 0)
        # A pair of columns is compared row by row: of many, only the most frequent ones.
        named, addressed = (
            dict(sorted(table.items(), key=lambda pair: -sum(map(bool, pair[1])))[:_MAX_PAIRED])
            for table in (named, addressed)
        )
        for name, names in named.items():
            for address, addresses in addressed.items():
                pairs = zip(names, addresses, strict=True)
                count = len(set().union(*(one & other for one, other in pairs))) if name != address else 0
                best = max(best, (name, address, count), key=_rate_identity)
        counts = {key: len(set().union(*hits)) for key, hits in (addressed or named).items()}
        if best[2] or not counts:
            return best
        key, count = max(counts.items(), key=lambda pair: pair[1])
        if addressed:
            return self._guess_name(key, addressed[key], known.names), key, count
        self.doubts.append("no address of the inventory is in it: set slb_manage_ip")
        return key, self._guess_address(), count

    def _guess_name(self, address: str, hits: Sequence[set[str]], names: Mapping[str, str]) -> str:
        """Return the column whose names differ only in case or domain, else one that is called a name."""
        for key, texts in self.columns.items():
            pairs = [(text, names[host]) for text, found in zip(texts, hits, strict=True) for host in found if text]
            if key != address and ".0" not in key and any(_short(text) == _short(name) for text, name in pairs):
                self.doubts.append("names differ from the inventory: set slb_engine_name")
                return key
        self.doubts.append("no name of the inventory is in it: set slb_engine_name")
        keys = [key for key, texts in self.columns.items() if key != address and None not in texts]
        return max((key for key in keys if "name" in key.lower() and ".0" not in key), key=_rate_name, default="")

    def _guess_address(self) -> str:
        keys = [key for key, texts in self.columns.items() if all(text and is_address(text[:100]) for text in texts)]
        return max(keys, key=lambda key: "manage" in key.lower(), default="")

    def _find_state(self) -> tuple[str, int]:
        """Return the column of the state and its points: 20 with a certain word for running, 10 with another state."""
        found = dict[str, tuple[bool, bool, int, int]]()
        plain, named = set[str](), set[str]()
        for key, texts in self.columns.items():
            words, last = self.source.words[key], re.sub(r"[^a-z]", "", key.rpartition(".")[2].lower())
            if key in (self.name, self.address) or None in texts or not 0 < len(words) <= _MAX_WORDS:
                continue
            if not all(map(_STATE_WORD.fullmatch, words)):
                continue
            known, is_plain = set(map(read_word, words)), last in _STATE_KEYS
            is_named = is_plain or last.endswith(("state", "status"))
            likely = LIKELY["running"] | CERTAIN["deploying"] | CERTAIN["failed"]
            points = 20 if known & CERTAIN["running"] else 10 if known & likely else 3 * is_named
            meant = sum(any(word in group for group in (*CERTAIN.values(), *LIKELY.values())) for word in known)
            if points:
                is_sure = points >= 10
                found[key] = (is_sure and len(words) > 1, is_sure and is_plain, points, is_plain + meant)
                plain |= {key} if is_plain else set()
                named |= {key} if is_named else set()
        best = max(found, key=lambda key: found[key], default="")
        # A prefix tells what another state is of, as in desired_state; another constant is a property.
        others = [key for key in found if key != best and (key in plain or (key not in named and found[key][0]))]
        others = others if best in plain else [key for key in found if key != best]
        if others:
            self.doubts.append(f"{' and '.join(sorted((best, others[0])))} look like states")
        return best, found[best][2] if best else 0

    def score(self, most: int, longest: int) -> float:
        """Return how well the list fits, as points. ``most`` hosts and ``longest``: of all candidates."""
        return (
            40 * self.explained / max(1, most)
            + 20 * bool(self.words & _OF_ENGINES)
            + 10 * bool(_tokens(self.name) & _OF_ENGINES)
            - 30 * bool(self.words & _OF_OTHERS)
            + (self.state_points or -20)
            + 10 * self.engines / max(1, longest)
            - 30 * (self.engines < len(self.rows))
            - 5 * bool(self._problem())
        )

    def _problem(self) -> str:
        """Return why the list cannot be configured."""
        keys = ".".join([self.source.items, self.name, self.address, self.state])
        segments = self.source.path.split("/")
        causes = {
            "it is the answer to a POST request": self.source.method != "GET",
            "its path may contain a token": not all(map(_is_plain_segment, segments)),
            "one of its keys has special characters, or may be a token": _HIDDEN in keys,
            "no member is a name": not self.name,
            "no member is an address": not self.address,
            "no member is a state": not self.state,
        }
        return next((text for text, is_true in causes.items() if is_true), "")

    def candidate(self, most: int, longest: int) -> Candidate:
        """Return the list as a proposal, with all doubts."""
        option, unsure, unmapped = self._option()
        problem, gap = self._problem(), ""
        doubts = [*self.doubts, *self.source.query.doubts]
        if not problem:
            problem, gap, found = self._check(option)
            doubts += found
        doubts += [
            text
            for text, is_true in {
                "no word for engines is in its path": not self.words & _OF_ENGINES,
                "its path is about something else": bool(self.words & _OF_OTHERS),
                "its path may select engines": bool(find_filter(self.source.path)),
                "only one host of the inventory is in it": self.explained == 1,
                "an engine is in it twice": self.engines < len(self.rows),
                f"check the state {', '.join(unsure)}": bool(unsure),
                f"state {', '.join(unmapped)} unknown": bool(unmapped),
                f"check that {option.get('total')} is the number of all engines": "total" in option,
                "no word for running is in it": not option.get("running"),
            }.items()
            if is_true
        ]
        return Candidate(
            self.source.method,
            option,
            self.explained,
            len(self.rows),
            round(self.score(most, longest), 1),
            tuple(dict.fromkeys(doubts)),
            problem,
            unsure,
            unmapped,
            gap,
        )

    def _option(self) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
        """Return slb_engine_list, its words that need a check, and the words without a known meaning."""
        query, segments = self.source.query, self.source.path.split("/")
        path = "/".join(each if _is_plain_segment(each) else "..." for each in segments)
        path += "?" * bool(query.kept) + "&".join(
            f"{quote(name, safe='$')}={quote(value)}" for name, value in query.kept
        )
        option: dict[str, Any] = {"path": path, "items": self.source.items}
        option.update(name=self.name, address=self.address, state=self.state)
        words = sorted(self.source.words[self.state]) if self.state else []
        for state in CERTAIN:
            option[state] = [word for word in words if read_word(word) in CERTAIN[state] | LIKELY[state]]
        unsure = [word for state in CERTAIN for word in option[state] if read_word(word) in LIKELY[state]]
        known = {word for state in CERTAIN for word in option[state]}
        unmapped = [word for word in words if word not in known and read_word(word) not in OTHER]
        option.update(self._pages(), total=self._find_total_key())
        needed = ("path", "name", "address", "state", "running")
        defaults = {key: rules.get("default") for key, rules in ENGINE_LIST_OPTIONS.items() if key not in needed}
        given = {key: value for key, value in option.items() if key in needed or value != defaults[key]}
        return given, tuple(unsure), tuple(unmapped)

    def _pages(self) -> dict[str, Any]:
        """Return the keys for the pages: from two pages, or from a known parameter of the first page with a total."""
        if not self.source.query.page:
            return {}
        name, _value = self.source.query.page
        is_offset = kind_of(name) == "offset"
        numbers = sorted(self.source.pages)
        if len(numbers) > 1:
            step = min(after - before for before, after in pairwise(numbers))
        elif numbers[0] > 1 or (is_offset and numbers[0]) or self._total() is None:
            return {}
        else:
            step = (self.source.query.size or max(1, len(self.rows))) if is_offset else 1
        return {"page_parameter": name, "first_page": numbers[0], "page_step": step}

    def _total(self) -> float | None:
        """Return the number of all engines that the answers report; None if they report none."""
        for answer, rows in self.source.pages.values():
            total = find_total(find_signs(answer.parsed[0], self.source.items, {}), len(rows))
            if total is not None:
                return total
        return None

    def _find_total_key(self) -> str:
        """Return the only number outside the list that equals its size, if no known member reports the total."""
        ((answer, rows), *others), keys = self.source.pages.values(), list[str]()
        value, above = answer.parsed[0], ""
        if others or len(rows) < 2 or self._total() is not None:
            return ""
        for key in (*self.source.items.split("."), ""):
            for name, member in value.items() if isinstance(value, dict) else ():
                pairs = member.items() if isinstance(member, dict) and name != key else [("", member)]
                keys += [
                    f"{above}{_shown_key(name)}{'.' * bool(inner)}{_shown_key(inner) if inner else ''}"
                    for inner, count in pairs
                    if isinstance(count, int)
                    and not isinstance(count, bool)
                    and count == len(rows)
                    and re.search(r"total|count|num|all|amount|records|总", (inner or name).lower())
                ]
            value, above = (value.get(key) if isinstance(value, dict) else None), f"{above}{key}."
        return keys[0] if len(keys) == 1 and _HIDDEN not in keys[0] else ""

    def _check(self, option: Mapping[str, Any]) -> tuple[str, str, list[str]]:
        """Read the recorded answers as a run reads them. Return the problem, the gap of the list, and doubts."""
        query, total = self.source.query, self._total()
        keys = {**option, "running": option["running"] or ["?"]}
        try:
            engine_list = EngineList.from_option(keys)
            one = replace(engine_list, page_parameter="")
            listings = [read_answer(one, answer) for answer, _rows in self.source.pages.values()]
        except FleetError as error:
            return f"it cannot be read: {error.summary.partition(': ')[2].partition('; present')[0]}", "", []
        is_paged, pages = bool(engine_list.page_parameter), sorted(self.source.pages)
        doubts = []
        if sum(len(each.engines) for each in listings) != len(self.rows):
            doubts.append("not all of its entries are engines")
        if total is not None and (total < len(self.rows) or (total > len(self.rows) and not is_paged)):
            doubts.append(f"it has {len(self.rows)} engines and reports {total:.0f}")
        elif listings[0].gap.kind == "part" and not is_paged:
            doubts.append("the recorded answer is a part of the list")
        if is_paged and len(pages) > 1 and pages != list(range(pages[0], pages[-1] + 1, engine_list.page_step)):
            doubts.append("a page is not recorded")
        if query.page and pages[0] > 1:
            doubts.append("the first page is not recorded")
        return "", "" if is_paged else listings[0].gap.cause, doubts


def _tokens(text: str) -> set[str]:
    """Return the words of a path or key in lower case and in the singular."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return {word.lower().removesuffix("s") for word in words} | ({"engine"} if "引擎" in text else set())


def _read_address(text: str) -> str:
    """Return an address as the engine list compares it; other texts are many, and are not parsed."""
    return comparable(text) if text[:1] in _OF_ADDRESSES or "://" in text or "@" in text else text


def _rate_name(key: str) -> tuple[bool, bool]:
    """Return how well a key fits the name of an engine."""
    return (bool(_tokens(key) & _OF_ENGINES), "name" in key.lower())


def _rate_identity(identity: tuple[str, str, int]) -> tuple[Any, ...]:
    name, address, count = identity
    return count, _rate_name(name), "manage" in address.lower()


def _short(name: str) -> str:
    """Return a name without case and domain."""
    return name.casefold().split(".")[0]


def _is_plain_segment(segment: str) -> bool:
    return bool(_SEGMENT.fullmatch(segment)) and not _is_opaque(segment)


def mask_opaque(text: str, known: Iterable[str]) -> str:
    """Return a message without words that look like tokens, except ``known`` ones."""
    kept = set(known)
    return _LONG_WORD.sub(lambda found: found[0] if found[0] in kept or not _is_opaque(found[0]) else "********", text)
