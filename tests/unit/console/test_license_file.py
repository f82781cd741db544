"""The license on disk: old or new, whole, and nothing beside it."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console import file_attributes, folder, license_file
from ansible_collections.slb.fleet.plugins.module_utils._console.license import ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._console.license_file import LicenseFile
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, OptionError
from ansible_collections.slb.fleet.plugins.modules.license_file import ARGUMENTS as HOST_ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible_collections.slb.fleet.plugins.module_utils._result import Result

OLD, NEW = b"old" * 1000, b"new" * 2000


def update(dest: Path, content: bytes, check_mode: bool = False, **params: Any) -> Result:
    given_params = {
        "dest": str(dest),
        "owner": None,
        "group": None,
        "mode": "0600",
        "backup": False,
        "max_size": 10_000,
        **params,
    }
    return LicenseFile.from_params(given_params).update(content, check_mode)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@given(
    old=st.none() | st.binary(max_size=200),
    new=st.binary(min_size=1, max_size=200),
    mode=st.sampled_from(["0600", "0640", 0o644, "u=rw,g=r", "g+w", None]),
    backup=st.booleans(),
    check_mode=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_update(
    tmp_path_factory: pytest.TempPathFactory, old: bytes | None, new: bytes, mode: Any, backup: bool, check_mode: bool
) -> None:
    place = tmp_path_factory.mktemp("license")
    dest = place / "license"
    if old is not None:
        dest.write_bytes(old)
        dest.chmod(0o640)
    before = dest.stat() if old is not None else None
    result = update(dest, new, check_mode, mode=mode, backup=backup)
    assert result.values["checksum"] == hashlib.sha256(new).hexdigest()
    assert result.values["size"] == len(new)
    if check_mode:
        assert [path.name for path in place.iterdir()] == (["license"] if before else [])
        assert before is None or (dest.stat().st_ino, dest.read_bytes()) == (before.st_ino, old)
    else:
        assert dest.read_bytes() == new
        again = update(dest, new, mode=mode, backup=backup)
        assert not again.changed
        assert again.diff is not None
        assert again.diff["before"] == again.diff["after"]
    backups = [path for path in place.iterdir() if path.name.endswith("~")]
    assert [str(path) for path in backups] == [name for key, name in result.values.items() if key == "backup_file"]
    assert len(backups) == (backup and not check_mode and old is not None and old != new)
    assert all(path.read_bytes() == old and mode_of(path) == 0o640 for path in backups)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    update(tmp_path / "license", NEW)
    assert mode_of(tmp_path / "license") == 0o600


def test_only_the_mode_differs(tmp_path: Path) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(NEW)
    dest.chmod(0o644)
    inode = dest.stat().st_ino
    assert update(dest, NEW, backup=True).changed
    assert (mode_of(dest), dest.stat().st_ino) == (0o600, inode)
    assert list(tmp_path.iterdir()) == [dest]


@pytest.mark.parametrize(
    ("mode", "octal"),
    [
        ("0640", 0o640),
        ("640", 0o640),
        (0o640, 0o640),
        ("u=rw,g=r,o=", 0o640),
        ("a=r", 0o444),
        ("a+x", 0o755),
        ("g-r,o-r", 0o600),
        ("u=rwX,g=rX,o=", 0o640),
        ("u+x,g=u,o-r", 0o770),
        ("u=rw-w+x", 0o544),
        ("g+s,+t", 0o3644),
    ],
)
def test_modes(tmp_path: Path, mode: Any, octal: int) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(OLD)
    dest.chmod(0o644)
    update(dest, NEW, mode=mode)
    assert mode_of(dest) == octal


@pytest.mark.parametrize("mode", ["u=rwX,g=rX", "g=u", "a+X", "u=rw,g=r"])
def test_modes_of_a_new_file(tmp_path: Path, mode: str) -> None:
    update(tmp_path / "license", NEW, mode=mode)
    assert mode_of(tmp_path / "license") == {"u=rwX,g=rX": 0o640, "g=u": 0o660, "a+X": 0o600, "u=rw,g=r": 0o640}[mode]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_and_group(tmp_path: Path) -> None:
    dest = tmp_path / "license"
    update(dest, NEW, owner="nobody", group="65534")
    assert (dest.stat().st_uid, dest.stat().st_gid) == (65534, 65534)
    update(dest, OLD)
    assert (dest.stat().st_uid, dest.stat().st_gid) == (65534, 65534)


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "rw"},
        {"mode": "u"},
        {"mode": "u=rw,"},
        {"mode": "ua=r"},
        {"mode": "u=q"},
        {"mode": "0999"},
        {"mode": True},
        {"mode": -1},
        {"owner": "no-such-user"},
        {"owner": "4294967295"},
        {"owner": "4294967296"},
        {"group": "9" * 5000},
        {"owner": "\u00b2"},
        {"group": "a\0b"},
        {"group": "no-such-group"},
    ],
)
def test_attributes_that_cannot_be(tmp_path: Path, params: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(params))):
        update(tmp_path / "license", NEW, **params)


@pytest.mark.parametrize("dest", ["folder", "folder/", "missing/license", "fifo"])
def test_places_that_cannot_be(tmp_path: Path, dest: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OptionError, match="dest"):
        LicenseFile.from_params(
            {"dest": f"{tmp_path}/{dest}", "owner": None, "group": None, "mode": None, "backup": False}
        )


def dest_option(dest: str) -> LicenseFile:
    return LicenseFile.from_params({"dest": dest, "owner": None, "group": None, "mode": None, "backup": False})


def test_a_place_that_may_not_be_looked_at(closed_folder: Path) -> None:
    with pytest.raises(OptionError, match=r"dest.*Permission denied"):
        dest_option(f"{closed_folder}/license")
    with pytest.raises(OptionError, match=r"dest.*Permission denied"):
        dest_option(f"{closed_folder}/folder/license")


@pytest.mark.parametrize("name", ["n" * 300, "a\0b", "a\0/b", "\ud800"])
def test_names_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="dest"):
        dest_option(f"{tmp_path}/{name}")


def test_a_place_under_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="there is no folder"):
        dest_option(f"{tmp_path}/file/license")


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target, dest = tmp_path / "target", tmp_path / "license"
    target.write_bytes(OLD)
    dest.symlink_to(target)
    update(dest, NEW)
    assert (target.read_bytes(), dest.read_bytes(), dest.is_symlink()) == (OLD, NEW, False)


def in_child(action: Callable[[], object]) -> int:
    """The wait status of a process that does ``action``."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except FleetError:
            os._exit(7)
        os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize("backup", [False, True])
