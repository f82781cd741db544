"""Options that the argument spec cannot check."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.modules import interface

GIVEN = {"interfaces": [], "state": "present", "dhcp_timeout": 15, "confirm_timeout": 60}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"state": "absent"}, "missing_option"),
        ({"interfaces": ["ens9", " "]}, "invalid_option"),
    ],
)
def test_interface_unusable_option_is_an_error(options, code):
    with pytest.raises(FleetError) as raised:
        interface.operation({**GIVEN, **options}, True)
    assert raised.value.code == code


def test_interface_names_lose_the_blanks_of_a_survey(monkeypatch):
    monkeypatch.setattr(interface.adoption, "adopt", lambda wanted, _check_mode: wanted)
    wanted = interface.operation({**GIVEN, "interfaces": ["ens9", " ens10"]}, True)
    assert wanted.interfaces == ["ens9", "ens10"]
