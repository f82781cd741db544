# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer of the management node: its text, JSON and message. No I/O."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import (
    BAD_WORDS,
    GOOD_WORDS,
    is_found,
)

MESSAGE_LENGTH = 300
"""Maximum number of characters of a message that is shown."""

_LOOKED_AT = 32 * 1024  # characters; a message is at the beginning of a page
_MOST_VALUES = 1_000_000  # of one JSON document
_CHARSET = re.compile(
    r"charset\s*=\s*[\"']?(utf-?(?:8|16)|us-ascii|gb2312|gbk|gb18030|big5|iso-8859-\d+|windows-125\d|shift_jis|euc-\w\w)\b",
    re.IGNORECASE,
)
_HTML = re.compile(
    r"\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|form|div|p|h\d"
    r"|center|table|span|br)\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"(<[^<>]*>)")
_LOGIN_TARGET = re.compile(
    r"<form\b[^<>]*\baction\s*=\s*[\"']?[^\"'<>]*(?:log|sign)[_-]?in\b"
    r"|<meta\b[^<>]*\brefresh\b[^<>]*(?:log|sign)[_-]?in\b"
    r"|<input\b[^<>]*\btype\s*=\s*[\"']?password\b",
    re.IGNORECASE,
)
_LOGIN_PATH = re.compile(r"(?:log|sign)[_-]?in\b", re.IGNORECASE)
# fmt: off
# Members that hold a message, without "_" and "-".
_MESSAGE_KEYS = frozenset({
    "message", "msg", "detail", "details", "error", "errors", "err", "errormessage", "errormsg", "errmsg", "reason",
    "description", "desc", "info", "tip", "tips", "hint", "text", "exception", "nonfielderrors",
})
_CODES = frozenset({"code", "errcode", "errorcode", "errno", "ret", "retcode", "returncode", "resultcode"})
_STATES = frozenset({"status", "statuscode", "state", "result"})  # as often of the engine as of the request
_FLAGS = frozenset({"success", "succeed", "succeeded", "successful", "issuccess", "issuccessful", "ok"})
_ERRORS = frozenset({"error", "errors", "err", "exception"})
_NO_ERROR = frozenset({"", "0", "none", "null", "ok", "false", "no"})
_ENVELOPES = frozenset({"data", "result", "response", "body"})
# fmt: on


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
    def is_redirect_to_login(self) -> bool:
        location = self.headers.get("Location", "")[:1024]
        return 300 <= self.status < 400 and bool(_LOGIN_PATH.search(location.partition("?")[0]))

    @cached_property
    def text(self) -> str:
        """The body as text: strict UTF-8, else the charset of the header, else GB 18030. Empty for binary data."""
        charset = _CHARSET.search(self.headers.get("Content-Type", "")[:1024])
        for encoding in ("utf-8-sig", *([charset[1]] if charset else [])):
            try:
                return self._printable(self.body.decode(encoding))
            except (LookupError, ValueError):
                continue
        return self._printable(self.body.decode("gb18030", "replace"))

    @cached_property
    def parsed(self) -> tuple[Any, ...]:
        """The JSON value as the only item; nothing if the body is no JSON or has more than a million values."""
        if self.defect or sum(map(self.text.count, ",[{")) > _MOST_VALUES:
            return ()
        try:
            return (json.loads(self.text.strip()),)
        except (ValueError, RecursionError):
            return ()

    @cached_property
    def is_html(self) -> bool:
        return not self.parsed and bool(_HTML.match(self.text[:_LOOKED_AT]))

    @cached_property
    def is_login_page(self) -> bool:
        """Whether the body is a page with a login form, or a page that leads to one."""
        if not self.is_html:
            return False
        source = self.text[:_LOOKED_AT]
        title = re.search(r"<title[^<>]*>([^<]*)", source, re.IGNORECASE)
        is_script_only = not self.message and re.search(
            r"location[^<>\"']{0,20}[\"'][^<>\"']*(?:log|sign)[_-]?in\b", source
        )
        is_titled = title is not None and bool(
            re.search(r"\b(?:log|sign)[\s-]?in\b|登录|登陆|登入", title[1], re.IGNORECASE)
        )
        return bool(_LOGIN_TARGET.search(source) or is_titled or is_script_only)

    @cached_property
    def message(self) -> str:
        """What a person reads of the answer, in one line: all texts of JSON, the visible text of a page."""
        if self.parsed:
            return plain("; ".join(find_texts(self.parsed[0])))
        return plain(_visible_text(self.text[:_LOOKED_AT]) if self.is_html else self.text)

    @cached_property
    def message_fields(self) -> str:
        """The texts of those members of JSON that hold messages, each in a line; the message of another answer."""
        if self.parsed and isinstance(self.parsed[0], (dict, list)):
            return "\n".join(map(plain, find_texts(self.parsed[0], lambda key: bare(key) in _MESSAGE_KEYS)))
        return self.message

    @cached_property
    def verdict(self) -> bool | None:
        """True: the answer reports success. False: it reports failure. None: neither, or both."""
        if not self.body.strip():
            return True
        value = self.parsed[0] if self.parsed else self.message
        if isinstance(value, dict):
            return _verdict_of_object(value, _verdict_of_words(self.message_fields))
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            return _verdict_of_words(self.message)
        return True if value is True else None

    @property
    def requires_login(self) -> bool:
        """Whether words or a code in the answer report that the session has ended."""
        if self.parsed and isinstance(self.parsed[0], dict):
            codes = {str(value) for key, value in self.parsed[0].items() if bare(key) in ("code", "status", "errcode")}
            return "401" in codes or is_found("login_required", self.message_fields)
        return len(self.body) < 1024 and is_found("login_required", self.message)

    def described(self, secrets: tuple[str, ...] = ()) -> str:
        """Return status and message, as in 'HTTP 503: maintenance'."""
        text = self.shown(secrets)[:80] or self.defect
        wait = self.headers.get("Retry-After", "")[:30]
        wait = f" (retry after {show(wait)})" if wait and self.status in (429, 502, 503, 504) else ""
        return f"HTTP {self.status}{wait}{f': {text}' if text else ''}".rstrip(".")

    def shown(self, secrets: tuple[str, ...] = ()) -> str:
        """Return the message without ``secrets`` and control characters, at most 300 characters."""
        text = self.message
        for form in sorted(secret_forms(secrets), key=len, reverse=True):
            text = text.replace(form, "********")
        text = re.sub(
            r"(?i)((?:sessionid|csrftoken|password)[\"']?\s*[=:]\s*[\"']?)[^\s;,\"'&<>]+", r"\1********", text
        )
        return show(text)

    @staticmethod
    def _printable(text: str) -> str:
        return "" if "\0" in text else text


def find_texts(value: Any, is_wanted: Callable[[str], bool] | None = None) -> Iterator[str]:
    """Yield the texts in a JSON value in order; with ``is_wanted`` only those below a key for which it is true."""
    pending = [(value, is_wanted is None)]
    while pending:
        item, is_below = pending.pop()
        if isinstance(item, str):
            if is_below:
                yield item
        elif isinstance(item, dict):
            members = [(each, is_below or bool(is_wanted and is_wanted(key))) for key, each in item.items()]
            pending += reversed(members)
        elif isinstance(item, list):
            pending += [(each, is_below) for each in reversed(item)]


def secret_forms(secrets: Iterable[str]) -> set[str]:
    """Return each secret as it is, and as JSON, HTML, a URL and Base64 write it."""
    forms: set[str] = set()
    for secret in filter(None, secrets):
        forms |= {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], plain(secret)}
        forms |= {html.escape(secret), quote(secret), quote(secret, safe=""), b64encode(secret.encode()).decode()}
    return forms


