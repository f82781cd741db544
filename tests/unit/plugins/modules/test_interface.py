"""Options that the argument spec cannot check."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.modules import interface


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"state": "absent"}, "missing_option"),
        ({"state": "present", "dhcp_timeout": 0}, "invalid_option"),
        ({"state": "present", "confirm_timeout": 4}, "invalid_option"),
    ],
)
def test_interface_unusable_option_is_an_error(options, code):
    given = {"interfaces": [], "dhcp_timeout": 15, "confirm_timeout": 60}
    with pytest.raises(FleetError) as raised:
        interface.operation({**given, **options}, True)
    assert raised.value.code == code
