# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors without a code, which name an option by a mark."""

import re
from typing import Any, Container, Dict, Mapping, Match, Optional

from ansible_collections.slb.fleet.plugins.module_utils import errors

_MARK = re.compile(r"(?<![A-Za-z0-9_])(option )?O\(([a-z][a-z0-9_]*)((?:\.[a-z0-9_]+)*)\)(?=(: )?)")
_LONGEST_VALUE = 400


def in_words(text: str, names: Optional[Mapping[str, str]] = None, known: Optional[Container[str]] = None) -> str:
    """Return ``text`` with each ``O(option)`` replaced by the name that the user has to write.

    ``names``: variables to name instead of options. ``known``: the existing options; marks of other names are left
    unchanged. Before a colon the name is not quoted, so that the pair can be copied.
    """

    def named(mark: Match[str]) -> str:
        noun, option, deeper, is_pair = mark.groups()
        if known is not None and option not in known:
            return mark.group()
        if names and option in names:
            return f"{'variable ' if noun else ''}{names[option]}{deeper}"
        return f"{noun or ''}{option + deeper if is_pair else repr(option + deeper)}"

    return _MARK.sub(named, text)


class FleetError(errors.FleetError):
    """A failure without a code of its own. ``what`` and ``remedy`` name an option as ``O(option)``."""

    def __init__(self, what: str, remedy: str, **values: Any) -> None:
        super().__init__("failed", what, remedy, **values)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, names: Optional[Mapping[str, str]] = None, known: Optional[Container[str]] = None) -> str:
        """Both sentences; ``names`` and ``known`` are those of the function of the same name."""
        return in_words(f"{self.what} {self.remedy}", names, known)

    def as_result(
        self, names: Optional[Mapping[str, str]] = None, known: Optional[Container[str]] = None
    ) -> Dict[str, Any]:
        return dict(self.values, msg=self.in_words(names, known))


class OptionError(FleetError):
    """The value of an option is invalid. Nothing was done."""

    def __init__(self, option: str, value: object, why: str, remedy: str) -> None:
        super().__init__(f"The option O({option}) has the value {_shown(value)}: {why}.", remedy)


class HostError(FleetError):
    """The operation is not possible in the present state of the engine host."""


class CommandError(HostError):
    """A command on the engine host failed or did not end in time."""


class WaitError(HostError):
    """A condition did not become true before the deadline."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
