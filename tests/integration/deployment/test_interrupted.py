"""Hosts that are slow, full or frozen, and a controller that stands still: what runs is kept, the others verified."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from runs import wait_until
from sites import LISTED, Site, said
from slb_lab import docker

pytestmark = pytest.mark.long
SLOW = """#!/bin/sh
sleep 9
exec /usr/bin/docker "$@"
"""
# Docker writes the container's configuration there. The rest of the host has free space.
FULL = """
folder=/var/lib/docker/containers/$(docker inspect --format '{{.Id}}' slb)
cp -a $folder /run/test-copy
mount -t tmpfs -o size=200k tmpfs $folder
cp -a /run/test-copy/. $folder/
dd if=/dev/zero of=$folder/filler bs=1k || true
"""
FREE = "umount /var/lib/docker/containers/*; rm -rf /run/test-copy"
MARK = 4
"""Number of the SSH call that records the request: after two checks and the preparation."""
STANDS_STILL = """#!/bin/sh
# Stops the worker process of Ansible after call {call}, for longer than its request may wait.
case " $* " in *" -O "*) exec ssh "$@";; esac
number=$(($(cat {counter} 2>/dev/null || echo 0) + 1))
echo $number >{counter}
test $number = {call} || exec ssh "$@"
ssh "$@"
status=$?
kill -STOP $PPID
(sleep 40; kill -CONT $PPID) >/dev/null 2>&1 &
exit $status
"""


def test_slow_and_full_hosts_keep_their_container(sites):
    slow, full = sites["bookworm"], sites["trixie"]
    sites.prepare({site.name: Site.run_container for site in (slow, full)})
    full.runtime("update", "--restart=no", "slb")
    before = {site.name: site.engine for site in (slow, full)}
    try:
        slow.write("/usr/local/bin/docker", SLOW)
        slow.host.exec(["chmod", "755", "/usr/local/bin/docker"])
        full.host.exec(["sh", "-c", FULL])
        given = {slow.name: {"slb_host_timeout": 60}, full.name: {}}
        rollout = sites.play(
            "slb.fleet.rollout", "--limit", "bookworm,trixie", variables=given, slb_unverified_engine="replace"
        )
    finally:
        slow.host.exec(["rm", "-f", "/usr/local/bin/docker"])
        full.host.exec(["sh", "-c", FREE], check=False)
    assert "host_timeout" in said(rollout, slow.name), rollout.output
    assert "no space left" in said(rollout, full.name), rollout.output
    for site in (slow, full):
        assert (site.engine, site.containers) == (before[site.name], {"slb": "running"}), rollout.output
        assert (site.record, site.requests.get("install", 0)) == ({}, 0), rollout.output


def test_frozen_host_fails_and_the_others_are_verified(sites):
    sites.prepare({})
    frozen, *others = sites
    docker.run(["pause", frozen.host.container])
    try:
        rollout = sites.play("slb.fleet.rollout", slb_host_timeout=40)
    finally:
        docker.run(["unpause", frozen.host.container])
    # A connection that was open before lets the task begin.
    assert "host_timeout" in rollout.report[frozen.name] or rollout.report[frozen.name].startswith("unreachable")
    assert all(site.is_verified(by="host") for site in others), rollout.output


def _stand_still(folder: Path) -> str:
    script = folder / "ssh"
    script.write_text(STANDS_STILL.format(call=MARK, counter=folder / "calls"))
    script.chmod(0o755)
    return str(script)


def test_controller_that_stood_still_sends_no_request(sites, tmp_path):
    """The second run waits for the first request, which is never sent, and requests the installation itself."""
    site = sites["bookworm"]
    sites.prepare({site.name: Site.run_container})
    still = {site.name: {"ansible_ssh_executable": _stand_still(tmp_path)}}
    with ThreadPoolExecutor(1) as second_thread:
        first = second_thread.submit(sites.play, "slb.fleet.rollout", "--limit", site.name, variables=still, **LISTED)
        wait_until(lambda: site.record.get("state") == "requested", "the first run records its request", 300)
        second = sites.play("slb.fleet.rollout", "--limit", site.name, **LISTED)
        stood_still = first.result()
    assert "request_too_late" in said(stood_still, site.name), stood_still.output
    assert second.status == 0, second.output
    assert site.is_verified(by="engine_list"), second.output
    assert (site.requests["install"], site.leftovers) == (1, ["exited"]), stood_still.output + second.output
