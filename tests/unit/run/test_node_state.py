"""What a run knows of its management node, and what it does about it."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._console.gate import Sign
from ansible_collections.slb.fleet.plugins.plugin_utils._node_state import NodeState

PATIENCE = 60.0
ABSENT, ANSWERS = Sign("absent", "refused."), Sign("answers")


def down(at: float = 100.0, probes: int = 1) -> NodeState:
    state = NodeState().heard(ABSENT, at)
    for _ in range(probes):
        state = state.probed(ABSENT, at + 1, PATIENCE, 3)
    return state


def test_a_node_of_which_nothing_is_known_is_asked() -> None:
    assert NodeState().status(5, PATIENCE).action == "pass"


def test_a_node_that_seems_absent_is_probed_by_one_and_waited_for_by_the_others() -> None:
    state = NodeState().heard(ABSENT, 100)
    assert state.status(100, PATIENCE).action == "wait"
    assert state.status(101, PATIENCE).action == "probe"
    assert state.probing(101, 40).status(102, PATIENCE) == ("wait", 39)


def test_one_accident_is_no_outage() -> None:
    state = NodeState().heard(ABSENT, 100)
    assert not state.is_down
    assert state.probed(ANSWERS, 101, PATIENCE, 3) == NodeState()


def test_a_probe_that_finds_nobody_makes_it_an_outage_and_the_next_comes_later() -> None:
    pauses = [down(probes=count).probe_at - 101 for count in range(1, 8)]
    assert down().is_down
    assert pauses == sorted(pauses)
    assert pauses[-1] == 10


def test_it_is_given_up_when_the_patience_is_over_and_for_good() -> None:
    late = down(at=100, probes=3).probed(ABSENT, 100 + PATIENCE, PATIENCE, 3)
    assert late.is_given_up
    assert late.status(10_000, PATIENCE).action == "refuse"
    assert late.heard(ANSWERS, 10_000) == late


def test_without_patience_it_is_probed_as_often_as_a_request_is_repeated() -> None:
    state = NodeState().heard(ABSENT, 100)
    for number in range(1, 4):
        state = state.probed(ABSENT, 100 + number, 0, 3)
        assert state.is_given_up == (number == 3)


def test_others_that_find_it_absent_too_do_not_put_the_probe_off() -> None:
    state = NodeState().heard(ABSENT, 100)
    assert state.heard(ABSENT, 100.4) == state


def test_whoever_is_answered_ends_the_outage() -> None:
    assert down().heard(ANSWERS, 130).status(130, PATIENCE).action == "pass"


def test_a_pause_that_is_asked_for_holds_for_all_and_no_earlier_answer_lifts_it() -> None:
    state = NodeState().heard(Sign("busy", "", 20), 100).heard(ANSWERS, 101)
    assert state.status(105, PATIENCE) == ("wait", 15)
    assert state.status(120, PATIENCE).action == "pass"


def test_without_a_time_the_pauses_grow_and_those_under_way_count_as_one() -> None:
    busy, state, now, pauses = Sign("busy"), NodeState(), 100.0, []
    for _ in range(7):
        state = state.heard(busy, now).heard(busy, now + 0.1)
        pauses.append(round(state.held_until - now))
        now = state.held_until
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_an_answer_after_the_pause_begins_anew() -> None:
    state = NodeState().heard(Sign("busy"), 100).heard(ANSWERS, 110)
    assert state.holds == 0


def test_a_pause_beyond_the_patience_is_not_waited_for() -> None:
    state = NodeState().heard(Sign("busy", "", 3600), 100)
    assert state.status(101, PATIENCE).action == "refuse"
    assert state.status(3650, PATIENCE).action == "wait"
