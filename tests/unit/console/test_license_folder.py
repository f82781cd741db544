"""The license in a folder that another user rules: whatever is swapped there, no other file is read or changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._console import file_attributes, folder, license_file
from ansible_collections.slb.fleet.plugins.module_utils._console.license_file import LicenseFile
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OTHER = 65534
SECRET, LICENSE = b"root's own", b"license"
CODE = {license_file.__file__, file_attributes.__file__, folder.__file__}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")


def update(dest: Path, content: bytes = LICENSE, **params: Any) -> bool:
    given = {"dest": str(dest), "owner": None, "group": None, "mode": "0666", "backup": True, "max_size": 10_000}
    return LicenseFile.from_params({**given, **params}).update(content, False).changed


class Scene:
    """``home`` is the other user's; in it lies ``place``, where the license goes. ``victim`` is none of it."""

    def __init__(self, path: Path) -> None:
        self.home, self.place, self.aside = path / "home", path / "home/place", path / "home/aside"
        self.victims = path / "victims"
        self.victim = self.victims / "license"
        self.victims.mkdir()
        self.victim.write_bytes(SECRET)
        self.victim.chmod(0o600)
        self.before = self.look()

    def look(self) -> tuple[Any, ...]:
        seen = self.victim.lstat()
        names = sorted(path.name for path in self.victims.iterdir())
        return (seen.st_ino, seen.st_uid, seen.st_gid, seen.st_mode, self.victim.read_bytes(), names)

    def begin(self) -> Path:
        shutil.rmtree(self.home, ignore_errors=True)
        self.place.mkdir(parents=True)
        (self.place / "license").write_bytes(b"old")
        for path in (self.home, self.place, self.place / "license"):
            self.give_away(path)
        return self.place / "license"

    def give_away(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.lchown(path, OTHER, OTHER)

    def swap_temporary(self) -> None:
        """Each file that root is just writing becomes a link to the victim."""
        for path in list(self.place.glob(".*.part")):
            self.link(path, self.victim)

    def swap_file(self) -> None:
        self.link(self.place / "license", self.victim)

    def swap_folder(self) -> None:
        if not self.aside.exists():
            self.place.rename(self.aside)
            self.link(self.place, self.victims)

    def link(self, path: Path, target: Path) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        self.give_away(path)


SWAPS: list[Callable[[Scene], None]] = [Scene.swap_temporary, Scene.swap_file, Scene.swap_folder]


def at_line(last: int, act: Callable[[], None]) -> Callable[..., Any]:
    """Acts once, before the line with that number of those that the code runs through."""
    lines = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename in CODE and event == "line":
            lines += 1
            if lines == last:
                act()
        return trace

    return trace


@as_root
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("content", [LICENSE, b"old"], ids=["another license", "the same license"])
def test_swapped_at_any_moment(tmp_path: Path, swap: Callable[[Scene], None], content: bytes) -> None:
    scene, line, done = Scene(tmp_path), 0, [True]

    def act() -> None:
        done.append(True)
        swap(scene)

    while done:
        line += 1
        dest = scene.begin()
        done.clear()
        former = sys.gettrace()
        sys.settrace(at_line(line, act))
        try:
            with contextlib.suppress(FleetError):
                update(dest, content, owner=str(OTHER))
        finally:
            sys.settrace(former)
        assert scene.look() == scene.before, f"swapped before line {line}"
    assert line > 50


@as_root
def test_swapped_all_the_time(tmp_path: Path) -> None:
    scene, is_over = Scene(tmp_path), threading.Event()
    scene.begin()

    def keep_swapping() -> None:
        while not is_over.is_set():
            for swap in SWAPS[:2]:
                with contextlib.suppress(OSError):
                    swap(scene)

    swapping = threading.Thread(target=keep_swapping, daemon=True)
    swapping.start()
    try:
        for number in range(200):
            with contextlib.suppress(FleetError):
                update(scene.place / "license", b"license %d" % number, owner=str(OTHER))
    finally:
        is_over.set()
        swapping.join()
    assert scene.look() == scene.before


@as_root
def test_another_users_link_on_the_way_is_refused(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.begin()
    scene.swap_folder()
    with pytest.raises(FleetError, match=r"'place' is a symbolic link of the user 65534"):
        update(scene.place / "license")
    assert scene.look() == scene.before


def test_a_link_of_ones_own_on_the_way_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "relative").symlink_to("real/../real/inner")
    (tmp_path / "absolute").symlink_to(tmp_path / "relative")
    assert update(tmp_path / "absolute" / "license")
    assert (tmp_path / "real/inner/license").read_bytes() == LICENSE


def test_links_in_a_circle(tmp_path: Path) -> None:
    file = LicenseFile(tmp_path / "a/license", file_attributes.FileAttributes(None, None, None), False, 10_000)
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FleetError, match="Too many levels"):
        file.update(LICENSE, check_mode=False)


def test_a_relative_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert update(tmp_path.__class__("license"))
    assert (tmp_path / "license").read_bytes() == LICENSE


def test_a_link_is_neither_compared_nor_kept(tmp_path: Path) -> None:
    target, dest = tmp_path / "target", tmp_path / "license"
    target.write_bytes(LICENSE)
    target.chmod(0o600)
    dest.symlink_to(target)
    assert update(dest)
    assert (dest.is_symlink(), target.stat().st_mode & 0o777) == (False, 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["license", "target"]


def test_a_file_with_two_names_is_replaced_and_not_changed(tmp_path: Path) -> None:
    other, dest = tmp_path / "other", tmp_path / "license"
    other.write_bytes(LICENSE)
    other.chmod(0o600)
    os.link(other, dest)
    assert update(dest)
    assert other.stat().st_mode & 0o777 == 0o600
    assert dest.stat().st_mode & 0o777 == 0o666


def test_a_license_that_somebody_else_replaced_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dest, sync = tmp_path / "license", folder.Folder.sync

    def replace(self: folder.Folder) -> None:
        sync(self)
        dest.unlink()
        dest.write_bytes(b"theirs")

    monkeypatch.setattr(folder.Folder, "sync", replace)
    with pytest.raises(FleetError, match="somebody else changes what is there"):
        update(dest, backup=False)


def acl(*entries: tuple[int, int, int]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


LETS_IN = acl((1, 7, -1 & 0xFFFFFFFF), (2, 7, OTHER), (4, 0, 0xFFFFFFFF), (0x10, 7, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF))


@pytest.fixture
def giving(tmp_path: Path) -> Path:
    """A folder in which another user has rights in all that is made."""
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", LETS_IN)
    except OSError:
        pytest.skip("this file system knows no lists of who may do what")
    return tmp_path


def test_nobody_else_is_let_in_by_the_folder(giving: Path) -> None:
    dest = giving / "license"
    assert update(dest, b"old", mode="0640")
    assert update(dest, LICENSE, mode="0640")
    for path in giving.iterdir():
        assert "system.posix_acl_access" not in os.listxattr(path), path.name
        assert path.stat().st_mode & 0o777 == 0o640
    assert len(list(giving.iterdir())) == 2


@pytest.mark.parametrize("content", [LICENSE, b"another"])
def test_nor_by_the_file_that_is_there(giving: Path, content: bytes) -> None:
    dest = giving / "license"
    dest.write_bytes(content)
    dest.chmod(0o640)
    assert "system.posix_acl_access" in os.listxattr(dest)
    assert update(dest, mode="0640")
    assert os.listxattr(dest) == []
    assert dest.stat().st_mode & 0o777 == 0o640
    assert not update(dest, mode="0640")
