# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call the management node in one session: login, renewal, repetition and cookies."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import (
    Answer,
    query_secrets,
    read_date,
    show,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection, header_secrets
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import is_found
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import (
    NoAnswerError,
    Request,
    Transport,
    boot_time,
    retry_after,
)
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

LOGIN_PATH = "/account/login/"
_LOGIN_PAGES = frozenset({"login", "log-in", "log_in", "signin", "sign-in", "sign_in"})  # last part of a path

_BUSY = (429, 502, 503, 504)
_FIRST_PAUSE, _MAX_PAUSE = 1.0, 30.0  # seconds
_MAX_RENEWALS = 5  # logins in a row whose session serves no call
_MAX_UNSURE = 2  # the same, while the password may be wrong
_MAX_SESSIONS = 8  # that one call uses, those of other workers included
_SECRET_COOKIES, _LEAST_TOKEN = ("sessionid", "csrftoken"), 16  # characters of a value that is a secret, too
_PAGE_TO_FILL_IN = re.compile(
    r"passw|two-?factor|agreement|expire|(?<![a-z])(?:pwd|mfa|otp|totp|2fa|eula)(?![a-z])|密码|验证码|一次性",
    re.IGNORECASE,
)
_ABOUT_LOGIN = re.compile(r"\b(log|sign)\s?-?in\b|session|token|unauthori[sz]ed|登[录陆入]|会话", re.IGNORECASE)
_FILL_IN = "Log in to the web console with this user, and fill in the page that it shows."
_REFUSED = (400, 401, 403, 422, 423)


@dataclass(frozen=True)
class Session:
    """The cookies of one login.

    ``has_served``: whether a call has succeeded with them. ``is_stated``: whether the answer to the login states
    success. ``was_accepted``: whether an earlier session of this run has served. ``renewals``: logins since a session
    has served. ``at``: the ``boot_time`` of the login. ``clock``: as ``_clock`` returns it.
    """

    cookies: dict[str, str] = field(repr=False)
    tls_fingerprint: str = ""
    has_served: bool = False
    is_stated: bool = False
    was_accepted: bool = False
    renewals: int = 0
    at: float = 0.0
    clock: float = -math.inf

    @property
    def is_accepted(self) -> bool:
        """Whether user and password are known to be right."""
        return self.has_served or self.was_accepted

    @property
    def id(self) -> str:
        return self.cookies.get("sessionid", "")


class SessionStore(Protocol):
    """Keeps the session of one connection."""

    def session(self, log_in: Callable[[], Session], ended: Session | None = None) -> Session:
        """Return the session, or the result of ``log_in`` if there is none or if it is still ``ended``."""

    def update(self, session: Session) -> None:
        """Keep the cookies of ``session``, and that it has served."""

    def reject(self, error: FleetError) -> None:
        """Have later calls of ``session`` raise ``error``."""


class OwnSession:
    """The session of a process that shares it with no other."""

    def __init__(self, session: Session | None = None) -> None:
        self._session = session

    def session(self, log_in: Callable[[], Session], ended: Session | None = None) -> Session:
        if self._session is None or ended is not None:
            self._session = log_in()
        return self._session

    def update(self, session: Session) -> None:
        self._session = session

    def reject(self, error: FleetError) -> None:
        return


class LoginRefusedError(FleetError):
    """The management node refuses the login. The same login is not tried again: the account could be locked."""


