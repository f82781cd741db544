# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes files so that a reader, a crash or a full disk sees the old content or the new one, never a part."""

import contextlib
import os
import re
import secrets
from typing import Iterator

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._system import folders

_FOLDER_MODE = 0o755
_RANDOM_BYTES = 8
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_ours(path: str, content: str, mode: int, folder_mode: int) -> None:
    """As ``write_atomically``, in a folder of ours. Raises HostError where another user could write there, too."""
    with file_errors(path):
        folders.make_ours(os.path.dirname(path), folder_mode)
    write_atomically(path, content, mode)


def write_atomically(path: str, content: str, mode: int) -> None:
    """Replaces the content of ``path`` and makes its folder. Raises HostError; ``path`` is then as it was."""
    with file_errors(path):
        folders.make(os.path.dirname(path), _FOLDER_MODE)
        replace(path, content.encode("utf-8"), mode)


def replace(path: str, content: bytes, mode: int, lasting: bool = True) -> None:
    """As ``write_atomically``, in a folder that is there. Raises OSError. ``lasting``: through a power cut."""
    folder, name = os.path.split(path)
    temporary = f".{name}.{secrets.token_hex(_RANDOM_BYTES)}"
    # Held: whatever gets the folder's name meanwhile, no file in another one is written.
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


def sweep(path: str) -> None:
    """Takes away what whoever was killed had written, to give it the name ``path``. Raises OSError."""
    folder, name = os.path.split(path)
    temporary = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}")
    if not os.path.isdir(folder):
        return
    with folders.opened(folder) as there:
        for each in os.listdir(there):
            if temporary.fullmatch(each):
                os.unlink(each, dir_fd=there)


def _write_all(descriptor: int, data: bytes) -> None:
    """A disk that fills up takes a part, and refuses the rest only when it is given that."""
    while data:
        data = data[os.write(descriptor, data) :]


@contextlib.contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turns the system's errors into one that an operator can act on."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"The file {path} could not be read, written or moved: {error.strerror}.",
            "Nothing is lost. Run the task as root (`become: true`), make room, and see that it is no mount.",
        ) from error


def sync_folder(folder: str) -> None:
    """Makes a rename or an unlink in ``folder`` last through a power cut."""
    with folders.opened(folder) as there:
        os.fsync(there)
