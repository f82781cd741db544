"""One lab for all tests of this folder: two hosts of each release, each with a management node of its own."""

from __future__ import annotations

import pytest
from sites import Sites
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RELEASES = ("bullseye", "bookworm", "trixie")


@pytest.fixture(scope="session")
def sites(tmp_path_factory):
    hosts = {f"{release}-{number}": {"release": release} for number in (1, 2) for release in RELEASES}
    topology = Topology.model_validate({"management_node": {"deploy_seconds": 2}, "hosts": hosts})
    with Lab.new("deployment", topology) as lab:
        sites = Sites(lab, tmp_path_factory.mktemp("deployment"))
        try:
            yield sites
        finally:
            sites.stop()
