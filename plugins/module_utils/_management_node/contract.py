# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer of the management node is taken to mean. No I/O.

The API documents neither status codes nor bodies. ``ROWS`` are tried from the first to the last, and the first that
applies decides. docs/dev/protocol.md shows the same table. What no row covers is unknown: an install request then costs
one wait, and no container.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, find_texts
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid, require_text

Call = Literal["login", "install", "license", "list"]
NOT_SENT, OVER, NEW_TOKEN, REDIRECT, UNAVAILABLE = "not sent", "session over", "new token", "redirect", "unavailable"
SESSION, LOGIN_REJECTED = "session", "login_rejected"
REQUESTED, EXISTS, PORT_IN_USE, REJECTED, UNKNOWN = "requested", "exists", "port_in_use", "rejected", "unknown"
LICENSE, LIST, NO_ENGINES, NO_LIST, UNUSABLE = "license", "engine list", "no engines", "no list", "unusable"

# The messages that the vendor's document names, a line each in English and Chinese; slb_..._patterns replace them.
# fmt: off
DEFAULT_PATTERNS = {
    EXISTS: (
        r"already exist",
        r"已[经經]?存在",
    ),
    PORT_IN_USE: (
        r"\bports?\b.{0,40}?\b(?<!not )(occupied|in use)|address already in use",
        r"(端口|連接埠)[^\n]{0,20}?(?<!未)(?<!未被)(?<!没有)[占佔]用",
    ),
    # A deployment may be in progress although the answer refuses it.
    "in_progress": (
        r"time-?d? ?out|deadline|in progress|deploying|already (started|running|submitted)|being (deployed|installed)"
        r"|installing|pending|queued|another (task|operation)|\b(task|job|request|deployment)\b.{0,60}already exists",
        r"超时|逾時|[处處]理中|[进進]行中|(部署|安[装裝])中|正在(部署|安装)|排队|重复提交",
    ),
}
# fmt: on
_CODES, _STATES, _FLAGS, _ERRORS = (
    ("code", "errno", "ret"),
    ("status", "result"),
    ("success", "ok"),
    ("error", "errors"),
)
_MESSAGES = ("message", "msg", "detail", "error", "errors", "reason")
_STATUSES = (401, 408, 425, 429, 499, *range(500, 600))
"""Codes in JSON that mean what the HTTP status means."""
_GOOD_STATES, _BAD_STATES = ("ok", "success", *range(200, 300)), ("error", "fail", "failed", "failure")
_KNOWN_STATES = (*_GOOD_STATES, *_BAD_STATES)
_NO_ERROR: tuple[Any, ...] = (None, False, 0, "", "none", "null", "ok", "success")
_LOGIN_PAGES = ("login", "logon", "log_in", "signin", "sign_in", "sign-in")
_BUSY, _NOT_WAITED = (429, 502, 503, 504), (408, 425, 429, 499)
_MAX_NOTICE = 200  # characters of a line that may be a message in place of a license

Sign = Literal["success", "failure", "unclear"]


