# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer means. Pure: no I/O, no state.

The interface documents neither status codes nor bodies, so every judgement here is by evidence, and where the
evidence does not suffice the judgement is ``unknown``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console import languages
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content, Kind, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

REQUESTED, EXISTS, PORT_OCCUPIED, REFUSED, UNKNOWN = "requested", "exists", "port_in_use", "rejected", "unknown"

STATUSES = (EXISTS, PORT_OCCUPIED)
"""What an answer can say of an engine whatever its status is."""

# fmt: off
# Names of members, without underscores and hyphens.
_MESSAGE_KEYS = frozenset({
    "message", "msg", "detail", "details", "error", "errors", "err", "errormessage", "errormsg", "errmsg", "reason",
    "description", "desc", "info", "tip", "tips", "hint", "text", "exception", "nonfielderrors",
})
_CODES = frozenset({"code", "errcode", "errorcode", "errno", "ret", "retcode", "returncode", "resultcode"})
# As often the state of a thing as that of the request.
_STATES = frozenset({"status", "statuscode", "state", "result"})
_ENVELOPES = frozenset({"data", "result", "response", "body"})
# fmt: on
_FLAGS = frozenset({"success", "succeed", "succeeded", "successful", "issuccess", "issuccessful", "ok"})
_ERRORS = frozenset({"error", "errors", "err", "exception"})
_NO_ERROR = frozenset({"", "0", "none", "null", "ok", "false", "no"})

_GOOD_WORDS, _BAD_WORDS = languages.words("good_words"), languages.words("bad_words")
_FAILURE, _SUCCESS = languages.any_of("failure"), languages.any_of("success")
_LOG_IN_FIRST, _LOGIN_PAGE_TITLE = languages.any_of("log_in_first"), languages.any_of("login_page_title")
_LOGIN_PATH = re.compile(r"(?:log|sign)[_-]?in\b", re.IGNORECASE)
_QUERY = re.compile(r"\?[^#]*")
# The whole script: one that only may send to the login, as on an error of a later request, proves nothing.
_SCRIPTED_REDIRECT = re.compile(
    r"(?:(?:window|top|parent|self|document)\.){0,2}location(?:\.\w{1,10})?\s?(?:=|\()\s?[\"'][^\"']*(?:log|sign)[_-]?in\b"
    r"[^\"']*[\"']\s?\)?\s?;?",
    re.IGNORECASE,
)
_ABOUT_CREDENTIALS, _BAD_CREDENTIALS = languages.any_of("about_credentials"), languages.any_of("bad_credentials")
_NUMBER = re.compile(r"-?\d{1,18}")
_SHORT = 1024
_UNAUTHENTICATED = 401
_FORBIDDEN = 403
_REQUEST_TIMEOUT = 408


def is_success(answer: Answer) -> bool:
    return 200 <= answer.status < 300


def is_redirect(answer: Answer) -> bool:
    return 300 <= answer.status < 400


def asks_for_login(answer: Answer, content: Content) -> bool:
    """Whether the session is gone, in whichever form the management node says so.

    True only for what cannot follow a request that was carried out, because the request is then sent again.
    """
    if answer.status in (_UNAUTHENTICATED, _FORBIDDEN):
        return True
    if is_redirect(answer):
        return bool(_LOGIN_PATH.search(_QUERY.sub("", answer.headers.get("Location", ""))))
    if answer.is_server_trouble():
        return False
    if content.kind is Kind.HTML:
        return _leads_to_login(content)
    if content.kind is Kind.JSON:
        says_so = _LOG_IN_FIRST.search(_message(content)) and True not in _signs(content.value)
        return bool(says_so or _codes(content.value) & {_UNAUTHENTICATED, _FORBIDDEN})
    return _is_told_to_log_in(content)


def gives_no_data(answer: Answer, content: Content) -> bool:
    """As ``asks_for_login``, where data are due: there a page of any kind means that the session is gone."""
    return asks_for_login(answer, content) or (is_success(answer) and content.kind is Kind.HTML)


def refuses_login(answer: Answer, content: Content) -> bool:
    """Whether the answer to a login is another login, or an error."""
    is_form = content.kind is Kind.HTML and content.page.has_password_field
    return is_form or asks_for_login(answer, content) or says_error(content)


def says_error(content: Content) -> bool:
    """Whether JSON says that something went wrong, whatever the status."""
    return content.kind is Kind.JSON and _sign(content) is False


def blames_credentials(content: Content) -> bool:
    """Whether the words, in whatever form and at whatever status, say that the credentials are not accepted."""
    if _BAD_CREDENTIALS.search(content.text):
        return True
    return says_error(content) and bool(_ABOUT_CREDENTIALS.search(content.text))


def is_about_csrf(content: Content) -> bool:
    """What a human would read is about the token; a hidden field for one is in every form."""
    return "csrf" in content.text.lower()


