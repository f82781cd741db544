# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file would be gone with the container of an automation job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_OF_A_JOB = ("JOB_ID", "AWX_JOB_ID", "AWX_PRIVATE_DATA_DIR", "AWX_ISOLATED_DATA_DIR")
"""Set by AWX, or by ansible-runner."""
_OF_A_CONTAINER = ("run/.containerenv", ".dockerenv", "var/run/secrets/kubernetes.io")
_OF_THE_RUNNER = "runner"


def lost_with_job(path: str, environment: Mapping[str, str] | None = None, root: Path = Path("/")) -> bool:
    """Whether ``path`` lies in the container of a job, and on nothing that was mounted there to stay."""
    known = os.environ if environment is None else environment
    if not any(known.get(name) for name in _OF_A_JOB) or not any((root / mark).exists() for mark in _OF_A_CONTAINER):
        return False
    folder = Path(path).absolute().parent
    # The runner's own folder is mounted, and taken away with the job.
    private = [root / _OF_THE_RUNNER, *(Path(known[name]) for name in _OF_A_JOB[2:] if known.get(name))]
    if any(each == folder or each in folder.parents for each in private):
        return True
    while not os.path.exists(folder):  # noqa: PTH110 - below a folder of another user, Path.exists raises an error
        folder = folder.parent
    return folder.stat().st_dev == root.stat().st_dev
