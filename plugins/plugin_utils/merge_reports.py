# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes one report of those of several runs, without Ansible:

    PYTHONPATH=~/.ansible/collections python3 -m ansible_collections.slb.fleet.plugins.plugin_utils.merge_reports \
        --into reports/whole reports/slice-1 reports/slice-2

A report is a report.json, or the folder with one. What is written is as docs/report.md has it; report.html only where
this Python has Jinja2, and else one that is there is taken away. The exit status is 0 where nothing is left to do on
any host, 1 where something is, 2 where nothing could be merged.
"""

from __future__ import annotations

import argparse
import errno
import os
import stat
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import BAD, Document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import merged
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.reading import UnreadableReportError, document_from
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines

_PAGE = "report.html"
_MOST_BYTES = 256 << 20
"""A host has about 1 KB in a report."""


def merge(sources: Sequence[Path], into: Path) -> Document:
    """Nothing is written. Raises FleetError."""
    return merged([_read(source) for source in sources], NextStep(folder=str(into)))


def write(into: Path, document: Document) -> None:
    """Raises OSError and FleetError."""
    write_all(into, document, {name: made for name, made in AT_THE_END.items() if can_draw() or name != _PAGE})
    if not can_draw():
        # What is there is the page of another report.
        (into / _PAGE).unlink(missing_ok=True)


def can_draw() -> bool:
    """Whether this Python can make the page."""
    return find_spec("jinja2") is not None


def _read(source: Path) -> Document:
    path = source / "report.json" if source.is_dir() else source
    try:
        text = _content(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableReportError(str(path), getattr(error, "strerror", None) or "it is no text") from None
    return document_from(text, str(path))


def _content(path: Path) -> bytes:
    """Of a regular file alone: others may never end, or never begin."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {_MOST_BYTES >> 20} MiB")
    return content


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--into", required=True, type=Path, help="the folder for the one report")
    given = parser.parse_args(arguments)
    into = given.into.expanduser().absolute()
    try:
        document = merge(given.reports, into)
        write(into, document)
    except (FleetError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines(document)))
    if not can_draw():
        print(f"There is no {_PAGE}: this Python has no Jinja2.", file=sys.stderr)
    return 1 if any(document.counts[status] for status in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
