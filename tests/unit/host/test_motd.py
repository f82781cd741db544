"""The message of the day is moved, never lost."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host import motd


@pytest.fixture
def message(tmp_path: Path) -> Path:
    path = tmp_path / "motd"
    path.write_text("Authorised use only.\n" * 3)
    return path


def files(message: Path) -> dict[str, str]:
    return {entry.name: entry.read_text() for entry in message.parent.iterdir()}


def test_aside_and_back_leaves_the_same_file(message: Path) -> None:
    before = (message.read_text(), message.stat().st_ino, message.stat().st_mode)
    assert motd.aside(str(message), False).values == {"moved": True, "backup_file": f"{message}.bak"}
    assert not message.exists()
    assert motd.restored(str(message), None, False).changed
    assert (message.read_text(), message.stat().st_ino, message.stat().st_mode) == before
    assert list(message.parent.iterdir()) == [message]


def test_a_second_run_changes_nothing(message: Path) -> None:
    motd.aside(str(message), False)
    assert not motd.aside(str(message), False).changed
    motd.restored(str(message), None, False)
    assert not motd.restored(str(message), None, False).changed


def test_an_empty_message_is_left_where_it_is(message: Path) -> None:
    message.write_text("")
    assert not motd.aside(str(message), False).changed
    assert message.exists()


def test_no_backup_is_overwritten(message: Path) -> None:
    older = message.with_name("motd.bak")
    older.write_text("somebody's own")
    backup = motd.aside(str(message), False).values["backup_file"]
    assert older.read_text() == "somebody's own"
    assert Path(backup).read_text() == "Authorised use only.\n" * 3
    motd.restored(str(message), None, False)
    assert message.read_text() == "Authorised use only.\n" * 3


def test_a_message_written_meanwhile_is_not_overwritten(message: Path) -> None:
    motd.aside(str(message), False)
    message.write_text("written meanwhile")
    with pytest.raises(HostError, match="written after"):
        motd.restored(str(message), None, False)
    assert message.read_text() == "written meanwhile"
    assert Path(f"{message}.bak").exists()


def test_an_empty_message_made_meanwhile_gives_way(message: Path) -> None:
    motd.aside(str(message), False)
    message.write_text("")
    motd.restored(str(message), None, False)
    assert message.read_text() == "Authorised use only.\n" * 3


@pytest.mark.parametrize("names", [[], ["motd.bak"], ["motd.bak", "motd.bak.20200101T000000Z", "motd.bak-2024"]])
@pytest.mark.parametrize("content", ["Authorised use only.\n", "", None])
def test_backups_of_others_are_left_alone(message: Path, names: list[str], content: str | None) -> None:
    for name in names:
        message.with_name(name).write_text("somebody's own")
    if content is None:
        message.unlink()
    else:
        message.write_text(content)
    before = files(message)
    assert motd.restored(str(message), None, False).values == {"moved": False, "backup_file": None}
    assert files(message) == before


def test_only_what_was_moved_aside_is_brought_back(message: Path) -> None:
    backup = motd.aside(str(message), False).values["backup_file"]
    newer = message.with_name("motd.bak.29991231T000000Z")
    newer.write_text("somebody's own")
    assert motd.restored(str(message), None, False).values == {"moved": True, "backup_file": backup}
    assert files(message) == {"motd": "Authorised use only.\n" * 3, newer.name: "somebody's own"}


def test_a_message_that_was_replaced_before_it_was_moved_aside_does_not_come_back(message: Path) -> None:
    first = motd.aside(str(message), False).values["backup_file"]
    message.write_text("the next one")
    motd.aside(str(message), False)
    motd.restored(str(message), None, False)
    assert message.read_text() == "the next one"
    assert not motd.restored(str(message), None, False).changed
    assert Path(first).exists()


def test_a_backup_brought_back_by_hand_is_forgotten(message: Path) -> None:
    Path(motd.aside(str(message), False).values["backup_file"]).rename(message)
    message.with_name("motd.bak").write_text("somebody's own")
    assert not motd.restored(str(message), None, False).changed
    assert files(message) == {"motd": "Authorised use only.\n" * 3, "motd.bak": "somebody's own"}


def test_a_backup_that_is_named_is_brought_back_whoever_made_it(message: Path) -> None:
    motd.aside(str(message), False)
    other = message.with_name("motd.bak-2024")
    other.write_text("somebody's own")
    motd.restored(str(message), str(other), False)
    assert message.read_text() == "somebody's own"
    assert not motd.restored(str(message), None, False).changed


def test_check_mode_keeps_the_note(message: Path) -> None:
    motd.aside(str(message), False)
    before = files(message)
    assert motd.restored(str(message), None, True).changed
    assert files(message) == before
    assert motd.restored(str(message), None, False).changed


def test_a_damaged_note_is_named(message: Path) -> None:
    motd.aside(str(message), False)
    note = message.with_name(".motd.slb_fleet")
    note.write_text("{")
    with pytest.raises(HostError, match=r"\.motd\.slb_fleet.*motd\.bak"):
        motd.restored(str(message), None, False)


class Kill(BaseException):
    """As SIGKILL: nothing cleans up."""


# Every call that changes the file system, in the order in which they are made.
CHANGES = ["write_atomically", "os.link", "os.unlink", "sync_folder"]


def killed_at(number: int, monkeypatch: pytest.MonkeyPatch, step: Callable[[], object]) -> bool:
    """Does ``step`` and kills it before its ``number``-th change; False if it had ended by then."""
    changes = 0

    def counted(change: Callable[..., None]) -> Callable[..., None]:
        def make(*arguments: Any, **options: Any) -> None:
            nonlocal changes
            changes += 1
            if changes == number:
                raise Kill
            change(*arguments, **options)

        return make

    with monkeypatch.context() as patch:
        for name in CHANGES:
            place = name if name.startswith("os.") else f"{motd.__name__}.{name}"
            patch.setattr(place, counted(operator.attrgetter(name)(motd)))
        try:
            step()
        except Kill:
            return True
    return False


@pytest.mark.parametrize("number", range(1, 10))
@pytest.mark.parametrize("others", [[], ["motd.bak"]])
@pytest.mark.parametrize("goes_on", ["aside", "restored"])
def test_a_run_that_was_killed_at_any_moment_is_finished_by_the_next(
    message: Path, monkeypatch: pytest.MonkeyPatch, number: int, others: list[str], goes_on: str
) -> None:
    path, text = str(message), message.read_text()
    before = dict.fromkeys(others, "somebody's own")
    for name in others:
        message.with_name(name).write_text(before[name])

    def there_and_back() -> None:
        motd.aside(path, False)
        motd.restored(path, None, False)

    assert killed_at(number, monkeypatch, there_and_back)
    if goes_on == "aside":
        motd.aside(path, False)
        assert not message.exists()
    motd.restored(path, None, False)
    assert not motd.restored(path, None, False).changed
    assert files(message) == {"motd": text, **before}


def test_a_name_that_is_taken_after_a_kill_is_not_ours(message: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert killed_at(2, monkeypatch, lambda: motd.aside(str(message), False))
    message.with_name("motd.bak").write_text("somebody's own")
    assert not motd.restored(str(message), None, False).changed
    assert files(message) == {"motd": "Authorised use only.\n" * 3, "motd.bak": "somebody's own"}


def test_another_name_of_the_message_is_not_taken_for_a_backup(message: Path) -> None:
    own = message.with_name("motd.bak-2024")
    os.link(message, own)
    motd.aside(str(message), False)
    motd.restored(str(message), None, False)
    assert own.samefile(message)


def test_a_symbolic_link_is_moved_itself(tmp_path: Path) -> None:
    target = tmp_path / "dynamic"
    target.write_text("made at boot\n")
    link = tmp_path / "motd"
    link.symlink_to(target)
    motd.aside(str(link), False)
    assert not link.is_symlink()
    assert target.read_text() == "made at boot\n"
    motd.restored(str(link), None, False)
    assert link.readlink() == target


def test_check_mode_tells_and_moves_nothing(message: Path) -> None:
    result = motd.aside(str(message), True)
    assert result.changed
    assert result.diff is not None
    assert result.diff["before"].startswith("Authorised")
    assert [entry.name for entry in message.parent.iterdir()] == ["motd"]


def test_a_missing_backup_is_named(message: Path) -> None:
    with pytest.raises(OptionError, match=r"backup_file.*nothing\.bak.*no such file.*there is no backup"):
        motd.restored(str(message), str(message.with_name("nothing.bak")), False)
