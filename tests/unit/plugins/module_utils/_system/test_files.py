"""A reader, a crash or a full disk sees the old content or the new one."""

import errno
import os

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import files


def test_file_is_replaced_for_its_owner_alone(tmp_path):
    file = tmp_path / "file"
    for content in ("one", "another é"):
        files.write_atomically(str(file), content)
        assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o7777) == (content, 0o600)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("step", ["fchmod", "fsync", "rename"])
def test_full_disk_leaves_the_file_unchanged(tmp_path, monkeypatch, step):
    def fail(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = tmp_path / "file"
    file.write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(FleetError, match=rf"{file} not written: No space left on device"):
            files.write_atomically(str(file), "new")
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "old"


def test_file_is_not_written_into_another_folder(tmp_path, monkeypatch):
    """A user who replaces the folder by a link in the meantime does not get the file."""
    written, theirs, sync = tmp_path / "written", tmp_path / "theirs", os.fsync
    written.mkdir()
    theirs.mkdir()

    def swapped(descriptor):
        sync(descriptor)
        if not written.is_symlink():
            written.rename(tmp_path / "moved")
            written.symlink_to(theirs)

    monkeypatch.setattr(os, "fsync", swapped)
    with pytest.raises(FleetError, match="not written"):
        files.write_atomically(str(written / "file"), "content")
    assert list(theirs.iterdir()) == []
