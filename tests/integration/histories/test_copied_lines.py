"""A line of the inventory was copied and not changed everywhere: two hosts want to be one engine."""

from __future__ import annotations

from typing import Any

import pytest
from estate import Estate, History

PAIRS = {"h1": "h2", "h2": "h1", "h3": "h4", "h4": "h3", "h5": "h6", "h6": "h5"}


@pytest.fixture(scope="module")
def lines(estate: Estate) -> dict[str, dict[str, Any]]:
    """Of the last two pairs, the first host has been there for long."""
    return {
        "h1": {"slb_engine_name": "edge"},
        "h2": {"slb_engine_name": "edge"},
        "h4": {"slb_manage_ip": estate["h3"].host.address},
        "h6": {"slb_engine_name": "h5", "slb_manage_ip": estate["h5"].host.address},
    }


@pytest.fixture(scope="module")
def copied(estate: Estate, lines: dict[str, dict[str, Any]]) -> History:
    estate.make_verified("h3", "h5")
    estate.clean("h1", "h2", "h4", "h6")
    estate["h6"].run_container()
    return estate.history("slb.fleet.rollout", hosts=lines)


@pytest.fixture(scope="module")
def alone(estate: Estate, lines: dict[str, dict[str, Any]], copied: History) -> History:
    """As in a sliced job: the other host of each pair is in another run."""
    return estate.history("slb.fleet.rollout", "--limit", "h4,h6", hosts=lines)


def test_nothing_is_asked_for_and_nothing_touched(copied: History) -> None:
    assert copied.run.status != 0
    assert copied.touched == {}, copied.run.output
    assert not copied.requests.get("install")


@pytest.mark.parametrize("host", ["h1", "h2", "h4", "h6"])
def test_the_other_host_is_named(copied: History, host: str) -> None:
    assert copied.run.report[host].startswith("failed"), copied.run.output
    assert PAIRS[host] in copied.said(host)
    assert "slb_engine_name" in copied.said(host)


# Shows a defect: h6 is said to be verified in the engine list, for what the node lists at h5's address.
def test_neither_slice_of_a_run_claims_the_others_engine(alone: History) -> None:
    assert alone.failed("h4", "h6"), alone.run.output
    assert alone.touched == {}
    assert not alone.requests.get("install")
    assert "h3" in alone.said("h4")


# --- two lines are swapped, and no host can tell by its own addresses


@pytest.fixture(scope="module")
def swapped(estate: Estate, alone: History) -> History:
    estate.make_verified("h1", "h2")
    addresses = {name: estate[name].host.address for name in ("h1", "h2")}
    lines = {
        "h1": {"ansible_host": addresses["h2"], "slb_manage_ip": addresses["h1"]},
        "h2": {"ansible_host": addresses["h1"], "slb_manage_ip": addresses["h2"]},
    }
    return estate.history("slb.fleet.rollout", "--limit", "h1,h2", hosts=lines, slb_manage_ip_translated=True)


def test_a_record_that_names_the_engine_of_the_other_line_is_not_written_over(swapped: History) -> None:
    assert swapped.failed("h1", "h2"), swapped.run.output
    assert swapped.touched == {}
    for host in ("h1", "h2"):
        assert "two lines of the inventory may be swapped" in swapped.said(host)


def test_the_operators_word_does_not_stop_the_other_lines_engine(estate: Estate, swapped: History) -> None:
    line = {"h1": {"ansible_host": estate["h2"].host.address, "slb_manage_ip": estate["h1"].host.address}}
    estate.alter_engine("h1", status="failed")
    named = estate.history("slb.fleet.remediate", "--limit", "h1", hosts=line, slb_manage_ip_translated=True)
    assert named.failed("h1"), named.run.output
    assert named.touched == {}
