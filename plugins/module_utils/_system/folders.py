# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the folders of the collection, and reject them if another user can write there.

Their content is trusted, and the rollback timer runs a script from there as root.
"""

import contextlib
import errno
import os
import stat
from typing import Iterator, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_NAME = "slb-fleet"
_PARENT_MODE = 0o755
_BY_GROUP_OR_OTHERS = 0o022
_BY_OTHERS = 0o002  # facts.d is not only ours: its owner may let a group write


def make(folder: str, mode: int) -> None:
    """Make the folder and its missing parents. Existing ones are unchanged. Raises OSError."""
    missing: List[str] = []
    level = folder
    while level and not os.path.lexists(level):
        missing.append(level)
        level = os.path.dirname(level)
    for level in reversed(missing):
        with contextlib.suppress(FileExistsError):
            # 0700 first: the mode must not depend on the umask.
            os.mkdir(level, 0o700)
            _set_mode(level, mode if level == folder else _PARENT_MODE)
    if not os.path.isdir(folder):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)


def make_ours(folder: str, mode: int) -> None:
    """Make the folder. Raises FleetError, before anything is made, if another user can write there, or OSError."""
    refuse_untrusted(folder)
    make(folder, mode)
    refuse_untrusted(folder)


def refuse_untrusted(folder: str) -> None:
    """Raise FleetError if another user can write there, or in a folder above it. Raises OSError."""
    why = untrusted(folder)
    if why is not None:
        raise FleetError(
            "folder_not_safe",
            f"Folder {folder} not safe: {why}. Nothing was written.",
            "Check its content, then run `chown root` and `chmod go-w` on it, and run again.",
        )


def untrusted(folder: str) -> Optional[str]:
    """Return why another user can change the content of ``folder``; None if no other user can.

    If it does not exist, its nearest parent counts. Raises OSError.
    """
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    real = os.path.realpath(folder)
    for level in _levels(real):
        status = os.stat(level)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid not in (0, os.geteuid()):
            return f"{level} belongs to the user {status.st_uid}"
        # In a sticky folder such as /tmp, users replace only their own files.
        is_shared_safely = level != real and mode & stat.S_ISVTX
        if mode & _rights_of_others(level) and not is_shared_safely:
            return f"others may write in {level} (mode {mode:04o})"
    return None


@contextlib.contextmanager
def opened(folder: str) -> Iterator[int]:
    """Return the descriptor of the folder. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _set_mode(folder: str, mode: int) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _levels(real: str) -> List[str]:
    parts = [part for part in real.split("/") if part]
    return ["/" + "/".join(parts[:number]) for number in range(len(parts) + 1)]


def _rights_of_others(level: str) -> int:
    return _BY_GROUP_OR_OTHERS if _NAME in level.split("/") else _BY_OTHERS