def plain(text: str) -> str:
    """Return the beginning of ``text`` in one line, without HTML entities, JSON escapes and full-width forms."""
    text = html.unescape(re.sub(r"&#\w{9,};?", "\ufffd", text[:_LOOKED_AT]))
    text = re.sub(r"(?:\\u[0-9a-fA-F]{4})+", _unescape, text)
    return " ".join(unicodedata.normalize("NFKC", text).split())


def show(text: str, length: int = MESSAGE_LENGTH) -> str:
    """Return at most ``length`` printable characters of ``text`` in one line."""
    line = "".join(character if character.isprintable() else " " for character in text[: 2 * length])
    return " ".join(line.split())[:length]


def bare(key: str) -> str:
    """Return a key of JSON in lower case, without "_" and "-"."""
    return key.lower().replace("_", "").replace("-", "")


def _verdict_of_words(text: str) -> bool | None:
    if is_found("failure", text):
        return False
    return True if is_found("success", text) else None


def _verdict_of_object(value: Mapping[str, Any], words: bool | None) -> bool | None:
    signs = _signs(value)
    if False in signs:
        return _codes(value) == {1} and words is True  # some answer {"code": 1, "msg": "success"}
    inner = [each for key, each in value.items() if bare(key) in _ENVELOPES and isinstance(each, dict)]
    for each in inner:
        # A code without a message may be a field of the engine.
        if False in _signs(each) and not (_codes(each) and not _MESSAGE_KEYS & set(map(bare, each))):
            return None if True in signs else False
    if None in signs:
        return words
    return True if True in signs else words is not False


