# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cookies of one session: names and values, as a browser keeps them for one origin. No I/O."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import read_date

_MAX_COOKIES = 180  # as browsers keep for one host
_MAX_PAIR = 4096  # characters of name and value
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FOLD = re.compile(r"\r?\n[ \t]+")
# A proxy joins the cookies of several lines by commas. A date has a comma, too, and no "=" behind it.
_JOINT = re.compile(r",(?=[^\s;,=]+=)|,\s+(?=[^\s;,=]+=)")


def update_cookies(cookies: dict[str, str], lines: Iterable[str], date: str = "") -> None:
    """Apply the Set-Cookie lines of one answer, whatever their paths and domains: one origin is called.

    ``date``: of the answer; a clock that differs from that of the management node does not end cookies.
    """
    now = read_date(date) or time.time()
    pairs = [pair for line in list(lines)[:_MAX_COOKIES] for pair in _split(line, now)]
    # The removed ones first: an answer may remove a cookie of another path and set it again.
    for name, value in sorted(pairs, key=lambda pair: pair[1] != ""):
        if not value:
            cookies.pop(name, None)
        elif len(cookies) < _MAX_COOKIES or name in cookies:
            cookies[name] = value


def _split(line: str, now: float) -> Iterator[tuple[str, str]]:
    """Yield name and value of each cookie in a line; an empty value of one that is removed."""
    left = _FOLD.sub(" ", line[: 4 * _MAX_PAIR])
    for _number in range(_MAX_COOKIES):
        first, _semicolon, rest = left.partition(";")
        joint = _JOINT.search(rest)
        name, equals, value = (part.strip(" \t") for part in first.partition("="))
        if equals and name and not _CONTROL.search(first) and len(name) + len(value) <= _MAX_PAIR:
            pairs = (part.partition("=") for part in rest[: joint.start() if joint else None].split(";"))
            attributes = {key.strip().lower(): text.strip() for key, _equals, text in pairs}
            yield name, "" if not value.strip('"') or _is_expired(attributes, now) else value
        if not joint:
            return
        left = rest[joint.end() :]


def _is_expired(attributes: Mapping[str, str], now: float) -> bool:
    """Return whether the cookie is over. Max-Age outranks Expires; an invalid value counts as none."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?\d{1,20}", age):
        return int(age) <= 0
    expires = read_date(attributes.get("expires", ""))
    return expires is not None and expires <= now
