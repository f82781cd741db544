# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's list of engines, read by a user's description: the interface itself documents none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_plus

from ansible_collections.slb.fleet.plugins.module_utils._console.description import STATES, description
from ansible_collections.slb.fleet.plugins.module_utils._console.extent import Extent
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_VALUE = 500  # characters; no name or address that is asked for is as long
_LONGEST_KEY = 60
_MOST_KEYS = 40


@dataclass(frozen=True)
class Listing:
    """Where the list is, which fields an item has, and which of the console's words mean which state.

    ``items``, ``name``, ``address`` and ``state`` are keys, joined by dots where they lie deeper.
    ``page_parameter``: the parameter of the query that chooses the page, empty where all engines come in one answer;
    it is ``first_page`` for the first page, and ``page_step`` more for each further one.
    """

    path: str
    items: str
    name: str
    address: str
    state: str
    words: Mapping[str, str]
    page_parameter: str = ""
    first_page: int = 1
    page_step: int = 1

    @classmethod
    def from_params(cls, params: Any) -> Listing:
        """Raises FleetError for what is no description, whatever it is."""
        described = description(params)
        words = {word: state for state in STATES for word in described.pop(state)}
        return cls(words=words, **described)

    def page_number(self, index: int) -> int:
        """What the parameter is for the page with this index, from 0."""
        return self.first_page + index * self.page_step

    def page_path(self, index: int) -> str:
        """The path of that page: the described one, with the parameter in its query."""
        path, _mark, query = self.path.partition("?")
        others = [
            pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) != self.page_parameter
        ]
        return f"{path}?{'&'.join([*others, f'{quote(self.page_parameter)}={self.page_number(index)}'])}"

    def read(self, answer: Any) -> list[dict[str, str]]:
        """The engines of an answer that holds them all.

        Raises ConsoleError where the answer is not as described, or is one page of several: an engine that is only
        on the next page would look like one that is not listed.
        """
        items = self.items_of(answer)
        more = Extent(answer, self.items, len(items)).more(len(items), 1)
        if more:
            raise ConsoleError(
                f"The console's list at {self.path} is one page of several: it has {len(items)} engines, "
                f"and {in_short(more[0], _LONGEST_KEY)} is {more[1]!r:.60}.",
                "Ask for all of them in one page, in the query of O(listing.path), or name the parameter of the query "
                "that chooses the page in O(listing.page_parameter).",
            )
        return self.engines(items)

    def items_of(self, answer: Any) -> list[Any]:
        """Raises ConsoleError where there is no list as described."""
        items = self._found(answer, self.items)
        if not isinstance(items, list):
            raise self._unlike(f"under {self.items!r} there is no list", answer)
        return items

    def engines(self, items: list[Any]) -> list[dict[str, str]]:
        """Name, address, state and the console's own word for the state, as they can be shown.

        Raises ConsoleError for an unlike item.
        """
        return [self._engine(item) for item in items]

    def _engine(self, item: Any) -> dict[str, str]:
        name, address, word = (self._text(item, key) for key in (self.name, self.address, self.state))
        return {
            "name": in_short(name, _LONGEST_VALUE),
            "address": in_short(address, _LONGEST_VALUE),
            "state": self.words.get(word, "unknown"),
            "console_state": in_short(word, _LONGEST_VALUE),
        }

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
        there = _keys(value) if isinstance(value, dict) else type(value).__name__
        return ConsoleError(
            f"The console's answer at {self.path} is not as O(listing) describes it: {what}; there is: {there}.",
            "Correct the description; the playbook slb.fleet.show_engine_list shows what it reads.",
        )


def _keys(item: Mapping[str, Any]) -> str:
    more = ["…"] if len(item) > _MOST_KEYS else []
    return ", ".join([in_short(key, _LONGEST_KEY) for key in islice(item, _MOST_KEYS)] + more)
