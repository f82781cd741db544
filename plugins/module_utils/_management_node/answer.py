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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import (
    BAD_WORDS,
    GOOD_WORDS,
    is_found,
)

MESSAGE_LENGTH = 300
"""Maximum number of characters of a message that is shown."""

_MAX_PAGE_CHARS = 32 * 1024  # characters; a message is at the beginning of a page
_MAX_VALUES = 1_000_000  # of one JSON document
_CHARSET = re.compile(
    r"charset\s*=\s*[\"']?(utf-?(?:8|16)|us-ascii|gb2312|gbk|gb18030|big5|iso-8859-\d+|windows-125\d|shift_jis|euc-\w\w)\b",
    re.IGNORECASE,
)
_HTML = re.compile(
    r"\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|form|div|p|h\d"
    r"|center|table|span|br)\b",
    re.IGNORECASE,
)
_INLINE = frozenset({"a", "b", "code", "em", "font", "i", "span", "strong", "u"})
_TAG = re.compile(r"(<[^<>]*>)")
_LOGIN_TAG = re.compile(
    r"<(?:form\b[^<>]*\baction\s*=\s*[\"']?[^\"'<>]*(?:log|sign)[_-]?in\b"
    r"|meta\b[^<>]*\brefresh\b[^<>]*(?:log|sign)[_-]?in\b"
    r"|input\b[^<>]*\btype\s*=\s*[\"']?password\b)",
    re.IGNORECASE,
)
_MAX_TAG = 500  # characters of a tag that are searched: the expression is not linear
_MAX_NOTICE = 200  # bytes of a text that may be a notice such as "please log in", and no license
_LOGIN_PATH = re.compile(r"(?:log|sign)[_-]?in\b", re.IGNORECASE)
# fmt: off
# Members that hold a message, without "_" and "-".
_MESSAGE_KEYS = frozenset({
    "message", "msg", "detail", "details", "error", "errors", "err", "errormessage", "errormsg", "errmsg", "reason",
    "description", "desc", "info", "tip", "tips", "hint", "text", "exception", "nonfielderrors",
})
_CODES = frozenset({"code", "errcode", "errorcode", "errno", "ret", "retcode", "returncode", "resultcode", "rc"})
_STATES = frozenset({"status", "statuscode", "state", "result"})  # as often of the engine as of the request
_FLAGS = frozenset({"success", "succeed", "succeeded", "successful", "issuccess", "issuccessful", "ok"})
_ERRORS = frozenset({"error", "errors", "err", "exception", "failed", "fail"})
_ROUND = re.compile(r"(?![45]00$)[1-9]0{2,}")  # HTTP's 400 and 500 are failures
_NO_ERROR = frozenset({"", "0", "none", "null", "ok", "false", "no", "success"})
_OF_AN_ENGINE = frozenset({"id", "name", "ip", "address", "manageip", "enginename"})
_OF_A_TASK = frozenset({"uuid", "task", "taskid", "job", "jobid"})
_OF_A_REQUEST = frozenset({"name", "manageip", "usercredentialid", "ischangehostname"})
_ENVELOPES = frozenset({"data", "result", "response", "body", "status", "meta"})
# fmt: on
_SECRET_KEY = re.compile(r"token|secret|session|cookie|passw|pwd|auth|jwt|ticket|apikey|accesskey")
_SECRET_PARAMETER = re.compile(r"sid$|csrf|xsrf|sign|nonce|otp|^sig$|^code$|^key$|credential")
_PARAMETER = re.compile(r"([?&;]([^\s=&?;#]{1,100})=)([^\s&;#\"'<>]+)")
_ESCAPE = re.compile(
    r"(?:%[0-9a-fA-F]{2})+|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]\w{1,30});|(?:\\+u[0-9a-fA-F]{4})+"
    r"|\\+x[0-9a-fA-F]{2}|\\+[bfnrt]?|\+"
)
_URL_SAFE = str.maketrans("+/", "-_")
_MAX_CODINGS = 5
_LEAST_TOKEN = 16  # characters of a word without digits
_JWT = re.compile(r"\beyJ[\w-]{10,}(?:\.[\w-]+)*")
_MAX_WORD = 8  # characters of a secret that is masked only as a whole word: "en" is part of many


