"""The session of a run, shared by processes."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._console.authentication import LoginRefusedError, Session
from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError
from ansible_collections.slb.fleet.plugins.plugin_utils import _run_session
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession
from ansible_collections.slb.fleet.tests.tools.runs import wait_until

CONNECTION = Connection("https://console.example", username="admin", password="pass-w0rd", timeout=1, retries=0)
PATIENT = replace(CONNECTION, timeout=120)
FORK = multiprocessing.get_context("fork")


class Logins:
    """A login that is counted in a file, by processes too. ``waiting``: it ends when so many have begun to ask."""

    def __init__(self, folder: Path, waiting: int = 0, error: Any = None) -> None:
        self.folder, self.file = folder, folder / "logins"
        self.file.touch()
        self.waiting = waiting
        self.error = error

    def __call__(self) -> Session:
        with self.file.open("a") as file:
            file.write("x")
        wait_until(lambda: len(list(self.folder.glob("begun-*"))) >= self.waiting, "all who are to wait", 60)
        if self.error:
            raise self.error()
        return Session(f"session{self.count}", csrftoken="token", tls_fingerprint="ab")

    @property
    def count(self) -> int:
        return len(self.file.read_text())


def in_processes(count: int, action: Any) -> list[Any]:
    with FORK.Pool(count) as pool:
        return [task.get(120) for task in [pool.apply_async(action.__call__) for _ in range(count)]]


class Telling(RunSession):
    """Each process that asks says so, by a file, when its time has been taken."""

    @contextlib.contextmanager
    def _locked(self, connection: Connection) -> Iterator[None]:
        (self._folder / f"begun-{os.getpid()}").touch()
        with super()._locked(connection):
            yield


class Ask:
    def __init__(self, folder: Path, logins: Logins) -> None:
        self.store, self.logins = Telling(folder), logins

    def __call__(self) -> str:
        try:
            return self.store.current(PATIENT, self.logins).sessionid
        except ConsoleError as error:
            return str(error)


class Renew(Ask):
    def __call__(self) -> str:
        session = self.store.renewed(PATIENT, Session("session1"), "/path", self.logins)
        return session.sessionid if session else "none"


def test_processes_share_one_login(tmp_path: Path) -> None:
    logins = Logins(tmp_path, waiting=10)
    assert in_processes(10, Ask(tmp_path, logins)) == ["session1"] * 10
    assert logins.count == 1


def test_processes_share_one_renewal(tmp_path: Path) -> None:
    logins = Logins(tmp_path)
    RunSession(tmp_path).current(CONNECTION, logins)
    logins.waiting = 10
    assert in_processes(10, Renew(tmp_path, logins)) == ["session2"] * 10
    assert logins.count == 2


def test_those_who_wait_share_a_failure_and_later_ones_do_not(tmp_path: Path) -> None:
    logins = Logins(tmp_path, waiting=8, error=partial(ConsoleError, "It is down.", "Wait."))
    assert in_processes(8, Ask(tmp_path, logins)) == ["It is down. Wait."] * 8
    assert logins.count == 1
    logins.error = None
    assert Ask(tmp_path, logins)() == "session2"


def test_a_refusal_is_for_all(tmp_path: Path) -> None:
    logins = Logins(tmp_path, error=partial(LoginRefusedError, "Wrong.", "Check.", status_code=401))
    store = RunSession(tmp_path)
    for _ in range(3):
        with pytest.raises(LoginRefusedError, match="Wrong") as error:
            store.current(CONNECTION, logins)
        assert error.value.values == {"status_code": 401}
    assert logins.count == 1


def test_a_mistyped_password_is_the_trouble_of_those_who_have_it(tmp_path: Path) -> None:
    """And no third one is tried, whose refusal could lock the account."""
    logins, store = Logins(tmp_path, error=partial(LoginRefusedError, "Wrong.", "Check.")), RunSession(tmp_path)
    mistyped, third = replace(CONNECTION, password="mistyped"), replace(CONNECTION, password="another")
    with pytest.raises(LoginRefusedError, match="Wrong"):
        store.current(mistyped, logins)
    logins.error = None
    assert store.current(CONNECTION, logins).sessionid == "session2"
    with pytest.raises(LoginRefusedError, match="this password was refused already"):
        store.current(mistyped, logins)
    with pytest.raises(LoginRefusedError, match="another password was used already"):
        store.current(third, logins)
    assert store.current(CONNECTION, logins).sessionid == "session2"
    assert logins.count == 2


def test_two_refused_passwords_are_the_end(tmp_path: Path) -> None:
    logins, store = Logins(tmp_path, error=partial(LoginRefusedError, "Wrong.", "Check.")), RunSession(tmp_path)
    for password in ("first", "second", "third", "first"):
        with pytest.raises(LoginRefusedError):
            store.current(replace(CONNECTION, password=password), logins)
    assert logins.count == 2


def test_a_renewal_that_never_served_is_not_renewed(tmp_path: Path) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    first = store.current(CONNECTION, logins)
    second = store.renewed(CONNECTION, first, "/path", logins)
    assert second is not None
    assert store.renewed(CONNECTION, second, "/path", logins) is None
    store.note_success(CONNECTION, second, "/path")
    third = store.renewed(CONNECTION, second, "/path", logins)
    assert third is not None
    assert third.sessionid == "session3"


def test_two_paths_that_are_never_served(tmp_path: Path) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    for _host in range(5):
        for path in ("/one", "/two"):
            store.renewed(CONNECTION, store.current(CONNECTION, logins), path, logins)
    assert logins.count == 3
    session = store.current(CONNECTION, logins)
    store.note_success(CONNECTION, session, "/one")
    assert store.renewed(CONNECTION, session, "/two", logins) is None
    assert store.renewed(CONNECTION, session, "/one", logins) is not None


def test_each_management_node_user_and_pin_has_its_own(tmp_path: Path) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    others = [
        Connection("https://other.example", username="admin", password="pass-w0rd"),
        Connection("https://console.example", username="other", password="pass-w0rd"),
        Connection("https://console.example", username="admin", password="pass-w0rd", tls_fingerprint="ab" * 32),
    ]
    assert len({store.current(connection, logins).sessionid for connection in (CONNECTION, *others)}) == 4


def test_what_is_on_disk(tmp_path: Path) -> None:
    store = RunSession(tmp_path)
    session = store.current(CONNECTION, Logins(tmp_path))
    assert store.current(CONNECTION, Logins(tmp_path)) == session
    for path in tmp_path.glob("slb-fleet-session-*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "pass-w0rd" not in path.read_text()


def _disk_with_room_for(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    write, left = os.write, [room]

    def write_a_part(descriptor: int, data: bytes) -> int:
        if data and not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, data[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", write_a_part)


@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_is_found_before_the_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    with monkeypatch.context() as full:
        _disk_with_room_for(full, room)
        with pytest.raises(ConsoleError, match=r"temporary folder .*No space left on device.*Make room"):
            store.current(CONNECTION, logins)
    assert logins.count == 0
    assert store.current(CONNECTION, logins).sessionid == "session1"


def test_a_disk_that_fills_up_leaves_the_session_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    session = store.renewed(CONNECTION, store.current(CONNECTION, logins), "/path", logins)
    assert session is not None
    with monkeypatch.context() as full:
        _disk_with_room_for(full, 50)
        store.note_success(CONNECTION, session, "/path")
    assert store.current(CONNECTION, logins) == session
    assert logins.count == 2


def test_a_write_in_parts_is_a_whole_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    assert store.current(CONNECTION, logins) == store.current(CONNECTION, logins)
    assert logins.count == 1


def test_a_refusal_that_cannot_be_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Session:
        _disk_with_room_for(monkeypatch, 0)
        raise LoginRefusedError("Wrong.", "Check.")

    with pytest.raises(LoginRefusedError, match="Wrong"):
        RunSession(tmp_path).current(CONNECTION, refuse)


@pytest.mark.parametrize(
    "content", [b"", b'{"salt": "a', b"\xff", b"[]", b"{}", b"1", b'{"session":{"x":1},"failure":0}']
)
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    logins, store = Logins(tmp_path), RunSession(tmp_path)
    store._path(CONNECTION).write_bytes(content)
    assert store.current(CONNECTION, logins).sessionid == "session1"
    assert store.current(CONNECTION, logins).sessionid == "session1"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ConsoleError, match="No such file or directory"):
        RunSession(tmp_path / "gone").current(CONNECTION, Logins(tmp_path))


def test_a_lock_that_is_never_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run_session, "_GRACE_SECONDS", 0)
    store = RunSession(tmp_path)
    with store._locked(CONNECTION), pytest.raises(ConsoleError, match=r"has been logging in .* for 1 s"):
        store.current(CONNECTION, Logins(tmp_path))
