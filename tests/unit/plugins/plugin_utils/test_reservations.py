"""Worker processes share names, addresses and machines of their hosts."""

from concurrent.futures import ProcessPoolExecutor

from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations, forget_earlier_playbook


def _reserve(folder, host):
    return Reservations(folder).reserve("name edge-1", host)


def test_reserve_in_many_processes_loses_nothing(tmp_path):
    hosts = [f"host-{number}" for number in range(40)]
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_reserve, [tmp_path] * len(hosts), hosts))
    assert _reserve(tmp_path, "last") == sorted(hosts)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_notes_of_earlier_playbook_are_removed_and_sessions_kept(tmp_path):
    notes = Reservations(tmp_path)
    notes.note("replacements", "edge-1")
    assert notes.is_first("unknown variable slb_x")
    for name in ("session-1", "engines-1", "engines-1.lock"):
        (tmp_path / f"slb-fleet-{name}").touch()
    forget_earlier_playbook(tmp_path)
    assert notes.noted("replacements") == []
    assert notes.is_first("unknown variable slb_x")
    assert {path.name for path in tmp_path.glob("*-s*")} == {"slb-fleet-session-1"}
    assert not list(tmp_path.glob("*engines*"))
