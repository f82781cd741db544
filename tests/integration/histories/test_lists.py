"""The console's list can lie: what a run does on its word alone is bounded, and undone when it proves wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from estate import Estate, History
from runs import Run, wait_until
from sites import LISTING, RECORD


def be_unrecorded(estate: Estate, name: str) -> None:
    """A live engine that the node knows, and of which this collection has no record."""
    estate[name].host.exec(["rm", "-rf", "/etc/ansible"])


def run_unlisted(estate: Estate, name: str) -> None:
    """A leftover that runs: neither the node nor a record knows it."""
    be_unrecorded(estate, name)
    estate.forget_engine(name)


# --- a list that shows too little


@pytest.fixture(scope="module")
def over_budget(estate: Estate) -> History:
    """The account sees two of six engines, and the run may stop one on the list's word."""
    estate.make_verified()
    for name in ("h1", "h2", "h3", "h4"):
        be_unrecorded(estate, name)
        estate.alter_engine(name, listed=0)
    return estate.history("slb.fleet.rollout", slb_max_replaced=1, extra={"slb_serial": [1, "10%", "100%"]})


def test_more_running_containers_than_the_list_alone_may_stop_are_all_left_alone(over_budget: History) -> None:
    assert over_budget.failed("h1", "h2", "h3", "h4"), over_budget.run.output
    assert over_budget.touched == {}
    assert not over_budget.requests.get("install")


def test_they_are_named_together(over_budget: History) -> None:
    for name in ("h1", "h2", "h3", "h4"):
        words = over_budget.said(name)
        assert "h1, h2, h3, h4" in words, over_budget.run.output
        assert "slb_max_replaced" in words


def test_those_that_the_list_shows_are_verified_all_the_same(over_budget: History) -> None:
    assert over_budget.verified_by_console("h5", "h6"), over_budget.run.output


# --- a live engine that a filter hides


@pytest.fixture(scope="module")
def hidden(estate: Estate, over_budget: History) -> History:
    """Two live engines are hidden. The first batch has one of them, and a host that has none; then comes the other."""
    estate.make_verified()
    estate["h1"].docker("update", "--restart", "unless-stopped", "slb")
    estate.clean("h2")
    for name in ("h1", "h3"):
        be_unrecorded(estate, name)
        estate.alter_engine(name, listed=0)
    estate["h3"].docker("pause", "slb")
    return estate.history("slb.fleet.rollout", slb_max_replaced=2, extra={"slb_serial": [2, "100%"]})


def test_a_hidden_live_engine_is_put_back_as_it_was_when_the_node_says_that_it_exists(
    estate: Estate, hidden: History
) -> None:
    assert hidden.run.report["h1"].startswith("failed"), hidden.run.output
    before, after = hidden.touched["h1"]
    assert set(after.containers) == set(before.containers), "nothing was made"
    ((_, was),) = before.containers.items()
    ((_, now),) = after.containers.items()
    assert (now["name"], now["state"], now["policy"]) == ("slb", "running", "unless-stopped")
    assert now["started"] != was["started"], "it had been stopped: else this shows nothing"
    assert after.is_back_from(before), "no record is left"


def test_the_message_says_what_was_done_and_what_to_mend(hidden: History) -> None:
    words = hidden.said("h1")
    assert "put back" in words, hidden.run.output
    assert "slb_engine_list" in words
    assert "exists" in words


def test_no_other_is_stopped_on_that_reading(hidden: History) -> None:
    assert hidden.failed("h1", "h3"), hidden.run.output
    assert set(hidden.touched) == {"h1", "h2"}
    assert hidden.requests["install"] == 2, "of the hidden engine, and of the one that was missing"
    assert "h1" in hidden.said("h3"), "whose engine has shown that the list is wrong"


def test_another_host_is_deployed_all_the_same(hidden: History) -> None:
    assert hidden.verified_by_console("h2"), hidden.run.output


