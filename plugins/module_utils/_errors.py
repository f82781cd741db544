# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one hierarchy of errors: each says what happened, where, and what to do next."""

from typing import Any, Dict


class FleetError(Exception):
    """Something that an operator has to know about; raised anywhere, caught at the boundary alone.

    ``what``: one sentence, what happened and where. ``remedy``: one sentence, what to do next.
    ``values``: further keys of the task's result, evidence for whoever reads it.
    """

    def __init__(self, what: str, remedy: str, **values: Any) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.values: Dict[str, Any] = values

    def __str__(self) -> str:
        return "{} {}".format(self.what, self.remedy)

    def as_result(self) -> Dict[str, Any]:
        return dict(self.values, msg=str(self))


class OptionError(FleetError):
    """An option's value cannot be used. Nothing was done."""

    def __init__(self, option: str, value: object, why: str, remedy: str) -> None:
        super().__init__("The option {!r} has the value {!r}: {}.".format(option, value, why), remedy)


class ConsoleError(FleetError):
    """The management node could not be reached, or its answer cannot be used."""


class HostError(FleetError):
    """The engine host is not in a state in which the operation can be done."""


class CommandError(HostError):
    """A command on the engine host failed or did not end in time."""


class WaitError(HostError):
    """What was waited for did not happen before the deadline."""
