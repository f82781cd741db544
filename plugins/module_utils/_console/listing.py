# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's list of engines, read by a user's description: the interface itself documents none."""

from __future__ import annotations

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
_COUNTERS = ("total", "count", "total_count", "totalcount", "num_results", "size")
_MORE = ("next", "next_page", "nextpage", "has_more", "hasmore", "has_next", "hasnext")


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
        name, address, word = (str(self._found(item, key)) for key in (self.name, self.address, self.state))
        return {"name": name, "address": address, "state": self.words.get(word, "unknown"), "console_state": word}

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
                is_more = key.lower() in _COUNTERS and isinstance(value, int) and value > length
                if is_more or (key.lower() in _MORE and value):
                    raise ConsoleError(
                        f"The console's list at {self.path} is one page of several: it has {length} engines, "
                        f"and {key} is {value!r}.",
                        "Ask for all of them in one page, in the query of 'listing.path'.",
                    )

    def _beside(self, answer: Any) -> list[dict[str, Any]]:
        """The objects on the way to the list, in which consoles say how many items or pages there are."""
        objects = []
        for key in [*(self.items.split(".") if self.items else []), ""]:
            if isinstance(answer, dict):
                objects.append(answer)
                answer = answer.get(key)
        return objects
