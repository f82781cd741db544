"""Options that the argument spec cannot check."""

import pytest

from ansible_collections.slb.fleet.plugins.modules import interface
from ansible_collections.slb.fleet.tests.unit.errors import code_of

GIVEN = {"interfaces": [], "allow_unmatched": False, "state": "present", "dhcp_timeout": 15, "confirm_timeout": 60}


@pytest.mark.parametrize(
    ("options", "code"), [({"state": "absent"}, "missing_option"), ({"interfaces": ["ens9", " "]}, "invalid_option")]
)
def test_interface_unusable_option_is_an_error(options, code):
    assert code_of(interface.operation, {**GIVEN, **options}, True) == code


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["ens9", " ens10"], ["ens9", "ens10"]),
        (["[ens9", " ens10]"], ["ens9", "ens10"]),
        (["['ens10']"], ["ens10"]),
        (["[ew]ns[0-9]"], ["[ew]ns[0-9]"]),
        ([], []),
    ],
)
def test_interfaces_are_read_as_people_write_them(monkeypatch, given, read):
    monkeypatch.setattr(interface.adoption, "adopt", lambda wanted, _check_mode: wanted)
    assert interface.operation({**GIVEN, "interfaces": given}, True).interfaces == read
