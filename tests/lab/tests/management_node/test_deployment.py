# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments onto the lab's hosts, for real."""

import os
import socket
import time

import pytest
from runs import wait_until
from slb_lab.lab import Lab
from slb_lab.topology import Topology

from .client import Client

TOPOLOGY = """
management_node: {deploy_seconds: 1.5}
hosts:
  clean: {release: bookworm}
  noisy: {release: trixie, motd_lines: 400}
  blocked: {release: bullseye, leftover: exited, port_holder: true}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLB_LAB_HOME", str(tmp_path_factory.mktemp("labs")))
        made = Lab(f"mn-test-{os.getpid()}")
        try:
            made.up(Topology.parse(TOPOLOGY, "the tests' topology"))
            yield made
        finally:
            made.down()


@pytest.fixture
def admin(lab):
    """Logged in, at a management node that has no faults and knows no engines."""
    node = lab.management_node
    client = Client(node.base_url, node.certificate, node.password)
    client.faults()
    for engine in client.state()["engines"]:
        client.call("DELETE", f"/_lab/engines/{engine['name']}")
    assert client.login().status_code == 200
    return client


@pytest.fixture
def clean(lab):
    """A host without an engine container."""
    host = lab.host("clean")
    host.exec(["docker", "rm", "--force", "slb"], check=False)
    return host


def container(host):
    """State and restart policy of the engine container; empty where there is none."""
    outcome = host.exec(
        ["docker", "inspect", "--format", "{{.State.Status}} {{.HostConfig.RestartPolicy.Name}}", "slb"], check=False
    )
    return outcome.stdout.strip()


def test_a_deployment_ends_as_running_and_the_engine_really_runs(admin, clean):
    # Slow enough for the step to be seen on a busy machine.
    admin.faults(slow_start_seconds=3)
    assert admin.install("edge-1", clean.address).json()["code"] == 0

    progress = []

    def ended(item):
        progress.append(item["progress"])
        return bool(item["status"] != "deploying")

    item = admin.engine_when("edge-1", ended)
    assert (item["status"], item["progress"], item["message"]) == ("running", 100, "")
    assert progress == sorted(progress)
    assert 50 in progress
    assert container(clean) == "running always"
    socket.create_connection((clean.address, 8000), timeout=2).close()


def test_an_engine_that_runs_already_exists(admin, clean):
    admin.install("edge-1", clean.address)
    admin.ended("edge-1")

    for name, address in (("edge-1", clean.address), ("edge-2", clean.address), ("edge-1", "198.51.100.1")):
        answer = admin.install(name, address).json()
        assert answer == {"code": 2002, "msg": f"The engine {name} already exists."}
    assert admin.engines()["edge-1"]["status"] == "running"


@pytest.mark.parametrize(
    ("language", "exists", "occupied"),
    [
        ("en", "The engine edge-3 already exists.", "The port 8000 is occupied on {address}."),
        ("zh", "引擎 edge-3 已存在。", "{address} 的端口 8000 已被占用。"),
    ],
)
def test_what_is_on_the_host_refuses_the_request(admin, lab, language, exists, occupied):
    host = lab.host("blocked")
    admin.faults(language=language)
    assert admin.install("edge-3", host.address).json() == {"code": 2002, "msg": exists}

    host.exec(["docker", "rename", "slb", "slb-aside"])
    try:
        answer = admin.install("edge-3", host.address).json()
        assert answer == {"code": 2002, "msg": occupied.format(address=host.address)}
    finally:
        host.exec(["docker", "rename", "slb-aside", "slb"])
    assert admin.engines() == {}


def test_a_long_message_of_the_day_breaks_the_deployment_until_it_is_moved_aside(admin, lab):
    noisy = lab.host("noisy")
    admin.install("edge-2", noisy.address)
    item = admin.ended("edge-2")
    assert item["status"] == "failed"
    assert item["message"].startswith(f"No shell prompt was found on {noisy.address}: ")
    assert container(noisy) == ""

    noisy.exec(["mv", "/etc/motd", "/etc/motd.bak"])
    admin.install("edge-2", noisy.address)
    assert admin.ended("edge-2")["status"] == "running"
    assert container(noisy) == "running always"


def test_a_stuck_front_end_goes_on_showing_a_finished_deployment(admin, clean):
    admin.faults(stuck_front_end=True)
    admin.install("edge-1", clean.address)
    wait_until(lambda: admin.state()["engines"][0]["front_end_stuck"], "the front end is stuck")

    assert container(clean) == "running always"
    item = admin.engines()["edge-1"]
    assert item["status"] == "deploying"
    assert item["progress"] < 100

    admin.faults()
    assert admin.engines()["edge-1"]["status"] == "running"


@pytest.mark.parametrize("fault", ["listed", "unlisted"])
def test_a_deployment_that_fails_half_way_leaves_its_container(admin, clean, fault):
    admin.faults(fail_half_way=fault)
    admin.install("edge-1", clean.address)
    wait_until(lambda: admin.state()["engines"][0]["status"] != "deploying", "it has ended")

    admin.faults()
    listed = admin.engines()
    assert (listed["edge-1"]["status"] if fault == "listed" else listed) == ("failed" if fault == "listed" else {})
    assert container(clean) == "running always"
    assert admin.install("edge-1", clean.address).json()["msg"] == "The engine edge-1 already exists."


def test_an_engine_that_crashes_ends_as_failed(admin, clean):
    admin.faults(engine_crashes=True)
    admin.install("edge-1", clean.address)

    item = admin.ended("edge-1")

    assert item["status"] == "failed"
    assert item["message"] == f"The engine does not answer on port 8000 of {clean.address}."
    assert container(clean).endswith(" always")
    assert int(clean.exec(["docker", "inspect", "--format", "{{.RestartCount}}", "slb"]).stdout) > 0


def test_a_kill_in_the_middle_leaves_a_failed_engine_and_a_usable_node(admin, clean, lab):
    admin.faults(slow_start_seconds=30)
    admin.install("edge-1", clean.address)
    admin.wait_for_message("edge-1", "Starting the engine")

    lab.management_node.kill()
    lab.management_node.start()

    admin.login()
    assert admin.engines()["edge-1"]["status"] == "failed"
    assert admin.install("edge-1", clean.address).json()["code"] == 0
    assert admin.ended("edge-1")["status"] == "running"


def test_interfaces_are_offered_while_networkmanager_controls_them(admin, clean):
    clean.exec(["ip", "link", "add", "ens9", "type", "veth", "peer", "name", "ens9-peer"])
    clean.exec(["ip", "link", "set", "ens9-peer", "up"])
    assert admin.offered(clean.address) == []

    # As the document says: connect, which cannot end without DHCP, then go without an address.
    clean.exec(["nmcli", "--wait", "2", "device", "connect", "ens9"], check=False)
    assert admin.offered(clean.address) == []
    clean.exec(["nmcli", "connection", "modify", "ens9", "ipv4.method", "disabled", "ipv6.method", "ignore"])
    clean.exec(["nmcli", "device", "reapply", "ens9"])
    assert _offered_when(admin, clean, ["ens9"])

    clean.exec(["nmcli", "device", "set", "ens9", "managed", "no"])
    assert _offered_when(admin, clean, [])


def _offered_when(admin, host, expected):
    deadline = time.monotonic() + 10
    while (offered := admin.offered(host.address)) != expected:
        assert time.monotonic() < deadline, f"still offered: {offered}"
        time.sleep(0.2)
    return True
