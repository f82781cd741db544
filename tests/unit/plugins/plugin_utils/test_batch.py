"""When a batch may end, and when none may follow."""

from types import SimpleNamespace

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils import _batch
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Engine, State


@pytest.mark.parametrize(
    ("size", "healthy", "failed", "late", "limit", "ends"),
    [
        *((size, size - 1, 0, 0, 100, size >= 5) for size in (1, 2, 4, 5, 10)),
        *((25, healthy, 0, 0, 100, healthy >= 20) for healthy in (0, 19, 20, 24)),
        *((25, 10, failed, 0, 100, failed >= 10) for failed in (9, 10)),
        # Late hosts of earlier batches are in progress, too.
        *((25, healthy, 0, 3, 100, healthy >= 23) for healthy in (22, 23)),
        (25, 25, 0, 6, 100, False),
        # Each late host might fail.
        *((25, 20, 0, 0, limit, limit >= 20) for limit in (0, 19.9, 20)),
        *((25, 18, 4, 0, limit, limit >= 28) for limit in (27, 28)),
        (5, 0, 4, 0, 100, False),
    ],
)
def test_batch_ends_with_a_fifth_in_progress(size, healthy, failed, late, limit, ends):
    assert _batch.may_end(size, healthy, healthy + failed, late, limit) == ends


@pytest.mark.parametrize(
    ("failed", "limit", "stops"),
    [(1, None, False), (3, "", False), (4, None, True), (1, "25%", False), (2, 25, True), (1, 0, True), (1, "0", True)],
)
def test_batch_with_too_many_failures_is_the_last(tmp_path, monkeypatch, failed, limit, stops):
    notes, batch = Reservations(tmp_path), [f"edge-{number}" for number in range(4)]
    monkeypatch.setattr(_batch, "Reservations", lambda: notes)
    notes.note("failed", "edge-of-another-batch")
    for name in batch[:failed]:
        variables = {"inventory_hostname": name, "ansible_play_batch": batch, "slb_max_fail_percentage": limit}
        _batch.note_failure(variables)
    assert bool(notes.noted("stopped")) == stops
    assert notes.noted("late") == batch[:failed]


@pytest.mark.parametrize(("healthy", "is_late"), [(2, False), (4, True)])
def test_host_in_progress_sees_its_batch_end(tmp_path, monkeypatch, healthy, is_late):
    """Between two checks of its own, within a moment."""
    notes, batch, looks = Reservations(tmp_path), [f"edge-{number}" for number in range(5)], []

    def look(seconds):
        looks.append(seconds)
        for name in batch[1 : healthy + 1]:
            notes.note("healthy", name)

    monkeypatch.setattr(_batch, "time", SimpleNamespace(sleep=look, monotonic=lambda: 10.0 + sum(looks)))
    engine = Engine("edge-0", "192.0.2.1", "https://console.example")
    host = SimpleNamespace(name="edge-0", reservations=notes, engine=engine, last_state=State())
    variables = {"ansible_play_batch": batch}
    assert _batch.note_state(host, variables, "wait", 4.0) == is_late
    assert (sum(looks) < 1) == is_late
    assert notes.noted("late") == ["edge-0"] * is_late
