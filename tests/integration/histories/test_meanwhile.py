"""Something happens between two steps of a run: what was decided is compared with what is there by now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from estate import Estate, History, as_node_of
from runs import Run, wait_until
from sites import said

pytestmark = pytest.mark.long

STOP = "Take the leftover container out of the way"
ASK = "ask the management node to install the engine"
LOOK = "look again, decide again"


@pytest.fixture(scope="module")
def overtaken(estate: Estate) -> History:
    """Six containers that run are about to be stopped on the list's word.

    Before that, the first one's engine is shown, another container takes the place of the second, a client connects to
    the third, the fourth is stopped by a person. The last two are live; they are stopped, and then the node dies.
    """
    estate.make_verified()
    for name in estate.names:
        estate[name].host.exec(["rm", "-rf", "/etc/ansible"])
        estate.alter_engine(name, listed=0)
    for name in ("h2", "h3", "h4"):
        estate.forget_engine(name)
    estate.list_engine("of-others", "203.0.113.7")
    with estate.stepping("slb.fleet.rollout", slb_max_replaced="100%", slb_retries=0) as steps:
        steps.go_on_until(STOP)
        estate.alter_engine("h1", listed=1)
        estate["h2"].docker("rm", "--force", "slb")
        estate["h2"].run_container()
        estate["h3"].connect_a_client()
        estate["h4"].docker("stop", "--time", "1", "slb")
        before = estate.dump()
        # A reading of the list may be this old.
        time.sleep(10)
        steps.go_on()
        steps.go_on_until(ASK)
        estate.node.kill()
        run = steps.go_on_to_the_end()
    estate.node.start()
    history = History(run, before, estate.dump())
    estate.see_that_nothing_was_lost(history, set())
    return history


def test_an_engine_that_the_list_shows_by_now_is_not_stopped(overtaken: History) -> None:
    """Whether the run ends with that, or looks again and finds the engine verified."""
    before, after = overtaken.before.hosts["h1"], overtaken.after.hosts["h1"]
    assert after.containers == before.containers, overtaken.run.output


@pytest.mark.parametrize(("host", "words"), [("h2", "run again to look anew"), ("h3", "slb_allow_established")])
def test_what_is_otherwise_by_now_is_left_as_it_is(overtaken: History, host: str, words: str) -> None:
    assert overtaken.run.report[host].startswith("failed"), overtaken.run.output
    assert words in overtaken.said(host), overtaken.run.output
    assert host not in overtaken.touched


def test_what_a_person_has_stopped_is_not_started(overtaken: History) -> None:
    ((identifier, container),) = overtaken.after.hosts["h4"].containers.items()
    assert ([identifier], container["state"]) == (list(overtaken.before.hosts["h4"].containers), "exited")


@pytest.mark.parametrize("host", ["h5", "h6"])
def test_what_was_stopped_for_a_request_that_could_not_be_made_runs_again(overtaken: History, host: str) -> None:
    before, after = overtaken.touched[host]
    assert overtaken.run.report[host].startswith("failed"), overtaken.run.output
    assert list(after.containers) == list(before.containers)
    ((_, container),) = after.containers.items()
    assert (container["name"], container["state"], container["policy"]) == ("slb", "running", "always")
    assert after.is_back_from(before)
    assert "put back" in overtaken.said(host)


@pytest.fixture(scope="module")
def lost(estate: Estate, overtaken: History) -> History:
    """A live engine is hidden, and the node's answers to install requests are lost; another engine is deployed so."""
    estate.make_verified("h1", "h3", "h4", "h5", "h6")
    estate["h1"].host.exec(["rm", "-rf", "/etc/ansible"])
    estate.alter_engine("h1", listed=0)
    estate.clean("h2")
    estate.node.set_faults({"install_answer_lost": True})
    try:
        return estate.history("slb.fleet.rollout", slb_max_replaced=1, slb_wait_timeout=12)
    finally:
        estate.node.set_faults({})


