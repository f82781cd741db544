"""The user has configured the engine list: it tells a leftover that runs from an engine that runs."""

from __future__ import annotations

import pytest
from sites import DESCRIBED, Site

WITH_AN_ENGINE = ["bullseye-1", "bullseye-2", "bookworm-1", "bookworm-2", "trixie-1"]


def lose_the_container(site: Site) -> None:
    site.a_person_deploys()
    site.docker("rm", "--force", "slb")


@pytest.fixture(scope="module")
def before(sites):
    """Which container was there when the run began, by host."""
    sites.prepare(
        {
            "bullseye-1": lambda site: site.run_container(),
            "bullseye-2": lambda site: site.a_person_deploys(),
            "bookworm-1": lambda site: site.break_the_first_deployment({"fail_half_way": "unlisted"}),
            "bookworm-2": lambda site: site.node.set_faults({"stuck_front_end": True}),
            "trixie-1": lambda site: site.break_the_first_deployment({"fail_half_way": "listed"}),
            "trixie-2": lose_the_container,
        }
    )
    return {site.name: site.engine for site in sites}


@pytest.fixture(scope="module")
def rollout(sites, before):
    waits = {host: {"slb_wait_timeout": 12} for host in ("bookworm-1", "bookworm-2", "trixie-1")}
    return sites.play("slb.fleet.rollout", variables=waits, **DESCRIBED)


def test_a_running_container_that_is_not_listed_is_a_leftover(sites, before, rollout):
    site = sites["bullseye-1"]
    assert site.is_verified(by="engine_list"), rollout.output
    assert site.leftovers == ["exited"]
    assert site.engine != before[site.name]


def test_an_engine_that_somebody_else_deployed_is_recorded_and_left_alone(sites, before, rollout):
    site = sites["bullseye-2"]
    assert site.is_verified(by="engine_list"), rollout.output
    assert site.engine == before[site.name]
    assert site.requests["install"] == 1, "that of the person"


def test_deployment_that_the_list_calls_failed_is_replaced_once(sites, rollout):
    site = sites["trixie-1"]
    assert site.is_verified(by="engine_list"), rollout.output
    assert site.leftovers == ["exited"]
    assert site.requests["install"] == 2
    assert site.listed == ["running"]


def test_deployment_that_the_list_does_not_show_is_left_alone(sites, rollout):
    site = sites["bookworm-1"]
    assert rollout.of("failed")[site.name] == 1, rollout.output
    assert (site.containers, site.requests["install"]) == ({"slb": "running"}, 1)


def test_engine_list_stuck_at_deploying_fails_after_the_wait(sites, rollout):
    site = sites["bookworm-2"]
    assert rollout.of("failed")[site.name] == 1, rollout.output
    assert (site.containers, site.record["state"]) == ({"slb": "running"}, "requested")


def test_drift_is_said_and_not_touched(sites, rollout):
    site = sites["trixie-2"]
    assert rollout.of("failed")[site.name] == 1, rollout.output
    assert (site.containers, site.requests["install"]) == ({}, 1)


def test_a_second_rollout_over_proven_engines_reads_the_list_once_and_changes_nothing(sites, rollout):
    listed = [host for host in WITH_AN_ENGINE if not host.startswith("bookworm")]
    for host in listed:
        sites[host].node.reset_counters()
    before = {host: (sites[host].containers, sites[host].record) for host in listed}
    again = sites.play("slb.fleet.rollout", "--limit", ",".join(listed), **DESCRIBED)
    assert again.status == 0, again.output
    assert set(again.of("changed").values()) == {0}
    for host in listed:
        assert again.verified_by.get(host) == "engine_list", again.output
        asked = {name: number for name, number in sites[host].requests.items() if number}
        assert asked == {"login": 1, "engines": 1}, f"{host} asked its management node for more"
        assert (sites[host].containers, sites[host].record) == before[host]
