# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.license_file``: downloads in the controller's own process, writes on the host, in bounded time."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._console.license import ARGUMENTS, download
from ansible_collections.slb.fleet.plugins.plugin_utils._in_process import InProcessAction, without_secrets
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._options import Given, typed_options, with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession

_OF_THE_FILE = ("dest", "owner", "group", "mode", "backup", "max_size")


class ActionModule(InProcessAction):
    _requires_connection = True
    argument_spec = ARGUMENTS

    def _is_delegated_elsewhere(self) -> bool:
        """The management node is always asked from here: its credentials go to no host."""
        return False

    def _run_here(self, given: Given, task_vars: dict[str, Any]) -> dict[str, Any]:
        params = with_defaults(self.argument_spec, typed_options(self.argument_spec, given.values))
        content = download(params, RunSession(Path(constants.DEFAULT_LOCAL_TMP)))
        # As they were given: a path begins at the home of the user there.
        arguments = {option: given.values[option] for option in _OF_THE_FILE if option in given.values}
        arguments["content"] = base64.b64encode(content).decode()
        parts = (self._task, self._connection, self._play_context, self._loader, self._templar, self._shared_loader_obj)
        answer = OnHostAction(*parts).on_host(self._task.resolved_action, arguments, STEP_SECONDS, task_vars)
        return without_secrets(answer, given)
