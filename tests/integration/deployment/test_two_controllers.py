"""Two controllers roll out at the same time: each host gets one request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sites import DESCRIBED, Sites


def test_two_rollouts_at_once_request_once(sites: Sites) -> None:
    sites.prepare({f"trixie-{number}": lambda site: site.run_container() for number in (1, 2)})
    with ThreadPoolExecutor(2) as both:
        runs = list(both.map(lambda _unused: sites.play("slb.fleet.rollout", **DESCRIBED), range(2)))
    again = sites.play("slb.fleet.rollout", **DESCRIBED)
    assert again.status == 0, again.output
    for site in sites:
        assert site.is_verified(by="engine_list"), again.output
        assert site.requests["install"] == 1, "\n".join(run.output for run in runs)
        assert len(site.leftovers) == (1 if site.name.startswith("trixie") else 0)
