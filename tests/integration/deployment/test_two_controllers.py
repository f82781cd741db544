"""Two controllers, or a controller and a person, deploy at the same time: each host gets one request."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from runs import wait_until
from sites import LISTED, Site

pytestmark = pytest.mark.long


def test_two_rollouts_at_once_request_once(sites):
    replaced = ("trixie", "podman")
    sites.prepare(dict.fromkeys(replaced, Site.run_container))
    with ThreadPoolExecutor(2) as both:
        runs = list(both.map(lambda _unused: sites.play("slb.fleet.rollout", **LISTED), range(2)))
    again = sites.play("slb.fleet.rollout", **LISTED)
    assert again.status == 0, again.output
    for site in sites:
        assert site.is_verified(by="engine_list"), again.output
        assert site.requests["install"] == 1, "\n".join(run.output for run in runs)
        assert len(site.leftovers) == (site.name in replaced)


def test_rollout_waits_for_the_request_of_another_run(sites):
    """The container takes ten seconds to stop: the second run is planned while the record says preparing."""
    sites.prepare({"bookworm": Site.run_container, "podman": lambda site: site.a_person_deploys(20)})
    site, given = sites["bookworm"], {**LISTED, "slb_stop_timeout": 10}
    with ThreadPoolExecutor(1) as beside:
        first = beside.submit(sites.play, "slb.fleet.rollout", "-l", site.name, **given)
        wait_until(lambda: site.record.get("state") == "preparing", "the first run prepares", 120)
        second = sites.play("slb.fleet.rollout", "-l", f"{site.name},podman", **given)
        assert (first.result().status, second.status) == (0, 0), first.result().output + second.output
    for name in (site.name, "podman"):
        assert sites[name].requests["install"] == 1, second.output
        assert sites[name].is_verified(by="engine_list"), second.output
    assert len(site.leftovers) == 1
