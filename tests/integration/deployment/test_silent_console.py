"""Deployments without a configured engine list: the host alone verifies them."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def rollout(sites):
    sites.prepare(
        {
            "bullseye-1": lambda site: site.node.set_faults({"stuck_front_end": True}),
            "bullseye-2": lambda site: site.node.set_faults({"install_answer_lost": True}),
            "bookworm-1": lambda site: site.node.set_faults({"slow_start_seconds": 8.0}),
            "bookworm-2": lambda site: site.a_person_deploys(120),
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


def test_a_trouble_that_passes_ends_healthy_after_one_request(sites, rollout):
    for name, trouble in {
        "bullseye-1": "stuck front end",
        "bullseye-2": "lost answer to a request that may have been carried out",
        "bookworm-1": "slow start",
        "trixie-2": "noisy message of the day",
    }.items():
        assert sites[name].is_verified(by="host"), (trouble, rollout.output)
        assert sites[name].requests["install"] == 1, trouble
    assert sites["bullseye-2"].listed == ["running"]


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


def test_a_message_of_the_day_that_was_moved_aside_is_brought_back(sites, rollout):
    site = sites["trixie-2"]
    assert site.file("/etc/motd").count("\n") == 400, rollout.output
    assert site.host.exec(["ls", "/etc/motd.bak"], check=False).returncode != 0