# --- lists that say nothing, or something else


def described(**changes: Any) -> dict[str, Any]:
    return {"slb_engine_list": LISTING | changes}


ODD: dict[str, dict[str, Any]] = {
    # The console's word for running is none that was described.
    "h1": described(running=["up"]),
    # The description does not fit the answer.
    "h2": described(items="data.engines"),
    # The path is answered with a page that is no list, or not at all.
    "h3": described(path="/console/nothing"),
    # It is said to be good, and the list does not show it.
    "h4": {"slb_unverified_engine": "adopt"},
    # It is said to be good, and the list shows it at another address.
    "h5": {"slb_unverified_engine": "adopt"},
    # It is said to be good, and the list's word says nothing.
    "h6": {"slb_unverified_engine": "adopt", **described(running=["up"])},
}


@pytest.fixture(scope="module")
def odd(estate: Estate, hidden: History) -> History:
    estate.make_verified()
    run_unlisted(estate, "h4")
    be_unrecorded(estate, "h5")
    estate.alter_engine("h5", address="198.18.255.254")
    be_unrecorded(estate, "h6")
    return estate.history("slb.fleet.rollout", hosts=ODD)


def test_nothing_is_touched_or_claimed_where_the_list_says_nothing_clear(odd: History) -> None:
    assert odd.failed(*ODD), odd.run.output
    assert odd.touched == {}
    assert not odd.requests.get("install")


# Shows a defect for h3: the message names the option path, and no variable.
@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("h1", "'running'"),
        ("h2", "data.engines"),
        ("h3", "/console/nothing"),
        ("h4", "adopt"),
        ("h5", "198.18.255.254"),
        ("h6", "'running'"),
    ],
)
def test_each_says_what_its_list_says(odd: History, host: str, words: str) -> None:
    assert words in odd.said(host), odd.run.output
    assert "slb_" in odd.said(host)


# --- a console that starts, and one of another tenant


@pytest.fixture(scope="module")
def empty(estate: Estate, odd: History) -> History:
    """The list shows nothing: h1 to h3 are verified, h4 is not, h5 has only an exited container, h6 has none."""
    estate.make_verified("h1", "h2", "h3", "h4")
    estate.clean("h5", "h6")
    be_unrecorded(estate, "h4")
    estate["h5"].run_container()
    estate["h5"].docker("kill", "slb")
    wait_until(lambda: estate["h5"].containers == {"slb": "exited"}, "its end")
    estate.in_database("UPDATE engines SET listed = 0")
    return estate.history("slb.fleet.rollout", slb_max_replaced="100%")


def test_an_empty_list_takes_no_running_container_away_and_proves_nothing(empty: History) -> None:
    assert empty.failed("h1", "h2", "h3", "h4"), empty.run.output
    assert set(empty.touched) <= {"h5", "h6"}


def test_where_nothing_runs_an_engine_is_deployed(estate: Estate, empty: History) -> None:
    assert empty.verified_by_console("h5", "h6"), empty.run.output
    assert (estate["h5"].leftovers, estate["h6"].leftovers) == (["exited"], [])


@pytest.fixture(scope="module")
def tenant(estate: Estate, empty: History) -> History:
    """The account is that of another tenant: the list shows engines, and none of this fleet. Nothing may be stopped."""
    estate.make_verified()
    estate.in_database("UPDATE engines SET listed = 0")
    estate.list_engine("of-others", "203.0.113.7")
    be_unrecorded(estate, "h1")
    try:
        return estate.history("slb.fleet.rollout", slb_max_replaced=0)
    finally:
        estate.forget_engine("of-others")


def test_the_list_of_another_tenant_proves_nothing_and_stops_nothing(estate: Estate, tenant: History) -> None:
    assert tenant.failed(*estate.names), tenant.run.output
    assert tenant.touched == {}
    assert not tenant.requests.get("install")


# --- long after a leftover was taken away


