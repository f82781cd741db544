# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One gate before each management node for all workers of a run, so that what it says to one is heeded by all.

A node that is down is found out once: one worker asks whether it is back, the others wait for what that one finds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ansible import constants
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._console.gate import GateClosedError, Passage, Sign
from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
from ansible_collections.slb.fleet.plugins.plugin_utils._clock import awake_or_asleep
from ansible_collections.slb.fleet.plugins.plugin_utils._node_state import NodeState
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

_LOOK_SECONDS = 1.0
_GRACE_SECONDS = 10
_WORTH_A_WORD = 5.0


class RunGate:
    """``patience``: seconds for which the run waits for a node. ``folder``: the run's own temporary one."""

    def __init__(self, connection: Connection, folder: Path, patience: float) -> None:
        self._node, self._patience = connection.base_url, patience
        # A worker that was killed while it asked holds the others up for no longer than that.
        self._lease, self._least = connection.timeout + _GRACE_SECONDS, connection.retries
        self._store = RunStore.of_run(folder)

    def enter(self, probe: Callable[[], Sign]) -> Passage:
        begin, was_down = awake_or_asleep(), False
        while True:
            now = awake_or_asleep()
            state = self._store.node(self._node)
            was_down = was_down or state.is_down
            action, seconds = state.status(now, self._patience)
            if action == "pass":
                return Passage(now - begin, was_down)
            if action == "refuse":
                raise self._closed(state, now)
            if action == "wait":
                time.sleep(min(seconds, _LOOK_SECONDS))
            elif self._store.change_node(self._node, state, state.probing(now, self._lease)):
                self._ask(probe)

    def note(self, sign: Sign) -> None:
        self._change(lambda state, now: state.heard(sign, now))

    def _ask(self, probe: Callable[[], Sign]) -> None:
        sign = probe()
        self._change(lambda state, now: state.probed(sign, now, self._patience, self._least))

    def _change(self, changed: Callable[[NodeState, float], NodeState]) -> None:
        while True:
            before = self._store.node(self._node)
            after = changed(before, awake_or_asleep())
            if after == before:
                return
            if self._store.change_node(self._node, before, after):
                self._tell(before, after)
                return

    def _tell(self, before: NodeState, after: NodeState) -> None:
        """What has become of the node, by the one worker that has found it out."""
        now = awake_or_asleep()
        away = now - (before.absent_since or now)
        if after.is_given_up and not before.is_given_up:
            _say(f"{self._node} has not answered for {away:.0f} s: the run gives it up, and asks it nothing more.")
        elif after.is_down and not before.is_down:
            _say(
                f"The management node does not answer: {after.words} The run pauses for every host that needs it, goes "
                f"on when it answers, and gives up after {self._patience:.0f} s (slb_outage_timeout)."
            )
        elif before.is_down and after.absent_since is None:
            Display().display(f"{self._node} answers again after {away:.0f} s: the run goes on.")
        elif after.held_until > max(before.held_until, now + _WORTH_A_WORD):
            _say(f"{after.words} It is asked nothing for {after.held_until - now:.0f} s, for any host of the run.")

    def _closed(self, state: NodeState, now: float) -> GateClosedError:
        if state.is_given_up:
            # The same words for each host, so that a report has them once.
            return GateClosedError(
                f"The run has given up {self._node}, which did not answer in time. Nothing was sent for this host. "
                f"What was seen: {state.words}",
                "Check O(base_url), the network, and that the management node is up; then run again. Raise "
                "slb_outage_timeout where it needs longer.",
            )
        return GateClosedError(
            f"{state.words} That is longer than slb_outage_timeout allows. Nothing was sent for this host.",
            "Run again later.",
        )


def _say(words: str) -> None:
    # Now, while the run waits: what a worker warns of in Ansible's way comes with its result, when the wait is over.
    Display().display(f"[WARNING]: {words}", color=constants.COLOR_WARN, stderr=True)
