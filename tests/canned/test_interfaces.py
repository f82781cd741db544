"""What a run of adopt_interfaces shows."""

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("options", "shown"), [((), ["ens10"]), (("-v",), ["lo", "ens10"])], ids=["plain", "-v"])
def test_skipped_kinds_are_listed_with_v_alone(tmp_path, options, shown):
    fleet = Canned(tmp_path, edge_1="healthy")
    status, output = fleet.run("slb.fleet.adopt_interfaces", *options, ANSIBLE_STDOUT_CALLBACK="default")
    assert status == 0, output
    assert [name for name in ("lo", "ens10") if f"{name}: " in output] == shown, output
