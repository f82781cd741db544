# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management node as a process, as the lab runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from runs import wait_until

from .client import Client

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "correct horse"
# On this address nothing listens: a deployment there is accepted and fails at once.
UNUSED = "127.0.0.99"
# The credential for the host at 127.0.0.1 that accepts connections and says nothing: a login hangs.
SILENT = 3
LICENSE = "SLB LICENSE\n许可证\n"


class NodeProcess:
    """``python -m slb_lab.management_node`` on a state folder."""

    def __init__(self, state: Path, **overrides: Any) -> None:
        self.state = state
        self.config = state / "config.json"
        self._process: subprocess.Popen[bytes] | None = None
        values = {
            "state": str(state),
            "username": "admin",
            "password": PASSWORD,
            "credentials": [],
            "deploy_seconds": 0.5,
            "license": LICENSE,
        }
        self.config.write_text(json.dumps(values | overrides), encoding="utf-8")

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "slb_lab.management_node", str(self.config)],
            stdout=(self.state / "log").open("ab"),
            stderr=subprocess.STDOUT,
        )

        def serves() -> bool:
            assert self._process.poll() is None, self.log()
            return self.ready().get("pid") == self._process.pid

        # One that has ended is seen at once; one that takes longer hangs, however much else the machine does.
        wait_until(serves, self.log, 60)

    def ready(self) -> dict[str, Any]:
        file = self.state / "ready.json"
        return json.loads(file.read_bytes()) if file.exists() else {}

    def log(self) -> str:
        return (self.state / "log").read_text(encoding="utf-8")

    def terminate(self) -> int:
        """By SIGTERM; its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(timeout=10)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)

    def client(self) -> Client:
        return Client(self.ready()["base_url"], self.state / "tls.crt", PASSWORD)
