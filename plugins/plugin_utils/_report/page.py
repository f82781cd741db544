# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as one page of HTML that loads nothing from elsewhere. Jinja2 escapes every text in it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import BAD, STATUSES, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.timeline import timeline


def page(document: Document) -> str:
    counts, script = document.counts, _read("page.js")
    return _template().render(
        document=document,
        run=document.run,
        counts=counts,
        statuses=STATUSES,
        bad=BAD,
        summary=", ".join(f"{counts[each]} {words}" for each, words in STATUSES.items() if counts[each]) or "no hosts",
        groups=document.groups(),
        timeline=timeline(document),
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
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(_read("page.html.j2"))
