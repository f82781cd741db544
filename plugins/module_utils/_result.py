# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of an operation."""

from typing import Any, Dict, NamedTuple, Optional


class Result(NamedTuple):
    """What an operation did. ``diff`` has the keys ``before`` and ``after``."""

    changed: bool
    values: Dict[str, Any]
    diff: Optional[Dict[str, Any]] = None

    def as_task_result(self, show_diff: bool) -> Dict[str, Any]:
        result = dict(self.values, changed=self.changed)
        if show_diff and self.diff is not None:
            result["diff"] = self.diff
        return result
