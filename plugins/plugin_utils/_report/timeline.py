# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a run on its page: the number of hosts in each state over time, and the batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import STATUSES, Batch, Document

WIDTH = 1000
"""Units of the axis of time. The other axis counts hosts."""
MIN_SECONDS = 5
"""Of a run with a picture: times in the document are whole seconds."""
_MIN_BAND = 2
_FINAL = ("failed", "unreachable", "healthy", "done", "planned")
"""From the bottom, so that failures have a straight baseline. Hosts of other statuses end in progress or waiting."""


@dataclass(frozen=True)
class Layer:
    """Hosts in one state. ``outline``: the area of this state and of all below, as the data of an SVG path."""

    state: str
    words: str
    outline: str


@dataclass(frozen=True)
class Band:
    """One batch. ``start``, ``width``: in percent of the time."""

    batch: Batch
    start: float
    width: float


@dataclass(frozen=True)
class Timeline:
    layers: tuple[Layer, ...]
    bands: tuple[Band, ...]
    ticks: tuple[str, ...]


def timeline(document: Document) -> Timeline | None:
    """Return the picture, its layers from the top; None for a run without hosts, or too short to have a course."""
    run, hosts = document.run, document.hosts
    began, ended = _time(run.began), _time(run.updated)
    span = (ended - began).total_seconds()
    if not hosts or span < MIN_SECONDS:
        return None

    def place(moment: str | None) -> int:
        passed = (_time(moment) - began).total_seconds() if moment else span
        return round(WIDTH * min(max(passed, 0), span) / span)

    starts: list[int] = []
    ends: dict[str, list[int]] = {status: [] for status in _FINAL}
    for host in hosts:
        batch = None if host.batch is None else run.batches[host.batch]
        # Hosts of a playbook that verifies nothing are done when their batch is.
        end = place(host.settled or (batch.ended if batch else None)) if host.status in _FINAL else WIDTH
        if host.status in _FINAL:
            ends[host.status].append(end)
        if host.status != "not_started":
            starts.append(min(place(batch.began) if batch else end, end))

    layers, below = [], list[int]()
    for status in _FINAL:
        if ends[status]:
            below += ends[status]
            layers.append(Layer(status, STATUSES[status], _outline(below, len(hosts))))
    if sorted(starts) != sorted(below):
        layers.append(Layer("in_progress", "in progress", _outline(starts, len(hosts))))
    if len(starts) < len(hosts) or any(starts):
        layers.append(Layer("waiting", "waiting", _outline([0] * len(hosts), len(hosts))))
    edges = ((batch, min(place(batch.began), WIDTH - _MIN_BAND), place(batch.ended)) for batch in run.batches)
    bands = tuple(Band(batch, start / 10, max(end - start, _MIN_BAND) / 10) for batch, start, end in edges)
    ticks = tuple(f"{began + timedelta(seconds=span * part):%H:%M:%S}Z" for part in (0, 0.5, 1))
    return Timeline(tuple(reversed(layers)), bands, ticks)


def _outline(places: Iterable[int], hosts: int) -> str:
    """Return the area below the number of places that lie to the left, from the first place on."""
    numbers = Counter(places)
    order = sorted(numbers)
    heights = accumulate(numbers[place] for place in order)
    steps = "".join(f"H{place}V{hosts - height}" for place, height in zip(order, heights, strict=True))
    return f"M{order[0]} {hosts}{steps}H{WIDTH}V{hosts}Z"


def _time(moment: str) -> datetime:
    return datetime.fromisoformat(moment.removesuffix("Z"))
