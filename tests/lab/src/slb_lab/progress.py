# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sees while the lab works: live lines on a terminal, plain lines elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Report(Protocol):
    """Takes note that SUBJECT (a host, an image, the management node) is now at STEP; may be called from any thread."""

    def __call__(self, subject: str, step: str, *, done: bool = False) -> None: ...


def silent(subject: str, step: str, *, done: bool = False) -> None:
    """A Report for callers without an audience."""


@contextmanager
def shown(console: Console) -> Iterator[Report]:
    """A Report to CONSOLE."""
    if not console.is_terminal:

        def plain(subject: str, step: str, *, done: bool = False) -> None:
            console.print(f"{subject}: {step}", markup=False, highlight=False, soft_wrap=True)

        yield plain
        return
    columns = (SpinnerColumn(finished_text="[green]✓"), TextColumn("[bold]{task.fields[subject]}"))
    with Progress(*columns, TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as progress:
        lines: dict[str, TaskID] = {}
        lock = threading.Lock()

        def live(subject: str, step: str, *, done: bool = False) -> None:
            with lock:
                if subject not in lines:
                    lines[subject] = progress.add_task(step, total=1, subject=subject)
            progress.update(lines[subject], description=step, completed=1 if done else 0)

        yield live
