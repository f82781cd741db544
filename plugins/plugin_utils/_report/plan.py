# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do, in a form in which somebody can approve it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan


def plan_of(work: Mapping[str, str]) -> Plan:
    """``work``: of each host, as ``_work.work_of`` has it."""
    wanted = {host: wants for host, wants in sorted(work.items()) if wants}
    return Plan(digest_of(wanted), wanted)


def digest_of(work: Mapping[str, str]) -> str:
    """The same for the same work, in whichever order it is given."""
    text = json.dumps(dict(work), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
