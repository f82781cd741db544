"""A run is killed with all its processes, at a moment of its own for each host; another one converges."""

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from runs import kill, wait_until
from sites import LISTED, Site

pytestmark = pytest.mark.long
REPLACED = ("trixie", "podman")


def does_not_restart_any_more(site: Site) -> bool:
    return site.runtime("inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", "slb") == "no"


MOMENTS: dict[str, Callable[[Site], bool]] = {
    "bullseye": lambda site: bool(site.record),
    "bookworm": lambda site: bool(site.requests.get("install")),
    **dict.fromkeys(REPLACED, does_not_restart_any_more),
}


def test_an_undisturbed_run_converges_after_killed_ones(sites):
    def kill_a_run(site):
        with sites.started("slb.fleet.rollout", "--limit", site.name, **LISTED, slb_stop_timeout=5) as run:
            wait_until(lambda: MOMENTS[site.name](site), f"the moment of {site.name}", seconds=600)
            assert run.poll() is None
            kill(run)
            assert run.returncode == -signal.SIGKILL

    sites.prepare(dict.fromkeys(REPLACED, Site.run_container))
    with ThreadPoolExecutor() as threads:
        list(threads.map(kill_a_run, sites))
    rollout = sites.play("slb.fleet.rollout", **LISTED)
    assert rollout.status == 0, rollout.output
    for site in sites:
        assert site.is_verified(by="engine_list"), rollout.output
        assert site.listed == ["running"]
        assert site.requests["install"] <= (1 if site.name == "bookworm" else 2), "not without need"
        assert len(site.leftovers) == (site.name in REPLACED), rollout.output
