"""Two controllers roll out at the same time: each host gets one request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from runs import wait_until
from sites import DESCRIBED


def test_two_rollouts_at_once_request_once(sites):
    sites.prepare({f"trixie-{number}": lambda site: site.run_container() for number in (1, 2)})
    with ThreadPoolExecutor(2) as both:
        runs = list(both.map(lambda _unused: sites.play("slb.fleet.rollout", **DESCRIBED), range(2)))
    again = sites.play("slb.fleet.rollout", **DESCRIBED)
    assert again.status == 0, again.output
    for site in sites:
        assert site.is_verified(by="engine_list"), again.output
        assert site.requests["install"] == 1, "\n".join(run.output for run in runs)
        assert len(site.leftovers) == (1 if site.name.startswith("trixie") else 0)


def test_a_rollout_that_finds_another_one_at_work_waits_for_its_request(sites):
    """The container takes ten seconds to stop: the second run is planned while the record says preparing."""
    sites.prepare({"bookworm-1": lambda site: site.run_container()})
    site, given = sites["bookworm-1"], {**DESCRIBED, "slb_stop_timeout": 10}
    with ThreadPoolExecutor(1) as beside:
        first = beside.submit(sites.play, "slb.fleet.rollout", "-l", site.name, **given)
        wait_until(lambda: site.record.get("state") == "preparing", "the first run prepares", 120)
        second = sites.play("slb.fleet.rollout", "-l", site.name, **given)
        assert (first.result().status, second.status) == (0, 0), first.result().output + second.output
    assert site.requests["install"] == 1, second.output
    assert site.is_verified(by="engine_list"), second.output
    assert len(site.leftovers) == 1
