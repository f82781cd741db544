"""The login banner is moved and never lost; its sizes are read without a command."""

import operator
import os
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import motd
from ansible_collections.slb.fleet.tests.unit.errors import error_of
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_runtime import Killer

TEXT, OTHER = "Authorised use only.\n" * 3, "another file"
BACKUP, EARLIER = "motd.slb-fleet", "motd.slb-fleet.20200101T000000Z"


@pytest.fixture
def message(tmp_path):
    path = tmp_path / "motd"
    path.write_text(TEXT)
    return path


def files(message):
    return {entry.name: entry.read_text() for entry in message.parent.iterdir()}


def move_aside(message, check_mode=False):
    return motd.move_aside(str(message), check_mode)


def restore(message, check_mode=False):
    return motd.restore(str(message), check_mode)


def test_moved_banner_is_restored_as_the_same_file(message):
    before = (message.read_text(), message.stat().st_ino, message.stat().st_mode)
    assert move_aside(message).values == {"moved": True, "restored": False, "backup_file": f"{message}.slb-fleet"}
    assert not message.exists()
    assert not move_aside(message).changed
    assert restore(message).changed
    assert (message.read_text(), message.stat().st_ino, message.stat().st_mode) == before
    assert list(message.parent.iterdir()) == [message]
    assert not restore(message).changed
    message.write_text("")
    assert (move_aside(message).changed, files(message)) == (False, {"motd": ""})


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("fixed", ["file", "folder", "mount"])
def test_banner_that_cannot_be_moved_is_named(message, monkeypatch, fixed, check_mode):
    """Also root cannot rename a file that is immutable or a mount point."""
    place = str(message.parent if fixed == "folder" else message)
    if fixed == "mount":
        monkeypatch.setattr(motd.files.mounts, "mounted", lambda: [str(message)])
    else:
        monkeypatch.setattr(motd.files, "is_fixed", lambda path: path == place)
    cause = "is a mount point" if fixed == "mount" else "is immutable"
    error = error_of(move_aside, message, check_mode)
    assert (error.code, cause in error.summary) == ("motd_not_moved", True)
    assert place in error.summary
    assert files(message).keys() == {"motd"}


@pytest.mark.parametrize("before", [{}, {"motd.bak": OTHER}, {EARLIER: OTHER}], ids=str)
@pytest.mark.parametrize("after", [{}, {"motd": ""}, {"motd.slb-fleet.29991231T000000Z": OTHER}], ids=str)
def test_restore_takes_the_last_backup_only(message, before, after):
    for name, content in before.items():
        message.with_name(name).write_text(content)
    backup = move_aside(message).values["backup_file"]
    for name, content in after.items():
        message.with_name(name).write_text(content)
    assert restore(message).values == {"moved": False, "restored": True, "backup_file": backup}
    assert files(message) == {**before, **after, "motd": TEXT}


@pytest.mark.parametrize("content", [TEXT, "", None])
@pytest.mark.parametrize("names", [[], ["motd.bak"], [EARLIER, "motd.bak-2024"]])
def test_restore_without_backup_ignores_other_files(message, names, content):
    message.unlink()
    for name in names:
        message.with_name(name).write_text(OTHER)
    if content is not None:
        message.write_text(content)
    before = files(message)
    assert restore(message).values == {"moved": False, "restored": False, "backup_file": None}
    assert files(message) == before


def test_restore_keeps_a_new_banner_and_an_earlier_one(message):
    move_aside(message)
    message.write_text("the next one")
    before = files(message)
    assert "was written after" in str(error_of(restore, message))
    assert files(message) == before
    move_aside(message)
    assert (restore(message).changed, restore(message).changed) == (True, False)
    (earlier,) = message.parent.glob("motd.slb-fleet.*Z")
    assert files(message) == {"motd": "the next one", earlier.name: TEXT}, "the last one alone"


def test_restore_after_manual_restore_changes_nothing(message):
    Path(move_aside(message).values["backup_file"]).rename(message)
    assert (restore(message).changed, files(message)) == (False, {"motd": TEXT})


def test_check_mode_changes_nothing(message):
    planned = move_aside(message, check_mode=True)
    assert (planned.changed, planned.diff["before"], files(message)) == (True, TEXT, {"motd": TEXT})
    move_aside(message)
    before = files(message)
    assert restore(message, check_mode=True).changed
    assert files(message) == before
    assert restore(message).changed


