"""Engine hosts whose answers never end, or come too slowly: the run ends, in bounded time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lies
import pytest
from fleets import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENDLESS = {
    "text": lies.going_on(lies.endless),
    "errors": lies.going_on(lies.endless_errors),
}
LATE = {"a byte a second": lies.going_on(lies.slow), "silence": lies.going_on(lies.silent)}
# In the controller's processes ten seconds go by in one, or one in ten.
_CLOCK = """
import time
_monotonic = time.monotonic
time.monotonic = lambda: {} * _monotonic()
"""


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def test_what_does_not_end_is_ended_before_it_fills_the_memory(fleet: Fleet) -> None:
    """And long before the time is up, which goes by so slowly that it cannot be on any machine."""
    (fleet.folder / "sitecustomize.py").write_text(_CLOCK.format(0.1))
    account = fleet.run("diagnose", ENDLESS, PYTHONPATH=str(fleet.folder))
    fleet.assert_nothing_was_gained(account, fleet.honest("diagnose"))
    fleet.assert_each_liar_is_told(account, ENDLESS)
    told = [account.run.report[f"edge-{number}"] for number, _name in enumerate(ENDLESS, 3)]
    assert all("larger than 4 MB, or does not end" in words for words in told)


def test_what_comes_too_late_is_not_waited_for(fleet: Fleet) -> None:
    (fleet.folder / "sitecustomize.py").write_text(_CLOCK.format(10))
    account = fleet.run("diagnose", LATE, PYTHONPATH=str(fleet.folder))
    fleet.assert_nothing_was_gained(account, fleet.honest("diagnose"))
    told = [account.run.report[f"edge-{number}"] for number, _name in enumerate(LATE, 3)]
    assert all(words.startswith("unreachable") and "did not answer within 90 seconds" in words for words in told)


@pytest.mark.parametrize("state", ["requested", "absent"])
def test_a_note_that_comes_too_late_is_not_waited_for(fleet: Fleet, state: str) -> None:
    """Neither before the request, which is not made then, nor after one that was refused."""
    (fleet.folder / "sitecustomize.py").write_text(_CLOCK.format(10))

    def late(how: Any) -> Any:
        return lies.when(lambda ask: ask.arguments.get("state") == state, lies.going_on(how))

    told = {"a byte a second": late(lies.slow), "silence": late(lies.silent)}
    account = fleet.run("rollout", told, refuses_liars=True, PYTHONPATH=str(fleet.folder))
    fleet.assert_nothing_was_gained(account, fleet.honest("rollout"))
    for number, _name in enumerate(told, 3):
        assert "did not answer within 90 seconds" in account.run.report[f"edge-{number}"]
        assert fleet.outcomes(account, number) == ([], 0 if state == "requested" else 1)
