# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exception that every part of the collection raises for a failure that an operator can fix."""

from typing import Any, Dict


class FleetError(Exception):
    """A failure with a stable code, a summary and a fix.

    Args:
        code: Stable word in snake_case. Reports, alerts and tests use it.
        summary: ``<object> <state>: <cause>.``
        fix: What to set or run, as an imperative.
        values: Further keys of the task's result.
    """

    def __init__(self, code: str, summary: str, fix: str, **values: Any) -> None:
        super().__init__(code, summary, fix)
        self.code = code
        self.summary = summary
        self.fix = fix
        self.values: Dict[str, Any] = values

    def __str__(self) -> str:
        return "{0} {1}".format(self.summary, self.fix).strip()

    def as_result(self) -> Dict[str, Any]:
        """Return the keys of a failed task's result."""
        return dict(self.values, code=self.code, msg=self.summary, fix=self.fix)
