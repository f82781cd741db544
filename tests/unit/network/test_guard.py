"""The guard puts everything back, come what may."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import guard, nmcli, snapshot, transaction
from ansible_collections.slb.fleet.plugins.module_utils._system import processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

TOKEN = "f00dface"


@pytest.fixture(autouse=True)
def restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often everything was put back."""
    restored: list[str] = []
    monkeypatch.setattr(transaction, "FOLDER", str(tmp_path))
    monkeypatch.setattr(guard.signal, "signal", lambda *_: None)
    monkeypatch.setattr(guard, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(guard, "_BLIND_SECONDS", 0.05)
    monkeypatch.setattr(nmcli, "require_sign_of_life", lambda: None)
    monkeypatch.setattr(guard, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(snapshot, "put_lost_back", lambda before: restored.append("lost"))
    monkeypatch.setattr(snapshot, "put_back", lambda before: restored.append("all") or [])
    monkeypatch.setattr(snapshot, "not_watched_again", lambda before: [])
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
    assert restored == ["lost", "all"]
    assert transaction.status()["state"] == "restored"


def test_where_it_cannot_look_any_more_it_puts_everything_back(restored: list[str]) -> None:
    Path(transaction.path("status.json")).write_text("{")
    guard.main(TOKEN)
    assert restored == ["lost", "all"]


def test_what_cannot_be_put_back_is_tried_again_and_said(restored: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "put_back", lambda before: restored.append("all") or ["veth7"])
    guard.main(TOKEN)
    assert restored == ["lost"] + ["all"] * 3
    assert transaction.status()["state"] == "restored"
    assert transaction.status()["troubles"] == ["veth7"]


class AwayNetworkManager:
    """Does not answer until it was asked ``times``."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.seen: list[Any] = []

    def ask(self) -> None:
        self.times -= 1
        status = transaction.status()
        self.seen.append((status["state"], status.get("away")))
        if self.times >= 0:
            raise nmcli.NoAnswerError("NetworkManager does not run.", "Start it.")


def test_networkmanager_is_told_as_soon_as_it_answers_however_long_that_takes(
    restored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = AwayNetworkManager(times=7)
    monkeypatch.setattr(nmcli, "require_sign_of_life", manager.ask)
    monkeypatch.setattr(
        snapshot, "put_back", lambda before: restored.append("all") or (["it is away"] if manager.times > 0 else [])
    )
    guard.main(TOKEN)
    assert restored == ["lost"] + ["all"] * 8
    assert manager.seen[1:] == [("restoring", "NetworkManager does not run.")] * 6
    assert transaction.status()["state"] == "restored"
    assert transaction.status()["away"] is None


def test_a_shutdown_while_networkmanager_is_away_puts_the_files_back(
    restored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def going_down(_: float) -> None:
        raise guard._ShutdownError

    monkeypatch.setattr(nmcli, "require_sign_of_life", AwayNetworkManager(times=9).ask)
    monkeypatch.setattr(snapshot, "put_back", lambda before: ["it is away"])
    monkeypatch.setattr(snapshot, "put_files_back", lambda before: restored.append("files"))
    monkeypatch.setattr(guard, "_wait_until_due", lambda _: monkeypatch.setattr(guard.time, "sleep", going_down))
    with pytest.raises(SystemExit):
        guard.main(TOKEN)
    assert restored == ["lost", "files"]


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
    assert restored == ["lost", "all"]


def test_nor_at_a_shutdown(restored: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def going_down(_: str) -> None:
        tmp_path.chmod(0o777)
        raise guard._ShutdownError

    monkeypatch.setattr(guard, "_wait_until_due", going_down)
    monkeypatch.setattr(snapshot, "put_files_back", lambda before: restored.append("files"))
    with pytest.raises(SystemExit):
        guard.main(TOKEN)
    assert restored == ["files"]


def test_whoever_ends_the_guard_alone_has_the_change_undone(
    restored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd starts it again after a failure: nobody can confirm any more, and everything is due."""

    def ended(_: str) -> None:
        raise guard._ShutdownError

    monkeypatch.setattr(snapshot, "put_files_back", lambda before: restored.append("files"))
    with monkeypatch.context() as patched, pytest.raises(SystemExit, match="1"):
        patched.setattr(guard, "_wait_until_due", ended)
        guard.main(TOKEN)
    assert transaction.status()["state"] == "restoring"
    guard.main(TOKEN)
    assert restored == ["files", "lost", "all"]
    assert transaction.status()["state"] == "restored"


_HOLDER = """
import subprocess, sys, time
from ansible_collections.slb.fleet.plugins.module_utils._network import transaction
transaction.FOLDER = sys.argv[1]
with transaction.locked():
    child = subprocess.Popen(["sleep", "300"])
    print(child.pid, flush=True)
    time.sleep(300)
"""


@pytest.mark.parametrize("frozen", [True, False])
def test_whoever_hangs_while_it_decides_does_not_hold_up_the_guard_nor_go_on_later(
    restored: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen: bool
) -> None:
    monkeypatch.setattr(transaction, "GRACE_SECONDS", 0.5)
    command = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=found, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        if frozen:
            holder.send_signal(signal.SIGSTOP)
        guard.main(TOKEN)
        assert holder.wait(10) == -signal.SIGKILL
    assert restored == ["lost", "all"]
    assert transaction.status()["state"] == "restored"
    assert wait_for(lambda: processes.identity(child) is None, 10)


def test_whoever_holds_the_lock_and_cannot_be_told_finds_the_change_being_put_back(
    restored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(transaction, "_END_SECONDS", 0.1)
    with transaction.locked():
        Path(transaction.path("lock")).write_text("")
        guard.main(TOKEN)
        with pytest.raises(HostError, match="restored already"):
            transaction.advance(TOKEN, [transaction.APPLIED], transaction.CONFIRMED)
    assert restored == ["lost", "all"]


def test_who_is_no_guard_gives_up_and_says_who_is_to_be_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "_LOCK_SECONDS", 0.2)
    with (
        transaction.locked(),
        pytest.raises(HostError, match="Another process has been deciding"),
        transaction.locked(),
    ):
        pass
