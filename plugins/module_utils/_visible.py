# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make foreign text safe to show: it cannot move a cursor, reverse a line or begin a new one."""

import unicodedata
from typing import Iterator

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_MARKS = ("Mn", "Me")
_HIGHEST_STACK = 4
"""Marks above or below one letter. More of them would cover the lines around."""


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return ``text`` with control, format and direction characters escaped, and with at most 4 marks per letter.

    ``keep_lines``: line feeds and tabs stay; otherwise they become spaces.
    """
    if not text.isprintable():  # else of none of those kinds, and of the spaces it has the ASCII one alone
        text = "".join(_shown(character, keep_lines) for character in text)
    return text if max(text, default="") < "\u0300" else "".join(_with_low_stacks(text))


def in_short(text: str, most: int) -> str:
    """Return ``text`` as one visible line of at most ``most`` characters, and an ellipsis if it is longer."""
    # Cut first: a long text costs no more than its visible part.
    shown = visible(text[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "…"


def amount(number: int, noun: str) -> str:
    """Return such as ``1 host``, ``2 hosts``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
