"""Hosts that freeze, vanish, or whose container runtime does: the run ends, and the others are verified."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from estate import Estate, History
from runs import Run
from slb_lab import docker

pytestmark = pytest.mark.long

FROZEN, VANISHED, DEAF = "h1", "h2", "h3"
# This one freezes in a run of its own, when its leftover is out of the way and the request is to be noted.
LATER = "h4"
GOOD = ("h5", "h6")
ASK = "ask the management node to install the engine"
# A step on a host that waits for nothing may take this long; the rest is what the others take.
STEP_SECONDS = 90
# The last time that TCP tried was after 106 s; the next is after 212 s, longer than a step of the next run may take.
OUTAGE_SECONDS = 115
DROP = "iptables -{0} INPUT -i eth0 -j DROP; iptables -{0} OUTPUT -o eth0 -j DROP"


@pytest.fixture(scope="module")
def both(estate: Estate) -> Iterator[tuple[History, float, Run]]:
    """The history, how many seconds its run took, and the run of its own. SSH has a control connection to each host
    when the first begins.
    """
    estate.make_verified(FROZEN, VANISHED, DEAF)
    estate.clean(*GOOD)
    estate.make_leftover(LATER)
    opened = estate.play("slb.fleet.diagnose")
    assert opened.status == 0, opened.output
    before = estate.dump()
    with ExitStack() as repair:
        steps = repair.enter_context(estate.stepping("slb.fleet.rollout", "--limit", LATER, slb_max_replaced=1))
        steps.go_on_until(ASK)
        repair.callback(docker.run, ["unpause", estate[LATER].host.container])
        docker.run(["pause", estate[LATER].host.container])
        container = estate[FROZEN].host.container
        repair.callback(docker.run, ["unpause", container])
        docker.run(["pause", container])
        repair.callback(estate[VANISHED].host.exec, ["sh", "-c", DROP.format("D")])
        estate[VANISHED].host.exec(["sh", "-c", DROP.format("I")])
        repair.callback(estate[DEAF].host.exec, ["sh", "-c", "kill -CONT $(pidof dockerd)"])
        estate[DEAF].host.exec(["sh", "-c", "kill -STOP $(pidof dockerd)"])
        begin = time.monotonic()
        later, (run, seconds) = estate.at_once(
            steps.go_on_to_the_end,
            lambda: (estate.play("slb.fleet.rollout", "--limit", f"!{LATER}", timeout=400), time.monotonic() - begin),
        )
        time.sleep(max(0.0, begin + OUTAGE_SECONDS - time.monotonic()))
    yield History(run, before, estate.dump()), seconds, later


@pytest.fixture(scope="module")
def hanging(both: tuple[History, float, Run]) -> tuple[History, float]:
    return both[:2]


def test_the_run_ends_in_bounded_time(hanging: tuple[History, float]) -> None:
    history, seconds = hanging
    assert seconds < 2 * STEP_SECONDS, history.run.output


def test_the_others_are_verified(hanging: tuple[History, float]) -> None:
    history, _ = hanging
    assert history.verified_by_console(*GOOD), history.run.output


@pytest.mark.parametrize("host", [FROZEN, VANISHED, DEAF])
def test_what_hangs_is_said_and_untouched(hanging: tuple[History, float], host: str) -> None:
    history, _ = hanging
    assert history.failed(FROZEN, VANISHED, DEAF), history.run.output
    assert host not in history.touched


@pytest.mark.parametrize("host", [FROZEN, VANISHED])
def test_a_host_that_does_not_answer_is_unreachable(hanging: tuple[History, float], host: str) -> None:
    history, _ = hanging
    assert history.run.report[host].startswith("unreachable"), history.run.output


def test_a_runtime_that_does_not_answer_is_named(hanging: tuple[History, float]) -> None:
    history, _ = hanging
    assert "docker" in history.said(DEAF), history.run.output


def test_a_host_that_freezes_when_the_request_is_noted_is_unreachable_and_not_asked_for(
    both: tuple[History, float, Run],
) -> None:
    history, _, later = both
    assert later.report[LATER].startswith("unreachable"), later.output
    assert history.requests["install"] == len(GOOD)


def test_when_they_are_back_only_what_was_begun_is_ended(estate: Estate, both: tuple[History, float, Run]) -> None:
    """The note may have been written when the host went on."""
    back = estate.history("slb.fleet.rollout", slb_max_replaced=1)
    assert back.run.status == 0, back.run.output
    assert set(back.touched) == {LATER}
    assert back.verified_by_console(*estate.names)
    assert back.requests["install"] == 1
    assert estate[LATER].leftovers == ["exited"]
