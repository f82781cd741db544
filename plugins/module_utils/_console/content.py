# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the body of an answer is, judged by what it holds and not by its label."""

from __future__ import annotations

import codecs
import contextlib
import html
import json
import re
import unicodedata
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TEXT_LIMIT = 256 * 1024
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_HTML_START = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|form|div|p|h\d|center|table|span|font|br)\b",
    re.IGNORECASE,
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# fmt: off
_CHARSETS = frozenset({
    "utf-8", "utf8", "utf-16", "us-ascii", "ascii", "latin-1", "gb2312", "gbk", "gb18030", "big5", "shift-jis",
    "euc-jp", "euc-kr",
})
# fmt: on
_UNCLOSED = re.compile(r"<(?=[^<>]*(?:<|$))")
_SPACE = "\ufeff \t\r\n"


class Kind(Enum):
    EMPTY = "an empty body"
    JSON = "JSON"
    HTML = "an HTML page"
    TEXT = "text"
    BINARY = "binary data"


@dataclass(frozen=True)
class Content:
    """The body of an answer. ``value``: the parsed JSON; ``source``: the decoded text, empty for binary data."""

    kind: Kind
    source: str = field(default="", repr=False)
    value: Any = field(default=None, repr=False)

    @cached_property
    def page(self) -> Page:
        """What a browser would show and offer of an HTML page."""
        page = Page()
        # Some declarations, and numbers of characters that do not exist, are more than Python's parser takes.
        with contextlib.suppress(AssertionError, ValueError):
            page.feed(_closed(self.source))
            page.close()
        return page

    @cached_property
    def text(self) -> str:
        """The text that a human would read, in one line."""
        if self.kind is Kind.JSON:
            return plain("; ".join(strings(self.value)))
        return plain(self.page.text if self.kind is Kind.HTML else self.source)


def read_content(body: bytes, content_type: str = "") -> Content:
    if not body.strip():
        return Content(Kind.EMPTY)
    source = _decoded(body, content_type)
    if source is None:
        return Content(Kind.BINARY)
    try:
        return Content(Kind.JSON, source[:_TEXT_LIMIT], json.loads(source.strip(_SPACE)))
    except (ValueError, RecursionError):
        source = source[:_TEXT_LIMIT]
    is_labelled = "html" in content_type.lower()
    is_html = _HTML_START.match(_without_prologue(source)) or (is_labelled and _HTML_START.search(source))
    return Content(Kind.HTML if is_html else Kind.TEXT, source)


def strings(value: Any, is_named: Callable[[str], bool] | None = None) -> Iterator[str]:
    """The strings in parsed JSON, in order; with ``is_named`` only what stands under a name of which that is true."""
    pending = [(value, is_named is None)]
    while pending:
        item, is_wanted = pending.pop()
        if isinstance(item, str):
            if is_wanted:
                yield item
        elif isinstance(item, dict):
            members = [(member, is_wanted or (is_named is not None and is_named(key))) for key, member in item.items()]
            pending += reversed(members)
        elif isinstance(item, list):
            pending += [(member, is_wanted) for member in reversed(item)]


def plain(text: str) -> str:
    """One line, without HTML entities, JSON escapes and full-width forms."""
    with contextlib.suppress(ValueError):
        text = html.unescape(text)
    text = _ESCAPED.sub(_unescaped, text)
    return " ".join(unicodedata.normalize("NFKC", text).split())


class Page(HTMLParser):
    """``has_password_field``, ``targets`` (of forms and refreshes), ``scripts``, ``title``, ``text``."""

    def __init__(self) -> None:
        super().__init__()
        self.has_password_field = False
        self.targets: list[str] = []
        self._pieces: dict[str, list[str]] = {"script": [], "style": [], "title": [], "": []}
        self._inside = ""

    @property
    def title(self) -> str:
        return plain(" ".join(self._pieces["title"]))

    @property
    def text(self) -> str:
        return " ".join(self._pieces["title"] + self._pieces[""])

    @property
    def body(self) -> str:
        """What is shown of it, without its title."""
        return plain(" ".join(self._pieces[""]))

    @property
    def scripts(self) -> str:
        return "\n".join(self._pieces["script"])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "input" and given.get("type", "").lower() == "password":
            self.has_password_field = True
        elif tag == "form":
            self.targets.append(given.get("action", ""))
        elif tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.targets.append(given.get("content", ""))
        if tag in self._pieces:
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        self._pieces[self._inside].append(data)


def _decoded(body: bytes, content_type: str) -> str | None:
    declared = _declared_charset(content_type)
    marked = [encoding for mark, encoding in _BYTE_ORDER_MARKS if body.startswith(mark)]
    if not marked and b"\0" in body:
        return None
    for encoding in (*marked, *declared, "utf-8", "gb18030"):
        try:
            text = body.decode(encoding)
        except (LookupError, ValueError):
            continue
        if isinstance(text, str):
            return text
    return None


def _declared_charset(content_type: str) -> list[str]:
    """Those of the web alone: Python knows others, and some of them take minutes for a megabyte."""
    declared = _CHARSET.search(content_type)
    name = declared.group(1).lower().replace("_", "-") if declared else ""
    return [name] if name in _CHARSETS or name.startswith(("iso-8859-", "windows-125")) else []


def _closed(source: str) -> str:
    """Without comments, and with no tag that is not closed before the next.

    Python's parser reads on to the end for each of them, so that a page of nothing else would take minutes.
    """
    pieces, rest = [], source
    while True:
        before, opening, rest = rest.partition("<!--")
        pieces.append(before)
        if not opening:
            return _UNCLOSED.sub("&lt;", "".join(pieces))
        rest = rest.partition("-->")[2]


def _without_prologue(source: str) -> str:
    """Drops XML declarations and comments that may stand before the first element."""
    rest = source.lstrip(_SPACE)
    for opening, closing in (("<?", "?>"), ("<!--", "-->")) * 8:
        while rest.startswith(opening) and closing in rest:
            rest = rest.partition(closing)[2].lstrip(_SPACE)
    return rest


def _unescaped(match: re.Match[str]) -> str:
    units = bytes.fromhex(match.group().replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
