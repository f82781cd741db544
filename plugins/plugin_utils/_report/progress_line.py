# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of life, while a run goes on."""

from __future__ import annotations

from dataclasses import dataclass

_SOONEST_SECONDS = 20
_FEWEST, _SMALLEST_SHARE = 3, 0.1
"""Of fewer hosts than that the pace of the others is not known."""


@dataclass(frozen=True)
class Tally:
    """``settled``: hosts of the play that goes on about which nothing more is to be done, of ``in_play``. ``seen``:
    of a run that only looks, the hosts about which it has decided or which have failed; None of others.
    """

    hosts: int
    healthy: int
    failed: int
    unreachable: int
    in_play: int
    settled: int
    seconds: float
    seen: int | None = None


def line(tally: Tally) -> str:
    """Such as: 412/500 healthy · 3 failed · about 6 min left."""
    is_look = tally.seen is not None
    parts = [f"{tally.seen}/{tally.hosts} looked at" if is_look else f"{tally.healthy}/{tally.hosts} healthy"]
    parts += [f"{tally.healthy} healthy"] if is_look and tally.healthy else []
    troubles = ((tally.failed, "failed"), (tally.unreachable, "unreachable"))
    parts += [f"{number} {words}" for number, words in troubles if number]
    parts += [words] if (words := _left(tally)) else []
    return " · ".join(parts)


def _left(tally: Tally) -> str:
    """By the pace of the play that goes on; nothing, where that is too early to tell."""
    rest = tally.in_play - tally.settled
    is_early = tally.seconds < _SOONEST_SECONDS or tally.settled < max(_FEWEST, _SMALLEST_SHARE * tally.in_play)
    if is_early or rest <= 0:
        return ""
    seconds = tally.seconds / tally.settled * rest
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {max(10, round(seconds, -1)):.0f} s left"
