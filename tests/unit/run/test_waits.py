"""Which hosts are waited for, told by workers to the line of progress."""

from __future__ import annotations

import ast
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils._waits import Waits

UTILS = Path(__file__).resolve().parents[3] / "plugins" / "plugin_utils"


def test_a_wait_is_there_until_it_ends(tmp_path: Path) -> None:
    waits = Waits(tmp_path)
    waits.begin("edge-1", 10.0, 180.0)
    waits.begin("edge/2 ../x", 11.0, 5.0)
    assert sorted(waits.all()) == [("edge-1", 10.0, 180.0), ("edge/2 ../x", 11.0, 5.0)]
    waits.end("edge-1")
    waits.end("edge-1")
    assert [host for host, _since, _seconds in waits.all()] == ["edge/2 ../x"]


def test_one_that_is_just_being_written_is_no_trouble(tmp_path: Path) -> None:
    waits = Waits(tmp_path)
    waits.begin("edge-1", 10.0, 180.0)
    next(tmp_path.iterdir()).write_text("[")
    assert list(waits.all()) == []


def test_the_thread_that_shows_the_progress_never_enters_the_database() -> None:
    """A worker that is forked meanwhile would wait for its lock for ever: seen in one rollout of a hundred."""
    for path in (UTILS / "_report").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not str(node.module).endswith("_run_store"), path
