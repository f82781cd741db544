# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One login and one engine list per run, shared by its worker processes.

They are kept in files that only their owner can read, in the temporary folder that ansible-core makes for the run
before it forks its workers, and removes when the run ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, Session, SessionStore
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    Gap,
    Listing,
    fetch_engines,
)
from ansible_collections.slb.fleet.plugins.module_utils._system import files
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import is_got

_POLL_SECONDS = 0.02
_FAILURE_SECONDS = 10.0
"""How long a failure is shared. Without it, each host of a fleet would wait for a management node that hangs."""


class RunCache(SessionStore):
    """What the workers of a run share about one connection: its session, and its engine list.

    Args:
        connection: Part of the key: address, user, password and TLS options. Each password is tried once per run.
        folder: The temporary folder of the run.
    """

    def __init__(self, connection: Connection, folder: Path | None = None) -> None:
        super().__init__()
        self._connection = connection
        self._folder = folder or Path(constants.DEFAULT_LOCAL_TMP)
        self._key = asdict(replace(connection, timeout=0, retries=0, names={}, end=0))
        self._session_file = self._file("session", self._key)

    def session(self, log_in: Callable[[], Session], ended: Session | None = None) -> Session:
        """Return the session of the run; log in if there is none, or if it is still ``ended``.

        Raises the error of a login that another worker made in the last 10 s, and of a rejected login at any time.
        """
        shared = self._share(
            self._session_file,
            lambda value: ended is None or value["cookies"].get("sessionid") != ended.id,
            lambda: asdict(log_in()),
        )
        return Session(**shared)

    def change_cookies(
        self, session: Session, cookies: Mapping[str, str | None], at: float, *, has_served: bool
    ) -> Session:
        """Change the cookies of the run's session, unless the run has logged in again, and return that session."""
        with contextlib.suppress(OSError, TimeoutError), self._locked(self._session_file):
            values = (_read(self._session_file) or {}).get("value")
            if values and values["login"] == session.login:
                session = Session(**values).updated(cookies, at, has_served=has_served)
                _write(self._session_file, {"value": asdict(session)})
                return session
        return session.updated(cookies, at, has_served=has_served)

    @contextlib.contextmanager
    def calling(self, *, alone: bool) -> Iterator[None]:
        """Hold the lock of the calls, shared or ``alone``; without it after the time of one call."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError, TimeoutError):
                kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
                stack.enter_context(self._locked(self._file("calls", self._key), kind))
            yield

    def reject(self, error: FleetError) -> None:
        """Have ``session`` raise ``error`` for the rest of the run."""
        with contextlib.suppress(OSError, TimeoutError), self._locked(self._session_file):
            _write(self._session_file, _failure(error, is_final=True))

    def engines(self, engine_list: EngineList, not_before: float = 0.0) -> Listing:
        """Return the engine list, fetched at ``not_before`` (of time.monotonic()) or later.

        Raises FleetError; a failed fetch is shared for 10 s.
        """
        shared = self._share(
            self._file("engines", {**self._key, "list": repr(engine_list)}),
            lambda value: bool(value["at"] >= not_before),
            lambda: fetch_engines(Client(self._connection, self), engine_list)._asdict(),
        )
        return Listing(shared["engines"], Gap(*shared["gap"]), shared["at"])

    def _share(
        self, file: Path, is_usable: Callable[[dict[str, Any]], bool], make: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the shared value; if it is not usable, the result of ``make``, which one worker calls for all."""
        began = time.monotonic()

        def usable() -> dict[str, Any] | None:
            entry = _read(file) or {}
            failure = entry.get("failure")
            if failure and (entry["is_final"] or entry["at"] >= began - _FAILURE_SECONDS):
                raise FleetError(failure["code"], failure["summary"], failure["fix"], **failure["values"])
            value: dict[str, Any] | None = entry.get("value")
            return value if value and is_usable(value) else None

        value = usable()  # without the lock: files are replaced as a whole
        if value:
            return value
        try:
            with self._locked(file):
                value = usable()
                if value is None:
                    value = self._make(file, make)
                return value
        except TimeoutError:
            return make()  # another worker hangs: do without sharing
        except OSError as error:
            raise FleetError(
                "run_cache_not_writable",
                f"Session not kept: {self._folder} is not writable: {error.strerror}.",
                "Free space there, or set ANSIBLE_LOCAL_TEMP to another folder.",
            ) from None

    def _make(self, file: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            value = make()
        except FleetError as error:
            # The same login is not tried again: the account could be locked.
            _write(file, _failure(error, is_final=error.code in ("login_rejected", "session_replaced")))
            raise
        _write(file, {"value": value})
        return value

    def _file(self, kind: str, key: dict[str, Any]) -> Path:
        # The folder's name is random, so the digest, which covers the password, differs from run to run.
        digest = hashlib.sha256(json.dumps([str(self._folder), key], sort_keys=True, default=str).encode()).hexdigest()
        return self._folder / f"slb-fleet-{kind}-{digest[:32]}"

    @contextlib.contextmanager
    def _locked(self, file: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
        """Hold the lock of ``file``. Raises OSError, or TimeoutError after the time of one call.

        On a file system without locks, workers that begin at the same time do the same work, and then share it.
        """
        descriptor = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                is_locked = is_got(descriptor, self._connection.deadline() - time.monotonic(), _POLL_SECONDS, kind)
            except OSError:
                is_locked = True
            if not is_locked:
                raise TimeoutError
            yield
        finally:
            os.close(descriptor)


def _failure(error: FleetError, *, is_final: bool) -> dict[str, Any]:
    failure = {"code": error.code, "summary": error.summary, "fix": error.fix, "values": error.values}
    return {"failure": failure, "is_final": is_final, "at": time.monotonic()}


def _read(file: Path) -> dict[str, Any] | None:
    """Return the entry, None if there is no valid one."""
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def _write(file: Path, entry: dict[str, Any]) -> None:
    """Replace the entry. Raises OSError."""
    files.replace(str(file), json.dumps(entry).encode(), 0o600, lasting=False)
