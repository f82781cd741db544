# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs an operation in the controller's own process instead of sending a module somewhere."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._console.options import SECRET_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._as_stated import (
    refuse_delegation_by_facts,
    refuse_environment_by_facts,
    stated_arguments,
    task_environment,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import STEP_SECONDS, OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._options import (
    Given,
    given_options,
    names_for,
    refuse_facts,
    typed_options,
    with_defaults,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import setting
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import value_of, without_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore
    from ansible_collections.slb.fleet.plugins.module_utils._result import Result

    class Operation(Protocol):
        def __call__(self, params: dict[str, Any], check_mode: bool, store: SessionStore) -> Result:
            """Does what the module does."""


_MOST_CALLS = 10
"""In whose time a module has done its work: it logs in twice at most, and reads a list in the time of several calls."""


class InProcessAction(ActionBase):  # type: ignore[misc]
    """``operation`` and ``argument_spec`` are what the module of the same name uses.

    ``described``: for an option that has suboptions, what checks it and returns it with its defaults.
    ``result_is_secret``: show nothing of a successful result; it can still be registered.

    An option of the connection that the task does not give is taken from the variable ``slb_<option>`` of the host,
    then from the environment: with the fallback in this one place, no task has to repeat the connection.
    """

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    argument_spec: ClassVar[dict[str, dict[str, Any]]]
    operation: ClassVar[Operation]
    described: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    result_is_secret: ClassVar[bool] = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        if self._is_delegated_elsewhere():
            result.update(self._guarded(self._run_elsewhere, task_vars or {}, environment=False))
        else:
            result.update(self._guarded(self._run_here, task_vars or {}, environment=True))
        if self.result_is_secret and not result.get("failed"):
            result["_ansible_no_log"] = True
        return result

    def _is_delegated_elsewhere(self) -> bool:
        return bool(self._task.delegate_to) and self._connection.transport != "local"

    def _guarded(
        self,
        run: Callable[[Given, dict[str, Any]], dict[str, Any]],
        task_vars: dict[str, Any],
        environment: bool,
    ) -> dict[str, Any]:
        """The result of ``run``, or what an operator has to be told instead; no secret is in it."""
        given = Given(dict(self._task.args), {})
        try:
            refuse_facts(task_vars)
            with task_environment(self._task, task_vars, self._templar) if environment else contextlib.nullcontext():
                with without_facts(task_vars, self._templar, self._task) as stated:
                    if self._task.delegate_to:
                        refuse_delegation_by_facts(self._task, stated, self._templar)
                    if not environment:
                        refuse_environment_by_facts(self._task, stated, self._templar)
                    arguments = stated_arguments(self._task, stated, self._templar)
                    given = given_options(self.argument_spec, arguments, stated, self._templar, environment)
                return run(given, task_vars)
        except FleetError as error:
            answer = error.as_result(names_for(self._task, given.names), self.argument_spec)
            return {**without_secrets(answer, given), "failed": True}

    def _run_here(self, given: Given, task_vars: dict[str, Any]) -> dict[str, Any]:
        typed = typed_options(self.argument_spec, given.values, self.described)
        params = with_defaults(self.argument_spec, typed)
        with without_facts(task_vars, self._templar, self._task) as stated:
            patience = setting("outage_timeout", value_of("slb_outage_timeout", stated, self._templar))
        store = RunSession(Path(constants.DEFAULT_LOCAL_TMP), patience)
        result = self._operate(params, store)
        return without_secrets(result.as_task_result(bool(self._task.diff)), given)

    def _operate(self, params: dict[str, Any], store: SessionStore) -> Result:
        return type(self).operation(params, bool(self._task.check_mode), store)

    def _run_elsewhere(self, given: Given, task_vars: dict[str, Any]) -> dict[str, Any]:
        """As a plain module, which is sent nothing that it would refuse in Ansible's words instead of ours."""
        typed = typed_options(self.argument_spec, given.values, self.described)
        # The others as they were given: a path begins at the home of the user there.
        arguments = {**given.values, **{option: typed[option] for option in self.described if option in typed}}
        params = with_defaults(self.argument_spec, typed)
        seconds = STEP_SECONDS + _MOST_CALLS * params["timeout"] * (params["retries"] + 1)
        # It could send back what it was told, as it is or in another form, for everybody to read.
        redact = Redactor(_secrets(given))
        try:
            # Who is told the password is still not believed more than another host.
            answer = OnHostAction.beside(self).on_host(self._task.resolved_action, arguments, seconds, task_vars)
        except HostAnswerError as error:
            raise HostAnswerError(redact(error.what), error.remedy) from None
        except AnsibleConnectionFailure as error:
            raise AnsibleConnectionFailure(redact(error.message)) from None
        shown: dict[str, Any] = _redacted(answer, redact)
        return without_secrets(shown, given)


def without_secrets(answer: dict[str, Any], given: Given) -> dict[str, Any]:
    shown: dict[str, Any] = remove_values(answer, _secrets(given))
    return shown


def _secrets(given: Given) -> set[str]:
    return {str(given.values[option]) for option in SECRET_OPTIONS if given.values.get(option)}


def _redacted(value: Any, redact: Redactor) -> Any:
    """In keys as well."""
    if isinstance(value, dict):
        return {redact(name): _redacted(each, redact) for name, each in value.items()}
    if isinstance(value, list):
        return [_redacted(each, redact) for each in value]
    return redact(value) if isinstance(value, str) else value
