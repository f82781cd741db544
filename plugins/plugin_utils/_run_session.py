# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One session for a whole run: shared by the worker processes through a file under a lock.

The file is readable by its owner alone and lies in the run's own temporary folder, which ansible-core makes before
it forks its workers and removes when the run ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.authentication import LoginRefusedError, Session
from ansible_collections.slb.fleet.plugins.module_utils._console.gate import Gate, OpenGate
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError
from ansible_collections.slb.fleet.plugins.module_utils._system.files import replace as replace_file
from ansible_collections.slb.fleet.plugins.plugin_utils._run_gate import RunGate
from ansible_collections.slb.fleet.plugins.plugin_utils._run_lock import LockedTooLongError, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection

_GRACE_SECONDS = 10


@dataclass(frozen=True)
class _Failure:
    """A login that failed. ``is_final``: for the whole run, and not only for those who were waiting for it."""

    what: str
    remedy: str
    values: dict[str, Any]
    is_final: bool
    at: float

    def error(self) -> ConsoleError:
        kind = LoginRefusedError if self.is_final else ConsoleError
        return kind(self.what, self.remedy, **self.values)


@dataclass(frozen=True)
class _State:
    """What the workers know. ``proof`` tells whether they mean the same password, without holding it; ``refused`` is
    the proof of one that was refused before.
    """

    salt: str
    proof: str
    refused: str = ""
    session: Session | None = None
    failure: _Failure | None = None

    @property
    def was_refused(self) -> bool:
        return self.failure is not None and self.failure.is_final

    def encoded(self) -> str:
        return json.dumps(asdict(self), default=list)

    @classmethod
    def decoded(cls, text: str) -> _State:
        fields = json.loads(text)
        session, failure = fields.pop("session"), fields.pop("failure")
        if session:
            session = Session(**{**session, "unproved_at": frozenset(session["unproved_at"])})
        return cls(**fields, session=session, failure=_Failure(**failure) if failure else None)


class RunSession:
    """A SessionStore whose sessions all workers of a run share. ``folder``: the run's own temporary one.

    ``patience``: seconds for which the run waits for a management node that is down; None for what is no run.
    """

    def __init__(self, folder: Path, patience: float | None = None) -> None:
        self._folder, self._patience = folder, patience

    def gate(self, connection: Connection) -> Gate:
        return OpenGate() if self._patience is None else RunGate(connection, self._folder, self._patience)

    def current(self, connection: Connection, log_in: Callable[[], Session]) -> Session:
        """The run's session. Raises the error of the one attempt that was made, if it failed."""
        began = time.monotonic()
        # The file is replaced as a whole, so that reading it needs no lock.
        session = self._checked(self._read(connection), began, connection)
        if session:
            return session
        with self._locked(connection):
            state = self._read(connection)
            return self._checked(state, began, connection) or self._logged_in(connection, state, log_in)

    def check(self, connection: Connection) -> None:
        """Raises LoginRefusedError where it is known that ``connection`` has another password than the run's."""
        self._checked(self._read(connection), time.monotonic(), connection)

    def renewed(
        self, connection: Connection, stale: Session, path: str, log_in: Callable[[], Session]
    ) -> Session | None:
        began = time.monotonic()
        with self._locked(connection):
            state = self._read(connection)
            session = self._checked(state, began, connection)
            if session and session.sessionid != stale.sessionid:
                return session
            if session and path in session.unproved_at:
                return None
            # The other paths stay unproved: two that both refuse would take turns in having the session renewed.
            others = session.unproved_at if session else frozenset()
            return self._logged_in(connection, state, log_in, unproved_at=others | {path})

    def note_success(self, connection: Connection, session: Session, path: str) -> None:
        # A failure to note it would speak of a request that was answered as of one that was not.
        with contextlib.suppress(ConsoleError), self._locked(connection):
            state = self._read(connection)
            if state and state.session and state.session.sessionid == session.sessionid:
                proved = replace(state.session, unproved_at=state.session.unproved_at - {path})
                self._write(connection, replace(state, session=proved))

    def _checked(self, state: _State | None, began: float, connection: Connection) -> Session | None:
        """The session in ``state``. Raises what stands against using it or against making another one."""
        if state is None:
            return None
        proof = _proof(state.salt, connection.password)
        if state.proof != proof:
            if state.was_refused and not state.refused:
                # One host's mistyped password is that host's trouble; a third one could lock the account.
                return None
            which = "this password was refused" if state.refused == proof else "another password was used"
            raise LoginRefusedError(
                f"In this run, {which} already for {connection.username!r} on {connection.base_url}.",
                "Give all hosts of that management node the same one: a second one would count as a failed attempt.",
            )
        if state.failure and (state.was_refused or state.failure.at >= began):
            raise state.failure.error()
        return state.session

    def _logged_in(
        self,
        connection: Connection,
        state: _State | None,
        log_in: Callable[[], Session],
        unproved_at: frozenset[str] = frozenset(),
    ) -> Session:
        salt = state.salt if state else secrets.token_hex()
        proof = _proof(salt, connection.password)
        refused = state.proof if state and state.proof != proof else state.refused if state else ""
        state = _State(salt, proof, refused)
        # Before the login, because one that cannot be kept would be made again for each host.
        self._write(connection, state)
        try:
            session = replace(log_in(), unproved_at=unproved_at)
        except ConsoleError as error:
            is_final = isinstance(error, LoginRefusedError)
            failure = _Failure(error.what, error.remedy, error.values, is_final, time.monotonic())
            with contextlib.suppress(ConsoleError):
                self._write(connection, replace(state, failure=failure))
            raise
        self._write(connection, replace(state, session=session))
        return session

    def _path(self, connection: Connection) -> Path:
        key = "\0".join((connection.base_url, connection.username, connection.tls_fingerprint))
        return self._folder / f"slb-fleet-session-{hashlib.sha256(key.encode()).hexdigest()[:32]}"

    def _read(self, connection: Connection) -> _State | None:
        """None too where the file cannot be read: whoever logs in then replaces it."""
        try:
            return _State.decoded(self._path(connection).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _write(self, connection: Connection, state: _State) -> None:
        with _as_console_error(self._folder):
            replace_file(str(self._path(connection)), state.encoded().encode(), 0o600, lasting=False)

    @contextlib.contextmanager
    def _locked(self, connection: Connection) -> Iterator[None]:
        """Waits as long as a login by somebody else may take."""
        seconds = connection.total_timeout + (self._patience or 0) + _GRACE_SECONDS
        with contextlib.ExitStack() as stack:
            with _as_console_error(self._folder):
                try:
                    stack.enter_context(locked(self._path(connection).with_suffix(".lock"), seconds))
                except LockedTooLongError:
                    raise ConsoleError(
                        f"Another task of this run has been logging in to {connection.base_url} for {seconds:.0f} s.",
                        "Look at the management node; lower O(timeout) or O(retries) to be told earlier.",
                    ) from None
            yield


@contextlib.contextmanager
def _as_console_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConsoleError(
            f"The session cannot be kept in the run's temporary folder {folder}: {error.strerror}.",
            "Make room there, or set ANSIBLE_LOCAL_TEMP to a folder with room for the user that runs Ansible.",
        ) from None


def _proof(salt: str, password: str) -> str:
    return hmac.new(salt.encode(), password.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
