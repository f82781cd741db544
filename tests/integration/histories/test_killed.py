"""Runs are killed between two steps, always the same ones; another run converges, and a live engine runs again."""

from __future__ import annotations

from typing import Any

import pytest
from estate import Dump, Estate, History
from sites import RECORD, wait_until

pytestmark = pytest.mark.long

ASK = "ask the management node to install the engine"
PROVE = "Wait where a deployment is under way, look again, decide again"
# Killed when the request is noted on the host, and not yet made.
NOTED = ("h1", "h2")
# The step before which each other host's run is killed.
MOMENTS = {
    "h3": ASK,
    "h4": PROVE,
    "h5": PROVE,
    "h6": "Put the container back as it was",
}
# Their live engines are hidden by a filter.
HIDDEN = ("h2", "h3", "h5", "h6")


@pytest.fixture(scope="module")
def killed(estate: Estate) -> tuple[Dump, Dump]:
    """What there was before the runs, and after they were killed."""
    estate.make_verified()
    estate.clean("h1", "h4")
    for name in HIDDEN:
        estate[name].host.exec(["rm", "-rf", "/etc/ansible"])
        estate.alter_engine(name, listed=0)
    # A list that shows no engine at all would say nothing.
    estate.list_engine("of-others", "203.0.113.7")
    before = estate.dump()
    runs = estate.at_once(
        *(
            lambda name=name, step=step: estate.kill_before(
                step, "slb.fleet.rollout", "--limit", name, slb_max_replaced=1
            )
            for name, step in MOMENTS.items()
        )
    )
    # Its run was killed when the engine was asked for and not yet noted as verified. How long the management node takes
    # to deploy it is no matter here.
    wait_until(
        lambda: estate["h4"].containers == {"slb": "running"},
        lambda: f"the engine of h4, but {estate.dump().engines} {runs}",
        120,
    )
    estate.kill_in(ASK, "slb.fleet.rollout", *NOTED, slb_max_replaced=1)
    return before, estate.dump()


@pytest.fixture(scope="module")
def again(estate: Estate, killed: tuple[Dump, Dump]) -> History:
    # The management node has that long to show what it has deployed, before the host's word is taken for it.
    return estate.history("slb.fleet.rollout", slb_max_replaced=1, slb_settle=20, slb_wait_timeout=90)


@pytest.fixture(scope="module")
def corrected(estate: Estate, again: History) -> History:
    """The filter is gone."""
    estate.in_database("UPDATE engines SET listed = 1")
    return estate.history("slb.fleet.rollout", slb_max_replaced=1)


def test_the_runs_were_killed_where_it_matters(estate: Estate, killed: tuple[Dump, Dump]) -> None:
    _, left = killed
    for name in HIDDEN:
        ((_, container),) = left.hosts[name].containers.items()
        assert (container["state"], container["name"] != "slb", container["policy"]) == ("exited", True, "no")
    assert left.hosts["h1"].containers == {}
    assert list(left.hosts["h1"].files) == [RECORD]
    assert [RECORD in left.hosts[name].files for name in ("h2", "h3")] == [True, False]
    assert [each["name"] for each in left.hosts["h4"].containers.values()] == ["slb"]


@pytest.mark.parametrize("host", ["h1", "h4"])
def test_the_next_run_proves_what_was_under_way(estate: Estate, again: History, host: str) -> None:
    assert again.verified_by_console(host), again.run.output
    assert estate[host].is_verified(by="engine_list")


def test_no_install_was_asked_for_twice(again: History, killed: tuple[Dump, Dump]) -> None:
    """One that had not been asked for, and the hidden ones, whose answer is that they exist."""
    assert again.requests["install"] == 1 + len(HIDDEN), again.run.output


@pytest.mark.parametrize("host", HIDDEN)
def test_a_hidden_live_engine_runs_again(killed: tuple[Dump, Dump], again: History, host: str) -> None:
    before = killed[0].hosts[host]
    after = again.after.hosts[host]
    ((identifier, container),) = after.containers.items()
    assert [identifier] == list(before.containers), again.run.output
    assert (container["name"], container["state"], container["policy"]) == ("slb", "running", "always")
    assert after.is_back_from(before), "no record is left"
    assert "put back" in again.said(host)


def test_with_the_right_list_all_are_proven_and_none_is_touched(
    estate: Estate, killed: tuple[Dump, Dump], corrected: History
) -> None:
    assert corrected.run.status == 0, corrected.run.output
    assert corrected.verified_by_console(*estate.names)
    assert not corrected.requests.get("install")
    for name in HIDDEN:
        assert list(corrected.after.hosts[name].containers) == list(killed[0].hosts[name].containers)
    estate.forget_engine("of-others")


