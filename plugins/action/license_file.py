# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.license_file``: downloads in the controller's own process, writes on the host, in bounded time."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, ClassVar

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._console.license import ARGUMENTS, download
from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
from ansible_collections.slb.fleet.plugins.modules.license_file import operation
from ansible_collections.slb.fleet.plugins.plugin_utils._in_process import InProcessAction, without_secrets
from ansible_collections.slb.fleet.plugins.plugin_utils._license_place import LicensePlace
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._options import Given, typed_options, with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

_OF_THE_FILE = ("dest", "owner", "group", "mode", "backup", "max_size", "look")


class ActionModule(InProcessAction):
    _requires_connection = True
    argument_spec: ClassVar = {**ARGUMENTS, "look": {"type": "str"}}

    def _is_delegated_elsewhere(self) -> bool:
        """The management node is always asked from here: its credentials go to no host."""
        return False

    def _run_here(self, given: Given, task_vars: dict[str, Any]) -> dict[str, Any]:
        params = with_defaults(self.argument_spec, typed_options(self.argument_spec, given.values))
        # As they were given: a path begins at the home of the user there.
        arguments = {option: given.values[option] for option in _OF_THE_FILE if option in given.values}
        if params["look"]:
            answer = self._looked(params, arguments, task_vars)
        else:
            content = download(params, RunSession(Path(constants.DEFAULT_LOCAL_TMP)))
            answer = self._on_host({**arguments, "content": base64.b64encode(content).decode()}, task_vars)
        return without_secrets(answer, given)

    def _looked(self, params: dict[str, Any], arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if params["look"] == "controller":
            host, answer = "", operation(params, True).as_task_result(False)
        else:
            host, answer = str(self._task.delegate_to), self._on_host(arguments, task_vars)
        # For the run alone: it is another one each time.
        found = answer.pop("place", "")
        if found:
            node, path = Connection.stated(params).base_url, LicensePlace("", params["dest"], host).file
            store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
            store.note_license(task_vars["inventory_hostname"], node, found, path)
        return answer

    def _on_host(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        return OnHostAction.beside(self).on_host(self._task.resolved_action, arguments, STEP_SECONDS, task_vars)
