"""slb_max_fail_hosts: once more hosts of the whole run have failed, no further one is begun."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import INSTALL, LICENSE, answer, for_session
from rollouts import inventory, rollout

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostile_server import Exchange

    from playbooks import Controller

STRATEGIES = ("linear", "free")
STARTED, NO = '{"code":0,"msg":"installation started"}', '{"code":1,"msg":"no room"}'


def refuses(*names: str) -> list[Callable[[Exchange], None]]:
    def behave(exchange: Exchange) -> None:
        name = json.loads(exchange.request.body)["name"]
        answer(200, NO if name in names else STARTED)(exchange)

    return [for_session(behave)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_failures_of_several_batches_count_together(
    start: Callable[..., Any], controller: Controller, strategy: str
) -> None:
    """One fails in the canary's batch and one in the next: of batches of their own, neither would end the run."""
    server = start({INSTALL: refuses("edge-2", "edge-5")})
    hosts = inventory(server, controller.folder / "hosts", 12)
    limits = ["-e", '{"slb_serial": [3, 3, 3, 3], "slb_max_fail_hosts": 1}']
    seen = rollout(controller, hosts, *limits, ANSIBLE_STRATEGY=strategy, ANSIBLE_PRIVATE_ROLE_VARS="true")
    assert seen.counts == {"proven": 4, "failed": 2, "not_attempted": 6}, seen.run.output[-4000:]
    assert seen.run.status != 0
    asked = sorted({json.loads(request.body)["name"] for request in server.to(INSTALL)})
    assert asked == [f"edge-{number}" for number in range(1, 7)], "those under way were brought to their end"
    words = " ".join(seen.run.output.split())
    assert words.count("2 of 12 hosts have failed, and slb_max_fail_hosts allows 1: no further host is begun") == 1


def test_as_many_as_are_allowed_end_nothing(start: Callable[..., Any], controller: Controller) -> None:
    server = start({INSTALL: refuses("edge-2", "edge-5")})
    hosts = inventory(server, controller.folder / "hosts", 12)
    seen = rollout(controller, hosts, "-e", '{"slb_serial": [3, 9], "slb_max_fail_hosts": 2}')
    assert seen.counts == {"proven": 10, "failed": 2}, seen.run.output[-4000:]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("share", "begun"), [(33, 3), (34, 8)])
def test_too_large_a_share_of_a_batch_ends_the_run_behind_it(
    start: Callable[..., Any], controller: Controller, share: int, begun: int, strategy: str
) -> None:
    server = start({INSTALL: refuses("edge-2")})
    hosts = inventory(server, controller.folder / "hosts", 8)
    limits = ["-e", json.dumps({"slb_serial": [3, 2, 3], "slb_max_fail_percentage": share})]
    seen = rollout(controller, hosts, *limits, ANSIBLE_STRATEGY=strategy)
    assert len({json.loads(request.body)["name"] for request in server.to(INSTALL)}) == begun, seen.run.output[-4000:]
    assert (seen.counts["failed"], seen.counts["proven"], seen.counts["not_attempted"]) == (1, begun - 1, 8 - begun)
    assert seen.run.status != 0
    words = "1 of 3 hosts of the last batch have failed, and slb_max_fail_percentage allows 33 %"
    assert " ".join(seen.run.output.split()).count(words) == (begun == 3)


@pytest.mark.parametrize(("limit", "begun"), [("20%", 0), ("25%", 9)])
def test_hosts_that_fail_when_they_are_looked_at_count_too(
    start: Callable[..., Any], controller: Controller, limit: str, begun: int
) -> None:
    server = start()
    trouble = {"edge-1": "unreachable", "edge-2": "live", "edge-3": "unreachable"}
    hosts = inventory(server, controller.folder / "hosts", 12, trouble)
    seen = rollout(controller, hosts, "-e", f"slb_max_fail_hosts={limit}")
    assert server.seen[INSTALL] == begun, seen.run.output[-4000:]
    assert seen.counts["proven" if begun else "not_attempted"] == 9
    assert (seen.counts["unreachable"], seen.counts["failed"]) == (2, 1)


@pytest.mark.parametrize(("limit", "begun"), [(1, 0), (2, 3)])
def test_hosts_that_are_lost_as_their_batch_begins_hold_the_others_of_it_back(
    start: Callable[..., Any], controller: Controller, limit: int, begun: int
) -> None:
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 5, {"edge-2": "lost", "edge-4": "lost"})
    seen = rollout(controller, hosts, "-e", json.dumps({"slb_serial": "100%", "slb_max_fail_hosts": limit}))
    assert server.seen[INSTALL] == begun, seen.run.output[-4000:]
    assert seen.counts == {"unreachable": 2, "proven" if begun else "not_attempted": 3}


def test_a_canary_that_fails_ends_any_run(start: Callable[..., Any], controller: Controller) -> None:
    server = start({INSTALL: refuses("edge-1")})
    hosts = inventory(server, controller.folder / "hosts", 12)
    seen = rollout(controller, hosts, "-e", "slb_max_fail_hosts=5")
    assert seen.counts == {"failed": 1, "not_attempted": 11}, seen.run.output[-4000:]


def test_what_is_no_number_of_hosts_is_said_before_anything_is_begun(
    start: Callable[..., Any], controller: Controller
) -> None:
    server = start()
    seen = rollout(controller, inventory(server, controller.folder / "hosts", 2), "-e", "slb_max_fail_hosts=some")
    assert "slb_max_fail_hosts" in seen.run.output
    assert "a number of hosts, or a percentage such as 10%" in " ".join(seen.run.output.split())
    assert server.connections == 0


def test_batches_that_would_not_be_heeded_are_refused(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    seen = rollout(controller, inventory(server, controller.folder / "hosts", 3, slb_serial=1))
    assert "slb_serial is a variable of edge-1, and would have no effect" in " ".join(seen.run.output.split())
    assert (seen.run.status != 0, server.seen[INSTALL], server.seen[LICENSE]) == (True, 0, 0)
    assert seen.counts == {"not_attempted": 3}
