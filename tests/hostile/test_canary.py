"""A host that fails before the deployment never takes the canary away: its place would be a batch without a host."""

import json

import pytest
from fake_node import LICENSE, answer
from rollouts import environment, installed, inventory, rejecting, rollout

BATCHES = ("-e", json.dumps({"slb_serial": [1, "100%"]}))


@pytest.mark.parametrize(
    ("play", "state", "variables"),
    [
        ("Check the engine hosts", "unreachable", {}),
        ("Check the engine hosts", "", {"slb_settle": -1}),
        ("Check the engine hosts", "", {"slb_host_timeout": 6, "stateful_answers_after": 5}),
        ("Compare the plans", "live", {}),
        ("Compare the plans", "", {"slb_engine_name": "edge-2"}),
    ],
)
def test_next_host_is_the_canary(start, controller, play, state, variables):
    """The canary is the first host that may be changed; it fails, so no other host is."""
    server = start(rejecting("edge-2", "edge-3"))
    hosts = inventory(server, controller.folder / "hosts", 5, {"edge-1": state})
    hosts["engines"]["hosts"]["edge-1"].update(variables)
    seen = rollout(controller, hosts, *BATCHES)
    assert seen.run.status != 0, play
    assert len(installed(server)) <= 1, (play, seen.run.output[-3000:])
    assert seen.counts["not_started"] >= 2


@pytest.mark.parametrize("callback", ["slb.fleet.fleet", "default"])
@pytest.mark.parametrize(
    ("routes", "folder", "code"),
    [({LICENSE: [answer(500)]}, "", "license_unusable"), ({}, "/missing", "license_not_written")],
)
def test_failed_license_ends_the_run(start, controller, routes, folder, code, callback):
    server = start(routes)
    hosts = inventory(server, controller.folder / "hosts", 12, {"edge-5": "verified"})
    license = ("-e", f"slb_license_dest={controller.folder}{folder}/license")
    seen = rollout(controller, hosts, *BATCHES, *license, ANSIBLE_STDOUT_CALLBACK=callback)
    assert (seen.run.status, installed(server)) == (2, set()), seen.run.output[-3000:]
    assert seen.counts == {"not_started": 11, "healthy": 1}
    (group,) = seen.document["groups"]
    assert (len(group["hosts"]), group["code"], bool(group["summary"])) == (11, code, True)
    if callback == "slb.fleet.fleet":
        assert seen.run.output.count(group["summary"]) == 1, seen.run.output[-3000:]


def test_license_of_one_node_of_two_ends_the_run(start, controller):
    good, bad = start(), start({LICENSE: [answer(500)]})
    hosts = inventory(good, controller.folder / "hosts", 4)
    other = inventory(bad, controller.folder / "hosts", 1)["engines"]["vars"]
    for name in ("edge-3", "edge-4"):
        hosts["engines"]["hosts"][name].update({key: other[key] for key in ("slb_base_url", "slb_tls_fingerprint")})
    license = {"slb_license_dest": f"{controller.folder}/license-{{{{ slb_base_url | hash }}}}"}
    seen = rollout(controller, hosts, *BATCHES, "-e", json.dumps(license))
    assert (seen.run.status, installed(good) | installed(bad)) == (2, set()), seen.run.output[-3000:]
    assert seen.counts == {"not_started": 4}


def test_hosts_of_an_earlier_rollout_are_no_canary(start, controller):
    server = start(rejecting("edge-2"))
    hosts = inventory(server, controller.folder / "hosts", 5)
    plays = [
        {"import_playbook": "slb.fleet.rollout", "vars": {"slb_hosts": ["edge-1"]}},
        {"import_playbook": "slb.fleet.rollout"},
    ]
    run = controller.run(plays, hosts, *BATCHES, **environment(controller.folder / "reports"))
    assert run.status == 2, run.output[-3000:]
    assert installed(server) == {"edge-1", "edge-2"}
