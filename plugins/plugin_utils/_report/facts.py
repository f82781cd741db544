# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a run when it begins."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from ansible import constants, context
from ansible.release import __version__ as core_version

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import RunEntry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep

_COLLECTION = Path(__file__).resolve().parents[3]


def run_facts(playbook: str, variables: Mapping[str, Any], slice_: str) -> RunEntry:
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
        slice=in_short(slice_, 20) or None,
        awx_job_id=int(job) if job.isdecimal() else None,
        versions={
            "slb.fleet": _own_version(),
            "ansible-core": core_version,
            "Python": platform.python_version(),
        },
    )


def next_step(folder: str) -> NextStep:
    return NextStep(tuple(_options()), folder)


def _options() -> Iterator[str]:
    """Of the command that goes on, those that the next one needs; what may hold a secret is not told."""
    given = context.CLIARGS
    default = tuple(map(str, constants.DEFAULT_HOST_LIST or ()))
    sources = tuple(map(str, given.get("inventory") or ()))
    for source in sources if sources != default else ():
        yield from ("-i", _short_path(source))
    extra = [str(each) for each in given.get("extra_vars") or ()]
    if extra:
        yield "…"


def _short_path(path: str) -> str:
    here = f"{Path.cwd()}{os.sep}"
    return path.removeprefix(here)


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
