# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What callbacks read of Ansible's plays and results, by names that every supported ansible-core has."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible import constants, context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback
from ansible.plugins.loader import callback_loader
from ansible.release import __version__ as core_version

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Run

_COLLECTION = Path(__file__).resolve().parents[3]
_PLAYBOOKS = _COLLECTION / "playbooks"
_WITHOUT_HOSTS = ("merge_reports", "awx_setup")
"""Playbooks on the controller alone."""
_WITHOUT_REPORT = ("show_engine_list",)
"""They change and verify no host: a report of them would replace one of the fleet."""
_REPEATED = (
    ("remote_user", "--user", "DEFAULT_REMOTE_USER"),
    ("private_key_file", "--private-key", "DEFAULT_PRIVATE_KEY_FILE"),
    ("connection", "--connection", "DEFAULT_TRANSPORT"),
    ("ssh_common_args", "--ssh-common-args", ""),
    ("ssh_extra_args", "--ssh-extra-args", ""),
    ("ask_pass", "--ask-pass", "DEFAULT_ASK_PASS"),
    ("connection_password_file", "--connection-password-file", "CONNECTION_PASSWORD_FILE"),
    ("become", "--become", "DEFAULT_BECOME"),
    ("become_method", "--become-method", "DEFAULT_BECOME_METHOD"),
    ("become_user", "--become-user", "DEFAULT_BECOME_USER"),
    ("become_ask_pass", "--ask-become-pass", "DEFAULT_BECOME_ASK_PASS"),
    ("become_password_file", "--become-password-file", "BECOME_PASSWORD_FILE"),
    ("vault_ids", "--vault-id", ""),
    ("ask_vault_pass", "--ask-vault-password", "DEFAULT_ASK_VAULT_PASS"),
    ("vault_password_files", "--vault-password-file", "DEFAULT_VAULT_PASSWORD_FILE"),
)
"""Destination and name of an option of ansible-playbook, and the setting with its default."""
_PART = "__slb_is_part"
"""Variable of a play that a playbook of this collection imports."""


def own_playbook(play: Any) -> str:
    """Return the full name of the playbook with a report that has the play; empty for others and for parts."""
    path = _path(play)
    has_report = is_own(play) and path.parent == _PLAYBOOKS and path.stem not in _WITHOUT_REPORT
    return f"slb.fleet.{path.stem}" if has_report else ""


class Beginnings:
    """Where the playbooks of this collection begin in a command: ``import_playbook`` may name one several times."""

    def __init__(self) -> None:
        self.left: dict[str, str] = {}
        """The names of the playbooks that have not begun, by the identity of their first play."""

    def load(self, plays: Iterable[Any]) -> int:
        """Return the number of playbooks that begin in ``plays``, those of one file of the command in their order."""
        first: dict[Path, str] = {}
        for play in plays:
            path, place = _path(play), str(play.get_path())
            is_first = first.setdefault(path, place) == place
            if is_first and path.parent == _PLAYBOOKS and _PART not in play.vars:
                self.left[play._uuid] = f"slb.fleet.{path.stem}"
        return len(self.left)

    def has(self, play: Any) -> bool:
        """Return whether the play begins a playbook. The second call for the same play returns False."""
        return self.left.pop(play._uuid, None) is not None


def is_stdout_text() -> bool:
    """Return whether the stdout callback prints text for people; others, such as JSON callbacks, own stdout alone."""
    name = str(constants.DEFAULT_STDOUT_CALLBACK).removeprefix("ansible.builtin.")
    callback = callback_loader.get(name, class_only=True)
    return name in ("minimal", "oneline") or (isinstance(callback, type) and issubclass(callback, DefaultCallback))


def is_own(play: Any) -> bool:
    """Return whether the play is of this collection, or a part of its playbooks, and about hosts of the fleet."""
    path = _path(play)
    return _PLAYBOOKS in path.parents and path.stem not in _WITHOUT_HOSTS


def host_of(result: Any) -> str:
    return str(_named(result, "host").get_name())


def task_of(result: Any) -> Any:
    return _named(result, "task")


def module_of(task: Any) -> str:
    return str(getattr(task, "resolved_action", None) or task.action)


def identity(task: Any) -> str:
    return str(task._uuid)


def values_of(result: Any, *, is_failed: bool = False) -> Mapping[str, Any]:
    """Return the module's result. ansible-core 2.19 copies it for each caller.

    ``is_failed``: of the event. What callbacks get has no member ``failed``.
    """
    values = _named(result, "result")
    values = values if isinstance(values, Mapping) else {}
    return {**values, "failed": True} if is_failed else values


def warnings_of(result: Any) -> list[str]:
    if hasattr(type(result), "warnings"):
        return [str(warning.event.msg) for warning in result.warnings]
    return [str(warning) for warning in result._result.get("warnings") or ()]


def run_of(
    playbook: str, variables: Mapping[str, Any], extra_vars: Iterable[str], without_secrets: Callable[[str], str]
) -> Run:
    """Return what is known of a run when it begins. ``variables``: of its first play. ``extra_vars``: to be shown."""
    job, limit = str(variables.get("awx_job_id") or ""), str(context.CLIARGS.get("subset") or "")
    sources = tuple(map(str, context.CLIARGS.get("inventory") or ()))
    words = (word for each in sources for word in ("-i", short_path(each)))
    is_configured = sources == tuple(map(str, constants.DEFAULT_HOST_LIST or ()))
    return Run(
        playbook=playbook,
        check=bool(context.CLIARGS.get("check")),
        inventory=() if is_configured else tuple(map(without_secrets, words)),
        options=tuple(map(without_secrets, _options())),
        limit=without_secrets(in_short(limit, 1000)) or None,
        extra_vars=tuple(dict.fromkeys(extra_vars)),
        awx_job_id=int(job) if job.isdecimal() else None,
        versions={"slb.fleet": metadata("version"), "ansible-core": core_version, "Python": platform.python_version()},
    )


def _options() -> Iterator[str]:
    """Return the options of the command that differ from the configuration, and that the next command needs."""
    for name, option, setting in _REPEATED:
        value, default = context.CLIARGS.get(name), setting and constants.config.get_config_value(setting)
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each and each != default:
                text = short_path(str(each))
                # An option's value that begins with a dash would be read as another option.
                yield from [option] if each is True else [f"{option}={text}"] if text[:1] == "-" else [option, text]


def short_path(path: str) -> str:
    """Return the path as a command of this folder may name it."""
    return path.removeprefix(f"{Path.cwd()}/")


def metadata(key: str) -> str:
    """Return a value of the collection's metadata."""
    try:
        return str(json.loads((_COLLECTION / "MANIFEST.json").read_text())["collection_info"][key])
    except (OSError, ValueError, KeyError):
        pass
    try:
        return str(yaml.safe_load((_COLLECTION / "galaxy.yml").read_text())[key])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return "unknown"


def _path(play: Any) -> Path:
    return Path(str(play.get_path()).rpartition(":")[0]).resolve()


def _named(result: Any, name: str) -> Any:
    # Up to ansible-core 2.18 only the names with an underscore exist.
    return getattr(result, name) if hasattr(type(result), name) else getattr(result, f"_{name}")
