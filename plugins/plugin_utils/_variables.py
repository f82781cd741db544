# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's variables, as the operator has set them: templated, without facts, and unset where they are empty.

Where Ansible makes variables of facts, these outrank the inventory, and any module's answer may hold facts: a host
could give each name from which an operator has made a variable another value.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_REFERENCE = re.compile(r"\s*\{\{\s*(\w+)\s*\}\}\s*")
_FACTS = ("ansible_facts", "ansible_local")
# What Ansible itself notes of a host, in each run without any gathering; nobody makes a variable of it.
_OF_ANSIBLE = ("discovered_interpreter_", "_ansible_")


class _NoFacts(dict[str, Any]):
    """In the place of the cache from which Ansible takes facts. ``hidden``: that one."""

    def __init__(self, hidden: Any) -> None:
        super().__init__()
        self.hidden = hidden

    def get(self, key: str, default: Any = None) -> Any:
        return {}


@contextlib.contextmanager
def without_facts(
    task_vars: Mapping[str, Any], templar: Any, task: Any = None, host: str = ""
) -> Iterator[Mapping[str, Any]]:
    """Meanwhile ``templar`` knows no facts, of no host. Gives its variables: what facts have hidden is there again.

    ``host``: whose variables these are, if not those of ``inventory_hostname``.
    """
    manager = _manager(task_vars)
    if manager is None:  # an inventory is read: nobody has facts yet
        yield task_vars
        return
    kept, known = manager._fact_cache, templar.available_variables
    # Also what is looked up by way of ``hostvars``.
    manager._fact_cache = _NoFacts(_facts_cache(manager))
    try:
        templar.available_variables = _cleaned(task_vars, manager, task, host)
        if task is not None and task.loop is not None:
            _forget_a_loop_of_facts(task, templar, task_vars, known, manager)
        yield templar.available_variables
    finally:
        manager._fact_cache, templar.available_variables = kept, known


@contextlib.contextmanager
def with_facts_below(task_vars: Mapping[str, Any], templar: Any, task: Any = None) -> Iterator[Mapping[str, Any]]:
    """Meanwhile no fact of the host hides a variable of that name. What is made of facts by their own names stays."""
    manager = _manager(task_vars)
    if manager is None:
        yield task_vars
        return
    known = templar.available_variables
    with without_facts(task_vars, templar, task) as stated:
        merged = {**task_vars, **stated, **{name: task_vars[name] for name in _FACTS if name in task_vars}}
    templar.available_variables = {**merged, "vars": merged}
    try:
        yield templar.available_variables
    finally:
        templar.available_variables = known


def may_know_facts(task_vars: Mapping[str, Any]) -> bool:
    """Whether any host of the run may have some."""
    manager = _manager(task_vars)
    if manager is None:
        return False
    # To list what a cache on disk holds would cost more than it saves.
    return str(constants.CACHE_PLUGIN).rpartition(".")[2] != "memory" or bool(list(_facts_cache(manager).keys()))


