# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_container`` on the engine host; what is stopped on the list's word is stopped on a fresh one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import LEFTOVER, EngineIdentity, Runtime
from ansible_collections.slb.fleet.plugins.plugin_utils._heartbeat import Heartbeat
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import console_says
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ListedEngines
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction, as_seconds
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import settings_of
from ansible_collections.slb.fleet.plugins.plugin_utils.options import connection_options, in_variables

_MODULE = "slb.fleet.engine_container"
_DEFAULT_WAIT, _DEFAULT_STOP = 180, 10
_FRESH_SECONDS = 10


class ActionModule(OnHostAction):
    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        arguments = self.given()
        decided, seconds = arguments.pop("decided", None), self.seconds(arguments)
        try:
            if decided and decided["plan"]["because"] == "list":
                overtaken = self._overtaken(decided, task_vars or {})
                if overtaken:
                    return {"changed": False, "overtaken": overtaken, "msg": f"Nothing was stopped: {overtaken}"}
            if arguments.get("state") != "running":
                return _with_warning(self.on_host(_MODULE, arguments, seconds, task_vars))
            host = (task_vars or {}).get("inventory_hostname", "")
            with Heartbeat(host, "the container slb to run steadily", seconds - STEP_SECONDS):
                return self.on_host(_MODULE, arguments, seconds, task_vars)
        except FleetError as error:
            return {"failed": True, "msg": in_variables(error)}

    def seconds(self, arguments: Mapping[str, Any]) -> float:
        if arguments.get("state") == "running":
            return as_seconds(arguments.get("timeout"), _DEFAULT_WAIT) + STEP_SECONDS
        # A stop is several commands of the runtime, each of which may be slow.
        return as_seconds(arguments.get("stop_timeout"), _DEFAULT_STOP) + 2 * STEP_SECONDS

    def _overtaken(self, decided: Mapping[str, Any], task_vars: Mapping[str, Any]) -> str:
        """Why what was decided no longer holds; empty if it does."""
        folder = Path(constants.DEFAULT_LOCAL_TMP)
        engine = EngineIdentity(**decided["engine"])
        if wrong := RunStore.of_run(folder).distrusted(engine.base_url):
            return f"the console's list was wrong about {wrong}."
        options = connection_options(task_vars, self._templar, self._task)
        settings = settings_of(task_vars, self._templar, self._task)
        shared = ListedEngines(options, settings["engine_list"], RunStore.of_run(folder))
        says = console_says(
            lambda name, ip: shared.shows(name, ip, _FRESH_SECONDS), engine, settings["engine_list_may_be_empty"]
        )
        then = decided["plan"]["console"]
        return "" if says.state == then else f"the console's list says {says.state} by now, and said {then}."


def _with_warning(result: dict[str, Any]) -> dict[str, Any]:
    name, runtime = result.get("set_aside_as") or "", (result.get("before") or {}).get("runtime")
    # The operator is told to type both.
    if not result.get("starts_at_boot") or not LEFTOVER.fullmatch(name) or runtime not in get_args(Runtime):
        return result
    warning = (
        f"The container {name} keeps its restart policy always, which Podman before 5.1 cannot change: where "
        "podman-restart.service is enabled, the next boot starts it, and it may take the engine's port. Once it is not "
        f"wanted back, run `{runtime} rm {name}` on the host."
    )
    return {**result, "warnings": [warning]}
