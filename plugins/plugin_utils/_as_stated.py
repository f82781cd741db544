# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task as the play states it: what decides where credentials go, evaluated without what hosts say of themselves.

Ansible evaluates a task before its action sees it, with facts, which outrank the inventory. So what has been stated is
evaluated here once more, without them. What differs then is taken as it is without them, or refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.parsing.mod_args import ModuleArgsParser
from ansible.utils.sentinel import Sentinel

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_same, may_know_facts, without_facts

try:
    from ansible.errors import AnsibleValueOmittedError
except ImportError:  # before ansible-core 2.19, where what is left out has a value of its own

    class AnsibleValueOmittedError(Exception):  # type: ignore[no-redef]
        """Never raised."""


STATED = frozenset({*CONNECTION_ARGUMENTS, "dest", "owner", "group", "mode", "backup", "max_size", "engine_list"})
"""The options of which a host decides none. A play may well make an engine's name or address of facts."""

_REMEDY = "Make it of variables of the inventory or of the play, which no fact has the name of."
_KEYWORDS = (
    "connection",
    "port",
    "remote_user",
    "become",
    "become_method",
    "become_exe",
    "become_flags",
    "become_user",
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_AUTHORITIES = ("requests_ca_bundle", "curl_ca_bundle", "ssl_cert_file", "ssl_cert_dir")
_LEFT_OUT = object()


def stated_arguments(task: Any, task_vars: Mapping[str, Any], templar: Any) -> dict[str, Any]:
    """The task's options. ``templar`` and ``task_vars``: without facts. Raises FleetError."""
    if not may_know_facts(task_vars):
        return dict(task.args)
    raw = _raw_arguments(task, templar)
    arguments = dict(task.args)
    for option in STATED & {*raw, *arguments}:
        value = _evaluated(f"The option O({option})", raw.get(option, _LEFT_OUT), task_vars, templar)
        if value is _LEFT_OUT:
            arguments.pop(option, None)
        elif option not in arguments or not is_same(value, arguments[option]):
            arguments[option] = value
    return arguments


@contextlib.contextmanager
def task_environment(task: Any, task_vars: Mapping[str, Any], templar: Any) -> Iterator[None]:
    """The task's keyword ``environment``, which a module would get from the connection. Raises FleetError."""
    with without_facts(task_vars, templar, task) as stated:
        added = _stated_environment(task, stated, templar)
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


def _stated_environment(task: Any, task_vars: Mapping[str, Any], templar: Any) -> dict[str, str]:
    """``templar`` and ``task_vars``: without facts. What cannot be evaluated so is left out, or refused."""
    environment: dict[str, str] = {}
    # Evaluated by now in the task itself, and not in the variables.
    for variables in task_vars.get("environment") or task.environment or []:
        layer = (
            variables
            if isinstance(variables, Mapping)
            else _evaluated("The environment", variables, task_vars, templar)
        )
        for name, raw in layer.items() if isinstance(layer, Mapping) else ():
            try:
                value = _evaluated(f"The environment variable {name}", raw, task_vars, templar)
            except FleetError:
                if _is_of_a_connection(str(name)):
                    raise
                continue
            if value is not _LEFT_OUT:
                environment[str(name)] = str(value)
    return environment


def refuse_delegation_by_facts(task: Any, task_vars: Mapping[str, Any], templar: Any) -> None:
    """Where the task is done is where the password goes, or the license. ``templar``, ``task_vars``: without facts."""
    if not may_know_facts(task_vars):
        return
    stated = _raw(task, "delegate_to")
    if stated is not None and not is_same(
        _evaluated("The host of delegate_to", stated, task_vars, templar), task.delegate_to
    ):
        raise _made_of_facts("The host of delegate_to")


def refuse_environment_by_facts(task: Any, task_vars: Mapping[str, Any], templar: Any) -> None:
    """Where Ansible gives the task's environment to another host. ``templar`` and ``task_vars``: without facts."""
    if not may_know_facts(task_vars):
        return
    given: dict[str, str] = {}
    for variables in task.environment or []:
        given.update({str(name): str(value) for name, value in variables.items() if _is_of_a_connection(str(name))})
    stated_there = _stated_environment(task, task_vars, templar)
    for name in {*given, *stated_there}:
        if _is_of_a_connection(name) and given.get(name) != stated_there.get(name):
            raise _made_of_facts(f"The environment variable {name}")


def refuse_connection_by_facts(task: Any, connection: Any, task_vars: Mapping[str, Any], templar: Any) -> None:
    """How a host is reached is what this machine runs, and as whom. Raises HostAnswerError.

    ``task_vars``: as the task has them, with facts.
    """
    if not may_know_facts(task_vars):
        return
    host = str(task.delegate_to or "")
    variables = task_vars.get("ansible_delegated_vars", {}).get(host, task_vars) if host else task_vars
    variables = {**variables, "hostvars": task_vars.get("hostvars")}
    known = templar.available_variables
    try:
        templar.available_variables = variables
        made = dict(_evaluated_connection(task, connection, variables, templar))
    finally:
        templar.available_variables = known
    with without_facts(variables, templar, task, host) as stated:
        for name, value in _evaluated_connection(task, connection, stated, templar):
            if not is_same(made.pop(name, None), value):
                raise HostAnswerError(*_words(name))
    for name in made:
        raise HostAnswerError(*_words(name))


def _evaluated_connection(
    task: Any, connection: Any, variables: Mapping[str, Any], templar: Any
) -> Iterator[tuple[str, Any]]:
    """By its name, what it is, or what it gives where it is a template; None where that cannot be evaluated."""
    stated = {name: variables[name] for name in _variables_of_a_connection(connection, variables)}
    stated.update({f"the keyword {name}": _raw(task, name) for name in _KEYWORDS})
    for name, raw in stated.items():
        if raw is None:
            continue
        try:
            yield name, templar.template(raw) if templar.is_template(raw) else raw
        except (AnsibleError, AnsibleValueOmittedError):
            yield name, None


def _variables_of_a_connection(connection: Any, variables: Mapping[str, Any]) -> Iterator[str]:
    names = {name for names in constants.MAGIC_VARIABLE_MAPPING.values() for name in names}
    parts = (("connection", connection), ("become", connection.become), ("shell", getattr(connection, "_shell", None)))
    for kind, plugin in parts:
        if plugin is not None:
            names.update(constants.config.get_plugin_vars(kind, plugin._load_name))
    for name in map(str, variables):
        # A password may be another each time that it is looked up, and runs nothing.
        if "pass" in name:
            continue
        if name in names or (name.startswith("ansible_") and name.endswith("_interpreter")):
            yield name


def _raw_arguments(task: Any, templar: Any) -> dict[str, Any]:
    """What the task and its ``module_defaults`` say, not evaluated."""
    _action, own, _delegate_to = ModuleArgsParser(task_ds=task.get_ds()).parse(skip_action_validation=True)
    parent = task._parent
    defaults: dict[str, Any] = {}
    for layer in [*(_inherited(task, "module_defaults") or []), *_own_defaults(task)]:
        defaults.update(layer)
    raw: dict[str, Any] = {}
    groups = parent._play._action_groups.get(task.resolved_action, [])
    for name in (*(f"group/{group}" for group in groups), task.resolved_action):
        raw.update(_as_mapping(defaults.get(name), templar))
    for name in ("_raw_params", "_variable_params"):
        raw.update(_as_mapping(own.pop(name, None), templar))
    return {**raw, **own}


def _own_defaults(task: Any) -> list[Any]:
    return task._load_module_defaults("module_defaults", task.get_ds().get("module_defaults")) or []


def _as_mapping(value: Any, templar: Any) -> Mapping[str, Any]:
    """A mapping of which the values are not evaluated, where it is no template as a whole."""
    if not isinstance(value, Mapping):
        try:
            value = templar.template(value) if value is not None else {}
        except (AnsibleError, AnsibleValueOmittedError):
            raise _made_of_facts("What the options") from None
    return value if isinstance(value, Mapping) else {}


def _raw(task: Any, keyword: str) -> Any:
    """A keyword of the task or of what it stands in, not evaluated."""
    stated = (task.get_ds() or {}).get(keyword)
    return _inherited(task, keyword) if stated is None else stated


def _inherited(task: Any, keyword: str) -> Any:
    """Of the blocks, the role and the play, not evaluated. A block itself may not know its parents' any more."""
    value = task._get_parent_attribute(keyword, omit=True)
    return None if value is Sentinel else value


def _evaluated(what: str, raw: Any, task_vars: Mapping[str, Any], templar: Any) -> Any:
    if raw is _LEFT_OUT:
        return raw
    try:
        value = templar.template(raw)
    except AnsibleValueOmittedError:
        return _LEFT_OUT
    except AnsibleError:
        raise _made_of_facts(what) from None
    return _LEFT_OUT if isinstance(value, str) and value == task_vars.get("omit") else value


def _is_of_a_connection(name: str) -> bool:
    return name.startswith("SLB_") or name.lower() in (*_PROXIES, *_AUTHORITIES)


def _made_of_facts(what: str) -> FleetError:
    return FleetError(
        f"{what} is made of what a host says of itself (its facts), and no host decides where credentials go.", _REMEDY
    )


def _words(name: str) -> tuple[str, str]:
    return (
        f"How this host is reached, {name}, is made of what a host says of itself (its facts), and no host decides "
        "what this machine runs.",
        _REMEDY,
    )
