# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many commands of ip at the price of a few: those of one family and kind run in one process.

However many interfaces there are, what takes long is to start ip, not what it does.
"""

import itertools
import re
from typing import List, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import commands

_ANSWER_SECONDS = 10
_FAMILIES = ("-4", "-6")
_FAILED = re.compile(r"^Command failed .*:(\d+)$")
# What a batch would not read as it is, such as the "#" that an interface's name may hold.
_PLAIN = re.compile(r"[\w.:/@%+-]+$", re.ASCII)


def run(wanted: List[List[str]]) -> List[str]:
    """Runs each in its order, whatever becomes of those before it. What those that fail have to say."""
    said: List[str] = []
    for (family, together), group in itertools.groupby(wanted, key=_kind):
        batch = [words[1:] if family else words for words in group]
        said += _together(family, batch) if together else [_alone(family, words) for words in batch]
    return [words for words in said if words]


def _kind(words: List[str]) -> Tuple[Optional[str], bool]:
    family = words[0] if words[0] in _FAMILIES else None
    return family, all(_PLAIN.match(word) for word in words)


def _alone(family: Optional[str], words: List[str]) -> str:
    try:
        completed = commands.run([*_ip(family), *words], _ANSWER_SECONDS)
    except FleetError as error:
        return str(error)
    return "" if completed.rc == 0 else f"{' '.join(words)}: {completed.words}"


def _together(family: Optional[str], batch: List[List[str]]) -> List[str]:
    lines = [" ".join(words) for words in batch]
    try:
        completed = commands.run([*_ip(family), "-force", "-batch", "-"], _ANSWER_SECONDS, "\n".join(lines) + "\n")
    except FleetError as error:
        return [str(error)]
    said = completed.stderr.splitlines()
    if completed.rc != 0 and not (said and _FAILED.match(said[-1])):
        return [_alone(family, words) for words in batch]  # it has ended at a word that it did not understand
    found: List[str] = []
    since: List[str] = []
    for line in said:
        failed = _FAILED.match(line)
        if failed is None:
            since.append(line)
        else:
            found.append(f"{lines[int(failed.group(1)) - 1]}: {' '.join(since) or 'it printed nothing'}")
            since = []
    return found


def _ip(family: Optional[str]) -> List[str]:
    return [commands.find("ip") or "ip", *([family] if family else [])]
