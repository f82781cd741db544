# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run did to each host, gathered event by event, and put into one line a host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short

_LONGEST = 2000
_NOT_ATTEMPTED = "not attempted"


@dataclass
class HostStory:
    """``began`` and ``ended``: in the last play that names the host, seconds by any clock that only goes forward.

    ``spent``: seconds in the plays before that one.
    """

    play: str = ""
    began: float | None = None
    ended: float = 0
    spent: float = 0
    fate: Mapping[str, Any] | None = None
    has_looked: bool = False
    changes: list[str] = field(default_factory=list)
    trouble: str = ""

    def expect(self, play: str) -> None:
        if play != self.play:
            self.play, self.spent, self.began = play, self.seconds, None

    @property
    def seconds(self) -> float:
        return self.spent + (max(0.0, self.ended - self.began) if self.began is not None else 0.0)

    @property
    def verdict(self) -> str:
        if self.trouble:
            return self.trouble.partition(":")[0]
        if self.began is None:
            return _NOT_ATTEMPTED
        if self.fate is None:
            return "looked at" if self.has_looked else "done"
        is_proven = self.fate["action"] == "nothing"
        return f"verified by {self.fate['verified_by']}" if is_proven else "not proven"

    @property
    def evidence(self) -> str:
        return in_short("; ".join(self.fate["evidence"][:2]), _LONGEST) if self.fate else ""


def _is_fate(value: Any) -> bool:
    """Whether it is a decision as M(slb.fleet.host_fate) gives it, and nothing that only has the same name."""
    if not isinstance(value, Mapping) or not isinstance(value.get("action"), str):
        return False
    evidence = value.get("evidence")
    is_told = isinstance(evidence, list) and all(isinstance(phrase, str) for phrase in evidence)
    return is_told and value.get("verified_by", "") in ("host", "console", None)


class Report:
    """The hosts of a run, in the order in which the plays name them."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostStory] = {}

    def expect(self, play: str, hosts: list[str]) -> None:
        """``play`` names these hosts. Those that it never comes to were not attempted, whatever was done before."""
        for host in hosts:
            self._hosts.setdefault(host, HostStory()).expect(play)

    def begin(self, host: str, now: float) -> None:
        story = self._hosts.setdefault(host, HostStory())
        if story.began is None:
            story.began = now

    def end(self, host: str, task: str, result: Mapping[str, Any], now: float) -> None:
        story = self._hosts.setdefault(host, HostStory())
        story.ended = now
        story.fate = result["fate"] if _is_fate(result.get("fate")) else story.fate
        story.has_looked = story.has_looked or "slb_host" in result
        if result.get("changed"):
            story.changes.append(in_short(task[:1].lower() + task[1:], _LONGEST))

    def fail(self, host: str, kind: str, words: str, now: float) -> None:
        story = self._hosts.setdefault(host, HostStory())
        story.ended = now
        story.trouble = f"{kind}: {in_short(' '.join(words.split()), _LONGEST)}"

    def lines(self) -> Iterator[str]:
        """The host, how it stands, how long it took, what was seen, what was done, and what is wrong with it."""
        width = max(map(len, self._hosts), default=0)
        kind = max((len(story.verdict) for story in self._hosts.values()), default=0)
        for host, story in self._hosts.items():
            seconds = f"{story.seconds:.0f} s" if story.seconds or story.began is not None else ""
            parts = [story.evidence, ", ".join(story.changes) if story.changes else "", story.trouble]
            yield f"{host:{width}}  {story.verdict:{kind}}  {seconds:>6}  {' | '.join(filter(None, parts))}".rstrip()
