"""One lab for all tests of this folder: two hosts of each release, and one management node for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from estate import Estate
from slb_lab.lab import Lab
from slb_lab.topology import Topology

RELEASES = ("bookworm", "bullseye", "trixie")


@pytest.fixture(scope="session")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    lab = Lab("histories")
    hosts = {f"h{number}": {"release": RELEASES[number % 3]} for number in range(1, 7)}
    lab.up(Topology.model_validate({"management_node": {"deploy_seconds": 1.5}, "hosts": hosts}))
    try:
        yield Estate(lab, tmp_path_factory.mktemp("histories"))
    finally:
        lab.down()
