# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The message of the day: a long one, printed after the SSH login, can break a deployment's script."""

import glob
import os
import time
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host.files import file_errors, sync_folder
from ansible_collections.slb.fleet.plugins.module_utils._host.login_output import measure
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

PATH = "/etc/motd"


def look() -> Dict[str, Any]:
    """What a login prints, in ``bytes`` and by ``sources``, and the ``backups`` that lie beside PATH, oldest first."""
    sources = measure()
    return {
        "path": PATH,
        "target": os.path.realpath(PATH) if os.path.islink(PATH) else None,
        "bytes": sum(source["bytes"] for source in sources),
        "sources": sources,
        "backups": _backups(PATH),
    }


def aside(path: str, check_mode: bool) -> Result:
    """Moves the message to ``PATH.bak``, as the document has it; a backup is never overwritten."""
    message = _content(path)
    unfinished = next((backup for backup in _backups(path) if _same_file(path, backup)), None)
    if not message and unfinished is None:
        return Result(False, {"moved": False, "backup_file": None})
    backup = unfinished or _free_backup(path)
    if not check_mode:
        _move(path, backup)
    return Result(True, {"moved": True, "backup_file": backup}, _diff(path, message, b""))


def restored(path: str, backup: Optional[str], check_mode: bool) -> Result:
    """Moves ``backup``, else the newest one, back; a message written meanwhile is not overwritten."""
    if backup is not None and not os.path.lexists(backup):
        raise OptionError("backup_file", backup, "there is no such file", "Name one of: {}.".format(_listed(path)))
    backups = [backup] if backup is not None else _backups(path)
    if not backups:
        return Result(False, {"moved": False, "backup_file": None})
    source = backups[-1]
    if os.path.lexists(path) and not _same_file(path, source):
        if _content(path):
            raise HostError(
                "{} has a message that was written after {} was moved aside.".format(path, source),
                "Nothing was changed. Merge the two by hand, or move {} away and run again.".format(path),
            )
        if not check_mode:
            with file_errors(path):
                os.unlink(path)
    if not check_mode:
        _move(source, path)
    return Result(True, {"moved": True, "backup_file": source}, _diff(path, b"", _content(source)))


def _backups(path: str) -> List[str]:
    return sorted(glob.glob(glob.escape(path) + ".bak*"))


def _listed(path: str) -> str:
    return ", ".join(_backups(path)) or "none (there is no backup)"


def _free_backup(path: str) -> str:
    plain = path + ".bak"
    if not os.path.lexists(plain):
        return plain
    return "{}.{}".format(plain, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))


def _content(path: str) -> bytes:
    with file_errors(path):
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return b""


def _same_file(path: str, other: str) -> bool:
    """Whether a move was killed half-way: both names are there, for one file."""
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except FileNotFoundError:
        return False


def _move(source: str, target: str) -> None:
    """Renames without ever overwriting: the second name cannot be made where it is taken."""
    with file_errors(source):
        if not _same_file(source, target):
            os.link(source, target, follow_symlinks=False)
        os.unlink(source)
        sync_folder(os.path.dirname(source))


def _diff(path: str, before: bytes, after: bytes) -> Dict[str, Any]:
    return {
        "before_header": path,
        "after_header": path,
        "before": before.decode("utf-8", "replace"),
        "after": after.decode("utf-8", "replace"),
    }
