"""Well-behaved engine hosts without SSH: each keeps its state in a file, so that a deployment has an end."""

from __future__ import annotations

DOCUMENTATION = """
name: stateful
short_description: Answers modules at once, as a host that remembers does
description: Each host is an engine host that is kept in a file of its own.
author: slb.fleet contributors
options:
  folder:
    description: Where the hosts are kept.
    vars: [{name: stateful_folder}]
  seconds:
    description: How long a deployment takes.
    type: float
    default: 0
    vars: [{name: stateful_seconds}]
  trouble:
    description: V(unreachable) for a host that is not there, V(live) for one on which something unknown runs.
    default: ''
    vars: [{name: stateful_trouble}]
  host:
    description: The host, whose name ends in its number.
    vars: [{name: inventory_hostname}]
  address:
    description: The host's address.
    vars: [{name: slb_manage_ip}]
"""

import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

sys.path.append(str(Path(__file__).resolve().parents[2] / "hostile"))

from engine_modules import Engine, arguments_in, module_in


class Connection(ConnectionBase):  # type: ignore[misc]
    transport = "stateful"
    has_pipelining = True

    def _connect(self) -> Connection:
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        trouble = self.get_option("trouble")
        if trouble == "unreachable":
            raise AnsibleConnectionFailure("Connection timed out")
        kept = Path(self.get_option("folder")) / self.get_option("host")
        engine = pickle.loads(kept.read_bytes()) if kept.exists() else self._new(trouble)
        module, arguments = module_in(in_data or b""), arguments_in(in_data or b"")
        if module == "engine_record" and arguments["state"] == "pending":
            engine.asked_at = time.monotonic()
        if module == "engine_container" and arguments["state"] == "running":
            time.sleep(max(0.0, engine.asked_at + self.get_option("seconds") - time.monotonic()))
        answer = engine.answer(module, arguments)
        kept.write_bytes(pickle.dumps(engine))
        return 0, json.dumps(answer).encode(), b""

    def _new(self, trouble: str) -> Engine:
        engine = Engine(self.get_option("host"))
        engine.asked_at = 0.0
        engine._address = self.get_option("address")
        engine._state = "running" if trouble == "live" else "absent"
        return engine

    def put_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def fetch_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self._connected = False
