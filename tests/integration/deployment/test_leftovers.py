"""Leftovers in every state, and management nodes that say why in Chinese or only afterwards."""

from __future__ import annotations

import pytest
from fleet import RECORD
from sites import Site, said


def leave_exited(site: Site) -> None:
    site.run_container()
    site.docker("kill", "slb")


def leave_paused(site: Site) -> None:
    site.run_container()
    site.docker("pause", "slb")


def fail_afterwards(site: Site) -> None:
    site.hold_the_port()
    site.node.set_faults({"errors": "later"})


def answer_in_chinese(site: Site) -> None:
    site.hold_the_port()
    site.node.set_faults({"language": "zh"})


@pytest.fixture(scope="module")
def rollout(sites):
    sites.prepare(
        {
            "bullseye-1": leave_exited,
            "bookworm-1": lambda site: site.docker(
                "create", "--name", "slb", "--restart", "always", "slb:1", "/bin/sh"
            ),
            "trixie-1": leave_paused,
            "bullseye-2": lambda site: site.write(RECORD, '{"state": "pend'),
            "bookworm-2": fail_afterwards,
            "trixie-2": answer_in_chinese,
        }
    )
    return sites.play(
        "slb.fleet.rollout",
        variables={
            "trixie-1": {"slb_unverified_engine": "replace"},
            "bookworm-2": {"slb_wait_timeout": 8},
        },
    )


@pytest.mark.parametrize(
    ("host", "kept"), [("bullseye-1", "exited"), ("bookworm-1", "created"), ("trixie-1", "exited")]
)
def test_a_leftover_is_renamed_and_the_engine_deployed(sites, rollout, host, kept):
    site = sites[host]
    assert site.is_verified(by="host"), rollout.output
    assert site.leftovers == [kept]


def test_a_damaged_record_is_not_taken_for_none(sites, rollout):
    site = sites["bullseye-2"]
    assert RECORD in said(rollout, site.name), rollout.output
    assert (site.containers, site.file(RECORD)) == ({}, '{"state": "pend')
    assert not site.requests.get("install")


def test_a_deployment_that_fails_afterwards_is_tried_twice_and_the_error_says_what_was_seen(sites, rollout):
    site = sites["bookworm-2"]
    assert site.requests["install"] == 2
    assert "No further request is sent in this run" in said(rollout, site.name), rollout.output


def test_an_occupied_port_is_understood_in_chinese(sites, rollout):
    site = sites["trixie-2"]
    assert "8000 (python3)" in said(rollout, site.name), rollout.output
    assert site.requests["install"] == 1
