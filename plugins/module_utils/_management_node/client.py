# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call the management node in one session: login, renewal, repetition and cookies. ``contract.py`` decides."""

from __future__ import annotations

import contextlib
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import contract
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import MESSAGE_LENGTH, Answer, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import Case, Row, judge
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import (
    NoAnswerError,
    Request,
    Transport,
    retry_after,
)
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._secrets import find_tokens, header_secrets, mask, query_secrets

LOGIN_PATH = "/account/login/"
_FIRST_PAUSE, _MAX_PAUSE = 1.0, 30.0  # seconds
_LOGIN_PAUSE = (1.0, 3.0)  # seconds, at random
_MAX_LOGINS = 3  # in a row whose sessions serve no call
_MAX_SENT = {"GET": 6, "POST": 3}
_AGAIN = (contract.OVER, contract.NEW_TOKEN)
_MAX_CHANGES = 2  # of the session id within a login; then the calls of a run are made one at a time
_CHANGING = ("sessionid", "csrftoken")
_LEAST_COOKIE = 8  # characters of a value that is a secret, too


@dataclass(frozen=True)
class Session:
    """The cookies of one login, and its ``login``: a random id.

    ``has_served``: whether a call has succeeded with them. ``is_stated``: whether the answer to the login states
    success. ``was_accepted``: whether an earlier session of this run has served. ``renewals``: logins since a session
    has served. ``changes``: how often the management node has changed the session id or the CSRF token; ``at``: when it
    did so last, of time.monotonic().
    """

    cookies: dict[str, str] = field(repr=False)
    tls_fingerprint: str = ""
    has_served: bool = False
    is_stated: bool = False
    was_accepted: bool = False
    renewals: int = 0
    login: str = ""
    changes: int = 0
    at: float = 0.0

    @property
    def is_accepted(self) -> bool:
        """Whether user and password are known to be right."""
        return self.has_served or self.was_accepted

    @property
    def id(self) -> str:
        return self.cookies.get("sessionid", "")

    def updated(self, cookies: Mapping[str, str | None], at: float, *, has_served: bool) -> Session:
        """Return the session with cookies that have changed ``at`` a time; None removes one."""
        if at < self.at:  # another worker has got a newer session id
            cookies = {name: value for name, value in cookies.items() if name not in _CHANGING}
        merged = {name: value for name, value in {**self.cookies, **cookies}.items() if value}
        is_changed = any(merged.get(name) != value for name, value in self.cookies.items() if name in _CHANGING)
        return replace(
            self,
            cookies=merged,
            has_served=self.has_served or has_served,
            renewals=0 if has_served else self.renewals,
            changes=self.changes + is_changed,
            at=at if is_changed else self.at,
        )


class SessionStore:
    """Keeps the session of one connection, for one process. The subclass of a run shares it with other processes."""

    def __init__(self, session: Session | None = None) -> None:
        self._session = session

    def session(self, log_in: Callable[[], Session], ended: Session | None = None) -> Session:
        """Return the session, or the result of ``log_in`` if there is none or if it is still ``ended``."""
        if self._session is None or (ended is not None and self._session.id == ended.id):
            self._session = log_in()
        return self._session

    def change_cookies(
        self, session: Session, cookies: Mapping[str, str | None], at: float, *, has_served: bool
    ) -> Session:
        """Change the cookies of the session that is kept, if it is of the same login, and return it."""
        self._session = session.updated(cookies, at, has_served=has_served)
        return self._session

    def reject(self, error: FleetError) -> None:
        """Have later calls of ``session`` raise ``error``."""

    @contextlib.contextmanager
    def calling(self, *, alone: bool) -> Iterator[None]:
        """Make a call: at the same time as other workers, or ``alone``, so that the session stays as it is."""
        yield


