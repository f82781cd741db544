# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The login banner (MOTD): a long banner, printed after the SSH login, can break a deployment."""

import contextlib
import os
import time
from typing import Any, Dict, Iterator, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system import files

PATH = "/etc/motd"
_DYNAMIC = "/run/motd.dynamic"
_SUFFIX = ".slb-fleet"


def gather_banner() -> Dict[str, Any]:
    """Return the sizes of the two files that can be moved or shortened."""
    sources: List[Dict[str, Any]] = []
    for path in (_DYNAMIC, PATH):
        target = os.path.realpath(path)
        size = os.path.getsize(target) if os.path.isfile(target) else 0
        if size and not (sources and target == os.path.realpath(_DYNAMIC)):
            sources.append({"source": path if target == path else f"{path} ({target})", "bytes": size})
    return {
        "path": PATH,
        "target": os.path.realpath(PATH) if os.path.islink(PATH) else None,
        "bytes": sum(source["bytes"] for source in sources),
        "sources": sources,
    }


def move_aside(path: str, check_mode: bool) -> Result:
    """Rename the banner to ``PATH.slb-fleet``. An earlier backup gets another name, and is never overwritten."""
    message, backup = _read(path), path + _SUFFIX
    is_interrupted = _is_same_file(path, backup)
    if not message and not is_interrupted:
        return _result("aside", None)
    has_earlier = os.path.lexists(backup) and not is_interrupted
    for each in [path, backup] if has_earlier else [path]:
        _check_movable(each)
    if not check_mode:
        if has_earlier:
            _move(backup, backup + time.strftime(".%Y%m%dT%H%M%SZ", time.gmtime()))
        _move(path, backup)
    return _result("aside", backup, _diff(path, message, b""))


def restore(path: str, check_mode: bool) -> Result:
    """Rename ``PATH.slb-fleet``, the latest backup, to ``path``; a new banner is not overwritten."""
    source = path + _SUFFIX
    if not os.path.lexists(source):
        return _result("restored", None)
    for each in (path, source):
        _check_movable(each)
    if os.path.lexists(path) and not _is_same_file(path, source):
        # A link is a person's, also one whose file is empty or missing.
        if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path):
            raise FleetError(
                "motd_changed",
                f"Banner {path} was written after {source} was moved aside.",
                "Merge the two files, remove one of them, then run again.",
            )
        if not check_mode:
            with _file_errors(path):
                os.unlink(path)
    message = _read(source)
    if not check_mode:
        _move(source, path)
    return _result("restored", source, _diff(path, b"", message))


def _result(state: str, backup: Optional[str], diff: Optional[Dict[str, Any]] = None) -> Result:
    values = {"moved": state == "aside" and backup is not None, "restored": state == "restored" and backup is not None}
    return Result(backup is not None, dict(values, backup_file=backup), diff)


@contextlib.contextmanager
def _file_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FleetError(
            "motd_not_moved",
            f"Banner {path} not moved: {error.strerror}.",
            "Run the task as root (`become: true`), or set slb_motd: keep.",
        ) from error


def _check_movable(path: str) -> None:
    """Raise FleetError, before anything is written, for what this user or even root cannot rename."""
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    obstacle = f"{path} is a folder" if is_folder else files.find_obstacle(os.path.abspath(path))
    if obstacle:
        fix = "Run the task as root (`become: true`), remove the obstacle on the host, or set slb_motd: keep."
        raise FleetError("motd_not_moved", f"Banner {path} not moved: {obstacle}.", fix)


def _read(path: str) -> bytes:
    """Return the text of a regular file; of anything else nothing: to open a pipe would hang."""
    if not os.path.isfile(path):
        return b""
    with _file_errors(path), open(path, "rb") as stream:
        return stream.read()


def _is_same_file(path: str, other: str) -> bool:
    """Return whether both names are of one file, as after an interrupted move."""
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except FileNotFoundError:
        return False


def _move(source: str, target: str) -> None:
    """Rename without overwriting: a link cannot be made if the name is taken."""
    with _file_errors(source):
        if not _is_same_file(source, target):
            os.link(source, target, follow_symlinks=False)
        os.unlink(source)
        files.sync_folder(os.path.dirname(source))


def _diff(path: str, before: bytes, after: bytes) -> Dict[str, Any]:
    texts = {"before": before.decode("utf-8", "replace"), "after": after.decode("utf-8", "replace")}
    return dict(texts, before_header=path, after_header=path)
