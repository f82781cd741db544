"""The login banner is moved and never lost; its sizes are read without a command."""

import operator
import os
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils.engine_host import motd
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError


@pytest.fixture
def message(tmp_path):
    path = tmp_path / "motd"
    path.write_text("Authorised use only.\n" * 3)
    return path


def files(message):
    return {entry.name: entry.read_text() for entry in message.parent.iterdir()}


def test_restore_leaves_the_same_file(message):
    before = (message.read_text(), message.stat().st_ino, message.stat().st_mode)
    assert motd.move_aside(str(message), False).values == {"moved": True, "backup_file": f"{message}.bak"}
    assert not message.exists()
    assert motd.restore(str(message), None, False).changed
    assert (message.read_text(), message.stat().st_ino, message.stat().st_mode) == before
    assert list(message.parent.iterdir()) == [message]


def test_second_run_changes_nothing(message):
    motd.move_aside(str(message), False)
    assert not motd.move_aside(str(message), False).changed
    motd.restore(str(message), None, False)
    assert not motd.restore(str(message), None, False).changed


def test_move_aside_empty_banner_is_kept(message):
    message.write_text("")
    assert not motd.move_aside(str(message), False).changed
    assert message.exists()


def test_move_aside_keeps_existing_backup(message):
    older = message.with_name("motd.bak")
    older.write_text("another file")
    backup = motd.move_aside(str(message), False).values["backup_file"]
    assert older.read_text() == "another file"
    assert Path(backup).read_text() == "Authorised use only.\n" * 3
    motd.restore(str(message), None, False)
    assert message.read_text() == "Authorised use only.\n" * 3


def test_restore_new_banner_is_kept(message):
    motd.move_aside(str(message), False)
    message.write_text("new banner")
    with pytest.raises(FleetError, match="was written after"):
        motd.restore(str(message), None, False)
    assert message.read_text() == "new banner"
    assert Path(f"{message}.bak").exists()


def test_restore_replaces_new_empty_banner(message):
    motd.move_aside(str(message), False)
    message.write_text("")
    motd.restore(str(message), None, False)
    assert message.read_text() == "Authorised use only.\n" * 3


@pytest.mark.parametrize("names", [[], ["motd.bak"], ["motd.bak", "motd.bak.20200101T000000Z", "motd.bak-2024"]])
@pytest.mark.parametrize("content", ["Authorised use only.\n", "", None])
def test_restore_ignores_other_backups(message, names, content):
    for name in names:
        message.with_name(name).write_text("another file")
    if content is None:
        message.unlink()
    else:
        message.write_text(content)
    before = files(message)
    assert motd.restore(str(message), None, False).values == {"moved": False, "backup_file": None}
    assert files(message) == before


def test_restore_takes_the_noted_backup(message):
    backup = motd.move_aside(str(message), False).values["backup_file"]
    newer = message.with_name("motd.bak.29991231T000000Z")
    newer.write_text("another file")
    assert motd.restore(str(message), None, False).values == {"moved": True, "backup_file": backup}
    assert files(message) == {"motd": "Authorised use only.\n" * 3, newer.name: "another file"}


def test_restore_takes_the_last_banner_only(message):
    first = motd.move_aside(str(message), False).values["backup_file"]
    message.write_text("the next one")
    motd.move_aside(str(message), False)
    motd.restore(str(message), None, False)
    assert message.read_text() == "the next one"
    assert not motd.restore(str(message), None, False).changed
    assert Path(first).exists()


def test_restore_after_manual_restore_changes_nothing(message):
    Path(motd.move_aside(str(message), False).values["backup_file"]).rename(message)
    message.with_name("motd.bak").write_text("another file")
    assert not motd.restore(str(message), None, False).changed
    assert files(message) == {"motd": "Authorised use only.\n" * 3, "motd.bak": "another file"}


def test_restore_named_backup(message):
    motd.move_aside(str(message), False)
    other = message.with_name("motd.bak-2024")
    other.write_text("another file")
    motd.restore(str(message), str(other), False)
    assert message.read_text() == "another file"
    assert not motd.restore(str(message), None, False).changed


def test_restore_check_mode_keeps_the_note(message):
    motd.move_aside(str(message), False)
    before = files(message)
    assert motd.restore(str(message), None, True).changed
    assert files(message) == before
    assert motd.restore(str(message), None, False).changed


def test_restore_invalid_note_is_named(message):
    motd.move_aside(str(message), False)
    note = message.with_name(".motd.slb_fleet")
    note.write_text("{")
    with pytest.raises(FleetError, match=r"\.motd\.slb_fleet.*motd\.bak"):
        motd.restore(str(message), None, False)


class Kill(BaseException):
    """Stands for SIGKILL: no handler runs."""


# Every call that changes the file system.
CHANGES = ["files.replace", "os.link", "os.unlink", "files.sync_folder"]


