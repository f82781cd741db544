"""The guard puts everything back, come what may."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import guard, snapshot, transaction

TOKEN = "f00dface"


@pytest.fixture(autouse=True)
def restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often everything was put back."""
    restored: list[str] = []
    monkeypatch.setattr(transaction, "FOLDER", str(tmp_path))
    monkeypatch.setattr(guard.signal, "signal", lambda *_: None)
    monkeypatch.setattr(guard, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(guard, "_BLIND_SECONDS", 0.05)
    monkeypatch.setattr(snapshot, "made_since", lambda _: [])
    monkeypatch.setattr(snapshot, "put_back", lambda before, doomed: restored.append("all") or [])
    transaction.write("snapshot.json", {})
    transaction.set_status({"token": TOKEN, "state": "applied", "deadline": time.monotonic() + 0.2})
    return restored


def fail(*_: Any) -> None:
    raise FileNotFoundError("veth7")


def test_a_look_that_fails_does_not_end_it(restored: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    looks, is_due = [], guard._is_due

    def look(token: str) -> bool:
        looks.append(token)
        return fail() if len(looks) == 2 else is_due(token)

    monkeypatch.setattr(guard, "_is_due", look)
    guard.main(TOKEN)
    assert restored == ["all"]
    assert transaction.status()["state"] == "restored"


def test_where_it_cannot_look_any_more_it_puts_everything_back(restored: list[str]) -> None:
    Path(transaction.path("status.json")).write_text("{")
    guard.main(TOKEN)
    assert restored == ["all"]


def test_where_the_profiles_cannot_be_listed_the_rest_is_put_back(
    restored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "made_since", fail)
    guard.main(TOKEN)
    assert restored == ["all"] * 3
    assert transaction.status()["state"] == "restored"
    assert transaction.status()["troubles"] == ["veth7"]


def test_a_change_that_is_decided_is_left_alone(restored: list[str]) -> None:
    for state in ("confirmed", "restored"):
        transaction.set_status({"token": TOKEN, "state": state, "deadline": 0})
        guard.main(TOKEN)
        assert transaction.status()["state"] == state
    assert restored == []


def test_a_shutdown_is_not_taken_for_a_look_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def going_down(_: str) -> bool:
        raise guard._ShutdownError

    monkeypatch.setattr(guard, "_is_due", going_down)
    with pytest.raises(guard._ShutdownError):
        guard._wait_until_due(TOKEN)


def test_a_state_folder_that_was_opened_to_others_keeps_nothing_from_being_put_back(
    restored: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = guard._wait_until_due

    def opened(token: str) -> None:
        tmp_path.chmod(0o777)
        wait(token)

    monkeypatch.setattr(guard, "_wait_until_due", opened)
    guard.main(TOKEN)
    assert restored == ["all"]


def test_nor_at_a_shutdown(restored: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def going_down(_: str) -> None:
        tmp_path.chmod(0o777)
        raise guard._ShutdownError

    monkeypatch.setattr(guard, "_wait_until_due", going_down)
    monkeypatch.setattr(snapshot, "put_files_back", lambda before: restored.append("files"))
    guard.main(TOKEN)
    assert restored == ["files"]
