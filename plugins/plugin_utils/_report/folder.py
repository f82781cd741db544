# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that may be another user's, held by descriptor: whatever is renamed or linked there meanwhile, no file
outside of it is read or changed.
"""

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
# A FIFO would be waited for without end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40
_PREFIX, _SUFFIX = ".slb-fleet-", ".part"
_ACL, _ACL_OF_NEW_FILES = "system.posix_acl_access", "system.posix_acl_default"
_NO_ACL = (errno.ENODATA, errno.ENOTSUP, errno.ENOSYS)


class Folder:
    """An open folder. Its methods raise OSError; names are those of files in it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path, missing: int | None = None) -> Iterator["Folder"]:
        """Raises OSError, and FleetError where the way leads over another user's link.

        ``missing``: the mode of folders on the way that are not there, which are made then.
        """
        # To look is enough, because a folder in which we may write need not be readable.
        descriptor = _walked(path, missing)
        try:
            yield cls(descriptor)
        finally:
            os.close(descriptor)

    @property
    def number(self) -> str:
        """Of this folder on its machine, whatever leads to it."""
        status = os.fstat(self._descriptor)
        return f"{status.st_dev}:{status.st_ino}"

    @property
    def is_ours(self) -> bool:
        """Whether no other user can have put a file there."""
        status = os.fstat(self._descriptor)
        return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[int | None]:
        """The regular file of that name, open for reading; None for a link, or where nothing is."""
        try:
            descriptor = os.open(name, _READ, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            yield None
            return
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            yield descriptor
        finally:
            os.close(descriptor)

    def see_that_it_takes_files(self) -> None:
        """Raises the OSError with which ``new_file`` would fail for want of rights, without making one."""
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self._descriptor, effective_ids=True):
            is_read_only = os.fstatvfs(self._descriptor).f_flag & os.ST_RDONLY
            number = errno.EROFS if is_read_only else errno.EACCES
            raise OSError(number, os.strerror(number))

    @contextlib.contextmanager
    def new_file(self) -> Iterator[tuple[int, str]]:
        """Open for writing, only its owner can read it; with the name that it has until ``put`` gives it another."""
        temporary = f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        descriptor = os.open(temporary, _MAKE, 0o600, dir_fd=self._descriptor)
        try:
            drop_acl(descriptor)
            yield descriptor, temporary
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._descriptor)
            os.close(descriptor)

    def write(self, name: str, content: bytes, mode: int = 0o600) -> None:
        """Whoever reads the file of that name sees the one before or this one, whole."""
        with self.new_file() as (descriptor, temporary):
            os.fchmod(descriptor, mode)
            write_file(descriptor, content)
            self.put(descriptor, temporary, name)

    def put(self, descriptor: int, temporary: str, name: str) -> None:
        """The new file gets its name, whole."""
        os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def sweep(self, seconds: float) -> None:
        """Takes away the new files of programs that were killed before ``put``, where they are older than that."""
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._descriptor)
        try:
            for name in os.listdir(descriptor):  # noqa: PTH208 (pathlib's takes no descriptor)
                is_ours = name.startswith(_PREFIX) and name.endswith(_SUFFIX)
                if is_ours and time.time() - os.lstat(name, dir_fd=descriptor).st_mtime > seconds:
                    os.unlink(name, dir_fd=descriptor)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        """Makes a new name in it outlive a power cut; does nothing where this folder cannot be synced by anybody."""
        try:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._descriptor)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            # A folder in which we may write need not be readable, and network file systems know no sync of a folder.
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL):
                raise


def read_file(descriptor: int, most: int) -> bytes:
    """Raises OSError where it has more than ``most`` bytes: another user's file may be as large as it likes."""
    with os.fdopen(os.dup(descriptor), "rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"the file that is there has more than {most} bytes and is no license; move it away")
    return content


def write_file(descriptor: int, content: bytes) -> None:
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        stream.write(content)


def has_acl(file: int | str) -> bool:
    """Whether others are let in whom no mode names."""
    try:
        return bool(os.getxattr(file, _ACL))
    except OSError as error:
        if error.errno in _NO_ACL:
            return False
        raise


def drop_acl(file: int | str, names: tuple[str, ...] = (_ACL,)) -> None:
    """Who made the folder may have said who else can do what with all that is made in it. Raises OSError."""
    for name in names:
        try:
            os.removexattr(file, name)
        except OSError as error:
            if error.errno not in _NO_ACL:
                raise


def _walked(path: Path, missing: int | None) -> int:
    """A descriptor of the folder at ``path``. Part by part, because only so each link on the way is looked at."""
    here = os.open("/" if path.is_absolute() else ".", _LOOK)
    pending = list(reversed(_parts(str(path))))
    links = 0
    try:
        while pending:
            part = pending.pop()
            step = _step(here, part, missing)
            try:
                if stat.S_ISLNK(os.fstat(step).st_mode):
                    links += 1
                    target = _target(step, part, path, links)
                    pending += reversed(_parts(target))
                    if not target.startswith("/"):
                        continue
                    step, done = os.open("/", _LOOK), step
                    os.close(done)
                here, step = step, here
            finally:
                os.close(step)
        if not stat.S_ISDIR(os.fstat(here).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except BaseException:
        os.close(here)
        raise
    return here


def _step(here: int, part: str, missing: int | None) -> int:
    try:
        return os.open(part, _LOOK, dir_fd=here)
    except FileNotFoundError:
        if missing is None:
            raise
    # Somebody else may be faster; what is there then is looked at as all is.
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, missing, dir_fd=here)
        made = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
        try:
            if os.fstat(made).st_uid == os.geteuid():
                drop_acl(made, (_ACL, _ACL_OF_NEW_FILES))
        finally:
            os.close(made)
    return os.open(part, _LOOK, dir_fd=here)


def _target(link: int, name: str, path: Path, links: int) -> str:
    if links > _MOST_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    owner = os.fstat(link).st_uid
    if owner not in (0, os.geteuid()):
        raise FleetError(
            f"The folder {path} is not used: on the way to it, {name!r} is a symbolic link of the user {owner}, who "
            "may let it point anywhere. Nothing was changed.",
            "Give a path without that link, or have root make it.",
        )
    return os.readlink("", dir_fd=link)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