def value_of(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """The variable's value; None where it is not set or is empty, as a survey's unanswered question is.

    Raises FleetError where it cannot be templated.
    """
    if variable not in task_vars:
        return None
    try:
        value = templar.template(raw_value(task_vars[variable], task_vars))
    except AnsibleError as error:
        why = str(error).rstrip(".")
        remedy = (
            "Give the password of the vault: --ask-vault-password or --vault-password-file."
            if "decrypt" in why.lower()
            else "Correct it where it is set."
        )
        of_facts = " What hosts say of themselves (facts) decides neither where credentials go nor what is written."
        raise FleetError(
            f"The variable {variable} of this host cannot be evaluated: {why}.",
            remedy + (of_facts if may_know_facts(task_vars) else ""),
        ) from None
    if hasattr(value, "_ciphertext"):  # a vaulted text, before ansible-core 2.19
        value = str(value)
    return None if is_empty(value) else value


def raw_value(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return what a text that only names a variable refers to: before ansible-core 2.19, a template makes it a text."""
    for _unused in range(10):
        name = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if not name or name[1] not in variables:
            break
        value = variables[name[1]]
    return value


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def is_same(one: Any, other: Any) -> bool:
    """Also where a value is unlike itself, as what is no number is."""
    try:
        return json.dumps(one, default=repr) == json.dumps(other, default=repr)
    except (RecursionError, TypeError, ValueError):
        return False


def _manager(task_vars: Mapping[str, Any]) -> Any:
    return getattr(task_vars.get("hostvars"), "_variable_manager", None)


def _facts_cache(manager: Any) -> Any:
    return getattr(manager._fact_cache, "hidden", manager._fact_cache)


def _facts_of(host: str, manager: Any) -> dict[str, Any]:
    try:
        facts = _facts_cache(manager).get(host) or {}
    except KeyError:
        facts = {}
    return {name: value for name, value in facts.items() if not str(name).startswith(_OF_ANSIBLE)}


def _cleaned(task_vars: Mapping[str, Any], manager: Any, task: Any, host: str) -> dict[str, Any]:
    """``task_vars`` with what they would be without facts. The facts are hidden already."""
    whose = host or str(task_vars.get("inventory_hostname"))
    clean = {**task_vars, **{name: {} for name in _FACTS}}
    facts = _facts_of(whose, manager)
    if facts:
        fresh, known = _variables(manager, task_vars, task, whose), {}
        if task is not None and task.get_play().get_vars_files():
            # Facts may also have chosen which files of variables are read.
            with _facts_again(manager):
                known = _variables(manager, task_vars, task, whose)
        for name, value in known.items():
            if name == "vars":
                continue
            if name not in fresh:
                clean.pop(name, None)
            elif value is not fresh[name] and not is_same(value, fresh[name]):
                clean[name] = fresh[name]
        # The task's own keyword has outranked a fact of that name, and is evaluated by now.
        facts.pop("environment", None)
        for fact, value in facts.items():
            # Without the task, variables of the play are not known here; these outrank facts.
            if task is None and fact in clean and not _may_be(value, clean[fact]):
                continue
            if fact in fresh:
                clean[fact] = fresh[fact]
            else:
                clean.pop(fact, None)
    return {**clean, "vars": clean}


def _variables(manager: Any, task_vars: Mapping[str, Any], task: Any, host: str) -> dict[str, Any]:
    variables: dict[str, Any] = manager.get_vars(
        play=task.get_play() if task is not None else None,
        host=task_vars["hostvars"]._inventory.get_host(host),
        task=task,
        _hosts=task_vars.get("ansible_play_batch"),
        _hosts_all=task_vars.get("ansible_play_hosts_all"),
    )
    return variables


@contextlib.contextmanager
def _facts_again(manager: Any) -> Iterator[None]:
    hidden = manager._fact_cache
    manager._fact_cache = hidden.hidden
    try:
        yield
    finally:
        manager._fact_cache = hidden


def _may_be(fact: Any, value: Any) -> bool:
    is_merged = constants.DEFAULT_HASH_BEHAVIOUR == "merge" and isinstance(fact, Mapping) and isinstance(value, Mapping)
    return is_merged or is_same(fact, value)


def _forget_a_loop_of_facts(task: Any, templar: Any, task_vars: Mapping[str, Any], known: Any, manager: Any) -> None:
    """The items of a loop are values by now; where facts have given them, what is made of them is made of facts."""
    if not may_know_facts(task_vars):
        return
    stated, hidden = templar.available_variables, manager._fact_cache
    try:
        items = templar.template(task.loop)
        templar.available_variables, manager._fact_cache = known, hidden.hidden
        is_stated = is_same(items, templar.template(task.loop))
    except AnsibleError:
        is_stated = False
    finally:
        templar.available_variables, manager._fact_cache = stated, hidden
    if not is_stated:
        control = task.loop_control
        for name in (control.loop_var, control.index_var, "ansible_loop") if control else ("item",):
            stated.pop(name, None)
            stated["vars"].pop(name, None)
