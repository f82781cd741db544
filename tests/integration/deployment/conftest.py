"""The hosts of the shared lab, each with a management node of its own."""

import pytest
from sites import Sites


@pytest.fixture(scope="module")
def sites(lab, tmp_path_factory):
    sites = Sites(lab, tmp_path_factory.mktemp("deployment"))
    try:
        yield sites
    finally:
        sites.leave()
