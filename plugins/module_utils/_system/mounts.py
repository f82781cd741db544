# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount points of the host: those that are mounted, and those of fstab that are not."""

import contextlib
import os
from typing import Iterable, List, Optional

FSTAB = "/etc/fstab"


def mounted() -> List[str]:
    """Return the mount points of this process. Raises OSError."""
    return _fields("/proc/self/mountinfo", 4)


def find_unmounted(paths: Iterable[str]) -> Optional[str]:
    """Return the mount point of fstab that is not mounted, and has one of ``paths``: its folder is empty then."""
    missing: List[str] = []
    with contextlib.suppress(OSError):
        now = mounted()
        missing = [place for place in _fields(FSTAB, 1) if place.startswith("/") and place not in now]
    used = [os.path.realpath(encoded(path)).decode("utf-8", "replace") + "/" for path in paths] if missing else []
    return next((place for place in missing if any(each.startswith(place + "/") for each in used)), None)


def encoded(path: str) -> bytes:
    """Return the path for the kernel. In the C locale, Python 3.6 takes only ASCII in a text."""
    return path.encode("utf-8", "surrogateescape")


def _fields(file: str, number: int) -> List[str]:
    with open(file, encoding="utf-8", errors="backslashreplace") as stream:
        lines = [line.split() for line in stream if not line.lstrip().startswith("#")]
    return [os.path.normpath(words[number].replace("\\040", " ")) for words in lines if len(words) > number]
