"""What has changed between two dumps, and which of it a result has said."""

from __future__ import annotations

import json
import re

Dump = dict[str, str]

# What was asked for: control, and what it is written down in.
WISHED = ("networkmanager state", "file ")
LATE_SECONDS = 20
ALIASES = {"address": "mac", "preferred_life_time": "lifetime", "valid_life_time": "lifetime"}


def differences(before: Dump, after: Dump) -> dict[str, str]:
    keys = sorted(before.keys() | after.keys())
    pairs = {key: (before.get(key), after.get(key)) for key in keys if not _of_its_first_time_up(key, before)}
    return {
        key: f"{had} -> {has}"
        for key, (had, has) in pairs.items()
        if not (same_order(had or "", has or "") if key.startswith("order of") else same(had, has))
    }


def same_order(had: str, has: str) -> bool:
    """Of those that are there both times; the others are told by themselves."""
    first, second = had.split(), has.split()
    return [each for each in first if each in second] == [each for each in second if each in first]


def _of_its_first_time_up(key: str, before: Dump) -> bool:
    """An interface that never was up has no queue yet, and keeps the one that it then gets, down or not."""
    return before.get("link qdisc") == "noop" and key in ("link qdisc", "tc qdisc noqueue 0:")


def same(had: str | None, has: str | None) -> bool:
    """Lifetimes go on and do not begin anew; they are told in whole seconds, a while after they were asked for."""
    if had and has and had.startswith("until ") and has.startswith("until "):
        return abs(int(had.split()[1]) - int(has.split()[1])) <= LATE_SECONDS
    return had == has


def unsaid(before: Dump, after: Dump, sentences: list[str]) -> dict[str, str]:
    """The differences that no sentence names: each must have what is needed to find the thing, and its attribute."""
    come_or_gone = [key for key in before.keys() ^ after.keys() if "there" in (before.get(key), after.get(key))]
    return {
        key: change
        for key, change in differences(before, after).items()
        if not key.startswith(WISHED)
        and not any(_of(key, thing) for thing in come_or_gone)
        and not any(all(word in sentence for word in named(key, before, after)) for sentence in sentences)
    }


def _of(key: str, thing: str) -> bool:
    """Whether it is about a thing of which it is enough to say that it is there, or not."""
    return key.startswith(thing + " ")


def named(key: str, before: Dump, after: Dump) -> list[str]:
    """The words by which anybody would look for it."""
    what, *rest = key.split()
    if what == "address":
        return [rest[0].split("/")[0], *(ALIASES.get(word, word) for word in rest[1:])]
    if what == "route":
        text = key.split(" ", 2)[2]
        route, end = json.JSONDecoder().raw_decode(text)
        return [route["dst"], *text[end:].replace("again", "").split()]
    if what == "rule":
        return [str(json.loads(key.split(" ", 2)[2])["priority"])]
    if what == "link" and rest == ["flags"]:
        had, has = (set(json.loads(dump.get(key, "[]"))) for dump in (before, after))
        return sorted((had ^ has) - {"LOWER_UP", "NO-CARRIER"})  # which follow from UP
    if what in ("neighbour", "proxy", "multicast"):
        return [rest[-1]]
    if what == "link":
        return [ALIASES.get(rest[0], rest[0])]
    if what == "tc":
        return [rest[0]]
    return [key]


def kind_of(key: str) -> str:
    """What a thing is, whichever it is."""
    what, *rest = key.split()
    if what == "route":
        text = key.split(" ", 2)[2]
        route, end = json.JSONDecoder().raw_decode(text)
        attribute = text[end:].replace("again", "").strip()
        return f"route {route['type']} {attribute}".strip()
    if what in ("tc", "proxy", "multicast", "locked"):
        return f"{what} {rest[0]}"
    if what in ("address", "neighbour", "rule"):
        return " ".join([what, *([] if what == "rule" else rest[1:])])
    return key


def reason_of(sentence: str) -> str:
    """A reason without what is this case's alone: names, addresses and numbers."""
    short = re.sub(r"(what it had): .*", r"\1", sentence.split(". ")[0])
    short = re.sub(r"(?<![\w-])(?!IPv[46]\b)[\w.:/%-]*\d[\w.:/%-]*", "…", short)
    return re.sub(r"…(,? …)+", "…", short)
