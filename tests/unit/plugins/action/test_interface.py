"""An adoption in the controller's process."""

import time
from types import SimpleNamespace

from ansible_collections.slb.fleet.plugins.action import interface


def test_options_that_the_module_refuses_are_its_message():
    refused = {"failed": True, "msg": "argument 'dhcp_timeout' is of type str and cannot be converted to int"}
    action = interface.ActionModule.__new__(interface.ActionModule)
    action._task = SimpleNamespace(args={"dhcp_timeout": "15s", "confirm_timeout": "x"}, action="slb.fleet.interface")
    action._connection, action._loader, action._began = SimpleNamespace(transport="ssh"), None, time.monotonic()
    action.on_host = lambda *_arguments, **_more: dict(refused)
    assert action.act({}) == refused
