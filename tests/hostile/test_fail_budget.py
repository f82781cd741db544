"""slb_max_fail_percentage: too many failed hosts of a batch end the run after the batch."""

import json

import pytest
from fake_node import INSTALL, LICENSE, answer, for_session
from rollouts import inventory, rollout

STARTED, NO = '{"code":0,"msg":"installation started"}', '{"code":1,"msg":"no room"}'


def refuses(*names):
    def behave(exchange):
        name = json.loads(exchange.request.body)["name"]
        answer(200, NO if name in names else STARTED)(exchange)

    return [for_session(behave)]


@pytest.mark.parametrize(("share", "begun"), [(33, 3), (34, 8)])
def test_too_large_a_share_of_a_batch_ends_the_run_behind_it(start, controller, share, begun):
    server = start({INSTALL: refuses("edge-2")})
    hosts = inventory(server, controller.folder / "hosts", 8)
    limits = ["-e", json.dumps({"slb_serial": [3, 2, 3], "slb_max_fail_percentage": share})]
    seen = rollout(controller, hosts, *limits)
    assert len({json.loads(request.body)["name"] for request in server.to(INSTALL)}) == begun, seen.run.output[-4000:]
    assert (seen.counts["failed"], seen.counts["healthy"], seen.counts["not_started"]) == (1, begun - 1, 8 - begun)
    assert seen.run.status != 0


def test_batches_that_would_not_be_heeded_are_refused(start, controller):
    server = start()
    seen = rollout(controller, inventory(server, controller.folder / "hosts", 3, slb_serial=1))
    assert {host["code"] for host in seen.document["hosts"]} == {"invalid_variable"}, seen.run.output
    assert (seen.run.status != 0, server.seen[INSTALL], server.seen[LICENSE]) == (True, 0, 0)
    assert seen.counts == {"failed": 3}
