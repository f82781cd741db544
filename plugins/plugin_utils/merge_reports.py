# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes one report of those of several runs, without Ansible:

    PYTHONPATH=~/.ansible/collections python3 -m ansible_collections.slb.fleet.plugins.plugin_utils.merge_reports \
        --into reports/whole reports/slice-1 reports/slice-2

A report is a report.json, or the folder with one. What is written is as docs/report.md has it; report.html only where
this Python has Jinja2. The exit status is 0 where nothing is left to do on any host, 1 where something is, 2 where
nothing could be merged.
"""

from __future__ import annotations

import argparse
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


def merge(sources: Sequence[Path], into: Path) -> Document:
    """Nothing is written. Raises FleetError."""
    return merged([_read(source) for source in sources], NextStep(folder=str(into)))


def write(into: Path, document: Document) -> None:
    """Raises OSError and FleetError."""
    can_draw = find_spec("jinja2") is not None
    write_all(into, document, {name: made for name, made in AT_THE_END.items() if can_draw or name != "report.html"})


def _read(source: Path) -> Document:
    path = source / "report.json" if source.is_dir() else source
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableReportError(str(path), getattr(error, "strerror", None) or "it is no text") from None
    return document_from(text, str(path))


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
    return 1 if any(document.counts[verdict] for verdict in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
