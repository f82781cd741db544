"""The error that a call ends with."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


def error_of(call, *arguments, **named):
    with pytest.raises(FleetError) as caught:
        call(*arguments, **named)
    return caught.value


def code_of(call, *arguments, **named):
    return error_of(call, *arguments, **named).code
