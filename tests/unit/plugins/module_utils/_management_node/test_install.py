"""What the operator declares of the answers to an install request, and the errors that name it."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import (
    DEFAULT_PATTERNS,
    compile_patterns,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import (
    Engine,
    Meanings,
    request_install,
)

ENGINE = Engine.from_options({"name": "edge-1", "manage_ip": "192.0.2.1"})


@pytest.mark.parametrize("name", list(DEFAULT_PATTERNS))
@pytest.mark.parametrize("pattern", ["(", "x*", "", "|in use", "(?=.)|", 5, None, "(?i", r"\p{L}"])
def test_unusable_pattern_is_invalid(name, pattern):
    with pytest.raises(FleetError) as error:
        Meanings.from_options({f"{name}_patterns": ["usable", pattern]})
    assert (error.value.code, f"{name}_patterns" in str(error.value)) == ("invalid_option", True)
    assert len(str(error.value)) <= 220


@pytest.mark.parametrize("options", [{}, {"exists_patterns": None, "success_codes": None}, {"exists_patterns": []}])
def test_meanings_have_defaults(options):
    assert Meanings.from_options(options) == Meanings(compile_patterns({}), ())


def test_declared_meanings_replace_the_defaults():
    meanings = Meanings.from_options({"in_progress_patterns": ["Patience", "moment"], "success_codes": [1, 20000]})
    assert [each.pattern for each in meanings.patterns["in_progress"]] == ["Patience", "moment"]
    assert meanings.patterns["exists"] == compile_patterns({})["exists"]
    assert meanings.patterns["in_progress"][0].search("PATIENCE")
    assert meanings.success_codes == (1, 20000)


class Node(Client):
    """A client with one answer to each request."""

    def __init__(self, status, body, location=""):
        super().__init__(Connection("https://console.example", password="s3cret&1"))
        self.answer = Answer(status, {"Location": location} if location else {}, body.encode())

    def call(self, request):
        return self.answer


@pytest.mark.parametrize(
    ("code", "outcome", "fix", "answer"),
    [
        ("install_rejected", "rejected", "Correct", (400, '{"msg":"no license for s3cret&1"}')),
        ("port_in_use", "port_in_use", "on the host", (409, '{"msg":"port 80 is in use"}')),
        ("install_not_confirmed", "unknown", "slb_success_codes", (200, '{"code":20000}')),
        ("install_not_confirmed", "unknown", "before you repeat it", (303, "", "/console/engines/")),
        ("install_not_confirmed", "unknown", "before you repeat it", (302, "", "https://[/login")),
        ("install_not_confirmed", "unknown", "before you repeat it", (302, "", "/account/login/")),
        *((None, outcome, "", (status, '{"msg":"already exists"}')) for status, outcome in ((409, "exists"), (201, "requested"))),
        (None, "requested", "", (200, '{"code":7,"msg":"ok"}')),
    ],
)  # fmt: skip
def test_install_answer_becomes_a_result(code, outcome, fix, answer):
    try:
        install = request_install(Node(*answer), ENGINE, {"success_codes": [7]})
    except FleetError as error:
        assert (error.code, error.values["outcome"], fix in error.fix) == (code, outcome, True)
        assert len(error.summary) <= 220
        assert "s3cret" not in str(error.as_result())
    else:
        assert (install.outcome, install.status_code, code) == (outcome, answer[0], None)
