# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read ``--limit``, also from a file that this run may replace."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.inventory.manager import split_host_pattern

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible


def files_of(limit: str) -> list[str]:
    return [part[1:] for part in split_host_pattern(limit) if part.startswith("@")]


def remember(limit: str) -> None:
    """Keep the present content of the files for the rest of the run."""
    for path in files_of(limit):
        _lines(path)


def patterns_of(limit: str) -> list[str]:
    """Return the patterns, with the lines of files. Raises AnsibleError for an empty limit, which Ansible ignores."""
    for path in files_of(limit):
        if not _lines(path):
            raise AnsibleError(
                f"The file {visible(path)} of --limit names no host, which Ansible takes for all hosts. Nothing was "
                "done. Write the hosts into it, one per line, or leave --limit out."
            )
    parts = [part for part in split_host_pattern(limit) if part.strip()]
    if limit and not parts:
        raise AnsibleError(
            f"--limit {visible(limit)} names no host, which Ansible takes for all hosts. Nothing was done. Name the "
            "hosts, or leave --limit out."
        )
    return [pattern for part in parts for pattern in (_lines(part[1:]) if part.startswith("@") else (part,))]


@cache
def _lines(path: str) -> tuple[str, ...]:
    """Return the lines without blank ones and comments; none if the file cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        text = ""
    lines = (line.strip() for line in text.split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#"))
