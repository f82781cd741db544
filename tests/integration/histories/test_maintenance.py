"""People work on hosts by hand, after the engines were verified."""

from __future__ import annotations

from typing import Any

import pytest
from estate import Estate, History
from sites import SERVE

# The one host whose list is not described: what is silent must not be read as a yes.
SILENT: dict[str, dict[str, Any]] = {"h1": {"slb_engine_list": None}}


@pytest.fixture(scope="module")
def worked_on(estate: Estate) -> History:
    estate.make_verified()
    estate["h1"].docker("stop", "--time", "1", "slb")
    estate["h2"].docker("pause", "slb")
    estate["h3"].docker("rm", "--force", "slb")
    estate["h4"].docker("restart", "--time", "1", "slb")
    estate["h5"].clean()
    estate["h5"].docker("run", "--detach", "--rm", "--name", "slb", "--network", "host", *SERVE)
    estate.forget_engine("h5")
    estate["h6"].docker("rm", "--force", "slb")
    estate["h6"].run_container()
    return estate.history("slb.fleet.rollout", hosts=SILENT)


@pytest.mark.parametrize("host", ["h1", "h2", "h3", "h5"])
def test_what_a_person_has_done_is_not_undone(worked_on: History, host: str) -> None:
    assert worked_on.run.report[host].startswith("failed"), worked_on.run.output
    assert host not in worked_on.touched


def test_one_that_was_stopped_may_be_started_or_remediated(worked_on: History) -> None:
    words = worked_on.said("h1")
    assert "healthy" in words, worked_on.run.output
    assert "docker start slb" in words
    assert "slb.fleet.remediate" in words


@pytest.mark.parametrize(("host", "state"), [("h2", "paused"), ("h3", "absent")])
def test_one_that_the_console_calls_running_is_drift(worked_on: History, host: str, state: str) -> None:
    assert "Find out who is right" in worked_on.said(host), worked_on.run.output
    assert state in worked_on.said(host)


def test_a_container_that_would_delete_itself_is_not_stopped(worked_on: History) -> None:
    assert "slb_remove_leftovers" in worked_on.said("h5"), worked_on.run.output


def test_a_restart_changes_nothing(worked_on: History) -> None:
    assert worked_on.verified_by_console("h4"), worked_on.run.output
    assert "h4" not in worked_on.touched


def test_a_container_that_was_made_anew_is_recorded_where_the_console_calls_it_running(
    estate: Estate, worked_on: History
) -> None:
    assert worked_on.verified_by_console("h6"), worked_on.run.output
    before, after = worked_on.touched["h6"]
    assert before.containers == after.containers
    assert estate["h6"].record["container_id"] == estate["h6"].engine


@pytest.fixture(scope="module")
def reboot(estate: Estate, worked_on: History) -> None:
    """One host goes down and comes back, while people do what the messages said."""

    def boot() -> None:
        estate["h4"].host.reboot()
        estate.lab.wait_ready(estate["h4"].host)

    def mend() -> None:
        estate["h1"].docker("start", "slb")
        estate["h2"].docker("unpause", "slb")
        estate.forget_engine("h3")

    estate.at_once(boot, mend)


@pytest.fixture(scope="module")
def mended(estate: Estate, reboot: None) -> History:
    hosts = {**SILENT, "h5": {"slb_remove_leftovers": True}}
    before = estate.dump().hosts["h5"]
    assert [each["name"] for each in before.containers.values()] == ["slb"]
    return estate.history("slb.fleet.rollout", may_lose=["h5"], hosts=hosts)


def test_what_the_messages_said_heals(estate: Estate, mended: History) -> None:
    assert mended.run.status == 0, mended.run.output
    assert mended.verified_by_console("h2", "h3", "h4", "h5", "h6")
    assert mended.run.report["h1"].startswith("verified")
    assert mended.requests["install"] == 2, "for the container that was removed, and for the one that removed itself"


def test_a_reboot_and_a_start_by_hand_change_nothing(mended: History) -> None:
    assert set(mended.touched) == {"h3", "h5"}, mended.run.output


def test_one_that_the_operator_gave_up_is_gone(estate: Estate, mended: History) -> None:
    assert estate["h5"].leftovers == []
    assert list(estate["h5"].containers) == ["slb"]
