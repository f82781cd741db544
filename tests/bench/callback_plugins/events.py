"""Print the number of events of a run. AWX stores each of them."""

from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: events
type: aggregate
short_description: Prints the number of events
description: Counts each call that Ansible makes to callbacks.
author: slb.fleet contributors
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "events"
    CALLBACK_NEEDS_ENABLED = True
    number = 0

    def v2_on_any(self, *_arguments: Any, **_named: Any) -> None:
        self.number += 1

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._display.display(f"EVENTS {self.number}")
