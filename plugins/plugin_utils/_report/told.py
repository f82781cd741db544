# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What callbacks are told of a task's result and of a play, by names that every supported ansible-core has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PREFIX = "slb.fleet."
_PLAYBOOKS = Path(__file__).resolve().parents[3] / "playbooks"
_OF_NO_HOST = frozenset({"merge_reports", "awx_setup", "awx_files"})
"""They are about no host of the fleet: a report of them would replace one that is about it."""


@dataclass(frozen=True)
class Told:
    """Of a result: the host, the task's identity and module, and the module's own result. ``on``: where the task ran,
    which is another host where it was delegated.
    """

    host: str
    on: str
    task: str
    module: str
    values: Mapping[str, Any]
    has_looked: bool = True
    """Not if the task's option ``checked`` gives it the facts of an earlier check."""


def told(result: Any, *, is_well: bool = False) -> Told:
    """``is_well``: it has not failed. Then the values of modules of others say nothing, and are not looked at: Ansible
    makes another copy of them for each callback that does.
    """
    task = _named(result, "task")
    module = _module(task)
    values = _named(result, "result") if module.startswith(PREFIX) or not is_well else {}
    host = _named(result, "host").get_name()
    return Told(
        host,
        str(task.delegate_to or host),
        identity(task),
        module,
        values if isinstance(values, Mapping) else {},
        "checked" not in task.args,
    )


def module_of(result: Any) -> str:
    """Without the result's values."""
    return _module(_named(result, "task"))


def module_of_task(task: Any) -> str:
    """Of one that is only begun."""
    return _module(task)


def arguments_of(result: Any) -> Mapping[str, Any]:
    """As the task states them."""
    arguments: Mapping[str, Any] = _named(result, "task").args
    return arguments


def warnings_of(result: Any) -> list[str]:
    """Also what a plugin has warned of while it worked on the task, which ansible-core up to 2.18 shows by itself."""
    if hasattr(type(result), "warnings"):
        return [str(warning.event.msg) for warning in result.warnings]
    return [str(warning) for warning in result._result.get("warnings") or ()]


def identity(task: Any) -> str:
    return str(task._uuid)


def own_playbook(play: Any) -> str:
    """The full name of the playbook of this collection that the play is from; empty where it is somebody else's, or one
    that is only a part of others and has no hosts of the fleet.
    """
    path = _path(play)
    return f"slb.fleet.{path.stem}" if is_own(play) and path.parent == _PLAYBOOKS else ""


def is_own(play: Any) -> bool:
    """The play is of this collection and about hosts of the fleet, be it a part of its playbooks."""
    path = _path(play)
    return _PLAYBOOKS in path.parents and path.stem not in _OF_NO_HOST


def _path(play: Any) -> Path:
    return Path(str(play.get_path()).rpartition(":")[0]).resolve()


def _module(task: Any) -> str:
    return str(getattr(task, "resolved_action", None) or task.action)


def _named(result: Any, name: str) -> Any:
    # Up to ansible-core 2.18 there are only the names with an underscore, which later versions are going to remove.
    return getattr(result, name) if hasattr(type(result), name) else getattr(result, f"_{name}")
