"""The decision, driven through thousands of histories of a fleet in which everything goes wrong that can."""

from __future__ import annotations

from collections import Counter

import pytest

from ansible_collections.slb.fleet.tests.unit.simulation.history import live_through

pytestmark = pytest.mark.long
SEED, HISTORIES = 1, 5_000


def test_no_history_breaks_a_promise() -> None:
    counts, violations = live_through(SEED, 0, HISTORIES)
    print(f"{counts}\n{len(violations)} violations")
    promises = Counter(violation.promise for violation in violations)
    assert not violations, f"{promises}\n{min(violations, key=lambda violation: len(violation.story))}"
