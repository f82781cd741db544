# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The login call, and what its answer says of the credentials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ansible_collections.slb.fleet.plugins.module_utils._console import answers, calls
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Request, retry_after
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
    from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
    from ansible_collections.slb.fleet.plugins.module_utils._console.reply import Reply
    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer, Transport

_MAY_TRY_LATER = (408, 425, 429)


class LoginRefusedError(ConsoleError):
    """The management node answered, and the answer is no. Asking again could lock the user out."""


@dataclass(frozen=True)
class Session:
    """``unproved_at``: paths for which this session was made anew, and which it has not served yet."""

    sessionid: str = field(repr=False)
    csrftoken: str = field(default="", repr=False)
    tls_fingerprint: str = ""
    unproved_at: frozenset[str] = frozenset()

    def headers(self, base_url: str) -> dict[str, str]:
        return {
            **_cookie_header(sessionid=self.sessionid, csrftoken=self.csrftoken),
            **_csrf_headers(base_url, self.csrftoken),
        }


def log_in(transport: Transport, connection: Connection, redact: Redactor) -> Session:
    """Asks once. Raises LoginRefusedError, which is final, or another ConsoleError when no status came."""
    request = Request(*calls.LOGIN, body={"username": connection.username, "password": connection.password})
    answer = transport.send(request, is_worth_repeating=_gave_no_verdict)
    if _wants_csrf_token(answer):
        token = answer.cookies.get("csrftoken") or _csrf_token(transport)
        redact.learn(token, *answer.cookies.values())
        headers = {**_cookie_header(csrftoken=token), **_csrf_headers(connection.base_url, token)}
        answer = transport.send(request, headers, is_worth_repeating=_gave_no_verdict)
    redact.learn(*answer.cookies.values())
    reply = read_reply(answer, redact)
    _check(reply, connection)
    return Session(
        sessionid=answer.cookies["sessionid"],
        csrftoken=answer.cookies.get("csrftoken", ""),
        tls_fingerprint=transport.tls_fingerprint,
    )


def may_serve_later(answer: Answer) -> bool:
    return answer.is_server_trouble() or answer.status in _MAY_TRY_LATER


def not_served(place: str, what: str, reply: Reply) -> ConsoleError:
    asked = retry_after(reply.answer)
    how_long = f", and asks to be left alone for {asked:.0f} s" if asked else ""
    return ConsoleError(
        f"{place} could not serve {what}: it answered {reply.described()}{how_long}.",
        "Look at the management node, or try again later.",
        status_code=reply.answer.status,
        answer=reply.excerpt,
    )


def _check(reply: Reply, connection: Connection) -> None:
    answer = reply.answer
    place = f"{connection.base_url}{calls.LOGIN.path}"
    evidence = {"status_code": answer.status, "answer": reply.excerpt}
    if _speaks_of_credentials(reply):
        raise LoginRefusedError(
            f"{place} refused the login of {connection.username!r}: it answered {reply.described()}.",
            "Check O(username) and O(password). No further attempt is made, so that the user is not locked out.",
            **evidence,
        )
    if may_serve_later(answer):
        raise not_served(place, "the login", reply)
    if "sessionid" not in answer.cookies or not (answers.is_success(answer) or answers.is_redirect(answer)):
        raise LoginRefusedError(
            f"{place} set no usable cookie 'sessionid': it answered {reply.described()}.",
            "Check that O(base_url) is the address of the web console, its path prefix included.",
            **evidence,
        )


def _speaks_of_credentials(reply: Reply) -> bool:
    answer, content = reply.answer, reply.content
    if answer.status in (400, 401, 403, 422, 423):
        return True
    if answers.is_redirect(answer) or answers.is_success(answer):
        return answers.refuses_login(answer, content)
    return _is_refusal_in_words(answer)


def _gave_no_verdict(answer: Answer) -> bool:
    return (answer.is_server_trouble() or answer.is_cut) and not _is_refusal_in_words(answer)


def _is_refusal_in_words(answer: Answer) -> bool:
    """Words about the credentials are a status at any status: asking again could lock out."""
    return answers.blames_credentials(answer.content)


def _wants_csrf_token(answer: Answer) -> bool:
    """Then the credentials were not looked at, and the answer is no status."""
    return answer.status == 403 and answers.is_about_csrf(answer.content) and not _is_refusal_in_words(answer)


def _csrf_token(transport: Transport) -> str:
    return transport.send(Request("GET", calls.LOGIN.path)).cookies.get("csrftoken", "")


def _cookie_header(**cookies: str) -> dict[str, str]:
    sendable = [f"{name}={value}" for name, value in cookies.items() if value]
    return {"Cookie": "; ".join(sendable)} if sendable else {}


def _csrf_headers(base_url: str, token: str) -> dict[str, str]:
    return {"X-CSRFToken": token, "Referer": f"{base_url}/"} if token else {}
