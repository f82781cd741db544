"""The console's list: however many wait for a fresh one, it is read by time and not by host."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.plugin_utils import _shared_list
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Excerpt
from ansible_collections.slb.fleet.plugins.plugin_utils._options import with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._shared_list import SharedList
from ansible_collections.slb.fleet.tests.tools.runs import wait_until

WAITING = 30
PARAMS = with_defaults(
    CONNECTION_ARGUMENTS, {"base_url": "https://console.example", "username": "admin", "password": "secret"}
)
LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}


def test_the_list_is_read_by_time_and_not_by_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between, readings = 0.4, 0
    asked_at: list[float] = []
    asking: set[str] = set()
    found: list[Any] = []
    reading, keep_reading = RunStore.reading, RunStore.keep_reading

    def look(store: RunStore, *given: Any) -> Any:
        # When it was asked for is known by now.
        asking.add(threading.current_thread().name)
        return reading(store, *given)

    def read(*_given: Any) -> Result:
        nonlocal readings
        readings += 1
        wait_until(lambda: len(asking) == WAITING, "all who are to wait for it", 60)
        return Result(False, {"engines": [], "undescribed": []})

    def keep(store: RunStore, which: str, engines: Any, trouble: str, at: float) -> None:
        asked_at.append(at)
        keep_reading(store, which, engines, trouble, at)

    def want_a_fresh_one() -> None:
        found.append(SharedList(PARAMS, LISTING, tmp_path, 0).shows("edge-1", "192.0.2.1", 0.0))

    monkeypatch.setattr(RunStore, "reading", look)
    monkeypatch.setattr(RunStore, "keep_reading", keep)
    monkeypatch.setattr(_shared_list, "engine_info", read)
    monkeypatch.setattr(_shared_list, "_LEAST_SECONDS_BETWEEN", between)
    rounds = 2
    for _ in range(rounds):
        asking.clear()
        threads = [threading.Thread(target=want_a_fresh_one) for _ in range(WAITING)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == rounds * WAITING
    assert all(isinstance(each, Excerpt) for each in found)
    # Those who came when the first of a round was under way are served by the next one.
    assert rounds <= readings <= 2 * rounds, "one serves all who wait"
    apart = [later - earlier for earlier, later in itertools.pairwise(asked_at)]
    assert len(asked_at) == readings
    assert all(seconds >= between - 0.001 for seconds in apart), apart
