"""Folders of the collection have the same modes with any umask, and no other user may write to them."""

import os

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, record
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import locks

ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
RECORD = record.Record("requested", **ENGINE, boot_id="boot", uptime=1.0)


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "PATH", str(tmp_path / "etc/ansible/facts.d/slb_engine.fact"))
    monkeypatch.setattr(locks, "FOLDER", str(tmp_path / "run/slb-fleet"))
    monkeypatch.setattr(adoption, "ADOPTED", str(tmp_path / "var/lib/slb-fleet/interfaces.json"))
    return tmp_path


def modes(base):
    return {str(path.relative_to(base)): path.lstat().st_mode & 0o7777 for path in base.rglob("*")}


def lock():
    with locks.locked("lock", 0, False):
        pass


def write_adopted():
    adoption._write_adopted({})


@pytest.mark.parametrize("umask", [0, 0o022, 0o077], ids=oct)
def test_modes_do_not_depend_on_the_umask(base, umask):
    before = os.umask(umask)
    try:
        record.write(RECORD)
        lock()
        write_adopted()
    finally:
        os.umask(before)
    found = modes(base)
    assert [name for name in found if found[name] & 0o022] == []
    expected = {
        "etc/ansible/facts.d": 0o755,
        "etc/ansible/facts.d/slb_engine.fact": 0o644,
        "run/slb-fleet": 0o700,
        "var/lib/slb-fleet": 0o700,
        "var/lib/slb-fleet/interfaces.json": 0o600,
    }
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("use", [lock, write_adopted])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o757, "other owner"])
def test_folder_that_others_can_write_to_is_rejected(base, use, mode):
    for folder in (base / "var/lib/slb-fleet", base / "run/slb-fleet"):
        folder.mkdir(parents=True)
        if isinstance(mode, int):
            folder.chmod(mode)
        elif os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        else:
            pytest.skip("only root can make another user's folder")
    before = modes(base)
    with pytest.raises(FleetError, match=r"(?s)slb-fleet.*(chmod go-w|belongs to the user 65534)"):
        use()
    assert modes(base) == before


def test_record_allows_a_group_in_local_facts(base):
    (base / "etc/ansible/facts.d").mkdir(parents=True)
    (base / "etc/ansible/facts.d").chmod(0o2775)
    assert record.find_obstacle() is None
    record.write(RECORD)