class Client:
    """One management node, used in one session.

    Args:
        connection: Address, user and TLS settings.
        store: Where the session is kept; by default, in this object.
    """

    def __init__(self, connection: Connection, store: SessionStore | None = None) -> None:
        self.connection = connection
        self._transport = Transport(connection)
        own_session = Session({"sessionid": connection.sessionid}) if connection.sessionid else None
        self._store = SessionStore(own_session) if own_session or not store else store
        self._secrets: set[str] = {connection.password, connection.sessionid, *header_secrets(connection.headers)}

    def log_in(self) -> Session:
        """Return the session; log in if there is none. Raises FleetError."""
        return self._store.session(self._log_in)

    @property
    def is_one_at_a_time(self) -> bool:
        """Whether the calls of the run are made one at a time: the management node changes the session id."""
        return self.log_in().changes >= _MAX_CHANGES

    def call(self, request: Request) -> Answer:
        """Return the answer to ``request`` that the contract leaves to its caller. Redirects are not followed.

        If the session has ended, take the newest one of the run, or log in, and send the request again: an install
        request with each of these once at most. Raises FleetError, NoAnswerError if the request may have arrived.
        """
        session = self.log_in()
        with self._store.calling(alone=session.changes >= _MAX_CHANGES):
            answer, row, session = self._call_once(request, self._newest(session))
        is_last = False
        for _number in range(1, _MAX_SENT[request.method]):
            if row.meaning not in _AGAIN or is_last:
                break
            # The first worker logs in; the others wait for this lock and take its session at once.
            with self._store.calling(alone=True):
                newest = self._newest(session)
                is_ended = row.meaning == contract.OVER and newest.id == session.id
                session = self._renew(newest, request, answer) if is_ended else newest
                is_last = request.method == "POST" and (is_ended or row.meaning == contract.NEW_TOKEN)
                try:
                    answer, row, session = self._call_once(request, session)
                except FleetError as error:
                    if error.code != "request_too_late":
                        raise
                    raise self._give_up(session, request, answer) from None
        if row.meaning == contract.OVER:
            raise self._give_up(session, request, answer)
        self._refuse(request, answer, row)
        return answer

    def _refuse(self, request: Request, answer: Answer, row: Row) -> None:
        """Raise FleetError for an answer that has no other meaning for any caller."""
        if row.meaning == contract.REDIRECT and request.call != "install":
            raise self.redirected(request, answer)
        if row.meaning == contract.UNAVAILABLE:
            fix = "Check the management node, or run again later."
            if answer.is_html and answer.is_success:
                fix = "Run again later. If a browser shows the same page without a maintenance, correct the path or "
                fix += f"{self.connection.called('base_url')}."
            raise self.failure("management_node_unavailable", "Management node unavailable", request, answer, fix)

    def url(self, request: Request) -> str:
        """Return the whole address of a request."""
        return f"{self.connection.base_url}{request.path}"

    def describe(self, answer: Answer, message: str | None = None) -> str:
        """Return status and message of ``answer``, without secrets, as in 'HTTP 503: maintenance'."""
        text = self.shown(Case("list", answer).message if message is None else message, 80)
        text = f"{answer.defect}: {text}" if answer.defect and text else answer.defect or text
        if answer.location:
            text = f"redirect to {self.shown(answer.location, 100)}"
        wait = self.shown(answer.headers.get("Retry-After", "")[:30])
        wait = f" (retry after {wait})" if wait and answer.status in (429, 502, 503, 504) else ""
        return f"HTTP {answer.status}{wait}{f': {text}' if text else ''}".rstrip(".")

    def shown(self, message: str, length: int = MESSAGE_LENGTH) -> str:
        """Return at most ``length`` characters of a message, without secrets."""
        return show(mask(message, self._secrets), length)

    def failure(self, code: str, state: str, request: Request, answer: Answer, fix: str, shown: str = "") -> FleetError:
        """Return the error ``code`` for ``answer``, which is shown as ``describe`` does, or as ``shown``.

        ``state``: the beginning of the summary, such as "Engine list unavailable".
        """
        place = f"{self.connection.base_url}{request.shown_path}"
        summary = f"{state}: {place} answered {shown or self.describe(answer)}."
        return FleetError(code, summary, fix, status_code=answer.status)

    def redirected(self, request: Request, answer: Answer) -> FleetError:
        """Return the error for a redirect to another place than the login."""
        called, path = self.connection.called("base_url"), request.path.partition("?")[0].rstrip("/")
        try:
            target = urljoin(self.url(request), answer.location)
            there, here = urlsplit(target), urlsplit(self.url(request))
        except ValueError:
            target, there, here = self.url(request), urlsplit(""), urlsplit("")
        target = self.shown(target)
        fix = f"Open {target[:100]} in a browser with this user, and set {called} to the address that it shows."
        if there.scheme == "http" and there.hostname == here.hostname:
            fix = "Have the proxy before the management node send it X-Forwarded-Proto: https."
        elif there.path.rstrip("/").endswith(path):
            base_url = re.sub("^http:", "https:", target).rstrip("/").removesuffix(path)
            fix = f"Set {called} to {base_url[:100]}."
        return self.failure("unexpected_answer", "Redirected", request, answer, fix)

    def _log_in(self) -> Session:
        credentials = {"username": self.connection.username, "password": self.connection.password}
        request, cookies = Request("login", "POST", LOGIN_PATH, credentials), dict[str, str]()
        answer, row, case = self._send(request, cookies)
        if answer.status == 403 and "csrf" in case.message.lower():
            # The credentials were not checked: the login page gives the token that is missing.
            if "csrftoken" not in cookies:
                self._send(Request("login", "GET", LOGIN_PATH), cookies)
            answer, row, case = self._send(request, cookies)
        self._refuse(request, answer, row)
        if row.meaning == contract.LOGIN_REJECTED:
            # A text without JSON may be a token.
            is_shown = bool(answer.parsed) or answer.is_html or not answer.is_success
            message = case.message if is_shown else ""
            raise self._rejected(request, answer, message, is_stated=case.has_success and not case.has_session)
        return Session(cookies, self._transport.tls_fingerprint, is_stated=case.has_success, login=uuid.uuid4().hex)

    def _call_once(self, request: Request, session: Session) -> tuple[Answer, Row, Session]:
        """Send ``request``. Return its answer, the row that decides, and the session of the run after it."""
        cookies = dict(session.cookies)
        answer, row, case = self._send(request, cookies, session.has_served)
        if row.meaning == contract.OVER:
            return answer, row, session  # without its cookies: they are of no login
        changed = {name: cookies.get(name) for name, _value in cookies.items() ^ session.cookies.items()}
        is_served = answer.status < 500 and answer.status != 403
        is_served &= row.meaning not in (contract.UNAVAILABLE, contract.REDIRECT)
        has_served, token = session.has_served or is_served, session.cookies.get("csrftoken")
        if changed or has_served != session.has_served:
            session = self._store.change_cookies(session, changed, time.monotonic(), has_served=has_served)
        if answer.status == 403:
            newest = self._newest(session).cookies.get("csrftoken")
            row = judge(replace(case, has_new_token=newest not in (None, token)))
        return answer, row, session

    def _newest(self, session: Session) -> Session:
        """Return the session that the run has by now; ``session`` if it is not shared."""
        return self._store.session(lambda: session)

    def _renew(self, ended: Session, request: Request, answer: Answer) -> Session:
        """Return the session of another login. Raises FleetError if no further login would help."""
        if self.connection.sessionid:
            fix = "Get a new sessionid with slb.fleet.login, or set username and password instead."
            raise self.failure("session_rejected", "Session rejected", request, answer, fix)
        if ended.renewals >= _MAX_LOGINS - (not ended.is_accepted):
            raise self._give_up(ended, request, answer)
        # Another run of this user may be about to end its call.
        time.sleep(random.uniform(*_LOGIN_PAUSE))  # noqa: S311
        return self._store.session(lambda: self._log_in_again(ended), ended=ended)

    def _log_in_again(self, ended: Session) -> Session:
        try:
            session = self._log_in()
        except FleetError as error:
            if error.code != "login_rejected" or not ended.is_accepted:
                raise
            raise FleetError(
                "session_replaced",
                f"Session of {self.connection.username[:40]!r} not renewed, although its login was accepted earlier in "
                f"this run. {error.summary}",
                "Check in the web console whether this account is locked or was changed.",
            ) from None
        return replace(session, was_accepted=ended.is_accepted, renewals=ended.renewals + 1)

    def _give_up(self, session: Session, request: Request, answer: Answer) -> FleetError:
        """Return the error for sessions that end at once. The cookie alone does not show that a login worked."""
        is_confirmed = session.is_accepted or session.is_stated
        if not is_confirmed and session.renewals >= _MAX_LOGINS - 1:
            error = self._rejected(request, answer)
            self._store.reject(error)
            return error
        fix = "Use a user of its own for Ansible, and check its rights. Have a balancer keep each client on one node."
        if not is_confirmed:
            fix += " The login stated nothing: check the password, too."
        state = f"Sessions of {self.connection.username[:40]!r} end at once"
        return self.failure("session_replaced", state, request, answer, fix)

    def _rejected(
        self, request: Request, answer: Answer, message: str | None = None, *, is_stated: bool = False
    ) -> FleetError:
        """Return the error for a login that the management node rejects. ``is_stated``: it states success."""
        called = self.connection.called
        fix = f"Check {called('username')} and {called('password')}, and log in to the web console with this user: the "
        fix += "account may be locked, or a page may have to be filled in. The run does not try again."
        if answer.status in (404, 405) or is_stated:
            fix = f"Set {called('base_url')} to the address of the web console, including its path. "
            fix += "Its login sets the cookie sessionid."
        state = f"Login of {self.connection.username[:40]!r} rejected"
        return self.failure("login_rejected", state, request, answer, fix, self.describe(answer, message))

    def _send(self, request: Request, cookies: dict[str, str], has_served: bool = False) -> tuple[Answer, Row, Case]:
        """Return the last answer, after retries, and what it means; update ``cookies``. Raises FleetError."""
        self._secrets.update(query_secrets(request.path))
        end = self.connection.deadline()
        for attempt in range(self.connection.retries + 1):
            failure: NoAnswerError | None = None
            pause = min(_MAX_PAUSE, _FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1.5)  # noqa: S311
            try:
                answer = self._transport.exchange(
                    request, cookies, min(self.connection.timeout, end - time.monotonic())
                )
                has_session, url = "sessionid" in cookies, self.url(request)
                case = Case(request.call, answer, url, request.own, has_session=has_session, has_served=has_served)
                row = judge(case)
                is_broken = request.method == "GET" and bool(answer.defect) and len(answer.body) < request.limit
                is_repeatable, pause = row.is_repeated or is_broken, max(pause, retry_after(answer))
            except NoAnswerError as error:
                failure = error
                is_repeatable = (request.method == "GET" or not error.is_sent) and not error.is_permanent
            if not is_repeatable or attempt == self.connection.retries or pause >= end - time.monotonic():
                break
            time.sleep(pause)
        if failure:
            raise failure
        if request.call == "login":
            self._secrets |= find_tokens(dict(answer.members))
        self._secrets.update(value for value in cookies.values() if len(value) >= _LEAST_COOKIE)
        return answer, row, case


def run_client_module(
    argument_spec: dict[str, Any], operation: Callable[[Client, dict[str, Any], bool], Result]
) -> None:
    """Run ``operation`` as an Ansible module, on a delegated host; in the controller's process, an action runs it."""
    run_module(
        argument_spec,
        lambda options, check_mode: operation(Client(Connection.from_options(options)), options, check_mode),
    )
