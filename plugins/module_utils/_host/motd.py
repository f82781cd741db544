# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The message of the day: a long one, printed after the SSH login, can break a deployment's script."""

import contextlib
import glob
import json
import os
import time
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host.login_output import measure
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, sync_folder, write_atomically

PATH = "/etc/motd"
_MODE = 0o644


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
    noted = _moved_aside(path)
    unfinished = noted if noted is not None and _same_file(path, noted) else None
    if not message and unfinished is None:
        return Result(False, {"moved": False, "backup_file": None})
    backup = unfinished or _free_backup(path)
    _refuse_mount(path)
    if not check_mode:
        # Noted before it is moved: a kill in between must not leave a message that nobody brings back.
        _note(path, backup)
        _move(path, backup)
    return Result(True, {"moved": True, "backup_file": backup}, _diff(path, message, b""))


def restored(path: str, backup: Optional[str], check_mode: bool) -> Result:
    """Moves ``backup``, else what ``aside`` moved, back; a message written meanwhile is not overwritten."""
    if backup is not None and not os.path.lexists(backup):
        raise OptionError("backup_file", backup, "there is no such file", f"Name one of: {_listed(path)}.")
    source = backup or _moved_aside(path)
    if source is None:
        if not check_mode:
            _forget(path)
        return Result(False, {"moved": False, "backup_file": None})
    if os.path.lexists(path) and not _same_file(path, source):
        if _content(path):
            raise HostError(
                f"{path} has a message that was written after {source} was moved aside.",
                "Nothing was changed. Put what you want to keep into one of the two, move the other one away "
                "and run again.",
            )
        if not check_mode:
            with file_errors(path):
                os.unlink(path)
    content = _content(source)
    if not check_mode:
        _move(source, path)
        _forget(path)
    return Result(True, {"moved": True, "backup_file": source}, _diff(path, b"", content))


def _refuse_mount(path: str) -> None:
    with open("/proc/self/mountinfo") as stream:
        mounts = {line.split()[4] for line in stream}
    if os.path.abspath(path) in mounts:
        raise HostError(
            f"{path} is a mount of its own and cannot be moved.",
            "Nothing was changed. Unmount it, or have the message of the day of this host kept.",
        )


def _note_of(path: str) -> str:
    """Where it is noted what was moved aside: other files named like a backup are somebody else's."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.slb_fleet")


def _note(path: str, backup: str) -> None:
    with file_errors(path):
        inode = os.lstat(path).st_ino
    write_atomically(_note_of(path), json.dumps({"backup_file": backup, "inode": inode}) + "\n", _MODE)


def _moved_aside(path: str) -> Optional[str]:
    """The backup that was noted. None if it is gone, or if another file has got its name since."""
    text = _content(_note_of(path))
    if not text:
        return None
    try:
        noted = json.loads(text.decode("utf-8"))
        backup, inode = str(noted["backup_file"]), int(noted["inode"])
    except (ValueError, LookupError, TypeError) as error:
        raise HostError(
            f"What was moved aside cannot be read from {_note_of(path)}: {error!r}.",
            f"Nothing was changed. Remove that file, then name the backup in backup_file. There are: {_listed(path)}.",
        ) from error
    with file_errors(backup), contextlib.suppress(FileNotFoundError):
        return backup if os.lstat(backup).st_ino == inode else None
    return None


def _forget(path: str) -> None:
    note = _note_of(path)
    if os.path.lexists(note):
        with file_errors(note):
            os.unlink(note)
            sync_folder(os.path.dirname(note))


def _backups(path: str) -> List[str]:
    return sorted(glob.glob(glob.escape(path) + ".bak*"))


def _listed(path: str) -> str:
    return ", ".join(_backups(path)) or "none (there is no backup)"


def _free_backup(path: str) -> str:
    plain = path + ".bak"
    if not os.path.lexists(plain):
        return plain
    return f"{plain}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"


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