# Every call that changes the file system.
CHANGES = ["os.link", "os.unlink", "files.sync_folder"]


def killed_at(number, monkeypatch, step):
    """Run ``step`` and kill it before its ``number``-th change. Return False if it ended before."""
    killer = Killer()

    def counted(change):
        return lambda *arguments, **options: (killer.step(), change(*arguments, **options))

    with monkeypatch.context() as patch:
        for name in CHANGES:
            module, _, function = name.partition(".")
            patch.setattr(getattr(motd, module), function, counted(operator.attrgetter(name)(motd)))
        return killer.kill_before(number - 1, step)


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("others", [{}, {EARLIER: OTHER}], ids=str)
@pytest.mark.parametrize("next_step", ["aside", "restored"])
def test_killed_run_is_finished_by_the_next(message, monkeypatch, number, others, next_step):
    for name, content in others.items():
        message.with_name(name).write_text(content)
    assert killed_at(number, monkeypatch, lambda: (move_aside(message), restore(message)))
    if next_step == "aside":
        move_aside(message)
        assert not message.exists()
    restore(message)
    assert not restore(message).changed
    assert files(message) == {"motd": TEXT, **others}


@pytest.mark.parametrize("number", range(1, 7))
def test_killed_second_move_loses_no_banner(message, monkeypatch, number):
    move_aside(message)
    message.write_text(OTHER)
    assert killed_at(number, monkeypatch, lambda: move_aside(message))
    move_aside(message)
    restore(message)
    found = files(message)
    assert (found.pop("motd"), set(found.values())) == (OTHER, {TEXT})


def make(path, kind):
    if kind == "link":
        path.symlink_to("/nowhere")
    else:
        path.mkdir() if kind == "folder" else os.mkfifo(path)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_restore_keeps_what_a_person_has_put_there(message, kind):
    move_aside(message)
    make(message, kind)
    before = message.lstat().st_ino
    assert error_of(restore, message).code in ("motd_changed", "motd_not_moved")
    assert (message.lstat().st_ino, message.with_name(BACKUP).read_text()) == (before, TEXT)


@pytest.mark.parametrize("step", [move_aside, restore])
def test_pipe_and_folder_in_the_place_of_a_banner_are_no_banner(message, step):
    message.unlink()
    os.mkfifo(message)
    assert not step(message).changed
    message.unlink()
    message.mkdir()
    assert not step(message).changed


@pytest.mark.parametrize("step", [move_aside, restore])
@pytest.mark.parametrize("check_mode", [True, False])
def test_folder_in_the_place_of_a_backup_is_named(message, step, check_mode):
    folder = message.with_name(BACKUP)
    folder.mkdir()
    error = error_of(step, message, check_mode)
    assert (error.code, f"{folder} is a folder" in error.summary) == ("motd_not_moved", True)
    assert message.read_text() == TEXT


def test_hard_link_of_the_user_stays(message):
    own = message.with_name("motd.bak-2024")
    own.hardlink_to(message)
    move_aside(message)
    restore(message)
    assert own.samefile(message)


def test_symbolic_link_is_moved_and_restored(message, tmp_path):
    target = message.rename(tmp_path / "dynamic")
    message.symlink_to(target)
    move_aside(message)
    assert not message.is_symlink()
    assert target.read_text() == TEXT
    restore(message)
    assert message.readlink() == target


def test_gather_banner_names_each_source(tmp_path, monkeypatch):
    monkeypatch.setattr(motd, "PATH", str(tmp_path / "motd"))
    monkeypatch.setattr(motd, "_DYNAMIC", str(tmp_path / "motd.dynamic"))
    assert (motd.gather_banner()["bytes"], motd.gather_banner()["sources"]) == (0, [])
    (tmp_path / "motd").write_text("x" * 286)
    assert motd.gather_banner()["sources"] == [{"source": f"{tmp_path}/motd", "bytes": 286}]
    assert motd.gather_banner()["target"] is None
    (tmp_path / "motd.dynamic").write_text("x" * 7)
    assert motd.gather_banner()["bytes"] == 293
    (tmp_path / "motd").unlink()
    (tmp_path / "motd").symlink_to(tmp_path / "motd.dynamic")
    assert motd.gather_banner()["bytes"] == 7
    assert motd.gather_banner()["target"] == str(tmp_path / "motd.dynamic")
