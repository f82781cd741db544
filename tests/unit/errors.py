"""The error that a call ends with."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


def error_of(call, *arguments, **named):
    with pytest.raises(FleetError) as caught:
        call(*arguments, **named)
    return caught.value


def code_of(call, *arguments, **named):
    return error_of(call, *arguments, **named).code


def short_error_of(call, *arguments, **named):
    """Return the error, whose message is no longer than people read."""
    error = error_of(call, *arguments, **named)
    assert len(str(error)) <= 220
    return error