class Client:
    """One management node, used in one session.

    Args:
        connection: Address, user and TLS settings.
        store: Where the session is kept; by default, in this object.
    """

    def __init__(self, connection: Connection, store: SessionStore | None = None) -> None:
        self.connection = connection
        self._transport = Transport(connection)
        given = Session({"sessionid": connection.sessionid}) if connection.sessionid else None
        self._store: SessionStore = OwnSession(given) if given or not store else store
        self._secrets: set[str] = {connection.password, connection.sessionid, *header_secrets(connection.headers)}

    def log_in(self) -> Session:
        """Return the session; log in if there is none. Raises FleetError, ``login_rejected`` for bad credentials."""
        return self._store.session(self._log_in)

    def call(self, request: Request) -> Answer:
        """Return the answer to ``request``, whatever its status. Redirects are not followed.

        If the session has ended, log in and send the request again. A POST is sent again only after an answer that
        shows that it was not accepted: 401, or a redirect to the login page of this management node. After a text about
        anything but the login, such as that of the engine host, it is sent once more at most.
        Raises FleetError if no answer came or the login is rejected, NoAnswerError if the request may have arrived.
        """
        session, ended = self.log_in(), None
        for number in range(_MAX_SESSIONS):
            cookies = dict(session.cookies)
            try:
                answer = self._send(request, cookies)
            except FleetError as error:
                if ended is None or error.code != "request_too_late":
                    raise
                raise self._replaced(request, ended) from None
            answer = replace(
                answer, age=answer.at + session.clock - (read_date(answer.headers.get("Date", "")) or math.inf)
            )
            # A console of one page answers a wrong path with its start page: then no session would serve.
            is_other_page = request.method == "GET" and answer.is_success and answer.is_other_page
            is_last = is_other_page and not session.has_served
            # A new session does not change what a 401 says about the engine host.
            is_last |= number > 0 and _is_about_request(request, answer)
            if is_last or not _is_session_ended(request, answer, self.connection.base_url):
                has_served = session.has_served or (answer.status < 500 and answer.status != 403 and not is_last)
                if cookies != session.cookies or has_served != session.has_served:
                    renewals = 0 if has_served else session.renewals
                    clock = max(session.clock, _clock(answer))
                    self._store.update(
                        replace(session, cookies=cookies, has_served=has_served, renewals=renewals, clock=clock)
                    )
                return answer
            session, ended = self._renew(session, request, answer), answer
        raise self._replaced(request, answer)

    def describe(self, answer: Answer) -> str:
        """Return status and message of ``answer``, without secrets, as in 'HTTP 503: maintenance'."""
        return answer.described(tuple(self._secrets))

    def message(self, answer: Answer) -> str:
        """Return the message of ``answer``, without secrets, at most 300 characters."""
        return answer.shown(tuple(self._secrets))

    def redirect_fix(self, answer: Answer, path: str) -> str:
        """Return what to do about a redirect of ``path`` to another address, or to a page to fill in; else nothing."""
        called, place = self.connection.called("base_url"), f"{self.connection.base_url}{path}"
        try:
            target = urljoin(place, answer.location)
            there, here = urlsplit(target), urlsplit(place)
            is_plain = there.scheme == "http" and there.hostname == here.hostname
            is_other = (there.scheme, there.hostname, there.port or 443) != ("https", here.hostname, here.port or 443)
        except ValueError:
            return ""
        if is_plain and answer.status in (301, 307, 308):
            return "Have the proxy before the management node send it X-Forwarded-Proto: https."
        if answer.location and ((is_other and not is_plain) or answer.status in (301, 307, 308)):
            base_url = re.sub("^http:", "https:", target).rstrip("/").removesuffix(path.rstrip("/"))
            if base_url not in (target.rstrip("/"), self.connection.base_url):
                return f"Set {called} to {show(base_url, 100)}."
            return f"Set {called} to the address that a browser shows after the login, without single sign-on."
        if answer.location and _PAGE_TO_FILL_IN.search(there.path):
            return _FILL_IN
        return ""

    @property
    def _credentials(self) -> str:
        return f"{self.connection.called('username')} and {self.connection.called('password')}"

    def _log_in(self) -> Session:
        credentials = {"username": self.connection.username, "password": self.connection.password}
        request, cookies = Request("POST", LOGIN_PATH, credentials), dict[str, str]()
        answer = self._send(request, cookies)
        if (
            answer.status == 403
            and "csrf" in answer.message.lower()
            and not is_found("bad_credentials", answer.message)
        ):
            # The credentials were not checked: the login page gives the token that is missing.
            if "csrftoken" not in cookies:
                self._send(Request("GET", LOGIN_PATH), cookies)
            answer = self._send(request, cookies)
        place = f"{self.connection.base_url}{LOGIN_PATH}"
        fix = self.redirect_fix(answer, LOGIN_PATH)
        if fix:
            summary = f"Login failed: {place} answered {self.describe(answer)}."
            raise FleetError("unexpected_answer", summary, fix, status_code=answer.status)
        if is_rejection(answer):
            raise LoginRefusedError(
                "login_rejected",
                f"Login of {self.connection.username[:40]!r} rejected: {place} answered {self.describe(answer)}.",
                f"Check {self._credentials}, and whether the account is locked. The run does not try them again.",
                status_code=answer.status,
            )
        if answer.status in _BUSY or answer.status >= 500:
            raise self._unavailable(request, answer)
        if answer.status in _REFUSED or (answer.is_success and answer.verdict is False):
            options = ["base_url", "client_cert"] if "certificate" in answer.message.lower() else ["base_url"]
            check = f"Check {' and '.join(map(self.connection.called, options))}, and the proxies."
            raise LoginRefusedError(
                "unexpected_answer",
                f"Login failed: {place} answered {self.describe(answer)}.",
                f"Log in to the web console with this user. {check} The run does not try again.",
                status_code=answer.status,
            )
        if not cookies.get("sessionid") or answer.status >= 400:
            # A text without JSON may be a token.
            is_shown = bool(answer.parsed) or answer.is_html or not answer.is_success
            shown = self.describe(answer) if is_shown else f"HTTP {answer.status}"
            fix = f"Set {self.connection.called('base_url')} to the address of the web console, including its path."
            if answer.objects and _PAGE_TO_FILL_IN.search(answer.message):
                fix = _FILL_IN
            elif answer.objects and answer.status >= 400 and answer.status not in (404, 405):
                fix = "Log in to the web console with this user, and correct what it reports."
            raise FleetError(
                "unexpected_answer",
                f"Login failed: {place} answered {shown}, without a session.",
                fix,
                status_code=answer.status,
            )
        is_stated = answer.is_success and bool(answer.objects) and answer.verdict is True
        return Session(
            cookies, self._transport.tls_fingerprint, is_stated=is_stated, at=boot_time(), clock=_clock(answer)
        )

    def _renew(self, ended: Session, request: Request, answer: Answer) -> Session:
        """Return another session than ``ended``. Raises FleetError if another login would not help."""
        if self.connection.sessionid:
            raise FleetError(
                "session_rejected",
                f"Session rejected: {self.connection.base_url}{request.shown_path} answered {self.describe(answer)}.",
                "Get a new sessionid with slb.fleet.login, or set username and password instead.",
            )
        current = self._store.session(self._log_in)
        if current.id != ended.id:
            return current  # another worker has renewed it
        # A login that states success is made again: another run of this user may have ended its session.
        if not current.is_accepted and current.renewals >= (_MAX_UNSURE if current.is_stated else 0):
            raise self._rejected(request, answer)
        if current.renewals >= _MAX_RENEWALS:
            raise self._replaced(request, answer)
        return self._store.session(lambda: self._log_in_again(current), ended=current)

    def _log_in_again(self, ended: Session) -> Session:
        """Return another session than ``ended``; after a pause if it is young: two runs may end each other's."""
        pause = _FIRST_PAUSE * 2**ended.renewals * random.uniform(0.5, 1.5)  # noqa: S311
        time.sleep(min(pause, max(0.0, ended.at + pause - boot_time())))
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

    def _rejected(self, request: Request, answer: Answer) -> FleetError:
        """Return the error for a session that has never served: the cookie alone does not show that a login worked."""
        error = FleetError(
            "login_rejected",
            f"Login of {self.connection.username[:40]!r} rejected: {request.shown_path} answered "
            f"{self.describe(answer)}.",
            f"Check {self._credentials}, then the rights of this user.",
            status_code=answer.status,
        )
        self._store.reject(error)
        return error

    def _replaced(self, request: Request, answer: Answer) -> FleetError:
        """Return the error for sessions that end at once, although user and password are right."""
        return FleetError(
            "session_replaced",
            f"Session of {self.connection.username[:40]!r} ended again and again: {request.shown_path} answered "
            f"{self.describe(answer)}.",
            "Use a user of its own for Ansible, and check the rights of this user.",
            status_code=answer.status,
        )

    def _unavailable(self, request: Request, answer: Answer) -> FleetError:
        return FleetError(
            "management_node_unavailable",
            f"Management node unavailable: {self.connection.base_url}{request.shown_path} answered "
            f"{self.describe(answer)}.",
            "Check the management node, or run again later.",
            status_code=answer.status,
        )

    def _send(self, request: Request, cookies: dict[str, str]) -> Answer:
        """Return the last answer, after retries; update ``cookies``. Raises FleetError if no answer came."""
        self._secrets.update(query_secrets(request.path))
        end = self.connection.deadline()
        for attempt in range(self.connection.retries + 1):
            failure: NoAnswerError | None = None
            answer: Answer | None = None
            try:
                answer = self._transport.exchange(
                    request, cookies, min(self.connection.timeout, end - time.monotonic())
                )
                is_repeatable, pause = _is_worth_repeating(request, answer), retry_after(answer)
            except NoAnswerError as error:
                failure = error
                is_repeatable, pause = (request.method == "GET" or not error.is_sent) and not error.is_permanent, 0.0
            pause = max(pause, min(_MAX_PAUSE, _FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1.5))  # noqa: S311
            if not is_repeatable or attempt == self.connection.retries or pause >= end - time.monotonic():
                break
            time.sleep(pause)
        if failure or answer is None:
            raise failure or AssertionError
        if request.path == LOGIN_PATH:
            self._secrets |= answer.tokens
        self._secrets.update(
            value for name, value in cookies.items() if name in _SECRET_COOKIES or len(value) >= _LEAST_TOKEN
        )
        return answer


