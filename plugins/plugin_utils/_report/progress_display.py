# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The line of progress, on a terminal in place, elsewhere as a line now and then."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

from ansible import constants
from ansible.utils.display import Display

_ERASE = "\r\x1b[K"


class Lines:
    """Each a line of its own. One at most every ``seconds``, as AWX keeps only so many of a job."""

    seconds = 30.0

    def show(self, line: str) -> None:
        Display().display(line)

    def end(self) -> None:
        """Nothing is left behind."""


class InPlace:
    """The last line of the terminal. Whatever else is printed goes where it would be without it."""

    seconds = 1.0

    def __init__(self) -> None:
        # Ansible's own, which it holds while it writes and while it forks. With one of ours beside it, the thread that
        # draws the line and the one that prints would each wait for what the other has.
        self._lock, self._pid, self._is_shown = Display()._lock, os.getpid(), False
        self._out, self._error = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Around(self._out, self), _Around(self._error, self)

    def show(self, line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        with self._lock:
            self._out.write(f"{_ERASE}{line[:width]}")
            self._out.flush()
            self._is_shown = True

    def write(self, stream: TextIO, text: str) -> int:
        if os.getpid() != self._pid:
            return stream.write(text)  # a worker has no line
        with self._lock:
            if self._is_shown and text:
                self._out.write(_ERASE)
                self._out.flush()
                self._is_shown = False
            return stream.write(text)

    def end(self) -> None:
        with self._lock:
            if self._is_shown:
                self._out.write(_ERASE)
                self._out.flush()
                self._is_shown = False
        sys.stdout, sys.stderr = self._out, self._error


class _Around:
    """A stream that takes the line away before it writes."""

    def __init__(self, stream: TextIO, line: InPlace) -> None:
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        return self._line.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Patient:
    """A stream whose reader may go away, as that of a pipe into head, or whose disk may fill up. Then the run goes on
    without words. Ansible's thread that takes the workers' results would end, and the run wait for it for ever.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        """What is still to be written, by whomever, goes nowhere."""
        with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def progress_display() -> Lines | InPlace:
    sys.stdout, sys.stderr = _Patient(sys.stdout), _Patient(sys.stderr)
    # ansible-runner gives its job a terminal that nobody looks at, and reads what is printed there.
    is_recorded = "awx_display" in str(constants.DEFAULT_STDOUT_CALLBACK) or "AWX_ISOLATED_DATA_DIR" in os.environ
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    return InPlace() if sys.stdout.isatty() and not (is_recorded or is_dumb) else Lines()
