"""The console's list: however many wait for a fresh one, it is read by time and not by host."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.plugin_utils import _shared_list
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Excerpt
from ansible_collections.slb.fleet.plugins.plugin_utils._options import with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._shared_list import SharedList

WAITING = 30
PARAMS = with_defaults(
    CONNECTION_ARGUMENTS, {"base_url": "https://console.example", "username": "admin", "password": "secret"}
)
LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}


def test_the_list_is_read_by_time_and_not_by_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between, readings = 0.4, []

    def read(*_given: Any) -> Result:
        readings.append(time.monotonic())
        return Result(False, {"engines": [], "undescribed": []})

    monkeypatch.setattr(_shared_list, "engine_info", read)
    monkeypatch.setattr(_shared_list, "_LEAST_SECONDS_BETWEEN", between)
    found: list[Any] = []

    def want_a_fresh_one(rounds: int = 2) -> None:
        shared = SharedList(PARAMS, LISTING, tmp_path, 0)
        found.extend(shared.shows("edge-1", "192.0.2.1", 0.0) for _ in range(rounds))

    threads = [threading.Thread(target=want_a_fresh_one) for _ in range(WAITING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 * WAITING
    assert all(isinstance(each, Excerpt) for each in found)
    apart = [later - earlier for earlier, later in itertools.pairwise(readings)]
    assert all(seconds >= between * 0.9 for seconds in apart), apart
    assert len(readings) < WAITING / 2, "one serves all who wait"