@dataclass(frozen=True)
class Answer:
    """``status``: of HTTP. ``body``: decompressed. ``defect``: why the body is incomplete, empty if it is complete.

    ``at``: the ``boot_time`` at which the request was sent. ``age``: by how many seconds its Date is older than the
    request, by the clock of the management node; not positive if that clock is not known.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    defect: str = ""
    at: float = 0.0
    age: float = 0.0

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def has_length(self) -> bool:
        """Whether the answer itself shows where its body ends."""
        return "Content-Length" in self.headers or "Transfer-Encoding" in self.headers

    @property
    def location(self) -> str:
        """The target of a redirect without its query and user, which may be secrets; else empty."""
        target = self.headers.get("Location", "")[:1024] if 300 <= self.status < 400 else ""
        return re.sub(r"(?<=//)[^/]*@", "", re.split(r"[?#]", target)[0])

    @property
    def is_redirect_to_login(self) -> bool:
        return bool(_LOGIN_PATH.search(self.location))

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
        if self.defect or sum(map(self.text.count, ",[{")) > _MAX_VALUES:
            return ()
        has_twins = False

        def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            nonlocal has_twins
            members = dict(pairs)
            has_twins = len(members) < len(pairs)
            return members

        try:
            document = json.loads(self.text.strip(), object_pairs_hook=read)
            # The object at the top is the last one. With "code": 0 and "code": 1, it states nothing.
            return () if has_twins and isinstance(document, dict) else (document,)
        except (ValueError, RecursionError):
            return ()

    @cached_property
    def is_html(self) -> bool:
        return not self.parsed and bool(_HTML.match(self.text[:_MAX_PAGE_CHARS]))

    @cached_property
    def is_login_page(self) -> bool:
        """Whether the body is a page with a login form, or a page that leads to one."""
        if not self.is_html:
            return False
        source = self.text[:_MAX_PAGE_CHARS]
        title = re.search(r"<title[^<>]*>([^<]*)", source, re.IGNORECASE)
        is_script_only = not self.message and re.search(
            r"location[^<>\"']{0,20}[\"'][^<>\"']{0,500}?(?:log|sign)[_-]?in\b", source
        )
        is_titled = title is not None and bool(
            re.search(r"\b(?:log|sign)[\s-]?in\b|登录|登陆|登入", title[1], re.IGNORECASE)
        )
        has_target = any(_LOGIN_TAG.match(tag[:_MAX_TAG]) for tag in _TAG.findall(source))
        return bool(has_target or is_titled or is_script_only)

    @property
    def is_other_page(self) -> bool:
        """Whether the body is a page that neither has nor requires a login."""
        return self.is_html and not self.is_login_page and not self.requires_login

    @cached_property
    def objects(self) -> list[Mapping[str, Any]]:
        """The objects of JSON that are about the request: the one at the top, and those in its envelopes."""
        top = self.parsed[0] if self.parsed else None
        if not isinstance(top, dict):
            return []
        return [top, *(each for key, each in top.items() if bare(key) in _ENVELOPES and isinstance(each, dict))]

    @cached_property
    def messages(self) -> str:
        """The messages to the user, each in a line: message members of JSON, or the visible text of another answer.

        Texts in the items of a list, in a license or in a member with a token are none.
        """
        if self.objects:
            members = [member for each in self.objects for member in self._message_members(each)]
            return "\n".join(plain(text) for member in members for text in find_texts(member))
        if self.parsed:
            top = self.parsed[0] if isinstance(self.parsed[0], list) else [self.parsed[0]]
            return "\n".join(map(plain, top)) if all(isinstance(each, str) for each in top) else ""
        lines = _visible_lines(self.text[:_MAX_PAGE_CHARS]) if self.is_html else [self.text]
        return "\n".join(filter(None, map(plain, lines)))

    @property
    def message(self) -> str:
        return self.messages.replace("\n", "; ")

    @cached_property
    def verdict(self) -> bool | None:
        """True: the structure of the answer states success. False: it states failure. None: neither, or both.

        Words never decide, except for a code 1, which some management nodes use for success.
        """
        if not self.objects:
            return True if not self.body.strip() or (self.parsed and self.parsed[0] is True) else None
        signs, inner = _signs(self.objects[0]), set[bool | None]()
        for each in self.objects[1:]:
            # Without a message, a code or state may be a field of the engine.
            inner |= _signs(each) if _MESSAGE_KEYS & set(map(bare, each)) else _signs(each, _FLAGS | _ERRORS)
        if False in signs:
            is_unclear = _codes(self.objects[0]) == {1} and is_found("success", self.messages)
            return None if True in signs or is_unclear else False
        if None in signs or False in inner:
            return None if signs else False
        return True if True in signs | inner else None

    @property
    def is_soft_failure(self) -> bool:
        """Whether only a code that other management nodes use for success, such as 1 or 20000, states a failure."""
        is_soft = self.verdict is False and not any(False in _signs(each, _FLAGS | _ERRORS) for each in self.objects)
        codes = [code for each in self.objects for code in _codes(each) if code]
        return (
            is_soft
            and bool(codes)
            and all(code == 1 or 600 <= code < 700 or _ROUND.fullmatch(str(code)) for code in codes)
        )

    @property
    def codes(self) -> set[int]:
        """The codes of the object at the top, and of an error in it."""
        top = self.objects[0] if self.objects else {}
        inner = [each for key, each in top.items() if bare(key) in _ERRORS and isinstance(each, dict)]
        return {code for each in (top, *inner) for code in _codes(each)}

    @property
    def texts(self) -> str:
        """The messages, and in lines of their own other codes and states; of a failure, the texts under all keys."""
        members = [(bare(key), member) for each in self.objects for key, member in each.items()]
        is_failure, known = self.verdict is False, {*self.messages.split("\n"), ""}
        texts = [
            plain(each) for key, each in members if isinstance(each, str) and (is_failure or key in _CODES | _STATES)
        ]
        others = [text for text in texts if text.lower() not in GOOD_WORDS | BAD_WORDS and text not in known]
        return "\n".join([self.messages, *others])

    @property
    def has_signs(self) -> bool:
        """Whether a member of JSON is about success or failure, whatever its value."""
        return any(_signs(each) for each in self.objects)

    def has_id(self, *, of_a_task: bool = False) -> bool:
        """Whether a member is the id of a task, or of an engine, and not that of a call of JSON-RPC."""
        wanted = _OF_A_TASK | (frozenset() if of_a_task else {"id", "engineid"})
        objects = [each for each in self.objects if "jsonrpc" not in each]
        return any(bare(key) in wanted and _is_id(member) for each in objects for key, member in each.items())

    def is_resource(self, own_words: Iterable[str]) -> bool:
        """Whether the answer has no message, and has an id or a value of the request."""
        members = [(bare(key), member) for each in self.objects for key, member in each.items()]
        is_own = any(key in _OF_AN_ENGINE and member in (*own_words,) for key, member in members)
        return (is_own or self.has_id()) and not self.messages.strip()

    @property
    def requires_login(self) -> bool:
        """Whether the answer reports that the session has ended: by a code, or by a message without other content."""
        if self.objects:
            is_notice = all(bare(key) in _MESSAGE_KEYS for key in self.objects[0])
            is_failure = self.status >= 400 or self.verdict is False or is_notice
            return 401 in self.codes or (is_failure and is_found("login_required", self.messages))
        is_notice = len(self.body) <= _MAX_NOTICE and b"\n" not in self.body.strip()
        return (is_notice or self.is_html) and is_found("login_required", self.messages)

    @property
    def is_notice(self) -> bool:
        """Whether the body is nothing but a message or a state: members of JSON, or one line that reports a failure."""
        if not self.parsed:
            is_line = len(self.body) <= _MAX_NOTICE and b"\n" not in self.body.strip()
            return is_line and is_found("failure", self.text)
        value, known = self.parsed[0], _MESSAGE_KEYS | _CODES | _STATES | _FLAGS
        if not isinstance(value, dict):
            return isinstance(value, bool) or not isinstance(value, (int, float))
        others = [member for key, member in value.items() if bare(key) not in known or isinstance(member, (dict, list))]
        return not any(others)

    @cached_property
    def tokens(self) -> set[str]:
        """The secrets that the answer gives: in members, headers and a redirect whose names are those of secrets."""
        texts = [value for name, value in self.headers.items() if names_secret(name)]
        pending = [(each, False) for each in self.parsed]
        while pending:
            item, is_secret = pending.pop()
            if isinstance(item, dict):
                pending += [(each, is_secret or names_secret(key)) for key, each in item.items()]
            elif isinstance(item, list):
                pending += [(each, is_secret) for each in item]
            elif is_secret and isinstance(item, str):
                texts.append(item)
        words = [word for text in texts for word in text.split()]
        # A message may stand in such a member, too.
        tokens = {word for word in words if len(word) >= _LEAST_TOKEN or (len(word) > 3 and re.search(r"\d", word))}
        return tokens | set(query_secrets(self.headers.get("Location", "")[:4096]))

    def described(self, secrets: tuple[str, ...] = ()) -> str:
        """Return status and message, as in 'HTTP 503: maintenance'."""
        text = self.shown(secrets)[:80] or self.defect
        if self.location:
            text = f"redirect to {show(mask_query(mask(self.location, secrets)), 100)}"
        wait = self.headers.get("Retry-After", "")[:30]
        wait = f" (retry after {show(wait)})" if wait and self.status in (429, 502, 503, 504) else ""
        return f"HTTP {self.status}{wait}{f': {text}' if text else ''}".rstrip(".")

    def shown(self, secrets: tuple[str, ...] = ()) -> str:
        """Return the message without ``secrets`` and control characters, at most 300 characters."""
        text = _JWT.sub("********", mask_query(mask(self.message, {*secrets, *self.tokens})))
        text = re.sub(
            r"(?i)((?:sessionid|csrftoken|password)[\"']?\s*[=:]\s*[\"']?)[^\s;,\"'&<>]+",
            r"\1********",
            text,
        )
        return show(text)

    def _message_members(self, value: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the messages, and the errors about members of the request: lists, or texts of a failure."""
        is_bare = not self.is_success and _MESSAGE_KEYS.isdisjoint(map(bare, value))
        for key, member in value.items():
            if bare(key) in _MESSAGE_KEYS:
                yield member
            elif bare(key) in _OF_A_REQUEST and (is_bare or isinstance(member, list)):
                yield {key: member if isinstance(member, list) else [member]}

    @staticmethod
    def _printable(text: str) -> str:
        return "" if "\0" in text else text