@dataclass(frozen=True)
class Case:
    """An answer to a call at ``url``. ``own``: the name and address in an install request.

    ``has_session``: whether a login set the cookie. ``has_served``: whether the session of the call has served before.
    ``has_new_token``: whether the run has another CSRF token than the one that was sent. ``success_codes``: those that
    the operator declares.
    """

    call: Call
    answer: Answer
    url: str = ""
    own: tuple[str, ...] = ()
    has_session: bool = False
    has_served: bool = False
    has_new_token: bool = False
    patterns: Mapping[str, Sequence[re.Pattern[str]]] | None = None
    success_codes: tuple[int, ...] = ()

    @cached_property
    def signs(self) -> frozenset[Sign]:
        """What the members at the top of the JSON object state about the request."""
        return frozenset(self._find_signs())

    def _find_signs(self) -> Iterator[Sign]:
        members = self.answer.members
        is_record = any(value in self.own for value in members.values() if isinstance(value, str))
        for key, value in ((key, _scalar(value)) for key, value in members.items()):
            if key in _FLAGS and value in (0, 1):
                yield "success" if value else "failure"
            elif key in _ERRORS and _is_error(value):
                yield "failure"
            elif key in _CODES and value not in (None, ""):
                yield self._sign_of_code(value)
            elif key in _STATES and value in _GOOD_STATES:
                yield "success"
            elif key in _STATES and value in _BAD_STATES and not is_record:
                yield "failure"

    def _sign_of_code(self, code: Any) -> Sign:
        if code in self.success_codes or code == 0 or code in _GOOD_STATES:
            return "success"
        is_negative = isinstance(code, int) and code < 0
        return "failure" if is_negative or code in range(400, 600) else "unclear"

    @property
    def has_success(self) -> bool:
        return "success" in self.signs and "failure" not in self.signs

    @property
    def has_failure(self) -> bool:
        return "failure" in self.signs and "success" not in self.signs

    @property
    def is_unclear(self) -> bool:
        """Whether the members contradict each other, or a code states nothing: 1 and 20000 are success for some."""
        return {"success", "failure"} <= self.signs or self.signs == {"unclear"}

    @property
    def status(self) -> int:
        """The HTTP status, or a code in the JSON that means such a status."""
        members = self.answer.members if self.answer.is_success else {}
        inner = members.get("error")
        codes = [members.get(key) for key in (*_CODES, "status")]
        codes += [inner.get("code")] if isinstance(inner, dict) else []
        statuses = (code for code in map(_scalar, codes) if code in _STATUSES and code not in self.success_codes)
        return next(statuses, self.answer.status)

    @cached_property
    def message(self) -> str:
        """The messages of a JSON object, or the visible text of any other body. It decides only by the patterns."""
        members = self.answer.members
        if not members:
            is_empty = bool(self.answer.parsed) and not self.answer.document
            return "; ".join(find_texts(self.answer.document)) or ("" if is_empty else self.answer.visible_text)
        inner = [value for key, value in members.items() if key in ("data", "result") and isinstance(value, dict)]
        texts = [
            text
            for each in (members, *inner)
            for key, value in each.items()
            if key.lower() in _MESSAGES
            for text in find_texts(value)
        ]
        return "; ".join(texts or self._texts_of_refusal)

    @property
    def _texts_of_refusal(self) -> list[str]:
        """All texts of the object, unless it states success or nothing."""
        is_refusal = self.answer.status >= 400 or self.has_failure or self.is_unclear
        return list(find_texts(dict(self.answer.members))) if is_refusal else []

    @property
    def has_only_messages(self) -> bool:
        """Whether the body has no content but messages and codes: then a deployment has no data yet."""
        if not self.answer.members:
            document = self.answer.document if self.answer.parsed else self.answer.text.strip()
            return isinstance(document, str) and "\n" not in document
        known = (*_MESSAGES, *_CODES, *_STATES, *_FLAGS)
        others = [value for key, value in self.answer.members.items() if key not in known]
        states = [_scalar(self.answer.members.get(key)) for key in _STATES]
        # A state such as "processing" is about a deployment.
        others += [state for state in states if isinstance(state, (str, dict, list)) and state not in _KNOWN_STATES]
        return not any(others) and "\n" not in self.message

    @property
    def is_notice(self) -> bool:
        """Whether the body is a message, or nothing, in place of a license."""
        if self.answer.members:
            return "failure" in self.signs or self.has_only_messages
        line = self.answer.text.strip()
        is_line = "\n" not in line and " " in line and len(line) <= _MAX_NOTICE
        return is_line or self.answer.parsed in ((None,), (True,), (False,), ("",), ([],), ({},))

    @property
    def is_page(self) -> bool:
        return self.answer.is_html and self.answer.status < 400 and not self.is_redirect

    @property
    def is_login_page(self) -> bool:
        return self.is_page and self.answer.has_password_field

    @property
    def may_be_accepted(self) -> bool:
        """Whether an install request may have been accepted, although the answer is about the session."""
        is_created = self.answer.status in (201, 202, 204)
        is_stated = "success" in self.signs or is_created or bool(self.answer.defect) or self.matches("in_progress")
        return self.call == "install" and is_stated

    @property
    def may_refuse(self) -> bool:
        """Whether a message may refuse the request: no data of a deployment stand next to it."""
        return self.answer.status >= 400 or self.has_failure or self.has_only_messages

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.answer.status < 400 and bool(self.answer.location)

    @property
    def leads_to_login(self) -> bool:
        """Whether a redirect within the management node leads to its login, and not to an engine of that name.

        A target with more in front of the path of the call is another address of the management node.
        """
        try:
            target, here = urlsplit(urljoin(self.url, self.answer.location)), urlsplit(self.url)
        except ValueError:
            return False
        segment = target.path.partition(";")[0].rstrip("/").rpartition("/")[2].lower()
        is_login = segment.partition(".")[0] in _LOGIN_PAGES and segment not in map(str.lower, self.own)
        is_same = target.path == here.path and (target.scheme, target.netloc) == (here.scheme, here.netloc)
        is_moved = target.path.endswith(here.path) and not is_same
        return self.is_redirect and is_login and target.hostname == here.hostname and not is_moved

    def matches(self, name: str) -> bool:
        """Return whether the message, without the values of the request, has one of the patterns ``name``.

        ``in_progress`` is searched in all texts of a refusal: a container must not be restored into a deployment.
        """
        text = self.message
        if name == "in_progress":
            text = "\n".join([text, *self._texts_of_refusal])
        else:
            for value in filter(None, self.own):
                text = re.sub(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)", "", text)
        patterns = (self.patterns or _COMPILED)[name]
        # Codes are words: TIMED_OUT
        return any(pattern.search(each) for pattern in patterns for each in (text, re.sub("[_-]", " ", text)))