def killed_at(number, monkeypatch, step):
    """Run ``step`` and kill it before its ``number``-th change. Return False if it ended before."""
    changes = 0

    def counted(change):
        def make(*arguments, **options):
            nonlocal changes
            changes += 1
            if changes == number:
                raise Kill
            change(*arguments, **options)

        return make

    with monkeypatch.context() as patch:
        for name in CHANGES:
            module, _, function = name.partition(".")
            patch.setattr(getattr(motd, module), function, counted(operator.attrgetter(name)(motd)))
        try:
            step()
        except Kill:
            return True
    return False


@pytest.mark.parametrize("number", range(1, 10))
@pytest.mark.parametrize("others", [[], ["motd.bak"]])
@pytest.mark.parametrize("goes_on", ["aside", "restored"])
def test_killed_run_is_finished_by_the_next(message, monkeypatch, number, others, goes_on):
    path, text = str(message), message.read_text()
    before = dict.fromkeys(others, "another file")
    for name in others:
        message.with_name(name).write_text(before[name])

    def there_and_back():
        motd.move_aside(path, False)
        motd.restore(path, None, False)

    assert killed_at(number, monkeypatch, there_and_back)
    if goes_on == "aside":
        motd.move_aside(path, False)
        assert not message.exists()
    motd.restore(path, None, False)
    assert not motd.restore(path, None, False).changed
    assert files(message) == {"motd": text, **before}


def test_restore_after_kill_ignores_new_backup(message, monkeypatch):
    assert killed_at(2, monkeypatch, lambda: motd.move_aside(str(message), False))
    message.with_name("motd.bak").write_text("another file")
    assert not motd.restore(str(message), None, False).changed
    assert files(message) == {"motd": "Authorised use only.\n" * 3, "motd.bak": "another file"}


def test_restore_ignores_hard_link(message):
    own = message.with_name("motd.bak-2024")
    os.link(message, own)
    motd.move_aside(str(message), False)
    motd.restore(str(message), None, False)
    assert own.samefile(message)


def test_symbolic_link_is_moved_and_restored(tmp_path):
    target = tmp_path / "dynamic"
    target.write_text("made at boot\n")
    link = tmp_path / "motd"
    link.symlink_to(target)
    motd.move_aside(str(link), False)
    assert not link.is_symlink()
    assert target.read_text() == "made at boot\n"
    motd.restore(str(link), None, False)
    assert link.readlink() == target


def test_move_aside_check_mode_moves_nothing(message):
    result = motd.move_aside(str(message), True)
    assert result.changed
    assert result.diff is not None
    assert result.diff["before"].startswith("Authorised")
    assert [entry.name for entry in message.parent.iterdir()] == ["motd"]


def test_restore_missing_backup_is_named(message):
    with pytest.raises(FleetError, match=r"nothing\.bak not found\. Set backup_file to: \(there is no backup\)"):
        motd.restore(str(message), str(message.with_name("nothing.bak")), False)


def test_gather_banner_names_each_source(tmp_path, monkeypatch):
    def make(name, size, mode=0o644):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * size)
        path.chmod(mode)
        return str(path)

    monkeypatch.setattr(motd, "PATH", make("motd", 286))
    monkeypatch.setattr(motd, "_DYNAMIC", str(tmp_path / "motd.dynamic"))
    monkeypatch.setattr(motd, "_FOLDERS", (str(tmp_path / "motd.d"),))
    monkeypatch.setattr(motd, "_SCRIPTS", str(tmp_path / "update-motd.d"))
    monkeypatch.setattr(motd, "_SSHD_CONFIG", str(tmp_path / "ssh" / "sshd_config"))
    (tmp_path / "motd.d").mkdir()
    (tmp_path / "motd.d" / "again").symlink_to(tmp_path / "motd")
    make("motd.d/10-news", 40)
    make("motd.d/empty", 0)
    make("update-motd.d/10-uname", 9, 0o755)
    make("update-motd.d/README", 9)
    banner = make("issue.net", 5000)
    make("ssh/sshd_config.d/10.conf", 0)
    (tmp_path / "ssh" / "sshd_config.d" / "10.conf").write_text(f"Banner {banner}\n")
    (tmp_path / "ssh" / "sshd_config").write_text("# text\nInclude sshd_config.d/*.conf\nBanner none\n")

    seen = motd.gather_banner()
    assert seen["bytes"] == 5000 + 286 + 40
    assert [(Path(part["source"].split()[0]).name, part["bytes"]) for part in seen["sources"]] == [
        ("issue.net", 5000),
        ("motd", 286),
        ("10-news", 40),
        ("update-motd.d", None),
    ]
    make("motd.dynamic", 7)
    assert motd.gather_banner()["bytes"] == 5000 + 286 + 40 + 7
    assert {part["bytes"] for part in motd.gather_banner()["sources"]} == {5000, 7, 286, 40}
    (tmp_path / "ssh" / "sshd_config").write_text(f"Match User x\n Banner {banner}\n")
    assert motd.gather_banner()["bytes"] == 286 + 40 + 7
