"""One install request: what the module returns of it."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Install
from ansible_collections.slb.fleet.plugins.modules import engine

GIVEN = {"name": "edge-1", "manage_ip": "192.0.2.1", "is_change_hostname": False, "user_credential_id": 1}


@pytest.mark.parametrize(
    ("outcome", "changed", "words"), [("requested", True, "requested"), ("exists", False, "already installed")]
)
def test_request_changes_unless_the_engine_exists(monkeypatch, outcome, changed, words):
    monkeypatch.setattr(engine, "request_install", lambda *_arguments: Install(outcome, 200, "OK"))
    result = engine.operation(None, GIVEN, False)
    assert (result.changed, result.values) == (
        changed,
        {
            "outcome": outcome,
            "status_code": 200,
            "answer": "OK",
            "msg": f"Installation of edge-1 on 192.0.2.1 {words}.",
        },
    )
