# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs an operation in the controller's own process instead of sending a module somewhere."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ansible import constants
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._console.options import SECRET_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore
    from ansible_collections.slb.fleet.plugins.module_utils._result import Result

    class Operation(Protocol):
        def __call__(self, params: dict[str, Any], check_mode: bool, store: SessionStore) -> Result: ...


class InProcessAction(ActionBase):  # type: ignore[misc]
    """``operation`` and ``argument_spec`` are what the module of the same name uses.

    ``result_is_secret``: show nothing of a successful result; it can still be registered.
    """

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    argument_spec: ClassVar[dict[str, dict[str, Any]]]
    operation: ClassVar[Operation]
    result_is_secret: ClassVar[bool] = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        if self._is_delegated_elsewhere():
            result.update(self._execute_module(task_vars=task_vars))
        else:
            with self._task_environment():
                result.update(self._run_here())
        if self.result_is_secret and not result.get("failed"):
            result["_ansible_no_log"] = True
        return result

    def _is_delegated_elsewhere(self) -> bool:
        return bool(self._task.delegate_to) and self._connection.transport != "local"

    def _run_here(self) -> dict[str, Any]:
        validation = ArgumentSpecValidator(self.argument_spec).validate(self._task.args)
        params = validation.validated_parameters
        secrets = {str(params[option]) for option in SECRET_OPTIONS if params.get(option)}
        if validation.error_messages:
            answer = {"failed": True, "msg": "; ".join(validation.error_messages)}
        else:
            answer = self._operate(params)
        shown: dict[str, Any] = remove_values(answer, secrets)
        return shown

    def _operate(self, params: dict[str, Any]) -> dict[str, Any]:
        store = RunSession(Path(constants.DEFAULT_LOCAL_TMP))
        try:
            result = type(self).operation(params, bool(self._task.check_mode), store)
        except FleetError as error:
            return {**error.as_result(), "failed": True}
        return result.as_task_result(bool(self._task.diff))

    @contextlib.contextmanager
    def _task_environment(self) -> Iterator[None]:
        """The task's keyword ``environment``, which a module would get from the connection."""
        added: dict[str, str] = {}
        for variables in self._task.environment or []:
            added.update({name: str(value) for name, value in self._templar.template(variables).items()})
        kept = {name: os.environ.get(name) for name in added}
        os.environ.update(added)
        try:
            yield
        finally:
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
