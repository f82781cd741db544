# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do, in a form in which somebody can approve it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan

_NO_WORK = ("nothing", "fail", "")


def work_of(action: str, name: str, manage_ip: str, container: Mapping[str, Any]) -> str:
    """What is to be done about a host, and what about it: the engine, its address, and the container there. Empty where
    there is nothing to do.
    """
    if action in _NO_WORK:
        return ""
    return " ".join(filter(None, (f"{action}:", name, manage_ip, str(container.get("id") or ""))))


def plan_of(work: Mapping[str, str]) -> Plan:
    """``work``: of each host, as ``work_of`` has it."""
    wanted = {host: wants for host, wants in sorted(work.items()) if wants}
    return Plan(digest_of(wanted), wanted)


def digest_of(work: Mapping[str, str]) -> str:
    """The same for the same work, in whichever order it is given."""
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
