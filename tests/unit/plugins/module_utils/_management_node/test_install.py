"""What the operator declares of the answers to an install request, and the errors that name it."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import (
    DEFAULT_PATTERNS,
    compile_patterns,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import (
    Engine,
    read_meanings,
    request_install,
)
from ansible_collections.slb.fleet.tests.unit.errors import error_of, short_error_of

ENGINE = Engine.from_options({"name": "edge-1", "manage_ip": "192.0.2.1"})


@pytest.mark.parametrize("name", list(DEFAULT_PATTERNS))
@pytest.mark.parametrize("pattern", ["(", "x*", "", "|in use", "(?=.)|", 5, None, "(?i", r"\p{L}"])
def test_unusable_pattern_is_invalid(name, pattern):
    error = short_error_of(read_meanings, {f"{name}_patterns": ["usable", pattern]})
    assert (error.code, f"{name}_patterns" in str(error)) == ("invalid_option", True)


@pytest.mark.parametrize("options", [{}, {"exists_patterns": None, "success_codes": None}, {"exists_patterns": []}])
def test_meanings_have_defaults(options):
    assert read_meanings(options) == {"patterns": compile_patterns({}), "success_codes": ()}


def test_declared_meanings_replace_the_defaults():
    meanings = read_meanings({"in_progress_patterns": ["Patience", "moment"], "success_codes": [1, 20000]})
    assert [each.pattern for each in meanings["patterns"]["in_progress"]] == ["Patience", "moment"]
    assert meanings["patterns"]["exists"] == compile_patterns({})["exists"]
    assert meanings["patterns"]["in_progress"][0].search("PATIENCE")
    assert meanings["success_codes"] == (1, 20000)


def test_declared_meanings_decide_on_an_install():
    client = Client(Connection("https://console.example"))
    client.call = lambda _request: Answer(200, {}, b'{"code":7,"msg":"ok"}')
    assert request_install(client, ENGINE, {"success_codes": [7]}).outcome == "requested"
    assert error_of(request_install, client, ENGINE, {})
