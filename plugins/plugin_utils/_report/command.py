# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command that has been run: what of it the next one needs, and nothing that may be a secret."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.parsing.splitter import parse_kv

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._limit import files_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import KNOWN

_PLAN = "slb_plan"
_TOLD = (KNOWN - {"slb_password"}) | {
    f"ansible_{name}"
    for name in ("become", "become_method", "become_user", "connection", "host", "port", "python_interpreter", "user")
}
"""Variables whose values are no secrets."""
_MAY_BE_SECRET = re.compile(r"passw|secret|token|api.?key|sshpass|://[^/\s]*@", re.IGNORECASE)
_LONGEST, _LONGEST_NAME = 2000, 60
_VALUES: Mapping[str, tuple[str, str]] = {
    "remote_user": ("--user", "DEFAULT_REMOTE_USER"),
    "private_key_file": ("--private-key", "DEFAULT_PRIVATE_KEY_FILE"),
    "connection": ("--connection", "DEFAULT_TRANSPORT"),
    "timeout": ("--timeout", "DEFAULT_TIMEOUT"),
    "forks": ("--forks", "DEFAULT_FORKS"),
    "become_method": ("--become-method", "DEFAULT_BECOME_METHOD"),
    "become_user": ("--become-user", "DEFAULT_BECOME_USER"),
    "ssh_common_args": ("--ssh-common-args", ""),
    "ssh_extra_args": ("--ssh-extra-args", ""),
}
"""Ansible's options with the setting that holds where they are not given."""
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "become": ("--become", "DEFAULT_BECOME"),
    "become_ask_pass": ("--ask-become-pass", "DEFAULT_BECOME_ASK_PASS"),
    "ask_pass": ("--ask-pass", "DEFAULT_ASK_PASS"),
    "ask_vault_pass": ("--ask-vault-password", "DEFAULT_ASK_VAULT_PASS"),
}
_LISTS: Mapping[str, str] = {"vault_ids": "--vault-id", "vault_password_files": "--vault-password-file"}


def next_step(folder: str, has_plan: bool) -> NextStep:
    """``has_plan``: the run was given one, be it in a file of variables."""
    given = context.CLIARGS
    files, variables = _variables(given)
    plan = variables.pop(_PLAN, None)
    told = {name: value for name, value in variables.items() if _may_be_told(name, value)}
    in_a_file = has_plan and plan is None
    limit = str(given.get("subset") or "")
    own = {os.path.realpath(f"{folder}/retry")} if folder else set()
    by_files = files_of(limit)
    is_own = not own.isdisjoint(map(os.path.realpath, by_files))
    return NextStep(
        (*_inventory(given), *_options(given), *files, *_as_options(told)),
        _short_path(folder) if folder else "",
        limit=limit,
        playbooks=tuple(_short_path(str(each)) for each in given.get("args") or ()),
        approved=tuple(_as_options({_PLAN: plan})) if plan is not None and _may_be_told(_PLAN, plan) else (),
        unapproved=("-e", f"{_PLAN}=") if in_a_file else (),
        # With variables that are the operator's word about these hosts, no file is one: it may have others by then.
        is_limit_lost=visible(limit) != limit or is_own or bool(by_files and (files or variables or has_plan)),
    )


def left_out() -> tuple[str, ...]:
    """The names of the variables that the command was given and that the next one does not tell."""
    _files, variables = _variables(context.CLIARGS)
    return tuple(in_short(name, _LONGEST_NAME) for name, value in variables.items() if not _may_be_told(name, value))


def _variables(given: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The files of variables, as options, and the variables that were given in words. A file is read again."""
    files: list[str] = []
    variables: dict[str, Any] = {}
    for each in map(str, given.get("extra_vars") or ()):
        if each.startswith("@"):
            files += ["-e", f"@{_short_path(each[1:])}"]
        else:
            variables.update(_in_words(each))
    return files, variables


def _in_words(text: str) -> dict[str, Any]:
    """As Ansible reads them, which has refused what cannot be read."""
    try:
        found = yaml.safe_load(text) if text[:1] in ("[", "{") else parse_kv(text)
    except (yaml.YAMLError, AnsibleError):
        return {}
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) else {}


def _may_be_told(name: str, value: Any) -> bool:
    text = _text(value)
    return name in _TOLD and len(text) <= _LONGEST and not _MAY_BE_SECRET.search(text) and visible(text) == text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _as_options(variables: Mapping[str, Any]) -> Iterator[str]:
    for name, value in variables.items():
        is_plain = isinstance(value, str) and re.fullmatch(r"[^\s'\"\\{}\[\]]+", value)
        yield from ("-e", f"{name}={value}" if is_plain else json.dumps({name: value}, ensure_ascii=False))


def _inventory(given: Mapping[str, Any]) -> Iterator[str]:
    sources = tuple(map(str, given.get("inventory") or ()))
    if sources != tuple(map(str, constants.DEFAULT_HOST_LIST or ())):
        for source in sources:
            yield from ("-i", _short_path(source))


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    for name, (option, setting) in _VALUES.items():
        value = given.get(name)
        if value and value != getattr(constants, setting, None) and not _MAY_BE_SECRET.search(str(value)):
            yield from (option, str(value))
    for name, (option, setting) in _SWITCHES.items():
        if given.get(name) and not getattr(constants, setting, None):
            yield option
    for name, option in _LISTS.items():
        for value in given.get(name) or ():
            yield from (option, _short_path(str(value)))


def _short_path(path: str) -> str:
    return path.removeprefix(f"{Path.cwd()}{os.sep}")
