# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do, in a form in which somebody can approve it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan

_ASKED_FOR = ("is_change_hostname", "remove_leftovers", "adopt_interfaces")
_LONGEST = 1000


def work_of(action: str, engine: EngineIdentity, container: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """What is to be done about a host, in one line: the engine, its address, its management node, the container on the
    host, the credential, and what else was asked for. Empty where there is nothing to do.

    ``settings``: of the host, by their names without ``slb_``.
    """
    if action == "fail" or (action == "nothing" and not settings["adopt_interfaces"]):
        return ""
    asked_for = (name for name in _ASKED_FOR if settings[name])
    credential = f"credential {settings['user_credential_id']}"
    words = (f"{action}:", engine.name, engine.manage_ip, engine.base_url, container.get("id"), credential, *asked_for)
    return in_short(" ".join(" ".join(filter(None, words)).split()), _LONGEST)


def plan_of(work: Mapping[str, str]) -> Plan:
    """``work``: of each host, as ``work_of`` has it."""
    wanted = {host: wants for host, wants in sorted(work.items()) if wants}
    return Plan(digest_of(wanted), wanted)


def digest_of(work: Mapping[str, str]) -> str:
    """The same for the same work, in whichever order it is given."""
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
