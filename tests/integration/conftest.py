"""One lab for all tests of this folder: a host of each release, and one with Podman.

Tests leave a host as they found it: what they do not restore themselves, a fixture restores after a module or a test.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from fleet import RECORD, TOPOLOGY
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RESET = f"""
systemctl kill --signal=CONT NetworkManager
systemctl start NetworkManager ssh
systemctl stop 'slb-fleet-*'
nmcli networking on
runtime=$(command -v docker || command -v podman)
$runtime stop --time 0 $($runtime ps --quiet) >/dev/null 2>&1
$runtime ps --all --quiet | xargs --no-run-if-empty $runtime rm --force
rm -rf {RECORD} /run/slb-fleet /var/lib/slb-fleet
for banner in /etc/motd.slb-fleet.* /etc/motd.slb-fleet; do [ ! -e "$banner" ] || mv "$banner" /etc/motd; done
nmcli --terse --fields UUID,FILENAME connection | sed --quiet 's|:/etc/NetworkManager/system-connections/.*||p' |
    xargs --no-run-if-empty nmcli connection delete
rm -f /var/lib/slb-lab-leftover-made
systemctl restart slb-lab-leftover.service
"""


def reset(lab: Lab) -> None:
    """Restore the hosts as the lab made them: without engine, record and profile, with their banner and leftover."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda host: host.exec(["sh", "-c", RESET]), lab.hosts.values()))


@pytest.fixture(scope="session")
def shared_lab():
    with Lab.new(os.environ.get("SLB_TEST_LAB", "integration"), Topology.load(TOPOLOGY)) as lab:
        yield lab


@pytest.fixture(scope="module")
def lab(shared_lab):
    yield shared_lab
    reset(shared_lab)
    for engine in shared_lab.management_node.state()["engines"]:
        shared_lab.management_node.forget(engine["name"])
    shared_lab.management_node.reset_counters()


@pytest.fixture
def reset_after(shared_lab):
    yield
    reset(shared_lab)
