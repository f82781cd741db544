# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done about a host, in one line: what a plan is of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import OF_A_HOST

_ASKED_FOR = (
    *("is_change_hostname", "remove_leftovers", "allow_established"),
    *("motd", "motd_max_bytes", "motd_after", "adopt_interfaces"),
)
_OF_INTERFACES = ("interfaces", "interfaces_state", "lift_unmanaged", "whole_lease")
_LONGEST = 1000


def is_asked_for_more(settings: Mapping[str, Any]) -> bool:
    """Than an engine: so that there is work on hosts whose engines run, too. ``settings``: as of ``work_of``."""
    return bool(settings["adopt_interfaces"] or settings["motd_after"] == "restored")


def work_of(action: str, engine: EngineIdentity, container: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """What is to be done about a host, in one line: the engine, its address, its management node, the container on the
    host, the credential, and what else was asked for. Empty where there is nothing to do.

    ``settings``: of the host, by their names without ``slb_``.
    """
    if action == "fail" or (action == "none" and not is_asked_for_more(settings)):
        return ""
    credential = f"credential {settings['user_credential_id']}"
    words = (f"{action}:", engine.name, engine.manage_ip, engine.base_url, container.get("id"), credential)
    line = visible(" ".join(" ".join(filter(None, (*words, *_asked_for(settings)))).split()))
    # What is cut off tells one plan from another as well.
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… {hashlib.sha256(line.encode()).hexdigest()}"


def _asked_for(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is not as it is by default, of all that decides what is done."""
    for name in _ASKED_FOR + (_OF_INTERFACES if settings["adopt_interfaces"] else ()):
        value = settings[name]
        if value != OF_A_HOST[name].default:
            shown = ",".join(sorted(value)) if isinstance(value, list) else value
            yield name if value is True else f"{name} {shown}"
