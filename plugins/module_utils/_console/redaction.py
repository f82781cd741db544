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
    from collections.abc import Iterable

_MASK = "********"
_HEXADECIMAL = re.compile(r"(?<=%)[0-9A-Fa-f]{2}|(?<=\\u)[0-9A-Fa-f]{4}")
_COOKIE = re.compile(r"((?:sessionid|csrftoken)[\"']?\s*[=:]\s*[\"']?)[^\s;,\"'&<>]+", re.IGNORECASE)


class Redactor:
    """Masks the secrets that it was told, in every form in which HTML, JSON and URLs write them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: set[str] = set()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        self._forms.update(form for secret in secrets if secret for form in _forms(secret))

    def __call__(self, text: str) -> str:
        for form in sorted(self._forms, key=len, reverse=True):
            text = text.replace(form, _MASK)
        return _COOKIE.sub(rf"\g<1>{_MASK}", text)


def _forms(secret: str) -> Iterable[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield html.escape(secret)
    yield html.escape(secret, quote=False)
    yield repr(secret)[1:-1]
    yield base64.b64encode(raw).decode()
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    for encoded in (json.dumps(secret)[1:-1], quote(raw, safe=""), quote_plus(raw, safe="")):
        yield encoded
        yield _HEXADECIMAL.sub(lambda digits: digits.group().upper(), encoded)
        yield _HEXADECIMAL.sub(lambda digits: digits.group().lower(), encoded)
