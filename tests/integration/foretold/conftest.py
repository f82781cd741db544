"""One lab for all tests of this folder: hosts of all releases behind one management node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fleet import Fleet
from slb_lab.lab import Lab
from slb_lab.topology import Topology
from wards import Wards

RELEASES = ("bookworm", "trixie", "bullseye")


@pytest.fixture(scope="session")
def wards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wards]:
    lab = Lab("foretold")
    hosts = {f"edge-{number}": {"release": RELEASES[number % 3]} for number in range(1, 10)}
    lab.up(Topology.model_validate({"management_node": {"deploy_seconds": 1}, "hosts": hosts}))
    try:
        wards = Wards(Fleet(lab, tmp_path_factory.mktemp("foretold")))
        yield wards
        wards.clean()
    finally:
        lab.down()
