"""Something happens between two steps of a run: what was decided is compared with what is there by now."""

from __future__ import annotations

import time

import pytest
from estate import Estate, History

STOP = "Take the leftover container out of the way"
ASK = "Ask the management node to install the engine"


@pytest.fixture(scope="module")
def overtaken(estate: Estate) -> History:
    """Six containers that run are about to be stopped on the list's word.

    Before that, the first one's engine is shown, another container takes the place of the second, a client connects to
    the third, the fourth is stopped by a person. The last two are live; they are stopped, and then the node dies.
    """
    estate.make_proven()
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
    """Whether the run ends with that, or looks again and finds the engine proven."""
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
    estate.make_proven("h1", "h3", "h4", "h5", "h6")
    estate["h1"].host.exec(["rm", "-rf", "/etc/ansible"])
    estate.alter_engine("h1", listed=0)
    estate.clean("h2")
    estate.node.set_faults({"install_answer_lost": True})
    try:
        return estate.history("slb.fleet.rollout", slb_max_replaced=1, slb_wait_timeout=4)
    finally:
        estate.node.set_faults({})


# Shows a defect: the run leaves the host without an engine.
def test_a_live_engine_runs_again_when_no_answer_ever_comes(lost: History) -> None:
    """Nobody has said that it exists, but no engine has come in its place: the host must not be left without one."""
    before, after = lost.touched["h1"]
    states = {key: (each["name"], each["state"]) for key, each in after.containers.items()}
    assert states == dict.fromkeys(before.containers, ("slb", "running")), lost.run.output


def test_an_engine_whose_answer_was_lost_is_proven(lost: History) -> None:
    assert lost.verified_by_console("h2"), lost.run.output
