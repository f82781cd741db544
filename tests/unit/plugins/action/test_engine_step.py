"""The restore after a failed deployment comes first, and counts as a failure of its batch whatever becomes of it."""

from types import SimpleNamespace

import pytest

from ansible_collections.slb.fleet.plugins.action import _engine_step
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

FULL = FleetError("run_cache_not_writable", "Full.", "")


class Action(_engine_step.ActionModule):
    def __init__(self, done, failure):
        self._task = SimpleNamespace(args={"step": "restore", "request_id": "aa11", "own": True}, timeout=0)
        self.done, self.failure = done, failure

    def reset_connection(self):
        """Do nothing."""

    def on_host_again(self, module, arguments):
        self.done.append(arguments["step"])
        if self.failure:
            raise self.failure
        return {"failed": False, "record": {}, "after": {"state": "absent"}}


@pytest.mark.parametrize("failure", [None, TimeoutError(), FULL], ids=["restored", "time limit", "failed"])
@pytest.mark.parametrize("is_noted", [True, False])
def test_restore_comes_before_the_note_of_the_failure(monkeypatch, tmp_path, failure, is_noted):
    done = []

    def note(variables):
        done.append(variables["inventory_hostname"])
        if not is_noted:
            raise FULL

    monkeypatch.setattr(_engine_step, "note_failure", note)
    monkeypatch.setattr(_engine_step, "Reservations", lambda: SimpleNamespace(noted=lambda subject: []))
    action = Action(done, failure)
    if failure or not is_noted:
        with pytest.raises((FleetError, TimeoutError)):
            action.act({"inventory_hostname": "edge-1"})
    else:
        action.act({"inventory_hostname": "edge-1"})
    assert done == ["restore", "edge-1"]
