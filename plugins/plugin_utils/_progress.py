# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run carries from round to round about one host: one value, and the one function that updates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Answer = Literal["none", "requested", "exists", "port_in_use", "rejected", "unknown"]
_NOT_NOW, _MOST_PUT_OFF = 429, 3


@dataclass(frozen=True)
class Progress:
    """``asked``: how often this run has asked for an install. ``asked_at``: when, by ``_clock``.
    ``confirmed``: how often it has noted the engine in the record. ``waited``: seconds for which it has waited for the
    engine. ``put_off``: how often the management node has said that it is too busy to begin anything. ``replaced_id``:
    the container that it has taken out of the way last.
    """

    rounds: int = 0
    asked: int = 0
    put_off: int = 0
    asked_at: float | None = None
    waited: float = 0
    answer: Answer = "none"
    answer_words: str = ""
    confirmed: int = 0
    has_replaced: bool = False
    replaced_id: str = ""
    has_put_back: bool = False
    put_back_words: str = ""

    @classmethod
    def from_result(cls, values: Mapping[str, Any]) -> Progress:
        """What an earlier task returned of it."""
        return cls(**{field.name: values[field.name] for field in fields(cls) if field.name in values})

    def after(self, action: str, result: Mapping[str, Any], now: float) -> Progress:
        """``result``: of the task that did what was decided; of a wait, ``waited``; of a request, ``outcome``;
        of a way back, the ``reason`` for it.
        """
        progress = replace(self, rounds=self.rounds + 1)
        if action == "wait":
            return replace(progress, waited=self.waited + float(result["waited"]))
        if action == "record":
            return replace(progress, confirmed=self.confirmed + 1)
        if action == "restore" and not result.get("overtaken"):
            return replace(progress, has_put_back=True, put_back_words=str(result.get("reason", "")))
        if action == "replace" and not result.get("overtaken"):
            # The last answer was about the container that is out of the way now. It may be another run that moved it.
            progress = replace(progress, answer="none", answer_words="")
            if not result.get("changed", True):
                return progress
            return replace(progress, has_replaced=True, replaced_id=str(result["before"]["id"]))
        if action == "install" and not result.get("skipped"):
            if self._is_put_off(result):
                return replace(progress, put_off=self.put_off + 1, asked_at=now)
            return replace(
                progress,
                asked=self.asked + 1,
                asked_at=now,
                answer=result.get("outcome", "rejected"),
                answer_words=str(result.get("msg", "")),
            )
        return progress

    def _is_put_off(self, result: Mapping[str, Any]) -> bool:
        """Nothing was begun, and nothing stands against it: another look at host and list decides anew, and the run's
        gate lets nobody ask before the time that the answer names. What was taken out of the way is put back instead.
        """
        is_not_now = result.get("outcome") == "rejected" and result.get("status_code") == _NOT_NOW
        return is_not_now and self.put_off < _MOST_PUT_OFF and not self.has_replaced

    def has_asked_since(self, before: Mapping[str, Any]) -> bool:
        """Whether a request was made since ``before`` from which an engine may come.

        Not where it was skipped: then the answer is that of an earlier one.
        """
        return self.asked > before["asked"] and self.answer in ("requested", "unknown")
