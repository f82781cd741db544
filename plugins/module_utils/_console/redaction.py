# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes secrets out of text that the management node may have echoed."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import TYPE_CHECKING
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


class Redactor:
    """Masks the secrets that it was told, in every form in which HTML, JSON, URLs and Python write them.

    A message about a request may quote what was escaped already, so that forms of forms are masked too; and what
    stands under the name of a cookie or of a password, however it is written.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._forms = sorted(forms.union(self._forms), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, _MASK)
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
    yield _HEXADECIMAL.sub(lambda digits: digits.group().upper(), encoded)
    yield _HEXADECIMAL.sub(lambda digits: digits.group().lower(), encoded)