@pytest.fixture(scope="module")
def long_after(estate: Estate, tenant: History) -> tuple[str, History]:
    """The id of what was taken away, rightly; the engine that came in its place is lost, and hidden."""
    estate.make_verified()
    run_unlisted(estate, "h1")
    leftover = estate["h1"].engine
    replaced = estate.history("slb.fleet.rollout", "--limit", "h1", slb_max_replaced=1)
    assert replaced.verified_by_console("h1"), replaced.run.output
    assert estate["h1"].leftovers == ["exited"]
    estate["h1"].docker("rm", "--force", "slb")
    estate["h1"].host.exec(["rm", "-rf", "/etc/ansible"])
    estate.alter_engine("h1", listed=0)
    return leftover, estate.history("slb.fleet.rollout", "--limit", "h1", slb_max_replaced=1)


def test_what_was_rightly_taken_away_long_ago_does_not_come_back(long_after: tuple[str, History]) -> None:
    """The act that took it away has succeeded: a later answer that an engine exists says nothing about it."""
    leftover, history = long_after
    assert history.run.report["h1"].startswith("failed"), history.run.output
    (container,) = history.after.hosts["h1"].containers.values()
    assert container["state"] == "exited", history.run.output
    assert leftover[:12] in history.after.hosts["h1"].containers


# --- a list in pages, which changes while it is read


@pytest.fixture(scope="module")
def shifting(estate: Estate) -> History:
    """No record proves a live engine, and the first reading misses it: it moves to the page that was read just before.

    The console does not say how many engines there are.
    """
    estate.make_verified()
    be_unrecorded(estate, "h5")
    paged = described(path="/console/engines?page_size=4", page_parameter="page")
    estate.node.set_faults({"pages_shift": 1})
    try:
        history = estate.history("slb.fleet.rollout", "--limit", "h5", slb_max_replaced=1, **paged)
        assert estate.node.faults()["pages_shift"] == 0, "no second page was read"
        return history
    finally:
        estate.node.set_faults({})


def test_one_reading_in_pages_stops_no_running_container(estate: Estate, shifting: History) -> None:
    assert shifting.after.hosts["h5"].containers == shifting.before.hosts["h5"].containers, shifting.run.output
    assert not shifting.requests.get("install")
    assert shifting.verified_by_console("h5")


# --- a list that is late

# A reading serves for ten seconds: when the host is looked at again, the list is read anew.
_STAND_STILL_WHEN_CONFIRMED = f"""
until grep -qs '"verified"' {RECORD}; do sleep 0.01; done
sessions=$(pgrep sshd)
kill -STOP $sessions
sleep 11
kill -CONT $sessions
"""


@pytest.fixture(scope="module")
def late(estate: Estate) -> Iterator[Run]:
    """The console still shows a deployment when its wait is over, and the engine as running a moment later."""
    estate.clean("h1")
    host = estate["h1"].host
    host.exec(["systemd-run", "--collect", "--unit", "test-stands-still", "sh", "-c", _STAND_STILL_WHEN_CONFIRMED])
    estate.node.set_faults({"stuck_front_end": True})
    try:
        with estate.started("slb.fleet.rollout", "--limit", "h1", slb_wait_timeout=6) as process:
            wait_until(lambda: estate["h1"].record.get("state") == "verified", lambda: estate.output_of(process), 90)
            estate.alter_engine("h1", stuck_until=0)
            process.wait(120)
            yield Run(process.returncode, estate.output_of(process))
    finally:
        estate.node.set_faults({})


def test_a_record_says_by_what_the_run_has_verified_the_engine(estate: Estate, late: Run) -> None:
    """First the host proves it, and when the console shows it a moment later, the run says so, and so does its note."""
    assert late.status == 0, late.output
    assert late.verified_by.get("h1") == "engine_list", late.output
    assert estate["h1"].is_verified(by="engine_list"), late.output
