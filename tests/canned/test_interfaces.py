"""What a run of adopt_interfaces shows, and that a frozen host does not hold it."""

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("options", "shown"), [((), ["ens10"]), (("-v",), ["lo", "ens10"])], ids=["plain", "-v"])
def test_skipped_kinds_are_listed_with_v_alone(tmp_path, options, shown):
    fleet = Canned(tmp_path, edge_1="healthy")
    status, output = fleet.run("slb.fleet.adopt_interfaces", *options, ANSIBLE_STDOUT_CALLBACK="default")
    assert status == 0, output
    assert [name for name in ("lo", "ens10") if f"{name}: " in output] == shown, output


def test_adoption_of_a_frozen_host_ends_at_its_time_limit(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy after 600")
    # The time limit of the task is 10 s.
    times = ("-e", '{"slb_dhcp_timeout": -240, "slb_confirm_timeout": 10}')
    status, output = fleet.run("slb.fleet.adopt_interfaces", *times)
    assert status == 2, output
    assert fleet.hosts["edge-1"]["status"] == "done", output
    assert fleet.hosts["edge-2"]["code"] == "host_timeout", output
