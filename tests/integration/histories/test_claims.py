"""What was verified once is a claim about one engine at one address of one management node, and may hold no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from estate import NOTE, Estate, History, as_node_of

NOWHERE = "198.18.255.254"


def clone(estate: Estate, original: str, copy: str) -> None:
    """The copy's disk is the original's: its record, what it says of a leftover, and that leftover."""
    source, target = estate[original], estate[copy]
    target.alter_record(**source.record | {"container_id": target.engine})
    leftover = target.docker("create", "--name", "slb-leftover-20260101T000000Z", "--restart", "no", "slb:1", "/bin/sh")
    record = source.record
    note = {"because": "list", "id": leftover, "name": "slb", "restart_policy": "always", "runtime": "docker"}
    moment = {"at": record["requested_at"] - 1, "boot_id": record["boot_id"], "uptime": record["uptime"] - 1}
    target.write(NOTE, json.dumps(note | moment | {"state": "running"}))
    estate.forget_engine(copy)


# --- everything that can differ while the management node is the same


RENAMED: dict[str, dict[str, Any]] = {"h3": {"slb_engine_name": "west-3"}, "h4": {"slb_manage_ip": NOWHERE}}


@pytest.fixture(scope="module")
def differing(estate: Estate) -> History:
    estate.make_verified()
    clone(estate, "h1", "h2")
    # Of an engine before the present one, which the console has lost, too.
    estate["h5"].alter_record(container_id="0" * 64)
    estate.forget_engine("h5")
    estate.alter_engine("h6", address=NOWHERE)
    return estate.history("slb.fleet.rollout", hosts=RENAMED, slb_max_replaced=2)


def test_a_cloned_host_is_not_taken_for_its_original(estate: Estate, differing: History) -> None:
    """It was never deployed; what runs there is a copy that the list does not show, and the run may stop it."""
    assert differing.verified_by_console("h2"), differing.run.output
    member = estate["h2"]
    assert (member.record["name"], member.record["manage_ip"]) == ("h2", member.host.address)
    assert member.is_verified(by="engine_list")
    assert differing.requests["install"] == 2, "for the clone, and for the host with the older record"


@pytest.mark.parametrize("host", ["h3", "h4", "h6"])
def test_an_engine_that_is_listed_under_another_name_or_at_another_address_is_not_asked_for(
    estate: Estate, differing: History, host: str
) -> None:
    assert differing.run.report[host].startswith("failed"), differing.run.output
    assert host not in differing.touched
    words = differing.said(host)
    assert "Nothing was asked for" in words
    assert (NOWHERE if host != "h3" else "west-3") in words
    assert estate[host].host.address in words, "both sides of the contradiction"


def test_an_older_record_proves_no_container_that_the_list_does_not_show(estate: Estate, differing: History) -> None:
    """As without a record: a leftover, which this run may replace; then it is the new engine that is verified."""
    assert differing.verified_by_console("h5"), differing.run.output
    before, after = differing.touched["h5"]
    assert len(after.containers) == len(before.containers) + 1
    assert estate["h5"].is_verified(by="engine_list")


# --- the management node or the hosts are others


@pytest.fixture(scope="module")
def moved(estate: Estate, differing: History) -> Iterator[tuple[History, str]]:
    """Two hosts are swapped, two move to another node, and two engines are lost by theirs."""
    estate.make_verified()
    other = estate.another_node("other")
    try:
        estate.list_engine("h4", estate["h4"].host.address, node=other)
        here = as_node_of(other)
        estate.forget_engine("h5")
        estate.alter_engine("h6", status="failed")
        swapped = {
            "h1": {"ansible_host": estate["h2"].host.address},
            "h2": {"ansible_host": estate["h1"].host.address},
        }
        hosts = {**swapped, "h3": here, "h4": here}
        history = estate.history("slb.fleet.rollout", hosts=hosts, elsewhere=["h3", "h4"], slb_max_replaced=0)
        yield history, other.base_url
    finally:
        other.stop()


@pytest.mark.parametrize("host", ["h1", "h2"])
def test_hosts_that_were_swapped_are_named_and_not_asked_for(
    estate: Estate, moved: tuple[History, str], host: str
) -> None:
    history, _ = moved
    assert history.run.report[host].startswith("failed"), history.run.output
    assert host not in history.touched
    assert {"h1": "h2", "h2": "h1"}[host] in history.said(host)
    assert "Nothing was asked for" in history.said(host)


def test_an_engine_of_another_management_node_is_not_proven_for_this_one(
    estate: Estate, moved: tuple[History, str]
) -> None:
    history, other = moved
    assert history.run.report["h3"].startswith("failed"), history.run.output
    assert "h3" not in history.touched
    assert (estate.node.base_url in history.said("h3"), other in history.said("h3")) == (True, True)


def test_an_engine_that_the_other_management_node_lists_is_recorded_for_that_one(
    estate: Estate, moved: tuple[History, str]
) -> None:
    history, other = moved
    assert history.verified_by_console("h4"), history.run.output
    assert estate["h4"].record["base_url"] == other
    before, after = history.touched["h4"]
    assert before.containers == after.containers


@pytest.mark.parametrize("host", ["h5", "h6"])
def test_an_engine_that_the_node_has_lost_or_calls_failed_is_drift(moved: tuple[History, str], host: str) -> None:
    """It was removed in the console, or the node was restored from a backup."""
    history, _ = moved
    assert history.run.report[host].startswith("failed"), history.run.output
    assert host not in history.touched
    assert "healthy" in history.said(host)
    assert "slb.fleet.remediate" in history.said(host)


# --- and back


@pytest.fixture(scope="module")
def healed(estate: Estate, moved: tuple[History, str]) -> tuple[History, History]:
    """What the messages said is done: the named hosts are remediated, the inventory is right again."""
    remediated = estate.history("slb.fleet.remediate", "--limit", "h5,h6")
    return remediated, estate.history("slb.fleet.rollout")


def test_remediate_takes_away_exactly_what_it_was_named_for(healed: tuple[History, History]) -> None:
    remediated, _ = healed
    assert remediated.run.status == 0, remediated.run.output
    assert set(remediated.touched) == {"h5", "h6"}
    assert not remediated.requests.get("install")


def test_drift_heals_by_remediate_and_rollout(estate: Estate, healed: tuple[History, History]) -> None:
    _, rollout = healed
    assert rollout.run.status == 0, rollout.run.output
    for member in estate:
        assert rollout.verified_by_console(member.name), rollout.run.output
        assert member.is_verified(by="engine_list")
    assert rollout.requests["install"] == 2
    assert set(rollout.touched) == {"h4", "h5", "h6"}, "h4 is of this node again"
