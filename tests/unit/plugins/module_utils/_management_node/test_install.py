"""What the operator declares of the answers to an install request, and the errors that name it."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import DEFAULT_PATTERNS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import (
    Engine,
    read_meanings,
    request_install,
)
from ansible_collections.slb.fleet.tests.unit.errors import error_of, short_error_of

ENGINE = Engine("edge-1", False, "192.0.2.1", 1)


@pytest.mark.parametrize("name", list(DEFAULT_PATTERNS))
@pytest.mark.parametrize("pattern", ["(", "x*", "", "|in use", "(?=.)|", 5, None, "(?i", r"\p{L}"])
def test_unusable_pattern_is_invalid(name, pattern):
    error = short_error_of(read_meanings, {f"{name}_patterns": ["usable", pattern]})
    assert (error.code, f"{name}_patterns" in str(error)) == ("invalid_option", True)


@pytest.mark.parametrize(
    ("options", "body", "outcome"),
    [
        ({"success_codes": [7]}, b'{"code":7,"msg":"ok"}', "requested"),
        ({"success_codes": None}, b'{"code":7,"msg":"ok"}', "unknown"),
        ({"exists_patterns": ["ya existe"]}, b'{"msg":"Ya existe"}', "exists"),
        ({"exists_patterns": ["ya existe"]}, b'{"msg":"already exists"}', "unknown"),
        ({"exists_patterns": [], "in_progress_patterns": ["un momento"]}, b'{"msg":"already exists"}', "exists"),
    ],
)
def test_declared_meanings_decide_on_an_install(options, body, outcome):
    client = Client(Connection("https://console.example"))
    client.call = lambda _request: Answer(200, {}, body)
    if outcome == "unknown":
        assert error_of(request_install, client, ENGINE, options).values["outcome"] == outcome
    else:
        assert request_install(client, ENGINE, options).outcome == outcome
