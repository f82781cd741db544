# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a request may leave now: the one place where what others have met at the management node is heeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable


class GateClosedError(ConsoleError):
    """The management node has been given up, or wants to be left alone for too long: nothing was sent."""


@dataclass(frozen=True)
class Sign:
    """What one request has shown of the management node: that it ``answers``; that it is ``busy`` and wants to be left
    alone for ``pause`` seconds, where it says how long; or that it seems ``absent``. ``words``: a sentence about that.
    """

    kind: Literal["answers", "busy", "absent"]
    words: str = ""
    pause: float = 0.0


class Passage(NamedTuple):
    """``waited``: seconds. ``was_down``: the management node was found absent, and is back."""

    waited: float = 0.0
    was_down: bool = False


class Gate(Protocol):
    def enter(self, probe: Callable[[], Sign]) -> Passage:
        """Returns when a request may leave; raises GateClosedError where none may. ``probe``: a harmless request."""

    def note(self, sign: Sign) -> None:
        """What a request has shown."""


class OpenGate:
    """For a task that shares nothing with others."""

    def enter(self, probe: Callable[[], Sign]) -> Passage:
        return Passage()

    def note(self, sign: Sign) -> None:
        return
