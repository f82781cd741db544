# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The line that shows how far a run is."""

from __future__ import annotations

from dataclasses import dataclass

_SOONEST_SECONDS, _FEWEST, _SMALLEST_SHARE = 20, 3, 0.1
"""With less, the pace of the other hosts is not known."""
_WAIT_SECONDS = 10


@dataclass(frozen=True)
class Tally:
    """``checked``: of a run that only checks. ``settled``: of the ``in_play`` hosts of the play that runs since
    ``seconds``. ``waiting``: the host whose task has run longest, for ``waited`` seconds.
    """

    hosts: int
    healthy: int
    failed: int
    unreachable: int
    checked: int | None
    in_play: int
    settled: int
    seconds: float
    waiting: str = ""
    waited: float = 0


def progress_line(tally: Tally) -> str:
    """Return such as: 412/500 healthy · 3 failed · longest wait edge-7 42 s · about 6 min left."""
    first = f"{tally.healthy}/{tally.hosts} healthy"
    parts = [first] if tally.checked is None else [f"{tally.checked}/{tally.hosts} checked", f"{tally.healthy} healthy"]
    parts += [
        f"{number} {word}" for number, word in ((tally.failed, "failed"), (tally.unreachable, "unreachable")) if number
    ]
    if tally.waiting and tally.waited >= _WAIT_SECONDS:
        parts.append(f"longest wait {tally.waiting} {tally.waited:.0f} s")
    rest = tally.in_play - tally.settled
    is_known = tally.seconds >= _SOONEST_SECONDS and tally.settled >= max(_FEWEST, _SMALLEST_SHARE * tally.in_play)
    if is_known and rest > 0:
        left = tally.seconds / tally.settled * rest
        parts.append(
            f"about {left / 60:.0f} min left" if left >= 90 else f"about {max(10, round(left, -1)):.0f} s left"
        )
    return " · ".join(parts)
