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

from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content, Kind, plain, strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

REQUESTED, EXISTS, PORT_OCCUPIED, REFUSED, UNKNOWN = "requested", "exists", "port_occupied", "refused", "unknown"

# fmt: off
_MESSAGE_KEYS = frozenset({
    "message", "msg", "detail", "details", "error", "errors", "err", "error_message", "error_msg", "errmsg", "errormsg",
    "reason", "description", "desc", "info", "tip", "tips", "hint", "text", "exception", "non_field_errors",
})
_CODES = frozenset({
    "code", "errcode", "err_code", "error_code", "errno", "ret", "retcode", "status", "status_code", "state", "result",
})
_BAD_WORDS = frozenset({
    "error", "err", "fail", "failed", "failure", "denied", "invalid", "rejected", "unauthorized", "forbidden",
    "失败", "错误",
})
# fmt: on
_FLAGS = frozenset({"success", "succeed", "succeeded", "ok"})
_ERRORS = frozenset({"error", "errors", "err", "exception"})
_GOOD_WORDS = frozenset({"ok", "success", "succeed", "succeeded", "successful", "accepted", "started", "成功"})
_NO_ERROR = frozenset({"", "0", "none", "null", "ok", "false", "no"})

_FAILURE = re.compile(
    r"\b(?:error|fail(?:ed|ure|s)?|invalid|denied|refused|rejected|forbidden|not\s+(?:allowed|permitted|found|valid)"
    r"|does\s+not\s+exist|unable|cannot|can't|could\s+not|exception|traceback)\b"
    r"|失败|错误|无效|非法|拒绝|不能|无法|不存在|异常|不合法|不正确|失敗|錯誤",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\b(?:ok|success(?:ful(?:ly)?)?|succeeded|accepted|started|starting|queued|created|submitted|in\s+progress)\b"
    r"|成功|已开始|开始(?:安装|部署)|已提交|正在(?:安装|部署)|已受理",
    re.IGNORECASE,
)
_LOG_IN_FIRST = re.compile(
    r"not\s+logged\s+in|log\s?-?in\s+(?:is\s+)?(?:required|again|first|expired)|(?:please|must|need\s+to)\s+(?:log|sign)\s?-?in"
    r"|session\s+(?:is\s+|has\s+)?(?:expired|invalid|timed?\s?-?out|not\s+found)|(?:expired|invalid)\s+session"
    r"|authentication\s+(?:is\s+)?required|authentication\s+credentials\s+were\s+not|not\s+authenticated"
    r"|未登录|未登陆|没有登录|请(?:您)?(?:先|重新)?(?:登录|登陆)|登[录陆](?:状态)?(?:已经?)?(?:过期|失效|超时)"
    r"|会话(?:已经?)?(?:过期|失效|超时|无效)|身份(?:认证|验证)(?:信息)?(?:已经?)?(?:过期|失效|未提供)|未登入|請(?:先|重新)?登入",
    re.IGNORECASE,
)
_LOGIN_PAGE_TITLE = re.compile(r"\b(?:log|sign)[\s-]?in\b|登录|登陆|登入", re.IGNORECASE)
_LOGIN_PATH = re.compile(r"(?:log|sign)[_-]?in\b", re.IGNORECASE)
_QUERY = re.compile(r"\?[^#]*")
_SCRIPTED_REDIRECT = re.compile(r"location[\w.]*\s*(?:=|\()\s*[\"'][^\"']*(?:log|sign)[_-]?in\b", re.IGNORECASE)
_ABOUT_CREDENTIALS = re.compile(
    r"password|credential|user\s?name|account|locked|too\s+many\s+(?:failed|login)|密码|用户|账号|帐号|账户|锁定|口令",
    re.IGNORECASE,
)
_SMALL_NUMBER = re.compile(r"-?\d{1,9}")
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


def is_about_credentials(content: Content) -> bool:
    return bool(_ABOUT_CREDENTIALS.search(content.text))


def install_outcome(
    answer: Answer,
    content: Content,
    exists: Sequence[re.Pattern[str]],
    port_occupied: Sequence[re.Pattern[str]],
    own_words: Iterable[str],
) -> str:
    """What became of an install request: one of the constants above.

    ``own_words``: values of the request, which an answer may echo.
    """
    evidence = _evidence(content, own_words)
    # A message that names both is taken for the occupied port: that one fails and has the host looked at.
    if any(pattern.search(evidence) for pattern in port_occupied):
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
        or bool(_SCRIPTED_REDIRECT.search(page.scripts))
        or _is_told_to_log_in(content)
    )


def _is_told_to_log_in(content: Content) -> bool:
    is_short = len(content.source) < _SHORT
    return is_short and bool(_LOG_IN_FIRST.search(content.text)) and not _SUCCESS.search(content.text)


def _evidence(content: Content, own_words: Iterable[str]) -> str:
    if content.kind is Kind.JSON and isinstance(content.value, (dict, list)):
        says_error = _sign(content) is False
        text = plain("\n".join(strings(content.value, None if says_error else _MESSAGE_KEYS)))
    else:
        text = content.text
    for word in own_words:
        text = text.replace(plain(word), " ")
    return text


def _sign(content: Content) -> bool | None:
    """True: says that it went well. False: says that it did not. None: says neither."""
    if content.kind is Kind.EMPTY:
        return True
    if content.kind is Kind.BINARY:
        return None
    if content.kind is Kind.JSON and not isinstance(content.value, str):
        return _sign_of_json(content)
    return _sign_of_words(content.text)


def _sign_of_words(text: str) -> bool | None:
    if _FAILURE.search(text):
        return False
    return True if _SUCCESS.search(text) else None


def _sign_of_json(content: Content) -> bool | None:
    value = content.value
    if not isinstance(value, dict):
        return None if value is False else True
    message = _message(content)
    signs = _signs(value)
    if False in signs:
        # Some answer {"status": 1, "msg": "success"}.
        return _codes(value) == {1} and _sign_of_words(message) is True
    if True in signs:
        return True
    return _sign_of_words(message) is not False


def _signs(value: Any) -> set[bool | None]:
    members = value.items() if isinstance(value, dict) else ()
    return {_sign_of_member(key.lower(), member) for key, member in members}


def _sign_of_member(key: str, member: Any) -> bool | None:
    if key in _FLAGS and isinstance(member, bool):
        return member
    if key in _ERRORS:
        return False if member and str(member).strip().lower() not in _NO_ERROR else None
    if key not in _CODES:
        return None
    if isinstance(member, bool):
        return member
    number = _number(member)
    if number is not None:
        return number == 0 or 200 <= number < 300
    word = str(member).strip().lower() if isinstance(member, str) else ""
    if word in _BAD_WORDS:
        return False
    return True if word in _GOOD_WORDS else None


def _codes(value: Any) -> set[int]:
    members = value.items() if isinstance(value, dict) else ()
    numbers = {_number(member) for key, member in members if key.lower() in _CODES}
    return {number for number in numbers if number is not None}


def _number(member: Any) -> int | None:
    if isinstance(member, bool) or not isinstance(member, (int, str)):
        return None
    return int(member) if _SMALL_NUMBER.fullmatch(str(member).strip()) else None


def _message(content: Content) -> str:
    return plain("; ".join(strings(content.value, _MESSAGE_KEYS)))
