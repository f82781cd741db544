"""Options that the argument spec cannot check."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.modules import interface
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import RANGES

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


@pytest.mark.parametrize("option", ["dhcp_timeout", "confirm_timeout"])
def test_interface_has_the_range_of_the_variable(monkeypatch, option):
    monkeypatch.setattr(interface.adoption, "adopt", lambda wanted, _check_mode: wanted)
    least, most = RANGES[option]
    for value in (least, most):
        assert getattr(interface.operation({**GIVEN, option: value}, True), option) == value
    for value in (least - 1, most + 1):
        with pytest.raises(FleetError, match=f"Give {least} to {most} seconds"):
            interface.operation({**GIVEN, option: value}, True)


def test_interface_names_lose_the_blanks_of_a_survey(monkeypatch):
    monkeypatch.setattr(interface.adoption, "adopt", lambda wanted, _check_mode: wanted)
    wanted = interface.operation({**GIVEN, "interfaces": ["ens9", " ens10"]}, True)
    assert wanted.interfaces == ["ens9", "ens10"]
