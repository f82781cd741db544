"""What the workers of a run tell each other: claims, the budget, the readings of the list."""

from __future__ import annotations

import multiprocessing
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils import _run_store
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

NODE = "https://console.example"


def test_what_a_list_shows_that_no_host_of_its_node_wants() -> None:
    """Of a host that was moved, the node that has it now is named."""
    store = RunStore.in_memory()
    for node, host, name, address in (
        ("https://north", "a", "edge-1", "192.0.2.1"),
        ("https://north", "b", "renamed", "192.0.2.2"),
        ("https://south", "c", "edge-3", "192.0.2.3"),
        ("https://south", "d", "edge-1", "192.0.2.4"),
    ):
        store.want(node, host, name, address)
    names = {"edge-1": "192.0.2.1", "edge-2": "192.0.2.2", "edge-3": "192.0.2.3", "ghost": "192.0.2.9"}
    listed = [{"name": name, "address": at, "state": "running", "console_state": ""} for name, at in names.items()]
    assert store.unwanted(listed, "https://north") == [
        "edge-3 (192.0.2.3, in the inventory of https://south)",
        "ghost (192.0.2.9)",
    ]


def test_two_hosts_that_want_one_name_or_one_address_are_told_of_each_other(tmp_path: Path) -> None:
    store = RunStore.of_run(tmp_path)
    assert store.claim(NODE, "a", "edge-1", "192.0.2.11") == ""
    assert "wanted by a and b" in store.claim(NODE, "b", "edge-1", "192.0.2.12")
    assert "wanted by b and a" in store.claim(NODE, "a", "edge-1", "192.0.2.11")
    assert "address 192.0.2.11" in store.claim(NODE, "c", "edge-3", "::ffff:192.0.2.11")
    assert store.claim("https://another.example", "d", "edge-1", "192.0.2.99") == "", "a console's names are its own"
    assert "address 192.0.2.99" in store.claim(NODE, "e", "edge-5", "192.0.2.99")


def test_nothing_is_granted_before_all_were_counted(tmp_path: Path) -> None:
    store = RunStore.of_run(tmp_path)
    assert [store.wish(host, "c1", 2, counts_only=True) for host in "abc"] == [None] * 3
    assert [store.wish(host, "c1", 2, counts_only=False) for host in "abc"] == [(("a", "b", "c"), (), 2)] * 3
    store.unwish("c")
    assert [store.wish(host, "c1", 2, counts_only=False) for host in "ab"] == [None, None]
    assert store.wish("d", "c1", 2, counts_only=False) == (("a", "b", "d"), ("a", "b"), 2)
    assert store.wish("a", "c1", 2, counts_only=False) is None, "what was granted stays so"


def test_of_several_limits_the_smallest_holds() -> None:
    store = RunStore.in_memory()
    for host, limit in (("a", 0), ("b", 5)):
        assert store.wish(host, "c1", limit, counts_only=True) is None
    assert store.wish("b", "c1", 5, counts_only=False) == (("a", "b"), (), 0)


def test_a_grant_is_for_one_container() -> None:
    store = RunStore.in_memory()
    assert store.wish("a", "c1", 1, counts_only=False) is None
    assert store.wish("a", "c2", 1, counts_only=False) == (("a", "a"), ("a",), 1)
    counted = RunStore.in_memory()
    assert counted.wish("a", "c1", 1, counts_only=True) is None
    assert counted.wish("a", "c2", 1, counts_only=False) is None, "the one that was counted is no more"


def test_hosts_stand_in_each_others_way_over_a_name_an_address_or_too_many_wishes() -> None:
    store = RunStore.in_memory()
    assert not store.has_conflicts(), "nobody has asked for anything"
    store.claim("https://one", "a", "edge", "192.0.2.1")
    store.claim("https://one", "a", "edge", "192.0.2.1")
    store.claim("https://two", "b", "edge", "192.0.2.2")
    assert not store.has_conflicts(), "the name is another node's"
    for claim in (("https://one", "c", "edge", "192.0.2.3"), ("https://two", "c", "other", "192.0.2.1")):
        disputed = RunStore.in_memory()
        disputed.claim("https://one", "a", "edge", "192.0.2.1")
        disputed.claim(*claim)
        assert disputed.has_conflicts()
    for host in "ab":
        store.wish(host, "c1", 2, counts_only=True)
    assert not store.has_conflicts()
    store.wish("c", "c1", 5, counts_only=True)
    assert store.has_conflicts()
    store.unwish("a")
    assert not store.has_conflicts()


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = RunStore.of_run(tmp_path)
        store.distrust(NODE, "edge-1")
    finally:
        os.umask(before)
    assert store.distrusted(NODE) == "edge-1"
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def _say(folder: Path, host: int) -> str:
    store = RunStore.of_run(folder)
    store.claim(NODE, str(host), f"edge-{host}", "192.0.2.1")
    store.wish(str(host), "c1", 5, counts_only=True)
    return store.first_to_say("the node is down", str(host))


def test_many_workers_at_once_agree(tmp_path: Path) -> None:
    with ProcessPoolExecutor(8) as workers:
        first = set(workers.map(_say, [tmp_path] * 200, range(200)))
    assert len(first) == 1
    refused = RunStore.of_run(tmp_path).wish("0", "c1", 5, counts_only=False)
    assert refused is not None
    assert len(refused.hosts) == 200


def test_a_call_that_is_interrupted_leaves_nothing_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the time-out of a task."""
    store, other = RunStore.of_run(tmp_path), RunStore.of_run(tmp_path)

    with pytest.raises(KeyboardInterrupt), store._open() as database:
        database.execute("BEGIN IMMEDIATE")
        raise KeyboardInterrupt
    monkeypatch.setattr(_run_store, "_BUSY_SECONDS", 0.1)
    other.note_batch(["edge-1"])
    assert store.batch() == {"edge-1"}


def test_it_is_opened_once_for_the_calls_of_a_worker_and_anew_in_another(tmp_path: Path) -> None:
    store = RunStore.of_run(tmp_path)
    store.note_batch(["edge-1"])
    kept = _descriptors(tmp_path)
    assert store.batch() == {"edge-1"}
    assert _descriptors(tmp_path) == kept == 1
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as worker:
        _inherited.append(store)
        assert worker.submit(_batch_there).result() == {"edge-1"}
    _inherited.clear()
    del store
    assert _descriptors(tmp_path) == 0


_inherited: list[RunStore] = []


def _batch_there() -> set[str]:
    return _inherited[0].batch()


def _descriptors(folder: Path) -> int:
    return sum(str(folder) in str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
