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
    from collections.abc import Callable, Collection, Iterator

_TEXT_LIMIT = 256 * 1024  # characters that are looked at; an error page with all its traces has fewer
_JSON_LIMIT = 1024 * 1024  # characters, where nobody asks for more
_MOST_VALUES = 1024 * 1024  # each of them takes a hundred bytes of memory and a microsecond or two
_DEEPEST = 100  # lists and objects in each other; less than what any code that walks through them can take
_LONGEST_NUMBER = 300  # digits
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
# Code points have seven digits; Python takes quadratic time for a number of many, or refuses it.
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")
# Before an ASCII character text may be cut without a change to its normal form.
_PIECE = re.compile(r"[\x00-\x7f]*[^\x00-\x7f]{0,128}")
# What browsers take for a comment, and Python's parser looks through to the end of the page for its end.
_MARKED_SECTION = re.compile(r"<!\[[^>]*>?")
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
    """The body of an answer. ``value``: the parsed JSON; ``source``: the decoded text, empty for binary data.

    ``is_too_much``: it may be JSON, and has more than may be read.
    """

    kind: Kind
    source: str = field(default="", repr=False)
    value: Any = field(default=None, repr=False)
    is_too_much: bool = False
    _words: dict[Any, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def page(self) -> Page:
        """What a browser would show and offer of an HTML page."""
        page = Page()
        # Some declarations, and numbers of characters that do not exist, are more than Python's parser takes.
        with contextlib.suppress(AssertionError, ValueError):
            page.feed(_closed(_HUGE_REFERENCE.sub("\ufffd", self.source)))
            page.close()
        return page

    @cached_property
    def text(self) -> str:
        """The text that a human would read, in one line."""
        if self.kind is Kind.JSON:
            return self.words()
        return plain(self.page.text if self.kind is Kind.HTML else self.source)

    def words(self, is_named: Callable[[str], bool] | None = None, between: str = "; ") -> str:
        """The strings in JSON, as ``strings`` gives them, in one line; made once, however often it is asked for."""
        key = (is_named, between)
        if key not in self._words:
            self._words[key] = plain(between.join(strings(self.value, is_named)))
        return self._words[key]


def read_content(body: bytes, content_type: str = "", json_limit: int = _JSON_LIMIT) -> Content:
    """What a body holds. JSON that is larger or deeper than any answer needs is text, and of text the beginning
    counts, so that whatever the body is, reading it takes time that grows with its length.
    """
    if not body.strip():
        return Content(Kind.EMPTY)
    source = _decoded(body, content_type)
    if source is None:
        return Content(Kind.BINARY)
    is_too_much = len(source) > json_limit or sum(map(source.count, ",[{")) > _MOST_VALUES
    try:
        if not is_too_much:
            return Content(Kind.JSON, source[:_TEXT_LIMIT], _parsed(source))
    except (ValueError, RecursionError):
        pass
    source = source[:_TEXT_LIMIT]
    is_labelled = "html" in content_type.lower()
    is_html = _HTML_START.match(_without_prologue(source)) or (is_labelled and _HTML_START.search(source))
    return Content(Kind.HTML if is_html else Kind.TEXT, source, is_too_much=is_too_much and not is_html)


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
    """One line, without HTML entities, JSON escapes and full-width forms; of what is too long, its beginning."""
    text = html.unescape(_HUGE_REFERENCE.sub("\ufffd", text[:_TEXT_LIMIT]))
    return " ".join(_normal(_ESCAPED.sub(_unescaped, text)).split())


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


def _parsed(source: str) -> Any:
    """Raises ValueError or RecursionError."""
    value = json.loads(source.strip(_SPACE), parse_int=_whole_number)
    level = [value]
    for _depth in range(_DEEPEST):
        level = [member for item in level for member in _members(item)]
        if not level:
            return value
    raise ValueError("deeper than any answer")


def _members(item: Any) -> Collection[Any]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def _whole_number(digits: str) -> int:
    # To make an integer of many digits, or text of that integer, takes quadratic time.
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("more digits than any number needs")
    return int(digits)


def _normal(text: str) -> str:
    """NFKC, in pieces: a run of combining marks is sorted in time that is quadratic in its length.

    Some characters become eighteen; what is normal is no longer than what may be looked at.
    """
    pieces: list[str] = []
    length = 0
    for piece in _PIECE.finditer(text):
        pieces.append(unicodedata.normalize("NFKC", piece.group()))
        length += len(pieces[-1])
        if length >= _TEXT_LIMIT:
            break
    return "".join(pieces)[:_TEXT_LIMIT]


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
    """Without comments and marked sections, and with no tag that is not closed before the next.

    Python's parser reads on to the end for each of them, so that a page of nothing else would take minutes.
    """
    pieces, start = [], 0
    while (opening := source.find("<!--", start)) >= 0:
        pieces.append(source[start:opening])
        closing = source.find("-->", opening + len("<!--"))
        start = closing + len("-->") if closing >= 0 else len(source)
    pieces.append(source[start:])
    return _UNCLOSED.sub("&lt;", _MARKED_SECTION.sub("", "".join(pieces)))


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
