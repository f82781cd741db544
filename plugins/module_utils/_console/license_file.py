# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The license on disk: replaced whole or not at all."""

import contextlib
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import Any, Dict, Iterator, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._console.file_attributes import (
    FileAttributes,
    apply_attributes,
    present_attributes,
)
from ansible_collections.slb.fleet.plugins.module_utils._console.folder import Folder, has_acl, read_file, write_file
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_KILLED_SECONDS = 600.0
"""Nobody writes at a license for so long."""


class LicenseFile(NamedTuple):
    """Where the license goes, and whether the one that it replaces is kept."""

    path: Path
    attributes: FileAttributes
    backup: bool
    max_size: int

    @classmethod
    def from_params(cls, params: Dict[str, Any]) -> "LicenseFile":
        """Raises OptionError for a value that cannot be used."""
        return cls(_path(params["dest"]), FileAttributes.from_params(params), params["backup"], params["max_size"])

    def place(self) -> str:
        """What tells it from any other file of the machine, whichever way leads to it. A link in its place is replaced
        itself.
        """
        try:
            with Folder.opened(self.path.parent) as folder:
                return f"{folder.number}:{self.path.name}"
        except OSError as error:
            raise FleetError(
                f"The folder {self.path.parent}, where the license would be kept, cannot be opened: {error.strerror}.",
                "Give the user that runs this task the rights.",
            ) from None

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
        with Folder.opened(self.path.parent) as folder, folder.file(self.path.name) as file:
            present = os.fstat(file) if file is not None else None
            old = read_file(file, self.max_size) if file is not None else None
            # Who has put a file there beforehand shall not have the license with it.
            keeps = present if present and (folder.is_ours or present.st_uid in (0, os.geteuid())) else None
            wanted = self.attributes.wanted(keeps)
            before = {**_summary(old), **_shown(present_attributes(present))} if present and old is not None else {}
            if file is not None and has_acl(file):
                before["acl"] = "lets in others than the mode says"
            after = {**_summary(content), **_shown(wanted)}
            values: Dict[str, Any] = {"dest": str(self.path), **_summary(content)}
            if before != after:
                if file is not None and present and old == content and _is_nobody_elses(present):
                    if not check_mode:
                        apply_attributes(file, wanted)
                elif check_mode:
                    folder.see_that_it_takes_files()
                else:
                    # A program that was killed has left the license there. Not every folder can be looked through.
                    with contextlib.suppress(OSError):
                        folder.sweep(_KILLED_SECONDS)
                    if self.backup and present and old is not None and old != content:
                        values["backup_file"] = self._back_up(folder, old, present_attributes(present))
                    self._put_in_place(folder, content, wanted)
        return Result(before != after, values, {"before": before, "after": after})

    def _back_up(self, folder: Folder, old: bytes, attributes: Dict[str, int]) -> str:
        moment = time.strftime("%Y-%m-%d@%H:%M:%S", time.gmtime())
        backup = self.path.with_name(f"{self.path.name}.{os.getpid()}.{moment}~")
        with _written(folder, backup.name, old, attributes):
            folder.sync()
        return str(backup)

    def _put_in_place(self, folder: Folder, content: bytes, attributes: Dict[str, int]) -> None:
        with _written(folder, self.path.name, content, attributes) as descriptor:
            try:
                folder.sync()
            except OSError as error:
                raise FleetError(
                    f"The new license is in place at {self.path}, but it may not outlive a power cut: its folder "
                    f"cannot be synced ({error.strerror}).",
                    "Look at the disk that holds it.",
                ) from None
            if not self._is_there(os.fstat(descriptor)):
                raise FleetError(
                    f"The license was written, but {self.path} is not that file: somebody else changes what is there.",
                    "Look at who may write in its folder and in those above it.",
                )

    def _is_there(self, written: os.stat_result) -> bool:
        try:
            return os.path.samestat(self.path.lstat(), written)
        except OSError:
            return False


def _is_nobody_elses(present: os.stat_result) -> bool:
    """Whether it is safe to change it in place: another user may hold it open, or have it under another name."""
    return present.st_uid in (0, os.geteuid()) and present.st_nlink == 1


@contextlib.contextmanager
def _written(folder: Folder, name: str, content: bytes, attributes: Dict[str, int]) -> Iterator[int]:
    """The new file, in place and still open, so that no other one can pass for it."""
    with folder.new_file() as (descriptor, temporary):
        write_file(descriptor, content)
        apply_attributes(descriptor, attributes)
        folder.put(descriptor, temporary, name)
        yield descriptor


def _summary(content: Optional[bytes]) -> Dict[str, Any]:
    return {"checksum": hashlib.sha256(content or b"").hexdigest(), "size": len(content or b"")}


def _shown(attributes: Dict[str, int]) -> Dict[str, Any]:
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


def _type_of(path: Path) -> Optional[int]:
    """As in ``stat``; None where nothing is. Raises OSError or ValueError where that cannot be told."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
