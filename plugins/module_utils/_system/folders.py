# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the folders of the collection, and reject them if another user can write there.

Their content is trusted, and the rollback timer runs a script from there as root.
"""

import os
import stat
from typing import Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_NAME = "slb-fleet"
_BY_GROUP_OR_OTHERS = 0o022
_BY_OTHERS = 0o002  # facts.d is not only ours: its owner may let a group write


def make(folder: str, mode: int) -> None:
    """Make the folder and its missing parents. Existing ones are unchanged. Raises OSError."""
    umask = os.umask(0o022)
    try:
        os.makedirs(folder, mode, exist_ok=True)
    finally:
        os.umask(umask)


def make_ours(folder: str) -> None:
    """Make the folder, for root only. Raises FleetError before that if another user can write there, or OSError."""
    why = untrusted(folder)
    if why is not None:
        raise FleetError(
            "folder_not_safe",
            f"Folder {folder} not safe: {why}. Nothing was written.",
            "Check its content, then run `chown root` and `chmod go-w` on it, and run again.",
        )
    make(folder, 0o700)


def untrusted(folder: str) -> Optional[str]:
    """Return why another user can change the content of ``folder``; None if no other user can.

    If it does not exist, its nearest parent counts. Raises OSError.
    """
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    real = level = os.path.realpath(folder)
    while True:
        status = os.stat(level)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid not in (0, os.geteuid()):
            return f"{level} belongs to the user {status.st_uid}"
        # In a sticky folder such as /tmp, users replace only their own files.
        is_shared_safely = level != real and mode & stat.S_ISVTX
        rights_of_others = _BY_GROUP_OR_OTHERS if _NAME in level.split("/") else _BY_OTHERS
        if mode & rights_of_others and not is_shared_safely:
            return f"others may write in {level} (mode {mode:04o})"
        if level == "/":
            return None
        level = os.path.dirname(level)
