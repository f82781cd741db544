# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer of the management node: its text, its JSON, and what may be shown of it. No I/O, no meaning."""

from __future__ import annotations

import contextlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from functools import cached_property
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._secrets import names_secret

MESSAGE_LENGTH = 300
"""Maximum number of characters of a message that is shown."""

_MAX_PAGE_CHARS = 16 * 1024  # characters; a message is at the beginning of a page
_MAX_VALUES = 1_000_000  # of one JSON document
# Codecs such as punycode take too long.
_CHARSET = re.compile(r"charset\s*=\s*[\"']?((?:utf|us-ascii|gb|big5|iso-8859|windows-|shift_jis|euc-)[\w-]*)", re.I)
_HTML = re.compile(  # no other tag: a license may be XML
    r"\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|form|div|p|h\d"
    r"|center|table|span|br)\b",
    re.IGNORECASE,
)
# One without an end hides the rest of the page.
_NOT_VISIBLE = re.compile(
    r"<(script|style)\b(?:.*?</\1[^<>]*>?|.*)|<!--(?:.*?-->|.*)|<[^<>]*>", re.IGNORECASE | re.DOTALL
)
_PASSWORD_FIELD = re.compile(r"<input\b[^<>]{0,300}\btype\s*=\s*[\"']?password\b", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """``status``: of HTTP. ``body``: decompressed. ``defect``: why the body is incomplete, empty if it is complete."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    defect: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def has_length(self) -> bool:
        """Whether the answer itself shows where its body ends."""
        return "Content-Length" in self.headers or "Transfer-Encoding" in self.headers

    @property
    def location(self) -> str:
        """The target of a redirect without its parameters and user, which may be secrets; else empty."""
        target = self.headers.get("Location", "")[:1024] if 300 <= self.status < 400 else ""
        return re.sub(r"(?<=//)[^/]*@", "", re.split(r"[?#;]", target)[0])

    @cached_property
    def text(self) -> str:
        """The body as text: strict UTF-8, else the charset of the header, else GB 18030. Empty for binary data."""
        declared = _CHARSET.search(self.headers.get("Content-Type", "")[:1024])
        for charset in ("utf-8-sig", declared[1] if declared else "gb18030"):
            with contextlib.suppress(LookupError, ValueError):
                text = self.body.decode(charset)
                break
        else:
            text = self.body.decode("gb18030", "replace")
        return "" if "\0" in text else text

    @cached_property
    def parsed(self) -> tuple[Any, ...]:
        """The JSON value as the only item; nothing if the body is not JSON or has more than a million values."""
        if self.defect or sum(map(self.text.count, ",[{")) > _MAX_VALUES:
            return ()
        try:
            return (json.loads(self.text.strip()),)
        except (ValueError, RecursionError):
            return ()

    @property
    def document(self) -> Any:
        """The JSON value; None also if the body is not JSON."""
        return self.parsed[0] if self.parsed else None

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of the object in the JSON, by their keys in lower case; none for any other body."""
        document = self.document
        return {key.lower(): value for key, value in document.items()} if isinstance(document, dict) else {}

    @cached_property
    def is_html(self) -> bool:
        return not self.parsed and bool(_HTML.match(self.text[:_MAX_PAGE_CHARS]))

    @cached_property
    def has_password_field(self) -> bool:
        return self.is_html and bool(_PASSWORD_FIELD.search(self.text[: 4 * _MAX_PAGE_CHARS]))

    @cached_property
    def visible_text(self) -> str:
        """The text of a page without tags, scripts and comments; any other text as it is."""
        source = self.text[:_MAX_PAGE_CHARS]
        text = html.unescape(_NOT_VISIBLE.sub(" ", source)) if self.is_html else source
        return " ".join(text.split()) or ("binary data" if self.body.strip() and not self.text else "")


def find_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value in order, without those whose key names a secret."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str) and item.strip():
            yield item[:_MAX_PAGE_CHARS].strip()
        elif isinstance(item, dict):
            pending += [each for key, each in reversed(item.items()) if not names_secret(key)]
        elif isinstance(item, list):
            pending += reversed(item)


def show(text: str, length: int = MESSAGE_LENGTH) -> str:
    """Return at most ``length`` printable characters of ``text`` in one line."""
    line = "".join(character if character.isprintable() else " " for character in text[: 2 * length])
    return " ".join(line.split())[:length]


def read_date(date: str) -> float | None:
    """Return the seconds since 1970 of a date of HTTP; None if it is invalid."""
    try:
        fields = parsedate_tz(date[:64])
        return float(mktime_tz(fields)) if fields else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
