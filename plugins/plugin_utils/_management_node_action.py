# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the actions that call the management node in the controller's process, in the session of the run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.common.parameters import remove_values, sanitize_keys

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._secrets import secret_forms, secrets_of
from ansible_collections.slb.fleet.plugins.module_utils._values import OptionError, Options
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache


class ManagementNodeAction(HostAction):
    """``operation`` and ``argument_spec`` are those of the module of the same name.

    Delegated to another host, the module runs there, in a session of its own, unless ``has_module`` is false.
    ``is_secret``: hide a successful result.
    """

    _requires_connection = False

    argument_spec: ClassVar[dict[str, dict[str, Any]]]
    has_module: ClassVar[bool] = True
    operation: Any
    is_secret: ClassVar[bool] = False

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        is_elsewhere = bool(self._task.delegate_to) and self._connection.transport != "local" and self.has_module
        with self._environment():
            task_options = self.read_options(self.argument_spec, variables, complete=not is_elsewhere)
            try:
                values = self._run_elsewhere(task_options) if is_elsewhere else self._run_here(task_options)
            except OptionError as error:
                raise error.named(task_options.names) from None
        if self.is_secret and not values.get("failed"):
            values["_ansible_no_log"] = True
        return values

    def _run_here(self, options: Options) -> dict[str, Any]:
        connection = Connection.from_options(options)
        client = Client(connection, RunCache(connection))
        values: dict[str, Any] = self.operation(client, options, bool(self._task.check_mode)).as_task_result(False)
        return values

    def _run_elsewhere(self, task_options: Options) -> dict[str, Any]:
        secrets = secret_forms(secrets_of(task_options))
        with contextlib.suppress(KeyError, AnsibleError):
            # Of ssh: after a lost connection it would run the module, and send the request, again.
            self._connection.set_option("reconnection_retries", 0)
        try:
            answer = self.on_host(self._task.resolved_action.rpartition(".")[2], task_options)
        except AnsibleConnectionFailure as error:
            raise AnsibleConnectionFailure(remove_values(error.message, secrets)) from None
        except FleetError as error:
            raise FleetError(error.code, remove_values(error.summary, secrets), error.fix) from None
        # The client shows no secret, but a delegated host may send one back.
        values: dict[str, Any] = sanitize_keys(remove_values(answer, secrets), secrets)
        return values

    @contextlib.contextmanager
    def _environment(self) -> Iterator[None]:
        """Apply the task's keyword ``environment``, as a module gets it from its connection: proxies, for example."""
        environment = dict(os.environ)
        for layer in self._task.environment or ():
            for name, value in (self._templar.template(layer) or {}).items():
                os.environ[str(name)] = str(value)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(environment)
