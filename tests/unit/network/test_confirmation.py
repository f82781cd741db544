"""Only a connection made after the change confirms it, and only in time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    confirmation,
    guard,
    history,
    kernel_state,
    nmcli,
    ssh_connection,
    transaction,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.ssh_connection import Session
from ansible_collections.slb.fleet.plugins.module_utils._system import processes

TOKEN = "f00dface"
# However short ago this machine was booted.
BEFORE = time.monotonic() - 1000.0
THEN = Session("192.0.2.1", 40000, "192.0.2.9", BEFORE)
make_lasting = confirmation._make_lasting


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(transaction, "FOLDER", str(tmp_path))
    monkeypatch.setattr(confirmation, "_make_lasting", lambda steps: (tmp_path / steps[0]["name"]).touch())
    return tmp_path


def applied(**known: Any) -> None:
    now = time.monotonic()
    status = {
        "token": TOKEN,
        "state": "applied",
        "deadline": now + 60,
        "applied_at": now,
        "session": THEN._asdict(),
        "steps": [{"name": "ens9"}],
        "result": {"changed": True, "values": {"adopted": [{"name": "ens9"}], "pending": ["ens9"]}, "diff": None},
    }
    transaction.set_status(dict(status, **known))


def come_in(monkeypatch: pytest.MonkeyPatch, connection: Session | None) -> None:
    monkeypatch.setattr(ssh_connection, "current", lambda: connection)


def fresh() -> Session:
    return Session("192.0.2.1", 40001, "192.0.2.9", time.monotonic() + 0.1)


def test_a_fresh_connection_makes_it_last(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied()
    come_in(monkeypatch, fresh())
    result = confirmation.confirm(TOKEN)
    assert result.changed
    assert result.values == {"adopted": [{"name": "ens9"}], "pending": []}
    assert (folder / "ens9").exists()
    assert transaction.status()["state"] == "confirmed"


def test_it_may_be_confirmed_again_if_the_answer_was_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied()
    come_in(monkeypatch, fresh())
    first = confirmation.confirm(TOKEN)
    (folder / "ens9").unlink()
    assert confirmation.confirm(TOKEN) == first
    assert not (folder / "ens9").exists()


@pytest.mark.parametrize(
    "connection",
    [
        THEN,
        Session("192.0.2.1", 40001, "192.0.2.9", BEFORE),  # another one, but made before the change
        Session("192.0.2.1", 40000, "192.0.2.9", None),  # when is unknown, but it is the same one
        None,
    ],
)
def test_a_connection_from_before_proves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, connection: Session | None
) -> None:
    applied()
    come_in(monkeypatch, connection)
    with pytest.raises(HostError, match="proves nothing") as raised:
        confirmation.confirm(TOKEN)
    assert raised.value.values == {"state": "applied"}
    assert not (folder / "ens9").exists()
    assert transaction.status()["state"] == "applied"


def test_without_ssh_on_either_side_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    applied(session=None)
    come_in(monkeypatch, None)
    assert confirmation.confirm(TOKEN).changed


@pytest.mark.parametrize(
    ("known", "word"),
    [
        ({"deadline": 0}, "not confirmed in time"),
        ({"state": "restoring"}, "is putting everything back"),
        ({"state": "restored", "troubles": []}, "has put everything back as it was"),
        ({"state": "restored", "troubles": ["ens9 is not as it was"]}, "ens9 is not as it was"),
        ({"state": "armed"}, "not yet complete"),
        ({"token": "another1"}, "no change f00dface"),
    ],
)
def test_what_cannot_be_confirmed_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], word: str
) -> None:
    applied(**known)
    come_in(monkeypatch, fresh())
    with pytest.raises(HostError, match=word):
        confirmation.confirm(TOKEN)
    assert not (folder / "ens9").exists()


def test_what_cannot_be_made_lasting_is_put_back_at_once_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(step: dict[str, Any]) -> None:
        raise HostError("No space left on device.", "Make room.")

    applied()
    come_in(monkeypatch, fresh())
    monkeypatch.setattr(confirmation, "_make_lasting", full)
    with pytest.raises(HostError, match="No space left") as raised:
        confirmation.confirm(TOKEN)
    assert raised.value.values == {"state": "restoring"}
    assert guard._is_due(TOKEN)
    transaction.advance(TOKEN, ["applied"], "restored", troubles=[])
    with pytest.raises(HostError, match=r"No space left.*has put everything back"):
        confirmation.confirm(TOKEN)


@pytest.mark.parametrize(
    ("known", "due"),
    [
        ({}, False),
        ({"deadline": 0}, True),
        ({"state": "confirmed"}, True),
        ({"state": "restoring"}, True),
        ({"token": "another1"}, True),
        ({"state": "armed", "applier": "1 1"}, True),  # no such process
        ({"state": "planned", "applier": "1 1"}, True),
        ({"state": "planned", "applier": processes.identity(os.getpid())}, False),
        ({"state": "armed", "applier": processes.identity(os.getpid())}, False),
    ],
)
def test_when_the_guard_acts(known: dict[str, Any], due: bool) -> None:
    applied(**known)
    assert guard._is_due(TOKEN) is due


def test_a_guard_of_an_earlier_change_guards_nothing() -> None:
    transaction.write("guard.json", {"token": TOKEN, "process": processes.identity(os.getpid())})
    assert guard.is_watching(TOKEN)
    assert not guard.is_watching("another1")


def test_the_session_is_found_behind_an_empty_environment() -> None:
    """As under sudo: the variable is only in the environment of a parent."""
    program = (
        "from ansible_collections.slb.fleet.plugins.module_utils._network import ssh_connection;"
        " print(ssh_connection.current())"
    )
    child = [sys.executable, "-c", program]
    kept = {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = f"import subprocess; print(subprocess.run({child!r}, env={kept!r}, capture_output=True, text=True).stdout)"
    environment = dict(os.environ, SSH_CONNECTION="2001:db8::1 40000 ::ffff:192.0.2.9 22")
    answer = subprocess.run([sys.executable, "-c", parent], env=environment, capture_output=True, text=True, check=True)
    assert "client='2001:db8::1', client_port=40000, server='192.0.2.9'" in answer.stdout


def test_however_many_there_are_networkmanager_is_asked_once_for_each_and_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    written = tmp_path / "profile"
    written.touch()
    paths = {"u1": str(written), "u2": str(written), "u3": "/run/NetworkManager/system-connections/ens3"}
    monkeypatch.setattr(nmcli, "modify", lambda uuid, settings, temporary, patience: asked.append(f"{uuid} {patience}"))
    monkeypatch.setattr(nmcli, "profile_paths", lambda: asked.append("paths") or paths)
    monkeypatch.setattr(kernel_state, "read", lambda names: {name: f"state of {name}" for name in names})
    monkeypatch.setattr(history, "remember", lambda step, after: asked.append(f"note {after}"))
    make_lasting([{"name": "ens1", "uuid": "u1", "at_boot": {}}, {"name": "ens2", "uuid": "u2", "at_boot": {}}])
    assert asked == ["note state of ens1", "u1 8", "note state of ens2", "u2 8", "paths"]
    with pytest.raises(HostError, match="did not write the profile of ens3"):
        make_lasting([{"name": "ens1", "uuid": "u1", "at_boot": {}}, {"name": "ens3", "uuid": "u3", "at_boot": {}}])