def run_client_module(
    argument_spec: dict[str, Any], operation: Callable[[Client, dict[str, Any], bool], Result]
) -> None:
    """Run ``operation`` as an Ansible module, on a delegated host; in the controller's process, an action runs it."""
    run_module(
        argument_spec,
        lambda options, check_mode: operation(Client(Connection.from_options(options)), options, check_mode),
    )


def _clock(answer: Answer) -> float:
    """Return at least the difference of the management node's clock to ``boot_time``; minus infinity without a Date.

    Neither clock has to be right. An answer to a login is no copy of a cache, so later answers have later dates.
    """
    date = read_date(answer.headers.get("Date", ""))
    return -math.inf if date is None else date - boot_time()


def _is_worth_repeating(request: Request, answer: Answer) -> bool:
    if answer.status in _BUSY:
        is_login = request.method == "POST" and request.path == LOGIN_PATH
        return request.method == "GET" or (is_login and not is_found("bad_credentials", answer.message))
    return request.method == "GET" and bool(answer.defect) and len(answer.body) < request.limit


def _is_session_ended(request: Request, answer: Answer, base_url: str) -> bool:
    if request.method == "POST":  # it may have been accepted
        return answer.status == 401 or _leads_to_login(request, answer, base_url)
    if answer.status == 401 or answer.is_redirect_to_login:
        return True
    if answer.status in _BUSY or answer.status >= 500 or (request.is_wanted and request.is_wanted(answer)):
        return False
    return (answer.is_success and answer.is_html) or answer.is_login_page or answer.requires_login


