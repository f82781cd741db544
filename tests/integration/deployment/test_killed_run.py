"""A run is killed with all its processes, at three moments; another one converges."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from runs import kill, wait_until
from sites import DESCRIBED, Site

MOMENTS: dict[str, Callable[[Site], bool]] = {
    "bullseye": lambda site: bool(site.record),
    "bookworm": lambda site: bool(site.requests.get("install")),
    "trixie": lambda site: site.docker("inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", "slb") == "no",
}


@pytest.fixture(scope="module")
def leftovers(sites):
    """Each release's hosts have a run of their own, killed at its moment; what they are left with."""
    sites.prepare({f"trixie-{number}": lambda site: site.run_container() for number in (1, 2)})
    with ExitStack() as runs:
        started = {
            release: runs.enter_context(
                sites.started(
                    "slb.fleet.rollout",
                    "--limit",
                    f"{release}-*",
                    **DESCRIBED,
                    slb_stop_timeout=5,
                )
            )
            for release in MOMENTS
        }

        def kill_at_its_moment(release):
            site = sites[f"{release}-1"]
            wait_until(lambda: MOMENTS[release](site), f"the moment of {release}", seconds=600)
            assert started[release].poll() is None
            kill(started[release])
            assert started[release].returncode == -signal.SIGKILL

        # The moment of one run may pass while another run is waited for.
        with ThreadPoolExecutor(max_workers=len(MOMENTS)) as threads:
            list(threads.map(kill_at_its_moment, MOMENTS))
    return {site.name: list(site.containers) for site in sites}


@pytest.fixture(scope="module")
def rollout(sites, leftovers):
    return sites.play("slb.fleet.rollout", **DESCRIBED)


def test_an_undisturbed_run_converges(sites, rollout):
    assert rollout.status == 0, rollout.output
    for site in sites:
        assert site.is_verified(by="engine_list"), rollout.output
        assert site.listed == ["running"]


def test_no_install_was_asked_for_twice_without_need(sites, rollout):
    for site in sites:
        assert site.requests["install"] <= 2
    assert [site.requests["install"] for site in sites if site.name.startswith("bookworm")] == [1, 1]


def test_nothing_was_deleted(sites, leftovers, rollout):
    for site in sites:
        assert len(site.leftovers) == (1 if site.name.startswith("trixie") else 0), rollout.output
