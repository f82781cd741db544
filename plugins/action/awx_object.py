# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives one object of AWX to the module of its kind, and says in our words what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.settings import PREFIX, settings_of
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.standing import ENDPOINTS
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.trouble import BROKEN_OFF, in_words
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import value_of

_LONGEST_WORDS = 1000
_COLLECTIONS = ("awx.awx", "ansible.controller")


class ActionModule(ActionBase):  # type: ignore[misc]
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _validated, given = self.validate_argument_spec(
            {
                "kind": {"type": "str", "required": True, "choices": [*ENDPOINTS, "role"]},
                "args": {"type": "dict", "required": True},
                "secrets": {"type": "dict", "default": {}},
                "collection": {"type": "str", "default": "awx.awx", "choices": list(_COLLECTIONS)},
                "foretold": {"type": "bool", "default": False},
            }
        )
        kind, args = given["kind"], dict(given["args"])
        name = str(args.get("name", ""))
        if given["foretold"] and self._task.check_mode:
            return {"changed": True, "msg": "It would be made."}
        try:
            for place, secret in self._secrets(given["secrets"], task_vars or {}):
                option, field = place.split(".")
                args[option] = {**args.get(option, {}), field: secret}
            said: Mapping[str, Any] = self._execute_module(
                module_name=f"{given['collection']}.{kind}", module_args=args, task_vars=task_vars
            )
        except FleetError as error:
            return {"failed": True, "msg": str(error)}
        except AnsibleError as error:
            return {"failed": True, "msg": in_words(kind, name, in_short(error.message, _LONGEST_WORDS))}
        if said.get("failed"):
            return {"failed": True, "msg": in_words(kind, name, in_short(told(said), _LONGEST_WORDS))}
        result = {"changed": bool(said.get("changed"))}
        return {**result, "id": said["id"]} if isinstance(said.get("id"), int) else result

    def _secrets(self, places: Mapping[str, str], task_vars: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Looked up here: what stands in a task's options or loop is shown by ``-v``."""
        for place, variable in places.items():
            settings = settings_of({variable: value_of(variable, task_vars, self._templar)})
            yield place, settings[variable.removeprefix(PREFIX)]


def told(said: Mapping[str, Any]) -> str:
    """What a module says beside its message is often the part that explains it."""
    response = said.get("response")
    answer = response.get("json") if isinstance(response, Mapping) else None
    words = str(said.get("msg") or "")
    if not words or words.startswith("MODULE FAILURE"):
        return f"{BROKEN_OFF} ({_last_words(said) or 'it is not known why'})"
    return f"{words} {answer}" if answer and "see response" in words else words


def _last_words(said: Mapping[str, Any]) -> str:
    """Of a module that has said nothing itself: the error that ended it, as each ansible-core hands it on."""
    event = getattr(said.get("exception"), "event", None)
    return str(getattr(event, "msg", "")) or str(said.get("module_stderr") or "").strip().rpartition("\n")[2]
