"""What a run carries from round to round about one host."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress

BEFORE = Progress(rounds=1, asked=1, asked_at=10.0, answer="requested")


@pytest.mark.parametrize(
    ("answer", "waits"), [("requested", True), ("unknown", True), ("exists", False), ("rejected", False)]
)
def test_a_request_from_which_an_engine_may_come_is_waited_for(answer: str, waits: bool) -> None:
    after = BEFORE.after("install", {"outcome": answer}, 20.0)
    assert (after.asked, after.asked_at) == (2, 20.0)
    assert after.has_asked_since(asdict(BEFORE)) is waits


def test_a_request_that_waited_too_long_for_its_turn_was_not_made() -> None:
    after = BEFORE.after("install", {"skipped": True}, 20.0)
    assert (after.rounds, after.asked, after.asked_at, after.answer) == (2, 1, 10.0, "requested")
    assert not after.has_asked_since(asdict(BEFORE)), "the answer is that of the earlier one"


def test_what_is_taken_away_makes_the_last_answer_void() -> None:
    told = Progress(asked=1, answer="exists", answer_words="it exists")
    after = told.after("replace", {"before": {"id": "c1"}}, 20.0)
    assert (after.answer, after.answer_words, after.has_replaced, after.replaced_id) == ("none", "", True, "c1")
    assert told.after("replace", {"overtaken": True}, 20.0).answer == "exists", "nothing was taken away"


def test_waits_add_up() -> None:
    assert BEFORE.after("wait", {"waited": 3.5}, 20.0).after("wait", {"waited": 2.0}, 30.0).waited == 5.5


def test_what_is_put_off_by_a_busy_node_was_not_asked_for() -> None:
    busy = {"outcome": "rejected", "status_code": 429, "msg": "slow down"}
    put_off = Progress().after("install", busy, 20.0)
    assert (put_off.asked, put_off.put_off, put_off.answer, put_off.asked_at) == (0, 1, "none", 20.0)
    assert not put_off.has_asked_since(asdict(Progress()))
    assert Progress().after("install", {**busy, "status_code": 403}, 20.0).answer == "rejected"
    assert Progress().after("install", {**busy, "outcome": "unknown"}, 20.0).answer == "unknown"


def test_a_node_that_is_busy_all_the_time_has_refused() -> None:
    progress = Progress()
    for _round in range(4):
        progress = progress.after("install", {"outcome": "rejected", "status_code": 429, "msg": "slow down"}, 20.0)
    assert (progress.put_off, progress.answer, progress.answer_words) == (3, "rejected", "slow down")


def test_what_was_taken_out_of_the_way_does_not_wait_for_a_busy_node() -> None:
    progress = Progress(has_replaced=True).after("install", {"outcome": "rejected", "status_code": 429}, 20.0)
    assert (progress.put_off, progress.answer) == (0, "rejected"), "so that it is put back"
