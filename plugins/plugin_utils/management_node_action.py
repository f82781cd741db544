# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the actions that call the management node in the controller's process, in the session of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.answer import secret_forms
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import SECRET_OPTIONS, Connection
from ansible_collections.slb.fleet.plugins.module_utils.management_node.client import Client
from ansible_collections.slb.fleet.plugins.plugin_utils._as_stated import (
    refuse_delegation_by_facts,
    refuse_environment_by_facts,
    stated_arguments,
    task_environment,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import without_facts
from ansible_collections.slb.fleet.plugins.plugin_utils.options import (
    given_options,
    raw_arguments,
    refuse_facts,
    with_defaults,
)
from ansible_collections.slb.fleet.plugins.plugin_utils.run_cache import RunCache

_MOST_CALLS = 10
"""In whose time a module on another host has done its work: two logins and the pages of a list."""


class ManagementNodeAction(ActionBase):  # type: ignore[misc]
    """``operation`` and ``argument_spec`` are those of the module of the same name.

    Delegated to another host, the module runs there, in a session of its own, unless ``has_module`` is false.
    ``is_secret``: hide a successful result.
    """

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    argument_spec: ClassVar[dict[str, dict[str, Any]]]
    has_module: ClassVar[bool] = True
    operation: Any
    is_secret: ClassVar[bool] = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        is_delegated = bool(self._task.delegate_to) and self._connection.transport != "local"
        is_elsewhere = is_delegated and self.has_module
        given: dict[str, Any] = {}
        try:
            refuse_facts(variables)
            with task_environment(self._task, variables, self._templar):
                given = self._given(variables, environment=not is_elsewhere)
                values = self._run_elsewhere(given, variables) if is_elsewhere else self._run_here(given, variables)
        except FleetError as error:
            values = {**error.as_result(), "failed": True}
        except AnsibleConnectionFailure as error:
            raise AnsibleConnectionFailure(remove_values(error.message, _secrets(given))) from None
        # The client shows no secret, but a delegated host may send one back.
        result.update(remove_values(values, _secrets(given)) if is_elsewhere else values)
        if self.is_secret and not result.get("failed"):
            result["_ansible_no_log"] = True
        return result

    def _given(self, variables: Mapping[str, Any], *, environment: bool) -> dict[str, Any]:
        with without_facts(variables, self._templar, self._task) as stated:
            if self._task.delegate_to:
                refuse_delegation_by_facts(self._task, stated, self._templar)
            if not environment:
                refuse_environment_by_facts(self._task, stated, self._templar)
            arguments = stated_arguments(self._task, stated, self._templar)
            raw = raw_arguments(self._task)
            return given_options(self.argument_spec, arguments, raw, stated, self._templar, environment=environment)

    def _run_here(self, given: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        options = with_defaults(self.argument_spec, given)
        connection = Connection.from_options(options)
        client = Client(connection, RunCache(connection))
        values: dict[str, Any] = self.operation(client, options, bool(self._task.check_mode)).as_task_result(False)
        return values

    def _run_elsewhere(self, given: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        options = with_defaults(self.argument_spec, given)
        seconds = STEP_SECONDS + _MOST_CALLS * options["timeout"] * (options["retries"] + 1)
        return OnHostAction.beside(self).on_host(self._task.resolved_action, given, seconds, variables)


def _secrets(given: Mapping[str, Any]) -> set[str]:
    return secret_forms(str(given.get(option) or "") for option in SECRET_OPTIONS)
