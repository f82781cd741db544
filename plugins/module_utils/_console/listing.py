# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's list of engines, read by a user's description: the interface itself documents none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTING_OPTIONS: dict[str, dict[str, Any]] = {
    "path": {"type": "str", "required": True},
    "items": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "required": True},
    "running": {"type": "list", "elements": "str", "required": True},
    "deploying": {"type": "list", "elements": "str", "required": True},
    "failed": {"type": "list", "elements": "str", "required": True},
}
_STATES = ("running", "deploying", "failed")
_DIGITS = re.compile(r"\s*[0-9]+\s*")
# The names by which consoles say how much there is beyond the page, without case, "_" and "-".
_COUNTERS = (
    *("total", "count", "totalcount", "totalelements", "totalitems", "totalrecords", "totalrows", "totalsize"),
    *("recordstotal", "itemcount", "numresults", "numitems"),
)
_PAGES = ("pages", "totalpages", "totalpage", "pagecount", "numpages", "lastpage")
_MORE = (
    "next",
    "nextpage",
    "nextlink",
    "nextcursor",
    "nexttoken",
    "nextpagetoken",
    "hasmore",
    "hasnext",
    "hasnextpage",
)
_LAST = ("last", "lastpage", "islast", "islastpage")
_PAGINATION = ("pagination", "page", "pageinfo", "pager", "paging", "meta", "metadata", "links")


@dataclass(frozen=True)
class Listing:
    """Where the list is, which fields an item has, and which of the console's words mean which state.

    ``items``, ``name``, ``address`` and ``state`` are keys, joined by dots where they lie deeper.
    """

    path: str
    items: str
    name: str
    address: str
    state: str
    words: Mapping[str, str]

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Listing:
        """Raises OptionError for a description that contradicts itself."""
        if not params["path"].startswith("/") or params["path"].startswith("//"):
            raise OptionError(
                "listing.path",
                params["path"],
                "it is not a path on the management node",
                "Give the path of the request alone, such as /api/engines?page_size=1000.",
            )
        words: dict[str, str] = {}
        for state in _STATES:
            for word in params[state]:
                if words.setdefault(word, state) != state:
                    raise OptionError(
                        f"listing.{state}", word, f"it also means {words[word]}", "Name each word of the console once."
                    )
        return cls(
            path=params["path"],
            items=params["items"],
            name=params["name"],
            address=params["address"],
            state=params["state"],
            words=words,
        )

    def read(self, answer: Any) -> list[dict[str, str]]:
        """The engines of an answer: name, address, state and the console's own word for the state.

        Raises ConsoleError where the answer is not as described, or is one page of several: an engine that is only
        on the next page would look like one that is not listed.
        """
        items = self._found(answer, self.items)
        if not isinstance(items, list):
            raise self._unlike(f"under {self.items!r} there is no list", answer)
        self._refuse_a_part(answer, len(items))
        return [self._engine(item) for item in items]

    def _engine(self, item: Any) -> dict[str, str]:
        name, address, word = (self._text(item, key) for key in (self.name, self.address, self.state))
        return {"name": name, "address": address, "state": self.words.get(word, "unknown"), "console_state": word}

    def _text(self, item: Any, dotted: str) -> str:
        value = self._found(item, dotted)
        if value is None or isinstance(value, (dict, list)):
            what = {type(None): "null", dict: "an object", list: "a list"}[type(value)]
            raise self._unlike(f"{dotted!r} of an item is {what} where text or a number is expected", item)
        return str(value)

    def _found(self, value: Any, dotted: str) -> Any:
        for key in dotted.split(".") if dotted else ():
            if not isinstance(value, dict) or key not in value:
                raise self._unlike(f"there is no {key!r} (looking for {dotted!r})", value)
            value = value[key]
        return value

    def _unlike(self, what: str, value: Any) -> ConsoleError:
        there = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
        return ConsoleError(
            f"The console's answer at {self.path} is not as 'listing' describes it: {what}; there is: {there}.",
            "Correct the description; the playbook slb.fleet.try_engine_listing shows what it reads.",
        )

    def _refuse_a_part(self, answer: Any, length: int) -> None:
        for beside in self._beside(answer):
            for key, value in beside.items():
                if _says_more(_plain(key), value, length):
                    raise ConsoleError(
                        f"The console's list at {self.path} is one page of several: it has {length} engines, "
                        f"and {key} is {value!r:.60}.",
                        "Ask for all of them in one page, in the query of 'listing.path'.",
                    )

    def _beside(self, answer: Any) -> list[dict[str, Any]]:
        """The objects on the way to the list and those in them about pages: there consoles say how much there is."""
        objects = []
        for key in [*(self.items.split(".") if self.items else []), ""]:
            if isinstance(answer, dict):
                objects.append(answer)
                objects += [
                    value for name, value in answer.items() if isinstance(value, dict) and _plain(name) in _PAGINATION
                ]
                answer = answer.get(key)
        return objects


def _says_more(key: str, value: Any, length: int) -> bool:
    """Whether ``value`` under ``key`` says that there is more than the ``length`` items at hand."""
    return (
        (key in _COUNTERS and _number(value) > length)
        or (key in _PAGES and _number(value) > 1)
        or (key in _MORE and bool(value) and str(value).lower() not in ("false", "0"))
        or (key in _LAST and str(value).lower() == "false")
    )


def _number(value: Any) -> float:
    """A number, also one in a string; 0 for anything else."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return float(value)
    return value if isinstance(value, (int, float)) else 0


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")
