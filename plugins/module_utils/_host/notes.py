# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small JSON files of our own on the host: whoever has damaged or replaced one, reading it ends, and says why."""

import json
import os
import stat
from typing import Any, Callable, Dict, List, Optional

_MOST_BYTES = 64 * 1024
_MOST = 1e15  # more than any time or count; NaN and infinity, which JSON can hold here, are not below it

Check = Callable[[Any], bool]


class NoteError(Exception):
    """The file cannot be used; the text is the part of a sentence that follows its path."""


def read(path: str) -> Optional[Dict[str, Any]]:
    """The object in ``path``; None if there is no such file. Raises NoteError."""
    try:
        # Without O_NONBLOCK a FIFO would be waited for, without end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "is a symbolic link" if os.path.islink(path) else f"cannot be read: {error.strerror}"
        raise NoteError(why) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NoteError("is no regular file")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise NoteError(f"is larger than {_MOST_BYTES} bytes")
        noted = json.loads(content.decode("utf-8"))
    except OSError as error:
        raise NoteError(f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise NoteError(f"cannot be read: {error}") from error
    finally:
        os.close(descriptor)
    if not isinstance(noted, dict):
        raise NoteError("is not of the known form (no object)")
    return noted


def wrong(noted: Dict[str, Any], checks: Dict[str, Check]) -> List[str]:
    """The fields, of those that ``checks`` names, whose value is not what it has to be. A missing one is None."""
    return [key for key, is_good in checks.items() if not is_good(noted.get(key))]


def is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")  # half of a surrogate pair is text that nothing can print
    except UnicodeEncodeError:
        return False
    return True


def is_number(value: Any) -> bool:
    """A number that can be a time or a count; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST


def is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    return is_number(value) and isinstance(value, int)


def one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def optional(check: Check) -> Check:
    return lambda value: value is None or check(value)
