# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as one page of HTML that needs nothing from elsewhere. Everything in it is escaped by Jinja2."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    BAD,
    DRIFTS,
    PHASES,
    SINCE,
    STATUSES,
    Batch,
    Document,
    HostEntry,
    RunEntry,
)

_HERE = Path(__file__).parent
_MOST_OF_COMMANDS = 1_000_000
"""Characters. A page of 5,000 hosts that all failed stays small enough to be opened at once."""


@dataclass(frozen=True)
class Bar:
    """A batch in the timeline: where its bar begins and how wide it is, in per cent of the run."""

    batch: Batch
    left: float
    width: float


def page(document: Document) -> str:
    script = _text("page.js")
    return _template().render(
        document=document,
        run=document.run,
        counts=document.counts,
        statuses=STATUSES,
        phases=PHASES,
        since=SINCE,
        drifts=DRIFTS,
        bars=[_bar(batch, document.run) for batch in document.run.batches],
        summary=", ".join(
            f"{document.counts[status]} {words}" for status, words in STATUSES.items() if document.counts[status]
        )
        or "no hosts",
        groups=document.groups(),
        is_bad=is_bad,
        # The overview has the one for all hosts.
        tells_each_command=sum(len(escape(host.next)) for host in document.hosts) <= _MOST_OF_COMMANDS,
        # Ours, and the only ones that the page may run and show.
        script=Markup(script),  # noqa: S704
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup(_text("page.css")),  # noqa: S704
    )


def is_bad(host: HostEntry) -> bool:
    return host.status in BAD


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(_text("page.html.j2"))


def _bar(batch: Batch, run: RunEntry) -> Bar:
    begin, whole = _seconds(run.began), max(_seconds(run.updated) - _seconds(run.began), 1.0)
    left = (_seconds(batch.began) - begin) / whole * 100
    width = (_seconds(batch.ended or run.updated) - _seconds(batch.began)) / whole * 100
    return Bar(batch, round(min(left, 99), 1), round(max(width, 1), 1))


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