def install_outcome(
    answer: Answer,
    content: Content,
    exists: Sequence[re.Pattern[str]],
    port_in_use: Sequence[re.Pattern[str]],
    own_words: Iterable[str],
) -> str:
    """What became of an install request: one of the constants above.

    ``own_words``: values of the request, which an answer may echo.
    """
    evidence = _evidence(content, _deceptive(own_words, (*exists, *port_in_use)))
    # A message that names both is taken for the occupied port: that one fails and has the host looked at.
    if any(pattern.search(evidence) for pattern in port_in_use):
        return PORT_OCCUPIED
    if any(pattern.search(evidence) for pattern in exists):
        return EXISTS
    if 400 <= answer.status < 500 and answer.status != _REQUEST_TIMEOUT:
        return REFUSED
    if answer.defect or not is_success(answer):
        return UNKNOWN
    return {True: REQUESTED, False: REFUSED, None: UNKNOWN}[_sign(content)]


def _leads_to_login(content: Content) -> bool:
    # A field for a password alone proves nothing: the console asks for those of engine hosts, too.
    page = content.page
    return (
        any(_LOGIN_PATH.search(target) for target in page.targets)
        or bool(_LOGIN_PAGE_TITLE.search(page.title))
        or (_is_scripted_redirect(page.scripts.strip()) and not page.body)
        or _is_told_to_log_in(content)
    )


def _is_scripted_redirect(script: str) -> bool:
    # The pattern takes quadratic time, and such a script is one line.
    return len(script) < _SHORT and bool(_SCRIPTED_REDIRECT.fullmatch(script))


def _is_told_to_log_in(content: Content) -> bool:
    is_short = len(content.source) < _SHORT
    return is_short and bool(_LOG_IN_FIRST.search(content.text)) and not _SUCCESS.search(content.text)


def _deceptive(own_words: Iterable[str], patterns: Sequence[re.Pattern[str]]) -> list[str]:
    """The words of the request that would be taken for a status where they are only echoed."""
    return [word for word in map(plain, own_words) if any(pattern.search(word) for pattern in patterns)]


def _evidence(content: Content, own_words: Iterable[str]) -> str:
    if content.kind is Kind.JSON and isinstance(content.value, (dict, list)):
        says_error = _sign(content) is False
        text = content.words(None if says_error else _is_message, "\n")
    else:
        text = content.text
    for word in own_words:
        text = text.replace(word, " ")
    return text


def _sign(content: Content) -> bool | None:
    """True: says that it went well. False: says that it did not. None: says neither."""
    if content.kind is Kind.EMPTY:
        return True
    if content.kind is Kind.BINARY:
        return None
    if content.kind is not Kind.JSON or _is_all_words(content.value):
        return _sign_of_words(content.text)
    if isinstance(content.value, dict):
        return _sign_of_object(content)
    return True if content.value is True else None


def _is_all_words(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _sign_of_words(text: str) -> bool | None:
    if _FAILURE.search(text):
        return False
    return True if _SUCCESS.search(text) else None


def _sign_of_object(content: Content) -> bool | None:
    signs, words = _signs(content.value), _sign_of_words(_message(content))
    if False in signs:
        # Some answer {"code": 1, "msg": "success"}.
        return _codes(content.value) == {1} and words is True
    if _holds_failure(content.value):
        return None if True in signs else False
    if None in signs:
        return words
    return True if True in signs else words is not False


def _holds_failure(value: dict[str, Any]) -> bool:
    """Whether an object inside says so. A code alone does not: it may be one of the engine's own fields."""
    inner = [member for key, member in value.items() if _bare(key) in _ENVELOPES and isinstance(member, dict)]
    return any(
        False in _signs(member) and not (_codes(member) and not any(map(_is_message, member))) for member in inner
    )


def _signs(value: Any) -> set[bool | None]:
    """Of the members that tell how the request went; None for those of them that are not understood."""
    members = value.items() if isinstance(value, dict) else ()
    return {sign for key, member in members for sign in _signs_of_member(_bare(key), member)}


def _signs_of_member(key: str, member: Any) -> Iterator[bool | None]:
    if key in _FLAGS and isinstance(member, bool):
        yield member
    elif key in _ERRORS and member and str(member).strip().lower() not in _NO_ERROR:
        yield False
    elif key in _CODES | _STATES and isinstance(member, bool):
        yield member
    elif key in _CODES | _STATES and (number := _number(member)) is not None:
        is_good, is_bad = number == 0 or 200 <= number < 300, number < 0 or 400 <= number < 600
        yield True if is_good else (False if is_bad or key in _CODES else None)
    elif key in _CODES | _STATES and isinstance(member, str) and member.strip():
        yield from _signs_of_word(member.strip().lower(), is_code=key in _CODES)


def _signs_of_word(word: str, is_code: bool) -> Iterator[bool | None]:
    if word in _GOOD_WORDS:
        yield True
    elif word in _BAD_WORDS or (is_code and any(bad in word for bad in ("error", "fail", "invalid", "denied"))):
        yield False
    elif is_code:
        yield None


def _codes(value: Any) -> set[int]:
    members = value.items() if isinstance(value, dict) else ()
    numbers = {_number(member) for key, member in members if _bare(key) in _CODES | _STATES}
    return {number for number in numbers if number is not None}


def _number(member: Any) -> int | None:
    if isinstance(member, bool):
        return None
    if isinstance(member, float) and member.is_integer():
        return int(member)
    if isinstance(member, str) and _NUMBER.fullmatch(member.strip()):
        return int(member)
    return member if isinstance(member, int) else None


def _message(content: Content) -> str:
    return content.words(_is_message)


def _is_message(key: str) -> bool:
    return _bare(key) in _MESSAGE_KEYS


def _bare(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")