class Row(NamedTuple):
    """``when`` is ``applies`` in words, ``shown`` is ``meaning``. ``calls``: also any, GET (license and list)."""

    calls: str
    when: str
    meaning: str
    applies: Callable[[Case], bool]
    shown: str = ""
    is_repeated: bool = False


def judge(case: Case) -> Row:
    """Return the row that decides about an answer."""
    calls = ("any", case.call, *(() if case.call == "login" else ("any but login",)))
    calls += ("GET",) if case.call in ("license", "list") else ()
    return next(row for row in ROWS if row.calls in calls and row.applies(case))


# fmt: off
ROWS: tuple[Row, ...] = (
    Row("any", "nothing of the request was sent", NOT_SENT, lambda c: False,
        "not sent; repeated while time is left, except for a wrong certificate, pin or proxy setting"),
    Row("any but login", "401 (not with success or `in_progress`); a redirect to the login; a page with a login (of an "
        "install: `unknown`)", OVER,
        lambda c: ((c.status == 401 and not c.may_be_accepted) or c.leads_to_login
                   or (c.is_login_page and c.call != "install")),
        "the session is over: call again in a newer one of the run, or log in; an install once in each"),
    Row("GET", "another page, in a session that has served", OVER, lambda c: c.is_page and c.has_served,
        "the session may be over: log in once, call again"),
    Row("GET", "another page; 429, 502, 503, 504", UNAVAILABLE, lambda c: c.is_page or c.status in _BUSY,
        "repeated, then unavailable: run again later", is_repeated=True),
    Row("any but login", "403 with a CSRF token that has changed since", NEW_TOKEN,
        lambda c: c.answer.status == 403 and c.has_new_token and not c.may_be_accepted, "once more with the new token"),
    Row("login", "cookie `sessionid`, below 400, no failure, no page with a login, no redirect to the login", SESSION,
        lambda c: (c.has_session and c.answer.status < 400 and not c.is_login_page and not c.leads_to_login
                   and not c.has_failure),
        "a session; its first call shows whether it really is one"),
    Row("login", "502, 503, 504; another page without a login", UNAVAILABLE,
        lambda c: c.status in _BUSY[1:] or (c.is_page and not c.is_login_page), "repeated, then unavailable",
        is_repeated=True),
    Row("login", "408, 425, 429, 499, another 5xx", UNAVAILABLE, lambda c: c.status in _NOT_WAITED or c.status >= 500,
        "unavailable, not repeated: repetition locks accounts"),
    Row("any", "another redirect", REDIRECT, lambda c: c.is_redirect and not c.leads_to_login,
        "`unexpected_answer` with the target; of an install `unknown`"),
    Row("login", "anything else", LOGIN_REJECTED, lambda c: True, "`login_rejected`, with status and message"),
    Row("install", "cut, no answer, 5xx, 408, 425, 429, 499, a page", UNKNOWN,
        lambda c: bool(c.answer.defect) or c.status >= 500 or c.status in _NOT_WAITED or c.is_page),
    Row("install", "2xx with success and nothing against it", REQUESTED,
        lambda c: c.answer.is_success and c.has_success),
    Row("install", "201, 202, 204; with a failure `unknown`", REQUESTED,
        lambda c: c.answer.status in (201, 202, 204) and "failure" not in c.signs),
    Row("install", "a pattern of `in_progress` matches; success with failure or 4xx; 201, 202, 204", UNKNOWN,
        lambda c: c.may_be_accepted or c.status == 401),
    Row("install", "a pattern of `port_in_use` matches (of a 200 without failure: nothing but messages and codes)",
        PORT_IN_USE, lambda c: c.may_refuse and c.matches(PORT_IN_USE)),
    Row("install", "a pattern of `exists` matches (the same)", EXISTS, lambda c: c.may_refuse and c.matches(EXISTS)),
    Row("install", "another 4xx (pages, too); failure", REJECTED,
        lambda c: 400 <= c.answer.status < 500 or c.has_failure),
    Row("install", "200 without any text, and not unclear", REQUESTED,
        lambda c: c.answer.status == 200 and not c.message and not c.is_unclear),
    Row("install", "anything else, such as 200 with a text", UNKNOWN, lambda c: True),
    Row("license", "200, whole, not empty, no failure, not only a message, not one short line with blanks", LICENSE,
        lambda c: c.status == 200 and not c.answer.defect and bool(c.answer.body.strip()) and not c.is_notice,
        "license; the file that it replaces is kept as a backup, by default"),
    Row("list", "200, whole, JSON, no failure", LIST,
        lambda c: c.status == 200 and bool(c.answer.parsed) and "failure" not in c.signs,
        "engine list; without `items` it is empty, or `engine_list_not_as_configured`"),
    Row("list", "204", NO_ENGINES, lambda c: c.status == 204, "a page without engines"),
    Row("list", "404", NO_LIST, lambda c: c.status == 404,
        "behind the first page the end; else `engine_list_not_as_configured`: check `path`"),
    Row("GET", "anything else", UNUSABLE, lambda c: True,
        "`license_unusable`, `engine_list_unavailable`, with status, defect and message"),
)
# fmt: on


