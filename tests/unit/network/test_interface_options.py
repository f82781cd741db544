"""What no wait could be is refused before anything is begun."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.modules import interface

GIVEN: dict[str, Any] = {name: option.get("default") for name, option in interface.ARGUMENTS.items()}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("confirm_timeout", float("nan")),
        ("confirm_timeout", float("inf")),
        ("confirm_timeout", 4),
        ("dhcp_timeout", float("nan")),
        ("dhcp_timeout", float("inf")),
        ("dhcp_timeout", -1),
    ],
)
def test_a_time_that_nobody_would_wait_is_refused(option: str, value: float) -> None:
    with pytest.raises(OptionError, match=option):
        interface.operation(dict(GIVEN, **{option: value}), False)
