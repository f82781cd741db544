# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files as a whole: after a crash or on a full disk, a file has its old or its new content."""

import contextlib
import fcntl
import os
import re
import secrets
import sys
from typing import Iterator

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import folders

NOT_READ = re.compile(r"(~|\.bak|\.orig|\.sample|\.example|\.disabled|\.dpkg-\w+|\.rpm\w+)$")
"""End of the name of a configuration file that its program does not read."""
_FOLDER_MODE = 0o755
_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_FIXED = 0x30  # immutable, append only
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def write_ours(path: str, content: str, mode: int, folder_mode: int) -> None:
    """Write in a folder of the collection. Raises FleetError if another user can write there."""
    with file_errors(path):
        folders.make_ours(os.path.dirname(path), folder_mode)
    write_atomically(path, content, mode)


def write_atomically(path: str, content: str, mode: int) -> None:
    """Replace the content of ``path``, and make its folder. Raises FleetError; ``path`` is then unchanged."""
    with file_errors(path):
        folders.make(os.path.dirname(path), _FOLDER_MODE)
        replace(path, content.encode("utf-8"), mode)


def replace(path: str, content: bytes, mode: int, lasting: bool = True) -> None:
    """Replace the content of ``path`` in an existing folder. Raises OSError. ``lasting``: sync file and folder."""
    folder, name = os.path.split(path)
    temporary = f".{name}.{secrets.token_hex(8)}"
    # By descriptor: a folder that is renamed meanwhile does not redirect the write.
    with folders.opened(folder) as there:
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=there)
        try:
            try:
                os.fchmod(descriptor, mode)
                _write_all(descriptor, content)
                if lasting:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(temporary, name, src_dir_fd=there, dst_dir_fd=there)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=there)
            raise
        if lasting:
            os.fsync(there)


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``: a full disk accepts a part first."""
    while data:
        data = data[os.write(descriptor, data) :]


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
    with folders.opened(folder) as there:
        os.fsync(there)


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
