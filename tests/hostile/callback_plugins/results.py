"""Writes what each host's tasks returned, a line of JSON each, for tests that compare two runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: results
type: aggregate
short_description: Writes results to a file
description: To the file that the environment variable SLB_TEST_RESULTS names.
author: slb.fleet contributors
"""

# By a clock, by chance, or by how many hosts there are beside.
_DIFFER = ("request_id", "asked_at", "waited", "warnings", "deprecations", "invocation", "exception")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "results"

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._write("unreachable", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._write("skipped", result)

    def _write(self, how: str, result: Any) -> None:
        line = [result._host.get_name(), result._task.name, how, _comparable(result._result)]
        with Path(os.environ["SLB_TEST_RESULTS"]).open("a") as file:
            file.write(json.dumps(line, default=str, sort_keys=True) + "\n")


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _comparable(each) for key, each in value.items() if key not in _DIFFER}
    return [_comparable(each) for each in value] if isinstance(value, (list, tuple)) else value
