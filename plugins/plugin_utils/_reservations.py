# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker processes of a run tell each other about its hosts: short lines in files of the run's own folder."""

from __future__ import annotations

import errno
import hashlib
import os
from io import FileIO
from pathlib import Path

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

DEPLOY = "Deploy the engines"
"""Name of the play of a rollout that has batches."""


def forget_earlier_playbook(folder: Path | None = None) -> None:
    """Remove notes and engine lists of an earlier playbook of the command. Sessions are kept."""
    folder = folder or Path(constants.DEFAULT_LOCAL_TMP)
    for pattern in ("slb-fleet-??", "slb-fleet-first-*", "slb-fleet-engines-*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


class Reservations:
    """Each host appends a line for each subject, to one of 256 files: a new file for each would cost ten times as much.

    Args:
        folder: The temporary folder of the run, which ansible-core makes before it forks and removes at the end.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(constants.DEFAULT_LOCAL_TMP)

    def reserve(self, subject: str, host: str) -> list[str]:
        """Note that ``host`` wants ``subject``. Return the other hosts that want it. Raises FleetError."""
        with self._append(subject, host) as file:
            file.seek(0)
            return sorted(set(_lines_of(subject, file.read())) - {host})

    def note(self, subject: str, line: str) -> None:
        """Append ``line``. Raises FleetError."""
        self._append(subject, line).close()

    def noted(self, subject: str) -> list[str]:
        """Return the lines of ``subject``."""
        try:
            return _lines_of(subject, Path(self._file(subject)).read_bytes())
        except FileNotFoundError:
            return []

    def has_turn(self, play: str) -> bool:
        """Return whether the play does something. After a batch with too many failures, each batch ends at once."""
        return play != DEPLOY or not self.noted("stopped")

    def hosts(self) -> set[str]:
        """Return the hosts that reserved a subject, and other notes: each checked host is among them."""
        lines = (line for path in self._folder.glob("slb-fleet-??") for line in path.read_bytes().decode().splitlines())
        return {line.partition(" ")[2] for line in lines}

    def _append(self, subject: str, line: str) -> FileIO:
        try:
            descriptor = os.open(self._file(subject), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            file = FileIO(descriptor, "r+")
            data = f"{_digest(subject)} {line}\n".encode()
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise FleetError(
                "run_cache_not_writable",
                f"Reservation not written to {self._folder}: {error.strerror}.",
                "Free space there, or set ANSIBLE_LOCAL_TEMP to another folder.",
            ) from None
        return file

    def is_first(self, subject: str) -> bool:
        """Return whether this call is the first of the run for ``subject``."""
        try:
            os.close(os.open(self._first(subject), os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        return True

    def was_first(self, subject: str) -> bool:
        """Return whether ``is_first`` was called for ``subject`` in this run."""
        return os.path.exists(self._first(subject))  # noqa: PTH110

    def _first(self, subject: str) -> str:
        return f"{self._folder}/slb-fleet-first-{_digest(subject)}"

    def _file(self, subject: str) -> str:
        # A text: each healthy host would pay for the code of pathlib.
        return f"{self._folder}/slb-fleet-{_digest(subject)[:2]}"


def _digest(subject: str) -> str:
    return hashlib.sha256(subject.encode()).hexdigest()[:32]


def _lines_of(subject: str, content: bytes) -> list[str]:
    prefix = f"{_digest(subject)} "
    return [line[len(prefix) :] for line in content.decode().splitlines() if line.startswith(prefix)]
