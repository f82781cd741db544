"""Deployments without a configured engine list: the host alone verifies them."""

from __future__ import annotations

import pytest
from sites import Site


def be_deployed_slowly(site: Site) -> None:
    site.node.set_faults({"slow_start_seconds": 120.0})
    site.a_person_deploys(until="deploying")


@pytest.fixture(scope="module")
def rollout(sites):
    sites.prepare(
        {
            "bullseye-1": lambda site: site.node.set_faults({"stuck_front_end": True}),
            "bullseye-2": lambda site: site.node.set_faults({"install_answer_lost": True}),
            "bookworm-1": lambda site: site.node.set_faults({"slow_start_seconds": 8.0}),
            "bookworm-2": be_deployed_slowly,
            "trixie-1": lambda site: site.node.set_faults({"engine_crashes": True}),
            "trixie-2": lambda site: site.make_motd_noisy(),
        }
    )
    return sites.play(
        "slb.fleet.rollout",
        variables={
            "trixie-1": {"slb_wait_timeout": 30},
            "trixie-2": {"slb_motd_after": "restored"},
        },
    )


def test_a_stuck_front_end_is_seen_through(sites, rollout):
    site = sites["bullseye-1"]
    assert site.is_verified(by="host"), rollout.output
    assert site.requests["install"] == 1


def test_a_lost_answer_is_not_a_failed_deployment(sites, rollout):
    site = sites["bullseye-2"]
    assert site.is_verified(by="host"), rollout.output
    assert site.requests["install"] == 1, "the call that may have been carried out is not repeated"
    assert site.listed == ["running"]


def test_a_slow_start_is_waited_for(sites, rollout):
    site = sites["bookworm-1"]
    assert site.is_verified(by="host"), rollout.output
    assert site.requests["install"] == 1


def test_exists_while_a_person_deploys_fails_and_changes_nothing(sites, rollout):
    site = sites["bookworm-2"]
    assert rollout.of("failed")[site.name] == 1, rollout.output
    assert (site.record, site.leftovers) == ({}, [])
    assert site.requests["install"] == 2, "the person's, and ours, which was told that the engine exists"


def test_a_crashing_engine_is_tried_as_often_as_allowed_and_then_said_so(sites, rollout):
    site = sites["trixie-1"]
    assert site.requests["install"] == 2
    assert site.leftovers == ["exited"], "the first attempt's container, set aside and not deleted"
    assert rollout.of("failed")[site.name] == 1


def test_a_noisy_message_of_the_day_is_moved_aside_for_the_deployment_and_brought_back(sites, rollout):
    site = sites["trixie-2"]
    assert site.is_verified(by="host"), rollout.output
    assert site.requests["install"] == 1, "at the first attempt"
    assert site.file("/etc/motd").count("\n") == 400
    assert site.host.exec(["ls", "/etc/motd.bak"], check=False).returncode != 0
