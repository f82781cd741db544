"""Each behaviour of the hostile management node, with its outcome, the requests it may see, and what is on disk."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import INSTALL, LICENSE, LOGIN
from operations import PASSWORD, run
from scenarios import INSTALL_ANSWERS, INSTALL_SESSIONS, LICENSES, LOGINS, NEW, OLD, REQUESTED, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# timeout=2 and retries=1 make 4 s for a call; a scenario has a login and at most two calls.
LONGEST = 13


def by_name(scenarios: list[Scenario]) -> Any:
    return pytest.mark.parametrize("scenario", scenarios, ids=lambda scenario: scenario.name)


@by_name([*INSTALL_ANSWERS, *INSTALL_SESSIONS, *LOGINS])
def test_engine(scenario: Scenario, start: Callable[..., Any]) -> None:
    routes = {LOGIN: scenario.login, **({INSTALL: scenario.behaviours} if scenario.behaviours else {})}
    server = start(routes)
    begin = time.monotonic()
    result = run("engine", server, **scenario.params)
    assert result.get("outcome") == scenario.outcome, result
    assert result.get("failed", False) == (scenario.outcome not in (REQUESTED, "exists"))
    assert result.get("changed", False) == (scenario.outcome == REQUESTED)
    assert scenario.says in result["msg"]
    assert (server.seen[LOGIN], server.seen[INSTALL]) == scenario.seen
    assert_nothing_shown(result, server)
    assert time.monotonic() - begin < LONGEST


@by_name(LICENSES)
def test_license(scenario: Scenario, start: Callable[..., Any], tmp_path: Path) -> None:
    server = start({LOGIN: scenario.login, LICENSE: scenario.behaviours})
    dest = tmp_path / "license"
    dest.write_bytes(OLD)
    dest.chmod(0o640)
    begin = time.monotonic()
    result = run("license", server, dest=str(dest), **scenario.params)
    assert dest.read_bytes() == scenario.disk, result
    assert [path.name for path in tmp_path.iterdir()] == ["license"]
    if scenario.disk == OLD:
        assert result["failed"]
        assert scenario.says in result["msg"]
        assert dest.stat().st_mode & 0o777 == 0o640
    else:
        assert result["changed"]
        assert dest.stat().st_mode & 0o777 == 0o600
    assert (server.seen[LOGIN], server.seen[LICENSE]) == scenario.seen
    assert_nothing_shown(result, server)
    if result.get("failed"):
        assert NEW[:9].decode() not in str(result)
    assert time.monotonic() - begin < LONGEST


def assert_nothing_shown(result: dict[str, Any], server: Any) -> None:
    shown = str(result)
    assert PASSWORD not in shown
    assert f"of{server.port}" not in shown
