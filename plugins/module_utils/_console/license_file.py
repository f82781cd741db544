# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The license on disk: replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.file_attributes import (
    FileAttributes,
    apply_attributes,
    present_attributes,
)
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class LicenseFile:
    """Where the license goes, and whether the one that it replaces is kept."""

    path: Path
    attributes: FileAttributes
    backup: bool

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> LicenseFile:
        """Raises OptionError for a value that cannot be used."""
        return cls(_path(params["dest"]), FileAttributes.from_params(params), params["backup"])

    def update(self, content: bytes, check_mode: bool) -> Result:
        """Makes the file hold ``content``. Raises FleetError, whose words say whether the file is as it was."""
        try:
            return self._update(content, check_mode)
        except OSError as error:
            raise FleetError(
                f"The license cannot be written to {self.path}: {error.strerror}. What was there is unchanged.",
                "Make room, or give the user that runs this task the rights.",
            ) from None

    def _update(self, content: bytes, check_mode: bool) -> Result:
        present = self.path.stat() if self.path.exists() else None
        old = self.path.read_bytes() if present else None
        wanted = self.attributes.wanted(present)
        before = {**_summary(old), **_shown(present_attributes(present))} if present and old is not None else {}
        after = {**_summary(content), **_shown(wanted)}
        values: dict[str, Any] = {"dest": str(self.path), **_summary(content)}
        if before != after and not check_mode:
            if old == content:
                apply_attributes(self.path, wanted)
            else:
                if self.backup and present and old is not None:
                    values["backup_file"] = str(self._back_up(old, present_attributes(present)))
                _write(self.path, content, wanted)
                self._sync()
        return Result(before != after, values, {"before": before, "after": after})

    def _back_up(self, old: bytes, attributes: dict[str, int]) -> Path:
        moment = time.strftime("%Y-%m-%d@%H:%M:%S", time.gmtime())
        backup = self.path.with_name(f"{self.path.name}.{os.getpid()}.{moment}~")
        _write(backup, old, attributes)
        _sync_folder(backup.parent)
        return backup

    def _sync(self) -> None:
        try:
            _sync_folder(self.path.parent)
        except OSError as error:
            raise FleetError(
                f"The new license is in place at {self.path}, but it may not outlive a power cut: its folder cannot "
                f"be synced ({error.strerror}).",
                "Look at the disk that holds it.",
            ) from None


def _write(path: Path, content: bytes, attributes: dict[str, int]) -> None:
    with _temporary_file(path.parent) as (descriptor, temporary):
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            apply_attributes(temporary, attributes)
            os.fsync(file.fileno())
        temporary.replace(path)


@contextlib.contextmanager
def _temporary_file(folder: Path) -> Iterator[tuple[int, Path]]:
    """A file that only its owner can read, beside the one that it will become. Removed if it is still there."""
    descriptor, name = tempfile.mkstemp(prefix=".slb-license-", suffix=".part", dir=folder)
    try:
        yield descriptor, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Makes a new name in it outlive a power cut. Raises OSError, unless this folder cannot be synced by anybody."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        # A folder in which we may write need not be readable, and network file systems know no sync of a folder.
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL):
            raise


def _summary(content: bytes | None) -> dict[str, Any]:
    return {"checksum": hashlib.sha256(content or b"").hexdigest(), "size": len(content or b"")}


def _shown(attributes: dict[str, int]) -> dict[str, Any]:
    return {**attributes, "mode": f"{attributes['mode']:04o}"}


def _path(value: str) -> Path:
    path = Path(value)
    try:
        folder, present = _type_of(path.parent), _type_of(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it holds characters that no path can"
        raise OptionError(
            "dest", value, f"it cannot be used ({why})", "Give a path that the user that runs this task may reach."
        ) from None
    if not path.name or value.endswith("/") or present == stat.S_IFDIR:
        raise OptionError(
            "dest", value, "it is a folder", "Give the path of the file; its name is never taken from the server."
        )
    if folder != stat.S_IFDIR:
        raise OptionError("dest", value, f"there is no folder {path.parent}", "Make it first.")
    if present not in (None, stat.S_IFREG):
        raise OptionError("dest", value, "it is not a regular file", "Give the path of a file.")
    return path


def _type_of(path: Path) -> int | None:
    """As in ``stat``; None where nothing is. Raises OSError or ValueError where that cannot be told."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
