# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's description of the console's list of engines: checked at the door, with a sentence for each mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible.module_utils.common.validation import check_type_int

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, MissingOptionError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._nearest import nearest

LISTING_OPTIONS: dict[str, dict[str, Any]] = {
    "path": {"type": "str", "required": True},
    "items": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "required": True},
    "running": {"type": "list", "elements": "str", "required": True},
    "deploying": {"type": "list", "elements": "str", "default": []},
    "failed": {"type": "list", "elements": "str", "default": []},
    "page_parameter": {"type": "str", "default": ""},
    "first_page": {"type": "int", "default": 1},
    "page_step": {"type": "int", "default": 1},
}
STATES = ("running", "deploying", "failed")

_WANTED = {
    "path": "the path of the request that gives the list, such as /api/engines?page_size=1000",
    "items": "the keys that lead to the list, such as data.items",
    "name": "the field of an item that holds the engine's name",
    "address": "the field of an item that holds the address of the engine host",
    "state": "the field of an item that holds the engine's state",
    "running": "the console's words, or numbers, for a running engine, such as [running]",
    "deploying": "the console's words for an engine that is being deployed",
    "failed": "the console's words for an engine whose deployment failed",
    "page_parameter": "the parameter of the query that chooses the page, such as page",
    "first_page": "the number of the first page, 0 or more",
    "page_step": "by how much that number grows from page to page, 1 or more",
}
_LEAST = {"first_page": 0, "page_step": 1}


def description(given: Any) -> dict[str, Any]:
    """All keys of ``LISTING_OPTIONS`` with values of their types; what is empty has its default.

    Raises FleetError for what is no description, lacks something, has a key that nobody reads, or contradicts itself.
    """
    described = _mapping(given)
    for key in described:
        if key not in LISTING_OPTIONS:
            near = nearest(str(key), LISTING_OPTIONS)
            raise FleetError(
                f"The description of the list, O(listing), has the key {str(key)!r}, which means nothing here.",
                f"Did you mean {near!r}?" if near else f"The keys are: {', '.join(LISTING_OPTIONS)}.",
            )
    result = {key: _value(key, rules, described.get(key)) for key, rules in LISTING_OPTIONS.items()}
    _check_path(result["path"])
    _check_words(result)
    return result


def _mapping(given: Any) -> Mapping[Any, Any]:
    if given is None or (isinstance(given, str) and not given.strip()):
        raise MissingOptionError("listing")
    # Ansible gives a mapping as text where it came from the command line or from a form.
    value = _parsed(given) if isinstance(given, str) else given
    if not isinstance(value, Mapping):
        raise OptionError(
            "listing",
            given,
            "it is not a mapping",
            f"Describe the list by the keys {', '.join(LISTING_OPTIONS)}, as docs/engine-list.md shows.",
        )
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _value(key: str, rules: Mapping[str, Any], value: Any) -> Any:
    kind = rules["type"]
    if kind == "list":
        value = [] if _is_nothing(value) else _words(key, value)
    elif _is_nothing(value):
        value = rules.get("default")
    elif kind == "int":
        value = _number(key, value)
    else:
        value = _text(key, value).strip()
    if rules.get("required") and not value:
        raise FleetError(f"The option O(listing.{key}) is missing.", f"Give {_WANTED[key]}.")
    return value


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _words(key: str, value: Any) -> list[str]:
    words = value if isinstance(value, (list, tuple)) else [value]
    return [_text(key, word) for word in words]


def _text(key: str, value: Any) -> str:
    if _is_nothing(value) or isinstance(value, (Mapping, list, tuple, set)):
        raise OptionError(f"listing.{key}", value, "it is not text", f"Give {_WANTED[key]}.")
    return str(value)


def _number(key: str, value: Any) -> int:
    try:
        number = -1 if isinstance(value, bool) else int(check_type_int(value))
    except (TypeError, ValueError):
        number = -1
    if number < _LEAST[key]:
        raise OptionError(
            f"listing.{key}", value, f"it is not a whole number from {_LEAST[key]} on", f"Give {_WANTED[key]}."
        )
    return number


def _check_path(path: str) -> None:
    if not path.startswith("/") or path.startswith("//") or "#" in path:
        raise OptionError(
            "listing.path",
            path,
            "what follows a # never leaves the browser" if "#" in path else "it is not a path on the management node",
            "Give the path of the request alone, such as /api/engines?page_size=1000.",
        )


def _check_words(described: Mapping[str, Any]) -> None:
    meanings: dict[str, str] = {}
    for state in STATES:
        for word in described[state]:
            if meanings.setdefault(word, state) != state:
                raise OptionError(
                    f"listing.{state}", word, f"it also means {meanings[word]}", "Name each word of the console once."
                )
