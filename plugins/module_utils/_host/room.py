# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file could be written: told without writing, and tried for real."""

import contextlib
import fcntl
import os
import stat
import sys
import tempfile
from typing import Optional

from ansible_collections.slb.fleet.plugins.module_utils._system import folders
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_UNCHANGEABLE = 0x30  # immutable, append only
_INODES = 6  # both notes, their folders, and a temporary file of each
_ROOM = 16384  # bytes: more than any of our files needs, and its temporary one beside it


def is_replaceable(path: str) -> bool:
    """Whether there is nothing, or a regular file: what else somebody has put there is not ours to replace."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def unwritable(path: str) -> Optional[str]:
    """Why ``path`` could not be written, as a part of a sentence; None where nothing speaks against it.

    Nothing is written, so quotas and the like stay unseen: ``try_writing`` sees them.
    """
    try:
        if not is_replaceable(path):
            return f"{path} is no regular file"
        if os.path.lexists(path) and _is_fixed(path):
            return f"{path} is immutable, or a mount (lsattr, findmnt)"
    except OSError as error:
        return f"{path} cannot be looked at: {error.strerror}"
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is no folder"
    try:
        return folders.untrusted(folder) or _no_room(folder)
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"


def _is_fixed(path: str) -> bool:
    """Whether a file cannot be replaced, though its folder can be written."""
    with open("/proc/self/mountinfo", "rb") as stream:
        if any(line.split()[4] == os.fsencode(path) for line in stream):
            return True
    return _flags(path) & _UNCHANGEABLE != 0


def _flags(path: str) -> int:
    """As lsattr shows them; 0 where the file system has none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int.from_bytes(fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8))[:4], sys.byteorder)
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def _no_room(folder: str) -> Optional[str]:
    system = os.statvfs(folder)
    free = (system.f_bfree if os.geteuid() == 0 else system.f_bavail) * system.f_frsize
    if system.f_flag & os.ST_RDONLY:
        return f"the file system of {folder} is read-only"
    if _flags(folder) & _UNCHANGEABLE:
        return f"{folder} is immutable (lsattr -d)"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"this user has no permission to write in {folder}"
    # Some file systems have no limit of blocks, or count no inodes: then the total is 0.
    if system.f_blocks and free < _ROOM:
        return f"the file system of {folder} is full"
    if system.f_files and system.f_ffree < _INODES:
        return f"the file system of {folder} has too few inodes left"
    return None


def try_writing(path: str) -> None:
    """Writes a file beside ``path``, as large as ours ever are, and takes it away. Raises HostError."""
    folder = os.path.dirname(path)
    with file_errors(path):
        folders.make_ours(folder, 0o755)
        descriptor, trial = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(b"\n" * _ROOM)
                stream.flush()
                os.fsync(stream.fileno())
        finally:
            with contextlib.suppress(OSError):
                os.unlink(trial)
