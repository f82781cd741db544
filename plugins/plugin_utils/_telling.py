# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task tells of its decision about a host: its result, the groups that the host joins, words at the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible import constants
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ListedEngines
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import SAME_AS
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._work import is_asked_for_more

_RECORDED = ("state", "name", "manage_ip", "base_url", "verified_before")
_NOT_HANDED_ON = ("engine_list", "approved_plan")
_NOT_NOTED = "But the host's record does not prove it. Run slb.fleet.rollout, which notes it there."


@dataclass(frozen=True)
class Telling:
    """``asked``: the task's options. ``engine_list``: that of the host's management node, where it is described."""

    action: ActionBase
    asked: Mapping[str, Any]
    task_vars: Mapping[str, Any]
    host: str
    settings: Mapping[str, Any]
    engine: EngineIdentity
    store: RunStore
    engine_list: ListedEngines | None

    def told(self, decision: Decision, slb_host: Mapping[str, Any], progress: Progress, work: str) -> dict[str, Any]:
        if self.asked["must_be_healthy"] and decision.action == "record":
            decision = replace(decision, reason=f"{decision.reason} {_NOT_NOTED}")
        # The operator's own words are in it, too, and a name may hold what nobody sees.
        decision = replace(
            decision,
            reason=_in_one_line(decision.reason),
            console_words=_in_one_line(decision.console_words),
            evidence=tuple(map(_in_one_line, decision.evidence)),
        )
        told: dict[str, Any] = {
            "changed": False,
            "plan": {**asdict(decision), "evidence": list(decision.evidence)},
            "progress": asdict(progress),
            "engine": asdict(self.engine),
            "recorded": {key: slb_host["record"].get(key) for key in _RECORDED} | {"set_aside": is_set_aside(slb_host)},
        }
        if work:
            told["work"] = work
        if self.asked["must_be_healthy"]:
            told["unknown_engines"] = self._unknown_engines()
        fails = decision.action == "fail" and not self.asked["report_only"]
        if fails or (self.asked["must_be_healthy"] and decision.action != "none"):
            return {**told, "failed": True, "msg": f"{decision.reason} Seen: {'; '.join(decision.evidence)}."}
        self.say(decision, progress)
        self._join([group for group in self._groups(decision) if group], told)
        if self.asked["group"] is not None and not self._has_work(decision):
            # Nobody comes back to these, and there may be thousands: each value of a result is copied and walked
            # through several times in the main process, and stays there.
            del told["progress"]
        else:
            told.update(
                slb_host=slb_host,
                settings={key: value for key, value in self.settings.items() if key not in _NOT_HANDED_ON},
            )
        return told

    def _unknown_engines(self) -> list[str]:
        """What the list has and no host of the run wants; told once, and only where the run has the whole fleet."""
        is_whole = str(self.task_vars.get("ansible_limit") or "all") == "all"
        if self.engine_list is None or not is_whole:
            return []
        is_first = self.store.first_to_say(f"the whole list of {self.engine.base_url}", self.host) == self.host
        return self.engine_list.unwanted(self.engine.base_url) if is_first else []

    def _groups(self, decision: Decision) -> Iterator[str | None]:
        if self._has_work(decision):
            yield self.asked["group"]
        if self.settings["license_dest"]:
            yield self.asked["license_group"]

    def say(self, decision: Decision, progress: Progress) -> None:
        """What will be done and why, and what proves the engine in the end; once."""
        # At a terminal that shows changes alone, what is changed is told when it is.
        if constants.DEFAULT_STDOUT_CALLBACK == "slb.fleet.fleet" and not Display().verbosity:
            return
        words = _in_one_line(f"{decision.action.replace('_', ' ')}: {decision.reason}")
        if decision.action == "none":
            words = f"{decision.reason} Verified by: {decision.verified_by}." if progress.rounds else ""
        if words and decision.action != "fail" and self.store.is_news(words, self.host):
            Display().display(f"[{visible(self.host)}]: {words}")

    def _join(self, groups: list[str], told: dict[str, Any]) -> None:
        """Puts the host into ``groups``."""
        if hasattr(self.action, "add_group"):  # ansible-core 2.21
            for group in groups:
                self.action.add_group(group, parent_group_names=["all"])
        elif groups:
            # A result can name one group; that one is in all of them.
            told.update(add_group="_and_".join(groups), parent_groups=groups if groups[1:] else ["all"])

    def _has_work(self, decision: Decision) -> bool:
        return decision.action != "none" or is_asked_for_more(self.settings)

    def said_once(self, decision: Decision, trouble: str) -> Decision:
        """What is not this host's own trouble is told in full by the first host that has it."""
        first = self.store.first_to_say(trouble, self.host)
        if first == self.host:
            return decision
        return replace(decision, reason=decision.reason.replace(trouble, f"{SAME_AS} {first}."))


def is_set_aside(slb_host: Mapping[str, Any]) -> bool:
    """The container that the record proves is not there, because the operator has had it taken away."""
    note, record = slb_host.get("set_aside") or {}, slb_host["record"]
    return (
        slb_host["engine_container"]["state"] == "absent"
        and note.get("because") == "operator"
        and record["state"] == "verified"
        and record.get("container_id") == note.get("id")
    )


def _in_one_line(words: str) -> str:
    """Many blanks could push what follows to where a line of the report begins."""
    return " ".join(visible(words).split())
