# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reports in a folder, each replaced as a whole."""

from __future__ import annotations

import errno
import json
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    MAX_NAMES,
    PLAN_FORMAT,
    VERSION,
    Document,
    Run,
    file_for_retry,
    names_for_retry,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.metrics import metrics
from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page

_PREFIX, _SUFFIX = ".slb-fleet-", ".part"
_KILLED_SECONDS, _RETRY_SECONDS = 600, 7 * 24 * 3600
_MODE_OF_FOLDER, _MODE, _MODE_OF_METRICS = 0o750, 0o640, 0o644


def as_text(document: Document) -> str:
    return _json(document.as_json())


def plan(document: Document) -> str:
    """Return the plan to approve, with the run that made it."""
    run, made = document.run, vars(document.plan)
    of = {"playbook": run.playbook, "began": run.began, "limit": run.limit, "versions": run.versions}
    return _json({"format": PLAN_FORMAT, "version": VERSION, **of, **made})


def retry(document: Document) -> str:
    """Return the hosts for a next run, as ``--limit @`` reads them. To Ansible, an empty file would be all hosts."""
    return "".join(f"{name}\n" for name in names_for_retry(document)) or "!all\n"


AT_ANY_MOMENT: Mapping[str, Callable[[Document], str]] = {
    "report.json": as_text,
    "retry": retry,
    "slb_fleet.prom": metrics,
}
AT_THE_END: Mapping[str, Callable[[Document], str]] = {**AT_ANY_MOMENT, "report.html": page}
TO_APPROVE: Mapping[str, Callable[[Document], str]] = {**AT_THE_END, "plan.json": plan}


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def folder_for(run: Run, folder: Path, written: dict[Path, bool]) -> Path:
    """Return the folder for the files of a playbook, which replace none of an earlier playbook that changes hosts.

    ``folder``: of the option. ``written``: the folders of this command so far, and whether such a playbook wrote there.
    """
    name = run.playbook.rpartition(".")[2]
    others = (folder / (name if number == 1 else f"{name}-{number}") for number in count(1))
    is_change = not run.is_read_only
    free = folder if is_change and not written.get(folder) else None
    place = free or next(each for each in chain([folder], others) if each not in written)
    written[place] = is_change
    return place


def remove_old(folder: Path) -> None:
    """Remove files that killed runs left, and hosts of former runs; a newer one may be in use. Raises OSError."""
    for pattern, seconds in ((f"{_PREFIX}*{_SUFFIX}", _KILLED_SECONDS), (f"retry-{'[0-9a-f]' * 8}", _RETRY_SECONDS)):
        for path in folder.glob(pattern):
            if time.time() - path.lstat().st_mtime > seconds:
                path.unlink(missing_ok=True)


def write_all(folder: Path, document: Document, files: Mapping[str, Callable[[Document], str]]) -> None:
    """Write the files; a reader sees the former file or the new one. Raises OSError."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(_MODE_OF_FOLDER, exist_ok=True)
    if folder.stat().st_mode & stat.S_IWOTH:
        raise PermissionError(errno.EPERM, "all users may write to it")
    names = names_for_retry(document)
    if len(names) > MAX_NAMES and document.run.status != "running":
        files = {**files, file_for_retry(names): retry}
    if not document.hosts and (folder / "retry").exists():
        # A command that was refused leaves the hosts that the run before left.
        files = {name: render for name, render in files.items() if render is not retry}
    for name, render in files.items():
        with tempfile.NamedTemporaryFile("wb", dir=folder, prefix=_PREFIX, suffix=_SUFFIX, delete=False) as file:
            path = Path(file.name)
            try:
                file.write(render(document).encode("utf-8", "backslashreplace"))
                file.flush()
                # The textfile collector reads its file as a user of its own.
                path.chmod(_MODE_OF_METRICS if name.endswith(".prom") else _MODE)
                path.replace(folder / name)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
