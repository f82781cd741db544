# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets: which values are secret, and texts without them. No I/O."""

from __future__ import annotations

import contextlib
import html
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

_SECRET_NAME = re.compile(r"token|secret|session|cookie|passw|pwd|auth|jwt|csrf|ticket|credential|key$|sid$|sign", re.I)
_SECRET_PAIR = re.compile(r"([?&;]([^\s=&?;#]{1,100})=)([^\s&;#\"'<>]+)")
_SHORT = 8  # characters of a secret that is masked only as a whole word: "en" is part of many
_DECODINGS = 4
_HIDDEN = "(not shown: it spells a secret)"
_LEAST_WORD = 8  # characters of a word of a header that is a secret of its own
SECRET_OPTIONS = ("password", "sessionid")


def names_secret(name: str) -> bool:
    """Return whether a key of JSON, or a parameter in a URL, has the name of a secret."""
    return bool(_SECRET_NAME.search(name))


def find_tokens(value: Any) -> set[str]:
    """Return the long words in a JSON value that stand below a key that names a secret."""
    pending, tokens = [(value, False)], set[str]()
    while pending:
        item, is_secret = pending.pop()
        if isinstance(item, dict):
            pending += [(each, is_secret or names_secret(key)) for key, each in item.items()]
        elif isinstance(item, list):
            pending += [(each, is_secret) for each in item]
        elif is_secret and isinstance(item, str):
            tokens |= {word for word in item.split() if len(word) >= _SHORT and not word.isalpha()}
    return tokens


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` without ``secrets``, as they are and as JSON, HTML, a URL and Base64 write them.

    A text that still spells one, however it is encoded or split, is not returned at all.
    """
    text, known = mask_query(text), set(filter(None, secrets))
    for form in sorted(secret_forms(known), key=len, reverse=True):
        is_short = len(form) <= _SHORT
        pattern = rf"(?<!\w){re.escape(form)}(?!\w)" if is_short else re.escape(form)
        text = re.sub(pattern, "********", text)
    coded = {b64encode(each.encode("utf-8", "surrogatepass")).decode() for each in known}
    spelt, decoded = {each for each in map(_squeeze, known | coded) if _is_telling(each)}, text
    for _time in range(_DECODINGS if spelt else 0):
        if any(each in _squeeze(decoded) for each in spelt):
            return _HIDDEN
        decoded = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), decoded)
        decoded = unquote_plus(html.unescape(decoded))
    return text


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _is_telling(letters: str) -> bool:
    """Return whether letters and digits are enough to recognize a secret: "engine" is, "log" may be anything."""
    return len(letters) >= 6 or (len(letters) >= 4 and not letters.isalpha() and not letters.isdigit())


def secret_forms(secrets: Iterable[str]) -> set[str]:
    """Return each secret as it is, and as JSON, HTML, a URL and Base64 write it."""
    forms: set[str] = set()
    for secret in filter(None, secrets):
        octets = secret.encode("utf-8", "surrogatepass")
        urls = {quote(octets), quote(octets, safe=""), quote_plus(octets)}
        urls |= {re.sub("%..", lambda match: match[0].lower(), url) for url in urls}
        forms |= {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], *urls}
        forms |= {html.escape(secret), b64encode(octets).decode(), b64encode(octets).decode().rstrip("=")}
        forms.add(b64encode(octets, altchars=b"-_").decode().rstrip("="))
    return forms


def mask_query(text: str) -> str:
    """Return ``text`` without the values of parameters in URLs whose names are those of secrets."""
    return _SECRET_PAIR.sub(
        lambda match: f"{match[1]}********" if names_secret(unquote_plus(match[2])) else match[0], text
    )


def query_secrets(url: str) -> list[str]:
    """Return the values of parameters of ``url`` whose names are those of secrets."""
    pairs = _SECRET_PAIR.finditer(url)
    return [unquote_plus(pair[3]) for pair in pairs if names_secret(unquote_plus(pair[2]))]


def secrets_of(options: Mapping[str, Any]) -> list[str]:
    """Return the secret texts among ``options``."""
    headers = options.get("headers")
    return [
        *(str(options.get(option) or "") for option in SECRET_OPTIONS),
        *(header_secrets(headers) if isinstance(headers, Mapping) else ()),
    ]


def header_secrets(headers: Mapping[str, Any]) -> list[str]:
    """Return the values of ``headers``, and their longer words: an answer may repeat the token of a value alone."""
    values = [str(value) for value in headers.values()]
    # A Basic header has user and password in Base64; an answer may repeat them as text.
    for value in list(values):
        with contextlib.suppress(ValueError):
            kind, _blank, coded = value.partition(" ")
            decoded = b64decode(coded, validate=True).decode() if kind.lower() == "basic" else ""
            values += [part for part in (decoded, decoded.partition(":")[2]) if part]
    return values + [word for value in values for word in re.split(r"[\s,;=\"]+", value) if len(word) >= _LEAST_WORD]
