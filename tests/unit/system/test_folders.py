"""Folders of the collection, with any umask and any earlier owner."""

import os

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import folders
from ansible_collections.slb.fleet.plugins.module_utils.engine_host import adoption, record
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError

OTHER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")


@pytest.fixture(params=[0, 0o022, 0o077], ids=["umask 0", "umask 022", "umask 077"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "PATH", str(tmp_path / "etc/ansible/facts.d/slb_engine.fact"))
    monkeypatch.setattr(adoption, "CHANGES", str(tmp_path / "run/slb-fleet"))
    monkeypatch.setattr(adoption, "ADOPTED", str(tmp_path / "var/lib/slb-fleet/interfaces.json"))
    return tmp_path


ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
RECORD = {"state": "requested", **ENGINE, "boot_id": "boot", "uptime": 1.0}


def modes(base):
    return {str(path.relative_to(base)): path.lstat().st_mode & 0o7777 for path in base.rglob("*")}


def lock():
    with adoption._locked():
        pass


def adopted():
    adoption._write_adopted({})


def test_modes_do_not_depend_on_the_umask(base, umask):
    with record._locked(1, False):
        record.write(RECORD)
    lock()
    adopted()
    assert modes(base) == {
        "etc": 0o755,
        "etc/ansible": 0o755,
        "etc/ansible/facts.d": 0o755,
        "etc/ansible/facts.d/slb_engine.fact": 0o644,
        "run": 0o755,
        "run/slb-fleet": 0o700,
        "run/slb-fleet/lock": 0o600 & ~umask,
        "var": 0o755,
        "var/lib": 0o755,
        "var/lib/slb-fleet": 0o700,
        "var/lib/slb-fleet/interfaces.json": 0o600,
    }


@pytest.mark.parametrize("use", [lock, adopted])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o757])
def test_a_folder_in_which_others_may_write_is_refused(base, use, mode):
    for parent in ("var/lib/slb-fleet", "run/slb-fleet"):
        (base / parent).mkdir(parents=True)
        (base / parent).chmod(mode)
    before = modes(base)
    with pytest.raises(FleetError, match=r"others may write in .*slb-fleet.*chmod go-w"):
        use()
    assert modes(base) == before


@as_root
@pytest.mark.parametrize("use", [lock, adopted])
def test_another_users_folder_is_refused(base, use):
    for parent in ("var/lib/slb-fleet", "run/slb-fleet"):
        (base / parent).mkdir(parents=True)
        os.chown(base / parent, OTHER, OTHER)
    before = modes(base)
    with pytest.raises(FleetError, match=r"slb-fleet belongs to the user 65534"):
        use()
    assert modes(base) == before


def test_find_obstacle_reports_others_who_may_write(base):
    assert record.find_obstacle() is None
    (base / "etc").mkdir()
    (base / "etc").chmod(0o777)
    assert f"{base}/etc (mode 0777)" in (record.find_obstacle() or "")


def test_find_obstacle_allows_a_group_in_local_facts(base):
    (base / "etc/ansible/facts.d").mkdir(parents=True)
    (base / "etc/ansible/facts.d").chmod(0o2775)
    assert record.find_obstacle() is None
    record.write(RECORD)


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        folders.make(str(tmp_path / "file"), 0o755)
