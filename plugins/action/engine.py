# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine`` in the controller's own process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._console.engine import ARGUMENTS, engine
from ansible_collections.slb.fleet.plugins.plugin_utils._fate import proves_the_list_wrong
from ansible_collections.slb.fleet.plugins.plugin_utils._in_process import InProcessAction
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore


class ActionModule(InProcessAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(engine)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        decided = self._task.args.get("decided")
        # At once, and not when this host is looked at again: others of the batch may be about to be stopped.
        if decided and proves_the_list_wrong(decided, result.get("outcome", "")):
            store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
            store.distrust(decided["engine"]["base_url"], str((task_vars or {}).get("inventory_hostname")))
        return result
