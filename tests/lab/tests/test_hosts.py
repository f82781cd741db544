# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine hosts, for real: what is promised of them holds."""

import asyncio
import os

import asyncssh
import pytest
from slb_lab.errors import LabError
from slb_lab.lab import Lab
from slb_lab.topology import Topology

NAME = f"hosts-{os.getpid()}"
HOSTS = """
hosts:
  held: {release: bullseye, leftover: exited, port_holder: true}
  nics:
    release: bookworm
    noise_veth: true
    leftover: running
    nics:
      ens9: {kind: no_address}
      ens10: {kind: unmanaged, link: down}
      ens11: {kind: static}
      ens12: {kind: external}
      ens13: {kind: ifupdown}
      ens14: {kind: auto_profile, dhcp: answers}
      ens15: {kind: strictly_unmanaged}
      ens16: {kind: unmanaged, dhcp: late, dhcp_delay: 6}
  noisy: {release: trixie, motd_lines: 300}
  podman: {release: trixie, runtime: podman, leftover: exited}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SLB_LAB_HOME", str(tmp_path_factory.mktemp("home")))
        lab = Lab(NAME)
        try:
            lab.up(Topology.parse(HOSTS, "test"))
            yield lab
        finally:
            lab.down()


def said(lab, host, *command):
    return lab.host(host).exec(command).stdout.strip()


def engine_state(lab, host):
    return said(
        lab, host, "docker", "inspect", "--format", "{{.State.Status}} {{.HostConfig.RestartPolicy.Name}}", "slb"
    )


def ssh(lab, host, command=None, **options):
    async def run():
        options.setdefault("client_keys", [str(lab.folder.private_key)])
        async with asyncssh.connect(
            lab.host(host).address,
            username="root",
            known_hosts=str(lab.folder.known_hosts),
            config=None,
            agent_path=None,
            **options,
        ) as connection:
            if command:
                return await connection.run(command, timeout=20)
            return await connection.run(term_type="xterm", input="exit\n", timeout=20)

    return asyncio.run(run()).stdout


@pytest.mark.parametrize(("host", "release"), [("held", "bullseye"), ("nics", "bookworm"), ("noisy", "trixie")])
def test_a_host_is_a_whole_machine_of_its_release(lab, host, release):
    assert f"VERSION_CODENAME={release}" in said(lab, host, "cat", "/etc/os-release")
    assert said(lab, host, "systemctl", "is-system-running") == "running"
    assert said(lab, host, "systemctl", "is-active", "NetworkManager", "docker", "ssh").split() == ["active"] * 3
    assert said(lab, host, "docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}") == "slb:1"
    assert said(lab, host, "hostname") == host


def test_leftovers_and_port_holders_are_as_described(lab):
    assert engine_state(lab, "held") == "exited always"
    assert "<title>Directory listing" in said(lab, "held", "curl", "--silent", "http://127.0.0.1:8000/")
    assert engine_state(lab, "nics") == "running always"
    assert "forwarding engine" in said(lab, "nics", "curl", "--silent", "http://127.0.0.1:8000/")
    with pytest.raises(LabError, match=r"(?i)no such object: slb"):
        engine_state(lab, "noisy")


def test_a_podman_host_has_podman_and_no_docker(lab):
    assert said(lab, "podman", "systemctl", "is-system-running") == "running"
    assert said(lab, "podman", "sh", "-c", "command -v docker dockerd || echo none") == "none"
    assert said(lab, "podman", "podman", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}") == "localhost/slb:1"
    form = "{{.State.Status}} {{.HostConfig.RestartPolicy.Name}}"
    assert said(lab, "podman", "podman", "inspect", "--format", form, "slb") == "exited always"


def test_only_an_interactive_login_prints_the_motd(lab):
    interactive = ssh(lab, "noisy")
    assert len(interactive) > 20_000
    assert interactive.count("Section") == 300 - 3
    assert "Section" not in ssh(lab, "noisy", "true")
    assert "Section" not in ssh(lab, "held")


def test_networkmanager_sees_each_kind_of_nic_as_it_should(lab):
    states = dict(
        line.split(":", 1) for line in said(lab, "nics", "nmcli", "-t", "-f", "DEVICE,STATE", "d").splitlines()
    )
    assert states["ens9"] == "disconnected"
    assert states["ens12"].startswith("connected (externally)")
    assert {name for name, state in states.items() if state == "unmanaged"} >= {
        "ens10", "ens11", "ens13", "ens15", "ens16", "eth0",
    }  # fmt: skip
    assert "docker0" in states
    assert [name for name in states if name.startswith("veth")]

    connected = said(lab, "nics", "nmcli", "--wait", "30", "-g", "GENERAL.CONNECTION,IP4.ADDRESS", "d", "show", "ens14")
    assert connected.splitlines()[0].startswith("Wired connection ")
    assert connected.splitlines()[1].startswith("10.77.6.1")

    strictly = lab.host("nics").exec(["nmcli", "--wait", "5", "d", "connect", "ens15"], check=False)
    assert "strictly unmanaged" in strictly.stderr
    assert "state DOWN" in said(lab, "nics", "ip", "link", "show", "ens10")


@pytest.mark.parametrize(("nic", "number"), [("ens11", 3), ("ens12", 4), ("ens13", 5)])
def test_nics_with_addresses_reach_what_is_behind_their_lan(lab, nic, number):
    assert f"10.77.{number}.2/24" in said(lab, "nics", "ip", "-brief", "address", "show", nic)
    assert f"10.99.{number}.0/24 via 10.77.{number}.1" in said(lab, "nics", "ip", "route", "show", "dev", nic)
    said(lab, "nics", "ping", "-c", "1", "-W", "2", f"10.99.{number}.1")
    said(lab, "nics", "ping", "-c", "1", "-W", "2", f"fd77:0:0:{number}::1")


def test_the_documented_command_hangs_without_dhcp_and_succeeds_once_a_late_server_answers(lab):
    hanging = lab.host("nics").exec(["nmcli", "--wait", "2", "d", "connect", "ens9"], check=False)
    assert hanging.returncode == 3
    state = said(lab, "nics", "nmcli", "-g", "GENERAL.STATE", "d", "show", "ens9")
    assert "connecting (getting IP configuration)" in state

    early = lab.host("nics").exec(["nmcli", "--wait", "4", "d", "connect", "ens16"], check=False)
    assert early.returncode == 3
    said(lab, "nics", "nmcli", "--wait", "40", "d", "connect", "ens16")
    assert "10.77.8.1" in said(lab, "nics", "ip", "-brief", "address", "show", "ens16")


def test_a_reboot_brings_everything_back_at_the_same_address(lab):
    host = lab.host("nics")
    said(lab, "nics", "hostnamectl", "set-hostname", "renamed")
    host.reboot()
    assert lab.wait_ready(host) == "running"
    assert lab.host("nics").address == host.address
    assert said(lab, "nics", "hostname") == "renamed"
    assert "10.77.3.2/24" in said(lab, "nics", "ip", "-brief", "address", "show", "ens11")
    assert engine_state(lab, "nics") == "running always"
