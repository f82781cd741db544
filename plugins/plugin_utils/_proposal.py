# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Propose ``slb_engine_list`` for an answer of the management node. No I/O.

The answer may contain secrets: of the answer, only keys and short state words are returned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, product
from typing import Any, NamedTuple

import yaml

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import STATES, TOTALS, comparable
from ansible_collections.slb.fleet.plugins.module_utils._secrets import mask_query, names_secret

_DEPTH, _OBJECT_DEPTH = 6, 4
_MAX_LISTS, _MAX_KEYS, _MAX_NUMBERS, _MAX_WORDS, _MAX_SHOWN, _MAX_PAIRED = 200, 100, 1000, 8, 12, 10
_MAX_KEY, _MAX_TEXT, _MAX_WORD, _MAX_DIGITS = 40, 100, 20, 3  # characters


class Listed(NamedTuple):
    """A list of objects. ``columns``: the texts of its objects, by key."""

    items: str
    columns: Mapping[str, Sequence[str]]
    size: int
    name: str = ""
    address: str = ""
    hosts: Set[str] = frozenset()


def propose(
    document: Any, headers: Mapping[str, str], path: str, hosts: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, Any], list[str]]:
    """Return the keys of slb_engine_list that were found for the answer at ``path``, and lines to show.

    The lines are YAML to paste, then the open questions. ``hosts``: name and address of the engine, by host.
    """
    lists = [_identify(each, hosts) for each in _read_lists(document)]
    candidates = [each for each in lists if each.hosts]
    if not candidates:
        cause = "No list has a name or address of the inventory." if lists else "The answer has no engines."
        keys = [f"Keys in the list '{each.items}': {_join(each.columns)}." for each in lists[:_MAX_WORDS]]
        return {"path": path}, [*_as_yaml({"path": path}), cause, *keys]
    best = max(candidates, key=lambda each: (len(each.hosts), bool(each.name and each.address), -each.items.count(".")))
    state, about_state = _find_state(best)
    total, about_total = _find_total(document, headers, best)
    option = {"path": path, "items": best.items, "name": best.name, "address": best.address, **state, "total": total}
    option = {key: value for key, value in option.items() if value}
    missing, others = sorted(set(hosts) - best.hosts), [f"'{each.items}'" for each in candidates if each is not best]
    lines = [f"Hosts in the list: {len(best.hosts)} of {len(hosts)}. Not in the list: {_join(missing)}."]
    lines += [f"Other lists with hosts: {_join(others)}."] if others else []
    for key, variable in (("name", "slb_engine_name"), ("address", "slb_manage_ip")):
        if key not in option:
            lines.append(f"Set {key}, or correct {variable}: no key fits. Keys: {_join(best.columns)}.")
    return option, [*_as_yaml(option), *lines, *about_state, *about_total]


def _read_lists(document: Any) -> list[Listed]:
    """Return the lists of objects. Lists at the same place of several objects are one list."""
    lists: dict[str, list[Any]] = {}

    def read(value: Any, keys: tuple[str, ...]) -> None:
        members: Iterable[tuple[str, Any]] = ()
        if isinstance(value, list):
            items, objects = ".".join(keys), [each for each in value if isinstance(each, dict)]
            if objects and (items in lists or len(lists) < _MAX_LISTS):
                lists.setdefault(items, []).extend(objects)
            members = (("*", each) for each in value)
        elif isinstance(value, dict):
            members = ((key, each) for key, each in value.items() if _is_key(key))
        for key, each in members if len(keys) < _DEPTH else ():
            read(each, (*keys, key))

    read(document, ())
    return [Listed(items, _read_columns(objects), len(objects)) for items, objects in lists.items()]