def _is_about_request(request: Request, answer: Answer) -> bool:
    """Return whether an answer 401 to a POST has words, and none of them about this login."""
    is_stated = request.method == "POST" and answer.status == 401 and bool(answer.message)
    return is_stated and not answer.requires_login and not _ABOUT_LOGIN.search(answer.message)


def _leads_to_login(request: Request, answer: Answer, base_url: str) -> bool:
    """Return whether a redirect leads to the login page of this host, and not to an engine with its name."""
    try:
        there = urlsplit(urljoin(base_url + request.path, answer.location))
        is_here = there.hostname == urlsplit(base_url).hostname
    except ValueError:
        return False
    page = there.path.rstrip("/").rpartition("/")[2].lower()
    return is_here and page in _LOGIN_PAGES and page != str((request.body or {}).get("name")).lower()


def is_rejection(answer: Answer) -> bool:
    """Return whether the answer to a login reports that the credentials are not accepted.

    Words, the login page, or 401 report it. Other refusals may be about anything, unless they have no body.
    """
    if answer.location.rstrip("/").rpartition("/")[2].partition(".")[0].lower() in _LOGIN_PAGES:
        return True
    if answer.is_success and bool(answer.objects) and answer.verdict is True:
        return False
    if is_found("bad_credentials", answer.message):
        return True
    refusals = {answer.status, *(answer.codes if answer.is_success else ())}.intersection(_REFUSED)
    if answer.is_success and not refusals:
        return bool(answer.body.strip()) and (answer.is_login_page or answer.requires_login)
    # A proxy before the management node has pages and a login of its own.
    if not refusals or (not answer.is_login_page and (answer.is_html or "WWW-Authenticate" in answer.headers)):
        return False
    if is_found("second_step", answer.message):
        return False
    is_other = 401 not in refusals and bool(answer.body.strip()) and not is_found("login_failed", answer.message)
    return answer.is_login_page or not is_other
