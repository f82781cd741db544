# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reports in a folder, each replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.folder import Folder
from ansible_collections.slb.fleet.plugins.plugin_utils._report.metrics import metrics
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import can_be_named

FOLDER_MODE = 0o750
_MODE = 0o640
_MODE_OF = {"slb_fleet.prom": 0o644}
"""What the textfile collector reads, it reads as a user of its own."""


def as_text(document: Document) -> str:
    return json.dumps(document.as_json(), ensure_ascii=False, separators=(",", ":")) + "\n"


def retry(document: Document) -> str:
    """The hosts that a next run is for, as ``--limit @`` takes them: not those whose name it takes for a pattern."""
    return as_limit(host.name for host in document.hosts if host.status in AGAIN and can_be_named(host.name))


def as_limit(names: Iterable[str]) -> str:
    """A file for ``--limit @``. An empty one would be all hosts to it, so that of none says so."""
    return "".join(f"{name}\n" for name in names) or "!all\n"


_KILLED_SECONDS = 600.0
"""Nobody writes at a file for so long: another run may be at work in the folder."""


def _page(document: Document) -> str:
    # Here, because whoever merges reports without Ansible may have no Jinja2.
    from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page

    return page(document)


AT_ANY_MOMENT: Mapping[str, Callable[[Document], str]] = {
    "report.json": as_text,
    "retry": retry,
    "slb_fleet.prom": metrics,
}
AT_THE_END: Mapping[str, Callable[[Document], str]] = {
    **AT_ANY_MOMENT,
    "report.html": _page,
}


def write_all(folder: Path, document: Document, files: Mapping[str, Callable[[Document], str]]) -> None:
    """Raises OSError, and FleetError where the way to the folder leads over another user's link.

    Whoever reads a file sees the one before or this one, whole.
    """
    # Nobody else may write in what is made, nor exchange what is in it.
    with Folder.opened(folder, missing=FOLDER_MODE) as opened:
        for name, render in files.items():
            opened.write(name, render(document).encode("utf-8", "backslashreplace"), _MODE_OF.get(name, _MODE))


def take_away_what_killed_runs_left(folder: Path) -> None:
    """Files that were never given their names. Raises OSError and FleetError, as ``write_all``."""
    if folder.is_dir():
        with Folder.opened(folder) as opened:
            opened.sweep(_KILLED_SECONDS)
