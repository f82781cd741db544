# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do, in a form in which somebody can approve it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan

_NO_WORK = ("nothing", "fail", "")


def plan_of(decided: Mapping[str, tuple[str, str]]) -> Plan:
    """``decided``: of each host the action, and what it is about: the engine, its address, and the container there."""
    work = {host: f"{action}: {wants}" for host, (action, wants) in sorted(decided.items()) if action not in _NO_WORK}
    return Plan(digest_of(work), work)


def digest_of(work: Mapping[str, str]) -> str:
    """The same for the same work, in whichever order it is given."""
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
