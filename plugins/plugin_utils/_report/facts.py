# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a run when it begins."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from ansible import context
from ansible.release import __version__ as core_version

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import RunEntry

_COLLECTION = Path(__file__).resolve().parents[3]


def run_facts(playbook: str, variables: Mapping[str, Any]) -> RunEntry:
    """``variables``: of its first play."""
    job = str(variables.get("awx_job_id") or "")
    limit = str(context.CLIARGS.get("subset") or "")
    return RunEntry(
        playbook=playbook,
        check=bool(context.CLIARGS.get("check")),
        status="running",
        began="",
        updated="",
        ended=None,
        seconds=0,
        limit=in_short(limit, 1000) or None,
        awx_job_id=int(job) if job.isdecimal() else None,
        versions={
            "slb.fleet": _own_version(),
            "ansible-core": core_version,
            "Python": platform.python_version(),
        },
    )


@cache
def _own_version() -> str:
    try:
        return str(json.loads((_COLLECTION / "MANIFEST.json").read_text())["collection_info"]["version"])
    except (OSError, ValueError, KeyError):
        pass
    try:
        return str(yaml.safe_load((_COLLECTION / "galaxy.yml").read_text())["version"])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return "unknown"
