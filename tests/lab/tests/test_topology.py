# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may write into a topology, and what is said of what may not be."""

import pytest
from slb_lab.errors import LabError
from slb_lab.lab import DEFAULT_TOPOLOGY
from slb_lab.topology import Topology

EVERYTHING = """
management_node: {deploy_seconds: 1.5, language: zh, engine: {port: 8443}}
hosts:
  edge-1:
  edge-2: {release: bullseye, leftover: exited, port_holder: true, motd_lines: 300, noise_veth: true}
  edge-3:
    release: trixie
    nics:
      ens9: {kind: no_address, dhcp: late, dhcp_delay: 7}
      ens10: {kind: unmanaged, link: down}
      ens11: {kind: static}
      ens12: {kind: external}
      ens13: {kind: ifupdown}
      ens14: {kind: auto_profile, dhcp: answers}
      ens15: {kind: strictly_unmanaged}
"""


def test_what_is_written_down_reads_the_same():
    topology = Topology.parse(EVERYTHING, "lab.yml")
    assert list(topology.hosts) == ["edge-1", "edge-2", "edge-3"]
    assert topology.hosts["edge-1"].release == "bookworm"
    assert topology.management_node.engine.model_dump() == {"image": "slb:1", "port": 8443}
    assert Topology.parse(topology.dump(), "dumped") == topology


def test_the_topology_for_those_who_name_none_covers_all_releases():
    hosts = Topology.load(DEFAULT_TOPOLOGY).hosts
    assert {host.release for host in hosts.values()} == {"bullseye", "bookworm", "trixie"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hosts: {edge-1: {leftover: runing}}", ("hosts.edge-1.leftover", "'running'", "'runing'")),
        ("hosts: {edge-1: {release: buster}}", ("hosts.edge-1.release", "'bullseye'", "'buster'")),
        ("hosts: {edge-1: {motd: 4}}", ("hosts.edge-1.motd", "not permitted")),
        ("hosts: {edge-1: {motd_lines: -1}}", ("hosts.edge-1.motd_lines", "-1")),
        ("hosts: {Edge_1: {}}", ("hosts.Edge_1", "pattern")),
        ("hosts: {edge-1: {nics: {eth0: {kind: static}}}}", ("hosts.edge-1", "'eth0'", "ens9")),
        ("hosts: {edge-1: {nics: {ens9: {kind: dynamic}}}}", ("hosts.edge-1.nics.ens9.kind", "'dynamic'")),
        ("hosts: {edge-1: {nics: {ens9: {kind: static, dhcp: answers}}}}", ("hosts.edge-1.nics.ens9", "DHCP")),
        ("hosts: {edge-1: {leftover: running, port_holder: true}}", ("hosts.edge-1", "same port")),
        ("management_node: {deploy_secs: 1}\nhosts: {a: {}}", ("management_node.deploy_secs", "not permitted")),
        ("hosts: {}", ("hosts", "at least 1")),
        ("hosts: [", ("not YAML",)),
        ("", ("no 'hosts'",)),
    ],
)
def test_an_error_names_the_place_and_the_value(text, said):
    with pytest.raises(LabError) as caught:
        Topology.parse(text, "lab.yml")
    assert str(caught.value).startswith("lab.yml ")
    for part in said:
        assert part in str(caught.value)