def test_a_full_disk(tmp_path: Path, backup: bool) -> None:
    dest = tmp_path / "license"
    for limit in (0, 1, len(NEW) // 2, len(NEW) - 1):
        dest.write_bytes(OLD)

        def update_within_the_limit(limit: int = limit) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            update(dest, NEW, backup=backup)

        assert os.waitstatus_to_exitcode(in_child(update_within_the_limit)) == 7
        assert dest.read_bytes() == OLD
        assert all(path == dest or path.read_bytes() == OLD for path in tmp_path.iterdir())
        assert not list(tmp_path.glob("*.part"))
        for path in tmp_path.iterdir():
            path.unlink()


ON_A_FULL_FILE_SYSTEM = """
from pathlib import Path
from ansible_collections.slb.fleet.tests.unit.console.test_license_file import NEW, OLD, FleetError, update
folder = Path({folder!r})
(folder / "license").write_bytes(OLD)
filler = (folder / "filler").open("wb", buffering=0)
try:
    while filler.write(b"x" * 512): pass
except OSError: pass
try:
    update(folder / "license", NEW, backup={backup})
except FleetError as error:
    print(error)
print((folder / "license").read_bytes() == OLD, sorted(path.name for path in folder.iterdir()))
"""


@pytest.mark.parametrize("backup", [False, True])
def test_a_file_system_that_is_really_full(tmp_path: Path, backup: bool) -> None:
    program = ON_A_FULL_FILE_SYSTEM.format(folder=str(tmp_path), backup=backup)
    mounted = f"mount -t tmpfs -o size=32k none {tmp_path} && exec {sys.executable} -"
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*alone, f"mount -t tmpfs none {tmp_path}"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system in a name space of its own")
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*alone, mounted], input=program, env=found, capture_output=True, text=True, check=True)
    assert "No space left on device" in done.stdout
    assert done.stdout.splitlines()[-1] == "True ['filler', 'license']"


LOOKED_AT_BEFOREHAND = """
import subprocess
from pathlib import Path
from ansible_collections.slb.fleet.tests.unit.console.test_license_file import NEW, OLD, FleetError, foretell
folder = Path({folder!r})
(folder / "license").write_bytes(OLD)
(folder / "license").chmod(0o600)
subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
print(foretell(folder / "license", OLD))
try:
    print(foretell(folder / "license", NEW))
except FleetError as error:
    print(error)
"""


def foretell(dest: Path, content: bytes) -> bool:
    given = {"dest": str(dest), "owner": None, "group": None, "mode": "0600", "backup": True, "max_size": 10_000}
    return LicenseFile.from_params(given).update(content, check_mode=True).changed


def test_a_file_system_that_cannot_be_written_to_is_told_in_check_mode(tmp_path: Path) -> None:
    program = LOOKED_AT_BEFOREHAND.format(folder=str(tmp_path))
    mounted = f"mount -t tmpfs none {tmp_path} && exec {sys.executable} -"
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*alone, f"mount -t tmpfs none {tmp_path}"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system in a name space of its own")
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*alone, mounted], input=program, env=found, capture_output=True, text=True, check=True)
    same, another = done.stdout.splitlines()
    assert same == "False"
    assert "Read-only file system. What was there is unchanged." in another


