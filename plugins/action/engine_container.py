# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_container``: as the module, and while it waits on the host, the operator sees that it does."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

_SECONDS = 15


class Heartbeat:
    """Shows every 15 seconds, for one host, what is waited for and for how long, until the block ends."""

    def __init__(self, host: str, what: str, seconds: float) -> None:
        self._text = f"[{host}]: waiting for {what}"
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(_SECONDS):
            Display().display(f"{self._text}, {time.monotonic() - begin:.0f} s of {self._seconds:.0f} s")


class ActionModule(ActionBase):  # type: ignore[misc]
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = self._task.args
        if arguments.get("state") != "running":
            result.update(self._execute_module(task_vars=task_vars))
            return result
        host = (task_vars or {}).get("inventory_hostname", "")
        with Heartbeat(host, "the container slb to run steadily", float(arguments.get("timeout", 180))):
            result.update(self._execute_module(task_vars=task_vars))
        return result
