# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as one page of HTML that loads nothing from elsewhere. Jinja2 escapes every text in it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from functools import cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from ansible_collections.slb.fleet.plugins.module_utils._visible import amount, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import BAD, STATUSES, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.events import metadata
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import changed, span
from ansible_collections.slb.fleet.plugins.plugin_utils._report.timeline import timeline

_FEWEST = 3
"""Hosts of a run with a picture."""


def page(document: Document) -> str:
    counts, script, run = document.counts, _read("page.js"), document.run
    plays = Counter(batch.play for batch in run.batches)
    batches = [batch for batch in run.batches if plays[batch.play] > 1]
    picture = timeline(document) if counts["hosts"] >= _FEWEST and not run.is_read_only else None
    return _template().render(
        document=document,
        run=run,
        duration=span(run.seconds),
        changed=changed(document),
        batches=batches,
        bands=[band for band in picture.bands if band.batch in batches] if picture else [],
        codes=f"{metadata('documentation').rpartition('/')[0]}/reference/messages.md#",
        causes={host.name: host.summary for host in document.hosts},
        counts=counts,
        statuses=STATUSES,
        bad=BAD,
        summary=", ".join(f"{counts[each]} {words}" for each, words in STATUSES.items() if counts[each]) or "no hosts",
        groups=document.groups(),
        timeline=picture,
        amount=amount,
        # Files of this folder, and the only ones that the page may run and show.
        script=Markup(script),  # noqa: S704
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup(_read("page.css")),  # noqa: S704
    )


@cache
def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        # A report may come from elsewhere. Markup is of this folder.
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_read("page.html.j2"))
