# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others' words, so that they can be shown: they cannot move a cursor, turn a line around or begin a new one."""

import unicodedata
from typing import Iterator

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_MARKS = ("Mn", "Me")
_HIGHEST_STACK = 4
"""More marks than any script puts above and below one letter; a heap of them covers the lines around."""


def visible(text: str, *, keep_lines: bool = False) -> str:
    """``text`` with every control, format and direction character as an escape, and those of a heap of marks.

    ``keep_lines``: line feeds and tabs stay; otherwise they become spaces.
    """
    if not text.isprintable():  # else of none of those kinds, and of the spaces it has the ASCII one alone
        text = "".join(_shown(character, keep_lines) for character in text)
    return text if max(text, default="") < "\u0300" else "".join(_with_low_stacks(text))


def in_short(text: str, most: int) -> str:
    """``text`` in one visible line of at most ``most`` characters, and an ellipsis where there is more of it."""
    # Cut before as well, so that what is long costs no more than what is shown of it.
    shown = visible(text[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "…"


def _with_low_stacks(text: str) -> Iterator[str]:
    stack = 0
    for character in text:
        stack = stack + 1 if unicodedata.category(character) in _MARKS else 0
        yield character if stack <= _HIGHEST_STACK else character.encode("unicode_escape").decode("ascii")


def _shown(character: str, keep_lines: bool) -> str:
    if character in "\n\t":
        return character if keep_lines else " "
    if unicodedata.category(character) == "Zs":
        return " "
    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii") if character != "\r" else "\\r"
    return character
