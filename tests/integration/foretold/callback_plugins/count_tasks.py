"""Counts, for each play and host, the task executions: skipped ones and includes, too."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: count_tasks
type: aggregate
short_description: Count task executions
description: Writes them to the file that E(COUNT_TASKS_TO) names, as a JSON object of plays and hosts.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "count_tasks"

    def __init__(self) -> None:
        super().__init__()
        self._play = ""
        self._counts: dict[str, Counter[str]] = {}

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play = play.get_name()

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        self._counts.setdefault(self._play, Counter())[host.get_name()] += 1

    def v2_playbook_on_stats(self, stats: Any) -> None:
        Path(os.environ["COUNT_TASKS_TO"]).write_text(json.dumps(self._counts))