def find_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value in order, without those whose key names a secret.

    The texts in the list of a member of the request begin with its name.
    """
    pending = [("", value)]
    while pending:
        member, item = pending.pop()
        if isinstance(item, str):
            yield member + item
        elif isinstance(item, dict):
            pending += [
                (f"{key}: " if bare(key) in _OF_A_REQUEST and isinstance(each, list) else member, each)
                for key, each in reversed(item.items())
                if not names_secret(key)
            ]
        elif isinstance(item, list):
            pending += [(member, each) for each in reversed(item)]


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` without ``secrets``, however they are encoded or split; a short one is masked as a whole word."""
    found: list[tuple[int, int]] = []
    forms = _decoded_forms(text)
    for secret in set(filter(None, secrets)):
        coded = b64encode(secret.encode("utf-8", "surrogatepass")).decode()
        own = (secret, unicodedata.normalize("NFKC", secret), coded, coded.rstrip("="), coded.translate(_URL_SAFE))
        for needle in {form for each in own for form, _spans in _decoded_forms(each)} - {""}:
            for form, spans in forms:
                start = form.find(needle)
                while start >= 0:
                    first, last = spans[start][0], spans[start + len(needle) - 1][1]
                    is_word = not (text[:first][-1:].isalnum() or text[last : last + 1].isalnum())
                    is_split = secret.isalpha() and len(text[first:last].split()) > 1  # such as "log in"
                    if len(secret) > _MAX_WORD or (is_word and not is_split):
                        found.append((first, last))
                    start = form.find(needle, start + 1)
    masked, end = "", 0
    for first, last in sorted(found):
        masked += text[end:first] + "********" if first >= end else ""
        end = max(end, last)
    return masked + text[end:]


