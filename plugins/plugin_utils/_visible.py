# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others' words, so that they can be shown: they cannot move a cursor, turn a line around or begin a new one."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str, *, keep_lines: bool = False) -> str:
    """``text`` with every control, format and direction character as an escape. ``keep_lines``: line feeds and tabs
    stay; otherwise they become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, keep_lines) for character in text)


def _shown(character: str, keep_lines: bool) -> str:
    if character in "\n\t":
        return character if keep_lines else " "
    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii") if character != "\r" else "\\r"
    return character
