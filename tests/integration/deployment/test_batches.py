"""A rollout in batches, as by default: the canary is a host that has work, and what it shows decides about the rest."""

from __future__ import annotations

import pytest
from fleet import RECORD
from sites import Site

pytestmark = pytest.mark.long
DEFAULT = [1, "10%", "100%"]
HEALTHY, CANARY, UNREACHABLE = "bullseye", "bookworm", "podman"
REST = ("trixie", UNREACHABLE)


def asked(site: Site) -> int:
    """Requests of every kind that its management node has seen."""
    return sum(site.requests.values())


@pytest.fixture(scope="module")
def held_up(sites):
    """The first host is verified already, and the first that has work fails."""
    sites.prepare({CANARY: lambda site: site.hold_the_port()})
    verified = sites.play("slb.fleet.rollout", "--limit", HEALTHY)
    assert verified.status == 0, verified.output
    return sites.play("slb.fleet.rollout", slb_serial=DEFAULT)


@pytest.fixture(scope="module")
def rollout(sites, held_up):
    sites[CANARY].free_the_port()
    # Its engine runs and nothing verifies it: that one waits for an operator.
    sites[HEALTHY].host.exec(["rm", RECORD])
    closed = {"ansible_port": 1}
    return sites.play("slb.fleet.rollout", variables={UNREACHABLE: closed}, slb_serial=DEFAULT)


@pytest.fixture(scope="module")
def second(sites, rollout):
    sites.play("slb.fleet.rollout", variables={HEALTHY: {"slb_unverified_engine": "adopt"}}, slb_serial=DEFAULT)
    for site in sites:
        site.node.reset_counters()
    return sites.play("slb.fleet.rollout", slb_serial=DEFAULT)


def test_failed_canary_ends_the_run_before_other_changes(sites, held_up):
    assert held_up.status != 0
    assert held_up.of("failed") == {name: int(name == CANARY) for name in held_up.recap}, held_up.output
    for name in REST:
        site = sites[name]
        assert (site.containers, site.record, site.requests["install"]) == ({}, {}, 0)


def test_report_has_verified_failed_and_not_started_hosts(held_up):
    assert held_up.verified_by.get(HEALTHY) == "host", held_up.output
    assert held_up.report[CANARY].startswith("failed")
    assert [held_up.report[name].startswith("not started") for name in REST] == [True] * len(REST), held_up.output


def test_unreachable_or_blocked_host_delays_no_other(sites, rollout):
    assert rollout.report[UNREACHABLE].startswith("unreachable"), rollout.output
    assert rollout.report[HEALTHY].startswith("failed"), rollout.output
    for site in sites:
        assert site.name in (UNREACHABLE, HEALTHY) or site.is_verified(by="host"), rollout.output


def test_a_second_run_over_a_healthy_fleet_is_one_look(sites, second):
    assert second.status == 0, second.output
    assert set(second.of("changed").values()) == {0}
    assert set(second.of("ok").values()) == {1}, second.output
    assert [asked(site) for site in sites] == [0] * 4
    assert "WARNING" not in second.output
    assert {line.split()[0] for line in second.report.values()} == {"verified"}