def _signs(value: Mapping[str, Any]) -> set[bool | None]:
    """Return what the members report that tell how the request went; None for one with an unknown value."""
    signs: set[bool | None] = set()
    for key, member in ((bare(key), member) for key, member in value.items()):
        number, word = _number(member), member.strip().lower() if isinstance(member, str) else ""
        if isinstance(member, bool) and key in _FLAGS | _CODES | _STATES:
            signs.add(member)
        elif key in _ERRORS and member and str(member).strip().lower() not in _NO_ERROR:
            signs.add(False)
        elif key in _CODES | _STATES and number is not None:
            is_good, is_bad = number == 0 or 200 <= number < 300, number < 0 or 400 <= number < 600 or key in _CODES
            signs.add(True if is_good else False if is_bad else None)
        elif key in _CODES | _STATES and word in GOOD_WORDS | BAD_WORDS:
            signs.add(word in GOOD_WORDS)
        elif key in _CODES and word:
            signs.add(False if re.search(r"error|fail|invalid|denied", word) else None)
    return signs


def _codes(value: Mapping[str, Any]) -> set[int]:
    numbers = (_number(member) for key, member in value.items() if bare(key) in _CODES | _STATES)
    return {number for number in numbers if number is not None}


def _number(member: Any) -> int | None:
    if isinstance(member, (float, str)) and re.fullmatch(r"\s*-?\d{1,18}(?:\.0)?\s*", str(member)):
        return int(float(member))
    return member if isinstance(member, int) and not isinstance(member, bool) else None


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("\\u", "")).decode("utf-16-be", "replace")


def _visible_text(source: str) -> str:
    """Return the text of an HTML page outside of comments, scripts and styles."""
    # Linear in the length, unlike html.parser, which needs minutes for a megabyte of opening tags.
    first, *rest = source.split("<!--")
    visible, hidden_until = [], ""
    for token in _TAG.split(first + "".join(piece.partition("-->")[2] for piece in rest)):
        tag = re.match(r"<(/?[a-z]+)", token, re.IGNORECASE)
        if hidden_until:
            hidden_until = "" if tag and tag[1].lower() == hidden_until else hidden_until
        elif tag and tag[1].lower() in ("script", "style"):
            hidden_until = f"/{tag[1].lower()}"
        elif not token.startswith("<"):
            visible.append(token)
    return " ".join(visible)
