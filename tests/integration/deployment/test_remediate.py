"""The healing alone, for hosts that the operator has named."""

from __future__ import annotations

import pytest
from sites import Site, Sites, said

NAMED = "bullseye-1,bookworm-1,trixie-1,bullseye-2,trixie-2"


def serve_a_client(site: Site) -> None:
    site.run_container()
    site.connect_a_client()


def be_forgotten(sites: Sites, site: Site) -> None:
    """Its engine is verified by the host, and the console does not list it: only the operator can know."""
    rollout = sites.play("slb.fleet.rollout", "--limit", site.name)
    assert site.is_verified(by="host"), rollout.output
    site.node.forget(site.name)


@pytest.fixture(scope="module")
def remediated(sites):
    sites.prepare(
        {
            "bullseye-1": lambda site: site.run_container(),
            "bookworm-1": serve_a_client,
            "trixie-1": lambda site: (site.run_container(), site.make_motd_noisy()),
            "bookworm-2": lambda site: site.run_container(),
        }
    )
    be_forgotten(sites, sites["trixie-2"])
    for whole_group in (sites.play("slb.fleet.remediate"), sites.play("slb.fleet.remediate", slb_hosts="engines")):
        assert whole_group.status != 0
        assert "--limit HOST" in whole_group.words
    assert [list(site.containers) for site in sites].count(["slb"]) == 5, "nothing was touched"
    return sites.play("slb.fleet.remediate", "--limit", NAMED)


def test_a_leftover_goes_out_of_the_way_and_no_install_is_asked_for(sites, remediated):
    site = sites["bullseye-1"]
    assert list(site.containers.values()) == ["exited"], remediated.output
    assert len(site.leftovers) == 1
    assert not site.requests.get("install")


def test_an_engine_that_the_host_alone_has_proven_is_taken_away_on_the_operators_word(sites, remediated):
    site = sites["trixie-2"]
    assert list(site.containers.values()) == ["exited"], remediated.output


def test_an_engine_with_connections_is_left_alone(sites, remediated):
    site = sites["bookworm-1"]
    assert "slb_allow_established: true" in said(remediated, site.name), remediated.output
    assert site.containers == {"slb": "running"}


def test_a_noisy_message_of_the_day_goes_with_the_leftover(sites, remediated):
    site = sites["trixie-1"]
    assert site.file("/etc/motd") == ""
    assert site.file("/etc/motd.bak").count("\n") == 400
    assert len(site.leftovers) == 1


def test_a_host_without_a_container_needs_no_healing(sites, remediated):
    site = sites["bullseye-2"]
    assert site.containers == {}
    assert remediated.of("failed")[site.name] == 0


def test_a_host_that_was_not_named_is_not_touched(sites, remediated):
    assert sites["bookworm-2"].containers == {"slb": "running"}
