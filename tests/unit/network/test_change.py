"""Of two changes at once one is refused, and what is decided stays decided."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import change, confirmation, guard, history, snapshot
from ansible_collections.slb.fleet.plugins.module_utils._network import transaction as transactions
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import lift_path
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

TOKEN = "f00dface"
RESULT = Result(True, {"adopted": ["ens9"], "pending": ["ens9"]})


class Host:
    """Stands in for the interfaces and the guard; ``put_back``: how often everything was."""

    def __init__(self) -> None:
        self.guards: list[str] = []
        self.put_back = 0

    def start(self, token: str) -> None:
        self.guards.append(token)

    def restore(self, before: Any) -> list[str]:
        self.put_back += 1
        return []


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    monkeypatch.setattr(transactions, "FOLDER", str(tmp_path))
    monkeypatch.setattr(guard, "start", host.start)
    monkeypatch.setattr(guard, "is_watching", lambda token: token in host.guards)
    monkeypatch.setattr(guard, "put_back", host.restore)
    monkeypatch.setattr(snapshot, "take", lambda *_: {"kernel": {}, "files": {}})
    monkeypatch.setattr(change, "_RESTORE_SECONDS", 0.2)
    return host


def guarded(token: str) -> AbstractContextManager[snapshot.Snapshot]:
    return change.guarded(token, [], [], [], 60, change.earlier())


def state() -> tuple[str, str]:
    status = transactions.status()
    return status["token"], status["state"]


def become(state: str, **values: Any) -> None:
    transactions.set_status(dict(transactions.status(), state=state, **values))


def test_a_file_that_an_earlier_way_back_could_not_remove_goes_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [lift_path("ens9"), lift_path("ens10"), "/etc/another"]
    monkeypatch.setattr(snapshot, "take", lambda *_: {"kernel": {}, "files": dict.fromkeys(files, "content")})
    monkeypatch.setattr(history, "of", lambda name: {"uuid": "u"} if name == "ens10" else None)
    with change.guarded(TOKEN, ["ens9", "ens10", "ens11"], [], files, 60, change.earlier()) as before:
        assert before["files"] == {files[0]: None, files[1]: "content", files[2]: "content"}
    assert transactions.read("snapshot.json") == before


def test_of_two_that_begin_at_once_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is held up right where it notes what there is."""
    inside, go_on = threading.Event(), threading.Event()
    taken = []

    def take(*_: Any) -> dict[str, Any]:
        taken.append(1)
        inside.set()
        go_on.wait(60)
        return {"kernel": {}, "files": {}}

    monkeypatch.setattr(snapshot, "take", take)
    refused: list[str] = []

    def run(token: str) -> None:
        try:
            with guarded(token):
                pass
        except HostError as error:
            refused.append(f"{token}: {error}")

    runs = [threading.Thread(target=run, args=(token,)) for token in ("first000", "second00")]
    runs[0].start()
    assert inside.wait(60)
    runs[1].start()
    time.sleep(0.2)
    go_on.set()
    for each in runs:
        each.join(60)
    assert taken == [1]
    assert len(refused) == 1
    assert re.search("second00: Another change of this host's interfaces is (planned|armed)", refused[0])
    assert state() == ("first000", "armed")


def test_one_that_has_yet_to_start_its_guard_is_not_taken_for_abandoned(host: Host) -> None:
    with guarded(TOKEN):
        host.guards.clear()
        with pytest.raises(HostError, match="not yet decided"), guarded("another1"):
            pass
    assert state() == (TOKEN, "armed")
    assert transactions.status()["deadline"] > time.monotonic()


def test_one_that_never_had_a_guard_is_not_put_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was changed, and what others have done since is theirs."""

    def fail(token: str) -> None:
        assert state() == (token, "planned")
        raise HostError("The rollback timer did not start.", "Nothing was changed.")

    with monkeypatch.context() as failing:
        failing.setattr(guard, "start", fail)
        with pytest.raises(HostError, match="did not start"), guarded(TOKEN):
            pytest.fail("it was begun")
    become("planned", applier="1 1")  # no such process
    change.finish_abandoned()
    assert (host.guards, host.put_back) == ([], 0)
    with guarded("another1"):
        assert state() == ("another1", "armed")


def test_one_whose_guard_has_died_is_put_back_first(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with guarded(TOKEN):
        change.applied(TOKEN, RESULT, [], 60)
    host.guards.clear()
    monkeypatch.setattr(guard, "start", lambda token: become("restored", troubles=[]) if token == TOKEN else None)
    change.finish_abandoned()
    with guarded("another1"):
        assert state() == ("another1", "armed")


def test_what_was_planned_before_another_change_was_decided_is_not_done(host: Host) -> None:
    """It waited for the lock meanwhile: what it saw is not what there is."""
    planned = guarded("another1")
    with guarded(TOKEN):
        change.applied(TOKEN, RESULT, [], 60)
    become("confirmed")
    with pytest.raises(HostError, match="Meanwhile another change"), planned:
        pass
    assert state() == (TOKEN, "confirmed")


@pytest.mark.parametrize("decided", ["restored", "restoring", "confirmed"])
def test_what_is_decided_does_not_become_applied_again(host: Host, decided: str) -> None:
    with pytest.raises(HostError, match=f"is {decided} already"), guarded(TOKEN):
        become(decided, troubles=[])
        change.applied(TOKEN, RESULT, [], 60)
    assert state() == (TOKEN, decided)


def test_what_was_put_back_is_not_confirmed(host: Host) -> None:
    with contextlib.suppress(HostError), guarded(TOKEN):
        become("restored", troubles=[])
        change.applied(TOKEN, RESULT, [], 60)
    with pytest.raises(HostError, match="has put everything back"):
        confirmation.confirm(TOKEN)


def test_what_was_still_changed_while_the_guard_was_at_it_is_put_back_as_well(host: Host) -> None:
    with pytest.raises(HostError), guarded(TOKEN):
        become("restored", troubles=[])
        change.applied(TOKEN, RESULT, [], 60)
    assert host.put_back == 1


def test_anothers_change_is_left_alone() -> None:
    with pytest.raises(HostError, match="Another change"), guarded(TOKEN):
        become("armed", token="another1")
        change.nothing_done(TOKEN, RESULT)
    assert state() == ("another1", "armed")
    assert transactions.status()["deadline"] > time.monotonic()


def test_where_nothing_was_done_a_confirmation_says_so(host: Host) -> None:
    with guarded(TOKEN):
        change.nothing_done(TOKEN, Result(False, {"adopted": []}))
    assert not confirmation.confirm(TOKEN).changed
