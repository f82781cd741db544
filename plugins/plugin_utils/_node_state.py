# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run knows of one management node: whether it answers, and when it may be asked again. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._console.gate import Sign

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
_FIRST_HOLD, _LONGEST_HOLD = 1.0, 30.0


class HostStatus(NamedTuple):
    """``wait``: ``seconds``, then ask again. ``probe``: whoever reads this asks whether the node is back."""

    action: Literal["pass", "wait", "probe", "refuse"]
    seconds: float = 0.0


@dataclass(frozen=True)
class NodeState:
    """All times are by one clock. ``held_until``: the node has asked for it; ``holds``: how often in a row.

    ``absent_since``: a request found it absent then, ``words`` say how; ``probes``: how many have found it so since,
    and the next is due at ``probe_at``.
    """

    held_until: float = 0.0
    holds: int = 0
    absent_since: float | None = None
    words: str = ""
    probes: int = 0
    probe_at: float = 0.0
    is_given_up: bool = False

    @property
    def is_down(self) -> bool:
        """Found out twice: a single request may have had an accident of its own."""
        return self.probes > 0

    def status(self, now: float, patience: float) -> HostStatus:
        """``patience``: seconds for which a run waits for the node."""
        if self.is_given_up:
            return HostStatus("refuse")
        if self.absent_since is not None:
            return HostStatus("probe") if now >= self.probe_at else HostStatus("wait", self.probe_at - now)
        rest = self.held_until - now
        if rest <= 0:
            return HostStatus("pass")
        return HostStatus("wait", rest) if rest <= patience else HostStatus("refuse")

    def probing(self, now: float, seconds: float) -> NodeState:
        """Somebody asks; nobody else does for so long."""
        return replace(self, probe_at=now + seconds)

    def heard(self, sign: Sign, now: float) -> NodeState:
        """What a request has shown."""
        if self.is_given_up:
            return self
        if sign.kind == "absent":
            if self.absent_since is not None:
                return self
            return replace(self, absent_since=now, words=sign.words, probes=0, probe_at=now + _FIRST_PAUSE)
        is_back = replace(self, absent_since=None, words="", probes=0, probe_at=0.0)
        if sign.kind == "answers":
            # A hold is not lifted by an answer to what was asked before it.
            return replace(is_back, holds=0) if now >= self.held_until else is_back
        # Those that were under way when it began count as one.
        holds = self.holds + (now >= self.held_until)
        pause = sign.pause or min(_LONGEST_HOLD, _FIRST_HOLD * 2 ** (holds - 1))
        return replace(is_back, holds=holds, held_until=max(self.held_until, now + pause), words=sign.words)

    def probed(self, sign: Sign, now: float, patience: float, least: int) -> NodeState:
        """What a probe has shown. ``least``: so many are made, however short the patience."""
        if sign.kind != "absent" or self.absent_since is None:
            return self.heard(sign, now)
        probes = self.probes + 1
        is_over = probes >= least and now - self.absent_since >= patience
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**probes)
        if patience:
            pause = min(pause, max(_FIRST_PAUSE, self.absent_since + patience - now))
        return replace(self, probes=probes, probe_at=now + pause, words=sign.words or self.words, is_given_up=is_over)
