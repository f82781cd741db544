# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A session on the management node: made when it is first needed, renewed once when it is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ansible_collections.slb.fleet.plugins.module_utils._console import answers
from ansible_collections.slb.fleet.plugins.module_utils._console.authentication import Session, log_in
from ansible_collections.slb.fleet.plugins.module_utils._console.gate import OpenGate
from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import Reply, read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Transport
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content
    from ansible_collections.slb.fleet.plugins.module_utils._console.gate import Gate
    from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer, Request


class SessionGoneError(ConsoleError):
    """The management node goes on asking for a login."""


class SessionStore(Protocol):
    """Where the sessions of a run are kept."""

    def current(self, connection: Connection, log_in: Callable[[], Session]) -> Session:
        """The session that is there, or the one that ``log_in`` makes."""

    def renewed(
        self, connection: Connection, stale: Session, path: str, log_in: Callable[[], Session]
    ) -> Session | None:
        """A session other than ``stale``: one that somebody else made in the meantime, or a new one.

        None when ``stale`` is itself the renewal for ``path`` and never served it: another one would not either.
        """

    def note_success(self, connection: Connection, session: Session, path: str) -> None:
        """``session`` served ``path``, so that it may be renewed when it ends."""

    def gate(self, connection: Connection) -> Gate:
        """Which all requests to that management node pass."""


class OwnSession:
    """Keeps the session for one task."""

    def __init__(self) -> None:
        self._session: Session | None = None

    def current(self, connection: Connection, log_in: Callable[[], Session]) -> Session:
        self._session = self._session or log_in()
        return self._session

    def renewed(
        self, connection: Connection, stale: Session, path: str, log_in: Callable[[], Session]
    ) -> Session | None:
        self._session = log_in()
        return self._session

    def note_success(self, connection: Connection, session: Session, path: str) -> None:
        return

    def gate(self, connection: Connection) -> Gate:
        return OpenGate()


class GivenSession:
    """A session that the user made, with the option ``sessionid``. It cannot be renewed."""

    def current(self, connection: Connection, log_in: Callable[[], Session]) -> Session:
        return Session(connection.sessionid)

    def renewed(
        self, connection: Connection, stale: Session, path: str, log_in: Callable[[], Session]
    ) -> Session | None:
        raise SessionGoneError(
            f"{connection.base_url} does not accept the O(sessionid) that was given.",
            "Get a new one with slb.fleet.login, or give O(username) and O(password) instead.",
        )

    def note_success(self, connection: Connection, session: Session, path: str) -> None:
        return

    def gate(self, connection: Connection) -> Gate:
        return OpenGate()


class Console:
    """The management node, seen through a session."""

    def __init__(self, connection: Connection, store: SessionStore | None = None) -> None:
        self._connection = connection
        # Also with a session that was given: the management node is the same.
        self._transport = Transport(connection, store.gate(connection) if store else None)
        self._store: SessionStore = GivenSession() if connection.sessionid else (store or OwnSession())
        self._redact = Redactor((connection.password, connection.sessionid))
        self._logins = 0

    @property
    def base_url(self) -> str:
        return self._connection.base_url

    def ready(self) -> None:
        """Returns when the management node can be asked, in a session. Raises ConsoleError where it cannot."""
        self._transport.await_turn()
        self.session()

    def session(self) -> Session:
        """Logs in unless that was done. Raises LoginRefusedError when the credentials are wrong."""
        return self._learned(self._store.current(self._connection, self._log_in))

    def call(self, request: Request, is_gone: Callable[[Answer, Content], bool] = answers.asks_for_login) -> Reply:
        """Sends ``request`` in the session, and once more in a new one if ``is_gone`` says that it is gone.

        An answer that asks for a login is proof that the request was not carried out, so that sending it again
        repeats nothing. Raises SessionGoneError when a new session is not accepted either.
        """
        session, path = self.session(), request.path
        has_renewed = False
        # The third time is for a session that somebody else made and that has ended since.
        for _attempt in range(3):
            reply = self._send(request, session)
            if not is_gone(reply.answer, reply.content):
                if path in session.unproved_at:
                    self._store.note_success(self._connection, session, path)
                return reply
            logins = self._logins
            newer = None if has_renewed else self._store.renewed(self._connection, session, path, self._log_in)
            if newer is None:
                break
            session = self._learned(newer)
            has_renewed = self._logins > logins
        raise SessionGoneError(
            f"{self.base_url}{request.path} asks for a login right after one: it answered {reply.described()}.",
            f"Check in the web console that the user {self._connection.username!r} may do this.",
            status_code=reply.answer.status,
            answer=reply.excerpt,
        )

    def _send(self, request: Request, session: Session) -> Reply:
        answer = self._transport.send(request, session.headers(self.base_url))
        self._redact.learn(*answer.cookies.values())
        return read_reply(answer, self._redact)

    def _log_in(self) -> Session:
        self._logins += 1
        return log_in(self._transport, self._connection, self._redact)

    def _learned(self, session: Session) -> Session:
        self._redact.learn(session.sessionid, session.csrftoken)
        return session
