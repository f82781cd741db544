"""A lab for a test module, under a name of its own, taken down when the module's tests have ended."""

from __future__ import annotations

import pytest
from fleet import Fleet
from slb_lab.lab import Lab
from slb_lab.topology import Topology


@pytest.fixture(scope="module")
def make_fleet(tmp_path_factory):
    """Brings up a lab: its name and its topology."""
    labs: list[Lab] = []

    def make(name, topology):
        lab = Lab(name)
        labs.append(lab)
        lab.down()
        lab.up(Topology.model_validate(topology))
        return Fleet(lab, tmp_path_factory.mktemp(name))

    yield make
    for lab in labs:
        lab.down()
