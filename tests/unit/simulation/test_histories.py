"""The decision, driven through thousands of histories in which everything goes wrong that can."""

from __future__ import annotations

from history import live_through

SEED, HISTORIES = 1, 10_000


def test_no_history_breaks_a_promise() -> None:
    runs, violations = live_through(SEED, HISTORIES)
    print(f"{HISTORIES} histories, {runs} runs, {len(violations)} violations")
    assert not violations, str(violations[0])