def _scalar(value: Any) -> Any:
    """Return a value of JSON; a text of a number or boolean as such, and any other text in lower case."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text


def _is_error(value: Any) -> bool:
    """Return whether a member error has content. An object with the code 0 or 200 has none."""
    if isinstance(value, dict):
        return _scalar(value.get("code")) not in (0, 200, "ok", "success") and any(map(_is_error, value.values()))
    return any(map(_is_error, value)) if isinstance(value, list) else _scalar(value) not in _NO_ERROR


def compile_patterns(options: Mapping[str, Sequence[Any] | None]) -> dict[str, list[re.Pattern[str]]]:
    """Return the compiled patterns by name, the default ones in place of those not given. Raises OptionError."""
    return {
        name: [_compile(f"{name}_patterns", pattern) for pattern in options.get(name) or patterns]
        for name, patterns in DEFAULT_PATTERNS.items()
    }


def _compile(option: str, pattern: Any) -> re.Pattern[str]:
    try:
        compiled = re.compile(require_text(option, pattern), re.IGNORECASE)
    except re.error as error:
        raise invalid(option, f"{pattern[:40]!r} is not a regular expression ({error})", "Correct it.") from None
    if compiled.search(""):
        raise invalid(option, f"{pattern[:40]!r} matches every answer", "Use a word of that answer only.")
    return compiled


# In the process that forks the workers.
_COMPILED = compile_patterns({})
