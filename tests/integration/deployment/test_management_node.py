"""Management nodes that are down, that say what is not so, or whose list is described wrongly."""

from __future__ import annotations

import pytest
from fleet import LISTING
from sites import Site, said


def crash(site: Site) -> None:
    site.run_container("slb", "slb:1", "/bin/false")


def lose_the_container(site: Site) -> None:
    site.a_person_deploys()
    site.docker("rm", "--force", "slb")
    site.node.set_faults({"language": "zh"})


@pytest.fixture(scope="module")
def rollout(sites):
    sites.prepare(
        {
            "bullseye-1": lambda site: site.node.kill(),
            "bookworm-1": lambda site: site.run_container(),
            "bullseye-2": crash,
            "bookworm-2": lose_the_container,
            "trixie-2": lambda site: site.a_person_deploys(20),
        }
    )
    return sites.play(
        "slb.fleet.rollout",
        variables={
            "bullseye-1": {"slb_retries": 0},
            "bookworm-1": {"slb_engine_list": LISTING | {"items": "data.engines"}},
            "trixie-1": {"slb_is_change_hostname": True, "slb_engine_name": "edge-of-the-world"},
            "bookworm-2": {"slb_wait_timeout": 6},
            "trixie-2": {"slb_engine_list": LISTING, "slb_wait_timeout": 40},
        },
    )


def test_a_management_node_that_is_down_is_said_and_leaves_no_note(sites, rollout):
    site = sites["bullseye-1"]
    assert "slb_base_url" in said(rollout, site.name) or site.node.base_url in said(rollout, site.name), rollout.output
    assert rollout.of("failed")[site.name] == 1
    assert (site.containers, site.record) == ({}, {})


def test_check_mode_says_that_it_is_down_too(sites, rollout):
    site = sites["bullseye-1"]
    variables = {site.name: {"slb_retries": 0}}
    checked = sites.play("slb.fleet.rollout", "--check", "--limit", site.name, variables=variables)
    assert checked.of("failed")[site.name] == 1
    assert (site.containers, site.record) == ({}, {})


def test_a_list_that_is_described_wrongly_stops_the_host_safely(sites, rollout):
    site = sites["bookworm-1"]
    assert "slb.fleet.show_engine_list" in said(rollout, site.name), rollout.output
    assert "data.engines" in said(rollout, site.name)
    assert (site.containers, site.record) == ({"slb": "running"}, {})


def test_the_hostname_is_changed_where_that_is_asked_for(sites, rollout):
    site = sites["trixie-1"]
    assert site.is_verified(by="host"), rollout.output
    assert site.host.exec(["hostname"]).stdout.strip() == "edge-of-the-world"
    assert site.record["name"] == "edge-of-the-world"


def test_a_container_that_crashes_and_is_not_recorded_is_left_alone(sites, rollout):
    site = sites["bullseye-2"]
    assert "slb_unverified_engine: adopt" in said(rollout, site.name), rollout.output
    assert list(site.containers) == ["slb"]


def test_an_engine_that_exists_only_in_the_console_is_said_in_whatever_language(sites, rollout):
    site = sites["bookworm-2"]
    assert "Engine exists at the management node" in said(rollout, site.name), rollout.output
    assert site.containers == {}


def test_a_deployment_that_the_console_lists_is_joined(sites, rollout):
    site = sites["trixie-2"]
    assert site.is_verified(by="engine_list"), rollout.output
    assert site.requests["install"] == 1, "that of the person"
