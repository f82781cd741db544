"""The message of the day is moved, never lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host import motd


@pytest.fixture
def message(tmp_path: Path) -> Path:
    path = tmp_path / "motd"
    path.write_text("Authorised use only.\n" * 3)
    return path


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


def test_a_move_that_was_killed_half_way_is_finished(message: Path) -> None:
    os.link(message, f"{message}.bak")
    result = motd.aside(str(message), False)
    assert result.values["backup_file"] == f"{message}.bak"
    assert not message.exists()
    os.link(f"{message}.bak", message)
    motd.restored(str(message), None, False)
    assert list(message.parent.iterdir()) == [message]


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