def _decoded_forms(text: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return ``text`` without white space, decoded again and again, and the place in it of each character."""
    forms, spans = [], [(index, index + 1) for index in range(len(text))]
    for _time in range(_MAX_CODINGS):
        kept = [index for index, character in enumerate(text) if character.isprintable() and character != " "]
        forms.append(("".join(text[index] for index in kept), [spans[index] for index in kept]))
        decoded, places, end = "", list[tuple[int, int]](), 0
        for match in _ESCAPE.finditer(text):
            first, last = match.span()
            piece = _decode(match[0])
            decoded += text[end:first] + piece
            places += spans[end:first] + [(spans[first][0], spans[last - 1][1])] * len(piece)
            end = last
        if not end:
            break
        text, spans = decoded + text[end:], places + spans[end:]
    return forms


def _decode(escape: str) -> str:
    if escape[0] == "%":
        return unquote(escape)
    if escape[0] == "&":
        return html.unescape(escape)
    code = escape.lstrip("\\")
    if code[:1] == "u":
        return _unescape(re.sub(r"\\+u", "", escape))
    return chr(int(code[1:], 16)) if code[:1] == "x" else " " if code else ""


def mask_query(text: str) -> str:
    """Return ``text`` without the values of parameters in URLs whose names are those of secrets."""
    return _PARAMETER.sub(lambda found: f"{found[1]}********" if names_parameter(found[2]) else found[0], text)


def query_secrets(url: str) -> list[str]:
    """Return the values of parameters of ``url`` whose names are those of secrets."""
    return [unquote_plus(found[3]) for found in _PARAMETER.finditer(url) if names_parameter(found[2])]


def secret_forms(secrets: Iterable[str]) -> set[str]:
    """Return each secret as it is, and as JSON, HTML, a URL and Base64 write it."""
    forms: set[str] = set()
    for secret in filter(None, secrets):
        forms |= {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], plain(secret)}
        octets = secret.encode("utf-8", "surrogatepass")
        urls = {quote(octets), quote(octets, safe=""), quote_plus(octets)}
        urls |= {re.sub("%..", lambda match: match[0].lower(), url) for url in urls}
        forms |= {html.escape(secret), b64encode(octets).decode(), *urls}
    return forms


def plain(text: str) -> str:
    """Return the beginning of ``text`` in one line, without HTML entities, JSON escapes and full-width forms."""
    text = html.unescape(re.sub(r"&#\w{9,};?", "\ufffd", text[:_MAX_PAGE_CHARS]))
    text = re.sub(r"(?:\\u[0-9a-fA-F]{4})+", lambda match: _unescape(match[0].replace("\\u", "")), text)
    return " ".join(unicodedata.normalize("NFKC", text).split())


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


def bare(key: str) -> str:
    """Return a key of JSON in lower case, without "_" and "-"."""
    return key.lower().replace("_", "").replace("-", "")


def names_secret(key: str) -> bool:
    """Return whether a key of JSON, or the name of a header, is that of a secret."""
    return bool(_SECRET_KEY.search(bare(key)))


def names_parameter(name: str) -> bool:
    """Return whether the name of a parameter in a URL is that of a secret."""
    return names_secret(unquote_plus(name)) or bool(_SECRET_PARAMETER.search(re.sub("[^a-z]", "", name.lower())))


def _signs(value: Mapping[str, Any], wanted: frozenset[str] = _FLAGS | _ERRORS | _CODES | _STATES) -> set[bool | None]:
    """Return what the members ``wanted`` state about the request; None for one with an unknown value."""
    signs: set[bool | None] = set()
    is_engine = not _OF_AN_ENGINE.isdisjoint(map(bare, value))
    for key, member in ((bare(key), member) for key, member in value.items()):
        if key not in wanted:
            continue
        number, word = _number(member), member.strip().lower() if isinstance(member, str) else ""
        sign: bool | None = None
        if isinstance(member, bool) and key not in _ERRORS:
            sign = member
        elif key in _ERRORS:
            is_none = isinstance(member, dict) and _signs(member) == {True}  # such as "error": {"code": 0}
            if not member or is_none or (isinstance(member, str) and word in _NO_ERROR) or member in (0, False):
                continue
            sign = False
        elif number is not None:
            is_bad = number < 0 or 400 <= number < 600 or key in _CODES
            sign = True if number == 0 or 200 <= number < 300 else False if is_bad else None
        elif word in GOOD_WORDS | BAD_WORDS:
            sign = word in GOOD_WORDS
        elif not isinstance(member, float) and (key not in _CODES or not word):  # NaN is a float
            continue
        elif re.search(r"error|fail|invalid|denied", word):
            sign = False
        # The state of an engine that has failed before is not the failure of the request.
        signs.add(None if sign is False and is_engine and key in _STATES else sign)
    return signs


def _codes(value: Mapping[str, Any]) -> set[int]:
    numbers = (_number(member) for key, member in value.items() if bare(key) in _CODES | _STATES)
    return {number for number in numbers if number is not None}


def _number(member: Any) -> int | None:
    if isinstance(member, (float, str)) and re.fullmatch(r"\s*-?\d{1,18}(?:\.0)?\s*", str(member)):
        return int(float(member))
    return member if isinstance(member, int) and not isinstance(member, bool) else None


def _is_id(member: Any) -> bool:
    number = _number(member)
    return isinstance(member, (str, dict)) and bool(member) if number is None else number > 0


def _unescape(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-16-be", "replace")


def _visible_lines(source: str) -> list[str]:
    """Return the text of each block of an HTML page, outside of comments, scripts and styles."""
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
            visible.append(" ".join(token.split()))
        elif tag and tag[1].lower().lstrip("/") not in _INLINE:
            visible.append("\n")
    return " ".join(visible).split("\n")