@pytest.mark.usefixtures("closed_folder")
def test_a_folder_that_one_may_not_write_to_is_told_in_check_mode() -> None:
    with pytest.raises(FleetError, match="Permission denied"):
        foretell(Path("/usr/license"), NEW)


def test_a_disk_that_is_full_only_when_it_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(OLD)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FleetError, match="No space left on device"):
        update(dest, NEW)
    assert dest.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [dest]


def _failing_for_folders(monkeypatch: pytest.MonkeyPatch, number: int, failures: int = 100) -> None:
    """fsync of a folder fails, ``failures`` times."""
    fsync, left = os.fsync, [failures]

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) and left[0]:
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EACCES, errno.EPERM])
def test_a_folder_that_nobody_can_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(OLD)
    _failing_for_folders(monkeypatch, number)
    assert update(dest, NEW, backup=True).changed
    assert dest.read_bytes() == NEW


def test_a_folder_whose_sync_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(OLD)
    _failing_for_folders(monkeypatch, errno.EIO)
    with pytest.raises(FleetError, match=r"new license is in place .* may not outlive a power cut.*Input/output error"):
        update(dest, NEW)
    assert dest.read_bytes() == NEW


def test_a_backup_whose_sync_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dest = tmp_path / "license"
    dest.write_bytes(OLD)
    _failing_for_folders(monkeypatch, errno.EIO, failures=1)
    with pytest.raises(FleetError, match="What was there is unchanged"):
        update(dest, NEW, backup=True)
    assert dest.read_bytes() == OLD


@pytest.mark.parametrize("backup", [False, True])
def test_killed_at_any_moment(tmp_path: Path, backup: bool) -> None:
    """The writer is killed before each line of its code, one after another."""
    dest = tmp_path / "license"
    code = {license_file.__file__, file_attributes.__file__, folder.__file__}
    killed = 0
    while True:
        for path in tmp_path.iterdir():
            path.unlink()
        dest.write_bytes(OLD)
        dest.chmod(0o640)

        def update_until_killed(last: int = killed) -> None:
            lines = 0

            def trace(frame: Any, event: str, _: Any) -> Any:
                nonlocal lines
                if frame.f_code.co_filename in code and event == "line":
                    lines += 1
                    if lines > last:
                        os.kill(os.getpid(), signal.SIGKILL)
                return trace

            sys.settrace(trace)
            update(dest, NEW, mode="0600", backup=backup)

        status = in_child(update_until_killed)
        assert (dest.read_bytes(), mode_of(dest)) in ((OLD, 0o640), (NEW, 0o600))
        for path in tmp_path.iterdir():
            assert path == dest or mode_of(path) == 0o600 or path.read_bytes() == OLD
        if os.WIFEXITED(status):
            break
        killed += 1
    assert killed > 20
    assert dest.read_bytes() == NEW


def test_what_a_killed_program_has_left_is_taken_away(tmp_path: Path) -> None:
    old, new = tmp_path / ".slb-fleet-0123456789abcdef.part", tmp_path / ".slb-fleet-fedcba9876543210.part"
    for path in (old, new):
        path.write_bytes(OLD)
    os.utime(old, (0, 0))
    assert update(tmp_path / "license", NEW, backup=True).changed
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, "license"]


def test_a_file_that_is_no_license_is_neither_read_whole_nor_copied(tmp_path: Path) -> None:
    dest = tmp_path / "license"
    with dest.open("wb") as file:
        file.truncate(50 << 30)
    with pytest.raises(FleetError, match="more than 10000 bytes and is no license; move it away"):
        update(dest, NEW, backup=True)
    assert list(tmp_path.iterdir()) == [dest]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize(("folder_mode", "keeps"), [(0o755, True), (0o1777, False), (0o775, False)])
def test_who_has_put_a_file_there_does_not_get_the_license(tmp_path: Path, folder_mode: int, keeps: bool) -> None:
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(folder_mode)
    dest = place / "license"
    dest.write_bytes(OLD)
    os.chown(dest, 4321, 4321)
    update(dest, NEW)
    assert (dest.stat().st_uid, dest.stat().st_gid) == ((4321, 4321) if keeps else (0, 0))


def test_the_module_for_a_host_takes_the_same_options() -> None:
    """Written out there, because an engine host's Python may be too old for what states them."""
    without_fallback = {
        option: {rule: value for rule, value in rules.items() if rule != "fallback"}
        for option, rules in ARGUMENTS.items()
    }
    of_the_host = {
        "content": {"type": "str", "no_log": True},
        "look": {"type": "str", "choices": ["host", "controller"]},
    }
    assert {**without_fallback, **of_the_host} == HOST_ARGUMENTS
