# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reports in a folder, each replaced as a whole."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.junit import junit
from ansible_collections.slb.fleet.plugins.plugin_utils._report.metrics import metrics
from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page

_MODE, _FOLDER_MODE = 0o640, 0o750
_MODE_OF = {"slb_fleet.prom": 0o644}
"""What the textfile collector reads, it reads as a user of its own."""


def as_text(document: Document) -> str:
    return json.dumps(document.as_json(), ensure_ascii=False, separators=(",", ":")) + "\n"


def retry(document: Document) -> str:
    """The hosts that a next run is for, as ``--limit @`` takes them."""
    return "".join(f"{host.name}\n" for host in document.hosts if host.verdict in AGAIN)


AT_ANY_MOMENT: Mapping[str, Callable[[Document], str]] = {"report.json": as_text, "retry": retry}
AT_THE_END: Mapping[str, Callable[[Document], str]] = {
    **AT_ANY_MOMENT,
    "junit.xml": junit,
    "slb_fleet.prom": metrics,
    "report.html": page,
}


def write_all(folder: Path, document: Document, files: Mapping[str, Callable[[Document], str]]) -> None:
    """Raises OSError."""
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    for name, render in files.items():
        _replace(folder, name, render(document).encode("utf-8", "backslashreplace"))


def _replace(folder: Path, name: str, content: bytes) -> None:
    """Whoever reads the file sees the one before or this one, whole."""
    beside = folder / f".{name}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _MODE_OF.get(name, _MODE))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        beside.replace(folder / name)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
