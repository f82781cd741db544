"""Hosts that freeze, vanish, or whose container runtime does: the run ends, and the others are proven."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from estate import Estate, History
from slb_lab import docker

FROZEN, VANISHED, DEAF = "h1", "h2", "h3"
GOOD = ("h4", "h5", "h6")
# A step on a host that waits for nothing may take this long; the rest is what the others take.
STEP_SECONDS = 90
DROP = "iptables -{0} INPUT -i eth0 -j DROP; iptables -{0} OUTPUT -o eth0 -j DROP"


@pytest.fixture(scope="module")
def hanging(estate: Estate) -> Iterator[tuple[History, float]]:
    """The history, and how many seconds the run took. SSH has a control connection to each host when it begins."""
    estate.make_proven(FROZEN, VANISHED, DEAF)
    estate.clean(*GOOD)
    opened = estate.play("slb.fleet.diagnose")
    assert opened.status == 0, opened.output
    before = estate.dump()
    with ExitStack() as repair:
        container = estate[FROZEN].host.container
        repair.callback(docker.run, ["unpause", container])
        docker.run(["pause", container])
        repair.callback(estate[VANISHED].host.exec, ["sh", "-c", DROP.format("D")])
        estate[VANISHED].host.exec(["sh", "-c", DROP.format("I")])
        repair.callback(estate[DEAF].host.exec, ["sh", "-c", "kill -CONT $(pidof dockerd)"])
        estate[DEAF].host.exec(["sh", "-c", "kill -STOP $(pidof dockerd)"])
        begin = time.monotonic()
        run = estate.play("slb.fleet.rollout", timeout=400)
        seconds = time.monotonic() - begin
    yield History(run, before, estate.dump()), seconds


def test_the_run_ends_in_bounded_time(hanging: tuple[History, float]) -> None:
    history, seconds = hanging
    assert seconds < 2 * STEP_SECONDS, history.run.output


def test_the_others_are_proven(hanging: tuple[History, float]) -> None:
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


def test_when_they_are_back_nothing_has_to_be_done(estate: Estate, hanging: tuple[History, float]) -> None:
    back = estate.history("slb.fleet.rollout")
    assert back.run.status == 0, back.run.output
    assert back.touched == {}
    assert back.verified_by_console(*estate.names)
