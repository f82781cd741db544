"""Who shares the file of a license, and on which host it is."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._license_place import LicensePlace, asking

ONE, OTHER = "https://one.example", "https://other.example"


def refuse(place: LicensePlace, *others: LicensePlace) -> None:
    groups = {each.group: [f"edge-{number}"] for number, each in enumerate((place, *others))}
    place.refuse("edge-0", groups, [], {"store", "vault"}, is_here=False, is_lost=lambda path: False)


@pytest.mark.parametrize(
    "path", ["/kept/license", "/kept/./license", "/kept//license", "/kept/../kept/license", "//kept/license"]
)
def test_one_file_of_a_host_is_one_however_it_is_written(path: str) -> None:
    with pytest.raises(FleetError, match="the same slb_license_dest"):
        refuse(LicensePlace(ONE, "/kept/license", "store"), LicensePlace(OTHER, path, "store"))


def test_other_files_and_other_hosts_are_others() -> None:
    place = LicensePlace(ONE, "/kept/license", "store")
    refuse(place, LicensePlace(OTHER, "/kept/license", "vault"), LicensePlace(OTHER, "/kept/license-2", "store"))
    refuse(place, LicensePlace(OTHER, "kept/license", "store"), LicensePlace(OTHER, "~/kept/license", "store"))


def test_one_host_of_each_node_and_file_asks_for_all() -> None:
    groups = {"engines": ["edge-0"], LicensePlace(ONE, "a", "").group: ["edge-2", "edge-1"]}
    assert asking({**groups, LicensePlace(OTHER, "b", "").group: ["edge-3"]}) == ["edge-1", "edge-3"]
    assert asking({"engines": ["edge-0"]}) == ["!all"]
