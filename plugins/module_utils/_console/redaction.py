# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes secrets out of text that the management node may have echoed."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MASK = "********"
_HEXADECIMAL = re.compile(r"(?<=%)[0-9A-Fa-f]{2}|(?<=\\u)[0-9A-Fa-f]{4}|(?<=\\x)[0-9A-Fa-f]{2}")
_COOKIE = re.compile(r"((?:sessionid|csrftoken)[\"']?\s*[=:]\s*[\"']?)[^\s;,\"'&<>]+", re.IGNORECASE)
_PASSWORD_KEY = r"(?:password|passwd|pwd)\d?"  # noqa: S105
# A value in quotes ends at a quote that is escaped as often as the one that begins it.
_QUOTED_PASSWORD = re.compile(
    rf"({_PASSWORD_KEY}(?:\\*[\"'])?\s*[=:]\s*(?P<quote>\\*[\"']))(?:(?!(?<!\\)(?P=quote)).)+", re.IGNORECASE
)
# Not after a colon, which comes before prose as well.
_BARE_PASSWORD = re.compile(rf"({_PASSWORD_KEY}\s*=\s*)[^\s;,\"'&<>]+", re.IGNORECASE)


# Between what stands for two characters: signs that group digits, and lines that are broken.
_BETWEEN_DIGITS = r"(?:[\s:;,._-]{0,3}(?:%|=|0x|\\{1,4}x)?)"
_BETWEEN_LETTERS = r"(?:\\{1,4}[rn]|\s){0,4}"
_BROKEN = r"(?:=\r?\n)?"
_SHORTEST = 6
"""Fewer letters of Base64, or digits, than that may well stand in a text that holds no secret."""


class _Pattern(NamedTuple):
    """``signs``: all of them, or for an escape one of them, are in any text that has a match."""

    pattern: str
    signs: frozenset[str]
    is_escape: bool = False

    def may_be_among(self, signs: set[str]) -> bool:
        """``signs``: of a text, in small letters."""
        return bool(signs & self.signs) if self.is_escape else self.signs <= signs


class Redactor:
    """Masks the secrets that it was told, in every form in which HTML, JSON, URLs and Python write them, and mail; in
    hexadecimal digits; and in Base64, of the secret alone or of what holds it.

    A message about a request may quote what was escaped already, so that forms of forms are masked too; and what
    stands under the name of a cookie or of a password, however it is written.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._forms: list[str] | None = None
        self._patterns: list[_Pattern] = []
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        self._secrets.update(secret for secret in secrets if secret)
        # Made when the first text comes, as most that could be told of are never told of.
        self._forms = None

    def __call__(self, text: str) -> str:
        if self._forms is None:
            forms = {form for secret in self._secrets for form in _forms(secret)}
            self._forms = sorted(forms, key=len, reverse=True)
            self._patterns = [pattern for secret in self._secrets for pattern in _patterns(secret)]
        for form in self._forms:
            text = text.replace(form, _MASK)
        signs = set(text.lower())
        for encoded in self._patterns:
            # To compile them takes longer than all else that is done about an answer, and most can be in none.
            if encoded.may_be_among(signs):
                text = re.sub(encoded.pattern, _MASK, text)
        for pattern in (_COOKIE, _QUOTED_PASSWORD, _BARE_PASSWORD):
            text = pattern.sub(rf"\g<1>{_MASK}", text)
        return text


def _forms(secret: str) -> set[str]:
    once = {secret, *_escaped(secret)}
    return once | {twice for form in once for twice in _escaped(form)}


def _escaped(text: str) -> Iterator[str]:
    raw = text.encode("utf-8", "surrogatepass")
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield base64.b64encode(raw).decode()
    # The quotes in front decide which ones Python escapes.
    for encoded in (repr(text)[1:-1], repr('"' + text)[2:-1], repr(raw)[2:-1], repr(b'"' + raw)[3:-1]):
        yield from _in_both_cases(encoded)
    for encoded in (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        yield from _in_both_cases(encoded)
        yield from _in_both_cases(encoded.replace("/", "\\/"))
    for encoded in (quote(raw, safe=""), quote_plus(raw, safe=""), quote(raw)):
        yield from _in_both_cases(encoded)


def _in_both_cases(encoded: str) -> Iterator[str]:
    yield encoded
    if "%" not in encoded and "\\" not in encoded:
        return
    yield _HEXADECIMAL.sub(lambda digits: digits.group().upper(), encoded)
    yield _HEXADECIMAL.sub(lambda digits: digits.group().lower(), encoded)


def _patterns(secret: str) -> Iterator[_Pattern]:
    """Encodings in which a character or a byte has many spellings."""
    # Without any of these signs it is the secret itself, which is masked by now.
    yield _Pattern(_BROKEN.join(_spelled(character) for character in secret), frozenset("%=&\\"), is_escape=True)
    # As it stands in a body of JSON or of a form.
    inner = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote_plus(secret)}
    for raw in sorted(text.encode("utf-8", "surrogatepass") for text in inner):
        if len(raw) * 2 >= _SHORTEST:
            yield _Pattern(f"(?i:{_BETWEEN_DIGITS.join(f'{byte:02x}' for byte in raw)})", frozenset(raw.hex()))
        for before in range(3):
            yield from _in_base64(raw, before)


def _spelled(character: str) -> str:
    raw, number = character.encode("utf-8", "surrogatepass"), ord(character)
    ways = [
        re.escape(character),
        # A line may be broken within a character.
        _BROKEN.join(rf"(?i:%(?:25)*{byte:02x}|=(?:3d)*{byte:02x}|\\{{1,4}}x{byte:02x})" for byte in raw),
        "".join(rf"\\{{1,4}}0?{byte:03o}" for byte in raw),
        rf"(?i:&(?:amp;)*\#(?:0{{0,4}}{number}|x0{{0,4}}{number:x});?)",
        rf"(?i:\\{{1,4}}u(?:{number:04x}|\{{0{{0,4}}{number:x}\}}))",
    ]
    return f"(?:{'|'.join(ways)})"


def _in_base64(raw: bytes, before: int) -> Iterator[_Pattern]:
    """Where so many bytes stand before it, of the three that become four letters: what others have no part in."""
    encoded = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
    is_shared = (before + len(raw)) % 3 != 0
    letters = encoded[(0, 2, 3)[before] : len(encoded) - is_shared]
    if len(letters) < _SHORTEST:
        return
    spelled = {"+": "[+-]", "/": "[/_]"}
    shared = "[A-Za-z0-9+/_-]"
    yield _Pattern(
        (f"{shared}?{_BETWEEN_LETTERS}" if before else "")
        + _BETWEEN_LETTERS.join(spelled.get(letter, letter) for letter in letters)
        + (f"(?:{_BETWEEN_LETTERS}{shared}={{0,2}})?" if is_shared else ""),
        # The two that have another spelling in addresses are left out.
        frozenset(letters.lower()) - set(spelled),
    )
