# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module on the host, and take declared keys only from its answer."""

from __future__ import annotations

from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the module's result, reversed within the time limit of the task. It is not the first contact."""
        arguments = self.task_arguments()
        if self._task.timeout:
            arguments.setdefault("time_limit", self.seconds_left(self._task.timeout))
        return self.on_host_again("engine_container", arguments)
