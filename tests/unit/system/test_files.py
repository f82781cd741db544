"""A reader, a crash or a full disk sees the old content or the new one; and what is locked is one's own."""

import errno
import os
import signal

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import files
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError

OTHER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")


def full(*_, **_more):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_is_replaced_with_its_mode(tmp_path):
    file = tmp_path / "new folder" / "file"
    for content, mode in (("one", 0o600), ("another é", 0o644)):
        files.write_atomically(str(file), content, mode)
        assert file.read_text(encoding="utf-8") == content
        assert file.stat().st_mode & 0o7777 == mode
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
def test_where_it_cannot_be_replaced_it_is_as_it_was(tmp_path, monkeypatch, step):
    file = tmp_path / "file"
    file.write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(os, step, full)
        with pytest.raises(FleetError, match=rf"{file} not written: No space left on device"):
            files.write_atomically(str(file), "new", 0o600)
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "old"


def test_what_a_killed_one_was_writing_is_swept_away_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "a+file"
    others = [".a+file", ".a+file.bak", ".aafile.0123456789abcdef", "a+file.0123456789abcdef"]
    for name in (file.name, *others):
        (tmp_path / name).write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", lambda *_, **_more: os.kill(os.getpid(), signal.SIGKILL))
        killed = os.fork()
        if not killed:
            files.replace(str(file), b"never whole", 0o600)
        os.waitpid(killed, 0)
    assert len(list(tmp_path.iterdir())) == len(others) + 2
    files.sweep(str(file))
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == dict.fromkeys((file.name, *others), "before")
    files.sweep(str(tmp_path / "no such folder" / "file"))


def test_a_disk_that_takes_a_part_is_given_the_rest(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    files.replace(str(tmp_path / "file"), b"in several parts", 0o600)
    assert (tmp_path / "file").read_bytes() == b"in several parts"


def test_only_what_is_to_last_is_synced(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    files.replace(str(tmp_path / "file"), b"content", 0o600, lasting=False)
    assert (tmp_path / "file").read_bytes() == b"content"


def test_a_file_is_put_into_the_folder_that_was_looked_at(tmp_path, monkeypatch):
    """A user who renames the folder meanwhile gets the file in neither place."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    written, sync = tmp_path / "written", os.fsync

    def swapped(descriptor):
        sync(descriptor)
        if not written.is_symlink():
            written.rename(tmp_path / "moved")
            written.symlink_to(theirs)

    monkeypatch.setattr(os, "fsync", swapped)
    files.write_atomically(str(written / "file"), "content", 0o640)
    assert list(theirs.iterdir()) == []
    assert [(path.name, path.stat().st_mode & 0o777) for path in (tmp_path / "moved").iterdir()] == [("file", 0o640)]


@as_root
def test_what_is_anothers_can_still_be_put_back(tmp_path):
    """A host is not cut off if another user owns the folder of a profile."""
    (tmp_path / "profiles").mkdir()
    os.chown(tmp_path / "profiles", OTHER, OTHER)
    files.write_atomically(str(tmp_path / "profiles" / "ens9"), "content", 0o600)
    assert (tmp_path / "profiles" / "ens9").read_text() == "content"
