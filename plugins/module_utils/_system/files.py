# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files as a whole: after a crash or on a full disk, a file has its old or its new content."""

import contextlib
import fcntl
import os
import re
import sys
import tempfile
from typing import Iterator, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import mounts

NOT_READ = re.compile(r"(~|\.bak|\.orig|\.sample|\.example|\.disabled|\.dpkg-\w+|\.rpm\w+)$")
"""End of the name of a configuration file that its program does not read."""
_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_FIXED = 0x30  # immutable, append only


def write_atomically(path: str, content: str) -> None:
    """Replace the content of ``path``, which only root can read. Raises FleetError; ``path`` is then unchanged."""
    with file_errors(path):
        replace(path, content.encode("utf-8"), 0o600)


def replace(path: str, content: bytes, mode: int, lasting: bool = True, owner: Tuple[int, int] = (-1, -1)) -> None:
    """Replace the content of ``path`` in an existing folder. Raises OSError; ``path`` is unchanged then.

    ``lasting``: sync file and folder. ``owner``: user and group; -1 for those of this process.
    """
    folder, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
            stream.write(content)
            stream.flush()
            if lasting:
                os.fsync(descriptor)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if lasting:
        sync_folder(folder)


@contextlib.contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turn OSError into FleetError, with a fix."""
    try:
        yield
    except OSError as error:
        raise FleetError(
            "file_not_written",
            f"File {path} not written: {error.strerror}.",
            "Run the task as root (become: true), free space, and check that the file is not a mount point.",
        ) from error


def sync_folder(folder: str) -> None:
    """Sync ``folder``, after a rename or an unlink in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def find_obstacle(path: str) -> Optional[str]:
    """Return why the file could not be replaced; None if nothing is known. Nothing is written. Raises OSError."""
    if path in mounts.mounted():
        return f"{path} is a mount point (findmnt)"
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    for fixed in (path, folder):
        if is_fixed(fixed):
            return f"{fixed} is immutable (lsattr -d)"
    # Of a read-only file system, this user may be root.
    return None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} is not writable, or not a folder"


def is_fixed(path: str) -> bool:
    """Return whether the file or folder is immutable or append only. Some file systems have no such flags."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        flags = int.from_bytes(fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8))[:4], sys.byteorder)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return flags & _FIXED != 0