# Shows a defect: the run leaves the host without an engine.
def test_a_live_engine_runs_again_when_no_answer_ever_comes(lost: History) -> None:
    """Nobody has said that it exists, but no engine has come in its place: the host must not be left without one."""
    before, after = lost.touched["h1"]
    states = {key: (each["name"], each["state"]) for key, each in after.containers.items()}
    assert states == dict.fromkeys(before.containers, ("slb", "running")), lost.run.output


def test_an_engine_whose_answer_was_lost_is_verified(lost: History) -> None:
    assert lost.verified_by_console("h2"), lost.run.output


# --- two controllers at once


@pytest.fixture(scope="module")
def two(estate: Estate) -> Iterator[tuple[History, Run]]:
    """Both have decided to ask for the same engines in place of leftovers. When the first has asked, the second goes
    on: the first one's engine runs on h2 by then, and is still to come up on h1.
    """
    estate.make_leftover("h1", "h2")
    quick = estate.another_node("quick")
    try:
        with ExitStack() as runs:
            hosts = {"h2": as_node_of(quick)}
            common: dict[str, Any] = {"hosts": hosts, "slb_max_replaced": 2, "slb_engine_list_may_be_empty": True}
            first, second = (
                runs.enter_context(
                    estate.stepping("slb.fleet.rollout", "--limit", "h1,h2", slb_wait_timeout=30, **common)
                )
                for _ in range(2)
            )
            estate.at_once(lambda: first.go_on_until(STOP), lambda: second.go_on_until(STOP))
            before = estate.dump()
            first.go_on()
            first.go_on_until(ASK)
            second.go_on()
            second.go_on_until(ASK)
            estate.node.set_faults({"slow_start_seconds": 12})
            first.go_on()
            first.go_on_until(LOOK)
            wait_until(lambda: estate["h2"].containers.get("slb") == "running", "the engine of the first")
            last = second.go_on_to_the_end()
            history = History(first.go_on_to_the_end(), before, estate.dump())
        assert quick.state()["counters"]["install"] == 1
        yield history, last
    finally:
        estate.node.set_faults({})
        quick.stop()


@pytest.mark.parametrize("host", ["h1", "h2"])
def test_the_second_does_not_ask_and_says_that_somebody_else_deploys(two: tuple[History, Run], host: str) -> None:
    history, last = two
    assert last.report[host].startswith("failed"), last.output
    assert "Somebody else deploys on this host" in said(last, host), last.output
    assert history.requests["install"] == 1, "of h1, whose node this is"


@pytest.mark.parametrize("host", ["h1", "h2"])
def test_what_the_first_took_out_of_the_way_stays_there_and_its_engine_is_verified(
    estate: Estate, two: tuple[History, Run], host: str
) -> None:
    history, last = two
    assert history.verified_by_console(host), f"{last.output}\n{history.run.output}"
    assert estate[host].is_verified(by="engine_list")
    assert estate[host].leftovers == ["exited"]


# --- a person adds the engine between the last reading of the list and our own request


def test_what_a_person_has_begun_meanwhile_is_waited_for_and_verified(estate: Estate) -> None:
    estate.clean("h3")
    leftover = estate["h3"].run_unlisted()
    estate.list_engine("of-others", "203.0.113.7")
    estate.node.set_faults({"slow_start_seconds": 6})
    try:
        with estate.stepping("slb.fleet.rollout", "--limit", "h3", slb_wait_timeout=40) as steps:
            steps.go_on_until(ASK)
            estate["h3"].a_person_deploys(until="deploying")
            run = steps.go_on_to_the_end()
    finally:
        estate.node.set_faults({})
    assert run.verified_by.get("h3") == "engine_list", run.output
    states = {each["name"][:13]: each["state"] for each in estate["h3"].dump().containers.values()}
    assert states == {"slb": "running", "slb-leftover-": "exited"}, run.output
    assert leftover != estate["h3"].engine
    assert estate["h3"].listed == ["running"]
