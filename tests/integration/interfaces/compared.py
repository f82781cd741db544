"""What has changed between two dumps, and which of it a result has said."""

from __future__ import annotations

import json

Dump = dict[str, str]

# What was asked for: control, and what it is written down in.
WISHED = ("networkmanager state", "file ")
LATE_SECONDS = 20
RESOLVER = "/etc/resolv.conf"
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
        and not (_of_ipv6_as_a_whole(key, before, after) and any("IPv6 is " in sentence for sentence in sentences))
        and not any(all(word in sentence for word in named(key, before, after)) for sentence in sentences)
    }


def _of_ipv6_as_a_whole(key: str, before: Dump, after: Dump) -> bool:
    """Below an MTU of 1280 there is none, and no setting of it."""
    had, has = before.get(key), after.get(key)
    return None in (had, has) and (key.startswith("ipv6 ") or (key == "token" and "::" in (had, has)))


def of_the_host_unsaid(before: Dump, after: Dump, remarks: list[str]) -> dict[str, str]:
    """A profile that was there may have rules and name servers; all else of the host is nobody's business here."""
    return {
        key: change
        for key, change in differences(before, after).items()
        if not (key.startswith("rule ") and unsaid({}, {key: "there"}, remarks) == {})
        and not (key == f"file {RESOLVER}" and _resolver_said(before.get(key, ""), after.get(key, ""), remarks))
    }


def _resolver_said(had: str, has: str, remarks: list[str]) -> bool:
    """Each word that came or went, with what it is for. Who wrote the file is in a comment of it."""
    first, second = ([line.split() for line in text.splitlines() if line[:1] != "#"] for text in (had, has))
    told = " ".join(remark for remark in remarks if RESOLVER in remark)
    changed = {(what, word) for what, *words in first for word in words} ^ {
        (what, word) for what, *words in second for word in words
    }
    return all(f"{what} {word}" in told for what, word in changed) and bool(changed or first == second)


def _of(key: str, thing: str) -> bool:
    """Whether it is about a thing of which it is enough to say that it is there, or not."""
    return key.startswith(thing + " ")


def named(key: str, before: Dump, after: Dump) -> list[str]:
    """The words by which anybody would look for it."""
    what, *rest = key.split()
    if what == "order":
        return [f"order of its {rest[-1]} "]
    if what == "address":
        return [rest[0].split("/")[0], *(ALIASES.get(word, word) for word in rest[1:])]
    if what == "route":
        text = key.split(" ", 2)[2]
        route, end = json.JSONDecoder().raw_decode(text)
        return [route["dst"], *text[end:].replace("again", "").split()]
    if what == "rule":
        return ["priority {priority} ".format(**json.loads(key.split(" ", 2)[2]))]
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