# --- somebody corrects the list before the next run, or the operator's word was wrong


@pytest.fixture(scope="module")
def stopped(estate: Estate, corrected: History) -> tuple[Dump, Dump]:
    """Live engines are taken away for nothing: two on the list's word, the third on the operator's; then it shows."""
    estate.make_verified()
    for name in ("h1", "h2"):
        estate[name].host.exec(["rm", "-rf", "/etc/ansible"])
        estate.alter_engine(name, listed=0)
    estate.alter_engine("h3", listed=0)
    before = estate.dump()
    estate.at_once(
        lambda: estate.kill_before(ASK, "slb.fleet.rollout", "--limit", "h2"),
        lambda: estate.play("slb.fleet.remediate", "--limit", "h3"),
    )
    estate.kill_in(ASK, "slb.fleet.rollout", "h1")
    left = estate.dump()
    estate.in_database("UPDATE engines SET listed = 1")
    return before, left


@pytest.fixture(scope="module")
def shown(estate: Estate, stopped: tuple[Dump, Dump]) -> History:
    return estate.history("slb.fleet.rollout")


# Shows a defect: the engine stays stopped, in every later run, too.
@pytest.mark.parametrize("host", ["h1", "h2"])
def test_an_engine_that_the_list_shows_by_now_is_put_back(
    stopped: tuple[Dump, Dump], shown: History, host: str
) -> None:
    """The reason of the act was wrong: the act is undone by itself."""
    before, left = stopped
    assert [each["state"] for each in left.hosts[host].containers.values()] == ["exited"]
    after = shown.after.hosts[host]
    assert running(after.containers) == running(before.hosts[host].containers), shown.run.output
    assert shown.verified_by_console(host)


# Shows a defect: the remedy names a container slb that is not there.
def test_an_engine_that_the_operator_gave_up_and_the_list_shows_is_put_back_or_the_way_back_is_said(
    stopped: tuple[Dump, Dump], shown: History
) -> None:
    before, left = stopped
    ((_, container),) = left.hosts["h3"].containers.items()
    is_back = running(shown.after.hosts["h3"].containers) == running(before.hosts["h3"].containers)
    assert is_back or f"docker rename {container['name']} slb" in shown.said("h3"), shown.run.output


# --- the module itself is killed in the middle of its work


# The runtime's command at which the module dies, which the move consists of: policy off, stop, rename.
STEPS = {"h1": "stop", "h2": "rename", "h3": "rename", "h4": "stop"}
_DEADLY = """#!/bin/sh
[ "$1" = {step} ] && kill -9 $PPID && exit 1
exec /usr/bin/docker.real "$@"
"""


@pytest.fixture(scope="module")
def half_gone(estate: Estate, shown: History) -> tuple[Dump, Dump]:
    """Live engines that a filter hides; of two of them the list shows the truth again before the next run."""
    estate.make_verified()
    for name, step in STEPS.items():
        estate[name].host.exec(["rm", "-rf", "/etc/ansible"])
        estate.alter_engine(name, listed=0)
        estate[name].host.exec(["mv", "/usr/bin/docker", "/usr/bin/docker.real"])
        estate[name].write("/usr/bin/docker", _DEADLY.format(step=step))
        estate[name].host.exec(["chmod", "0755", "/usr/bin/docker"])
    before = estate.dump()
    estate.play("slb.fleet.rollout", slb_max_replaced="100%")
    for name in STEPS:
        estate[name].host.exec(["mv", "/usr/bin/docker.real", "/usr/bin/docker"])
    left = estate.dump()
    for name in ("h1", "h2"):
        estate.alter_engine(name, listed=1)
    return before, left


def test_the_module_was_killed_between_its_steps(half_gone: tuple[Dump, Dump]) -> None:
    for name, step in STEPS.items():
        ((_, container),) = half_gone[1].hosts[name].containers.items()
        state = "running" if step == "stop" else "exited"
        assert (container["name"], container["state"], container["policy"]) == ("slb", state, "no")


@pytest.fixture(scope="module")
def after_half(estate: Estate, half_gone: tuple[Dump, Dump]) -> History:
    return estate.history("slb.fleet.rollout", slb_max_replaced="100%")


@pytest.mark.parametrize("host", STEPS)
def test_what_was_half_gone_is_what_it_was_with_its_restart_policy(
    half_gone: tuple[Dump, Dump], after_half: History, host: str
) -> None:
    after = after_half.after.hosts[host].containers
    assert running(after) == running(half_gone[0].hosts[host].containers), after_half.run.output
    assert after_half.verified_by_console(host) is (host in ("h1", "h2"))


def running(containers: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {key: (each["name"], each["policy"]) for key, each in containers.items() if each["state"] == "running"}
