# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker processes of a run tell each other about its hosts: short lines in files of the run's own folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


class Reservations:
    """Each host appends a line for each subject, to one of 256 files: a new file for each would cost ten times as much.

    Args:
        folder: The temporary folder of the run, which ansible-core makes before it forks and removes at the end.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(constants.DEFAULT_LOCAL_TMP)

    def reserve(self, subject: str, host: str) -> list[str]:
        """Note that ``host`` wants ``subject``. Return the other hosts that want it. Raises FleetError."""
        self.note(subject, host)
        return sorted(set(self.noted(subject)) - {host})

    def note(self, subject: str, line: str) -> None:
        """Append ``line``. Raises FleetError."""
        try:
            digest = _digest(subject)
            descriptor = os.open(self._file(digest), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, f"{digest} {line}\n".encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise FleetError(
                "run_cache_not_writable",
                f"Reservation not written to {self._folder}: {error.strerror}.",
                "Free space there, or set ANSIBLE_LOCAL_TEMP to another folder.",
            ) from None

    def noted(self, subject: str) -> list[str]:
        """Return the lines of ``subject``."""
        digest = _digest(subject)
        try:
            lines = self._file(digest).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [line[len(digest) + 1 :] for line in lines if line.startswith(digest)]

    def is_reserved(self, subject: str) -> bool:
        return bool(self.noted(subject))

    def is_first(self, subject: str) -> bool:
        """Return whether this call is the first of the run for ``subject``."""
        path = self._folder / f"slb-fleet-first-{_digest(subject)}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        return True

    def _file(self, digest: str) -> Path:
        return self._folder / f"slb-fleet-{digest[:2]}"


def _digest(subject: str) -> str:
    return hashlib.sha256(subject.encode()).hexdigest()[:32]