def _read_columns(objects: Sequence[Any]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    for number, each in enumerate(objects):
        for key, text in islice(_read_texts(each, "", _OBJECT_DEPTH), _MAX_KEYS):
            if key not in columns and len(columns) < _MAX_KEYS:
                columns[key] = [""] * len(objects)
            if key in columns:
                columns[key][number] = text
    return columns


def _read_texts(value: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the keys of an object, joined by dots, and their texts as the engine list reads them."""
    for key, member in value.items():
        if _is_key(key) and not names_secret(key):
            if isinstance(member, dict) and depth > 1:
                yield from _read_texts(member, f"{prefix}{key}.", depth - 1)
            elif isinstance(member, (str, int, float)):
                yield f"{prefix}{key}", member if isinstance(member, str) else json.dumps(member)


def _is_key(key: str) -> bool:
    """Return whether a key can be configured and shown."""
    return key.isprintable() and 0 < len(key.strip()) <= _MAX_KEY and "." not in key and key != "*"


def _identify(listed: Listed, hosts: Mapping[str, tuple[str, str]]) -> Listed:
    """Return the list with the keys of name and address that most hosts have in the same object."""
    by_name = {name: host for host, (name, _address) in hosts.items()}
    by_address = {comparable(address): host for host, (_name, address) in hosts.items()}
    named = _find_hosts(listed, by_name.get)
    addressed = _find_hosts(listed, lambda text: by_address.get(comparable(text)))

    def rate(pair: tuple[str, str]) -> tuple[int, int]:
        ones, others = named.get(pair[0], []), addressed.get(pair[1], [])
        both = {one for one, other in zip(ones, others, strict=False) if one == other}
        return len(both - {None}), 0 if all(pair) else len({*ones, *others} - {None})

    # One key alone ranks below a pair, and above two keys that match in different objects.
    name, address = max(product([*named, ""], [*addressed, ""]), key=rate)
    known = {host for host in (*named.get(name, ()), *addressed.get(address, ())) if host}
    return listed._replace(name=name, address=address, hosts=known)


def _find_hosts(listed: Listed, read: Callable[[str], str | None]) -> dict[str, list[str | None]]:
    """Return the host of each object that ``read`` returns for its text, by key: those of the most hosts first."""
    hosts = {key: [read(text[:_MAX_TEXT]) for text in texts] for key, texts in listed.columns.items()}
    keys = sorted((key for key in hosts if any(hosts[key])), key=lambda key: -len(set(hosts[key])))
    return {key: hosts[key] for key in keys[:_MAX_PAIRED]}


def _find_state(listed: Listed) -> tuple[dict[str, Any], list[str]]:
    """Return the keys state, running, deploying and failed of slb_engine_list, and the open questions."""
    words = {key: sorted(set(texts) - {""}) for key, texts in listed.columns.items()}
    few = [key for key in words if key not in (listed.name, listed.address) and 0 < len(words[key]) <= _MAX_WORDS]
    stated = [key for key in few if any(word.lower() in STATES for word in words[key])]
    # Of keys with equal words in each object, the first.
    different = {tuple(text.lower() for text in listed.columns[key]): key for key in reversed(stated)}
    # A key such as last_task may have these words, too.
    is_doubtful = not all(map(_names_state, stated)) and any(_names_state(key) for key in few if key not in stated)
    if len(different) != 1 or is_doubtful:
        keys = sorted(few if is_doubtful or not stated else stated, key=lambda key: not _names_state(key))
        shown = _join(key + (f" ({_join_words(words[key])})" if _names_state(key) else "") for key in keys)
        return {}, [f"Set state, running, deploying and failed. Keys with few values: {shown}."]
    (key,) = different.values()
    option = {state: [word for word in words[key] if word.lower() == state] for state in STATES}
    unset = [state for state in STATES if not option[state]]
    others = [word for word in words[key] if word.lower() not in STATES]
    lines = [f"Set {_join(unset)}: no such word now. show_engine_list shows later words as unmapped."] if unset else []
    lines += [f"Assign to running, deploying or failed: {_join_words(others)}."] if others else []
    return {"state": key, **option}, lines


def _names_state(key: str) -> bool:
    return any(word in key.rpartition(".")[2].lower() for word in ("state", "status"))


def _find_total(document: Any, headers: Mapping[str, str], listed: Listed) -> tuple[str, list[str]]:
    """Return the key of the number of all engines, and the open questions. Members of lists count other things."""
    numbers = dict(islice(_read_texts(document, "", _OBJECT_DEPTH), _MAX_NUMBERS)) if isinstance(document, dict) else {}
    named = [key for key in numbers if key.rpartition(".")[2] in TOTALS]
    # Those next to the list, or in an object that contains it. Others count something else.
    named = [key for key in named if f"{listed.items}.".startswith("".join(key.rpartition(".")[:2]))]
    numbers.update({f"header:{name}": value.strip() for name, value in headers.items() if _is_key(name)})
    equal = [key for key, text in numbers.items() if text == str(listed.size)]
    certain = [key for key in named if key in equal]
    if certain:
        return certain[0], []
    if named:
        return "", [f"{_join(named)} differs from the number of engines. Get all engines with path or page_parameter."]
    candidates = f"Set total if one of these is the number of all engines: {_join(equal)}."
    return "", [candidates if equal else "No total found. If the answer always has all engines, set complete: true."]


def _as_yaml(option: Mapping[str, Any]) -> list[str]:
    """Return the lines of slb_engine_list; keys that are needed and were not found are empty."""
    keys = {"path": "", "items": "", "name": "", "address": "", "state": "", **{state: [] for state in STATES}}
    shown = {"slb_engine_list": {**keys, **option, "path": mask_query(option["path"])}}
    text: str = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None)
    return text.splitlines()


def _join(texts: Iterable[str]) -> str:
    shown = list(islice(texts, _MAX_SHOWN + 1))
    return ", ".join([*shown[:_MAX_SHOWN], "..."] if len(shown) > _MAX_SHOWN else shown) or "none"


def _join_words(words: Sequence[str]) -> str:
    """Return the words that may be states: a few letters or digits. Other values may be secrets."""
    texts = [word for word in words if len(word) <= _MAX_WORD and word.replace(" ", "").replace("_", "").isalpha()]
    digits = [word for word in words if len(word) <= _MAX_DIGITS and word.isdecimal()]
    return _join([*texts, *digits, *["other values"][: len(words) - len(texts) - len(digits)]])
