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
    description: V(verified) for a host whose engine is healthy, V(unreachable) for one that is not there, V(live) for
      one on which something unknown runs, V(late) for one whose engine another run deploys between the first look and
      the second, V(lost) for one that is not there any more at the second, V(brief) for one whose engine is seen at the
      second look alone.
    default: ''
    vars: [{name: stateful_trouble}]
  lie:
    description: A JSON file by which the host's answers to the module in C(module), or to all, are changed. C(merge) is
      merged into them; C(before) and C(after) are printed around them, or C(instead) in their place.
    default: ''
    vars: [{name: stateful_lie}]
  ssh_args:
    description: What an adoption sets for its confirmation; without effect here.
    default: ''
    vars: [{name: ansible_ssh_args}]
  host:
    description: The host, whose name ends in its number.
    vars: [{name: inventory_hostname}]
  node:
    description: The management node that another run would have asked.
    vars: [{name: slb_base_url}]
  address:
    description: The host's address.
    vars: [{name: slb_manage_ip}]
"""

import json
import pickle
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

from ansible_collections.slb.fleet.tests.hostile.engine_modules import Engine, arguments_in, module_in


class Connection(ConnectionBase):  # type: ignore[misc]
    transport = "ssh"  # which an adoption wants
    has_pipelining = True

    def _connect(self) -> Connection:
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        trouble = self.get_option("trouble")
        kept = Path(self.get_option("folder")) / self.get_option("host")
        if trouble == "unreachable" or (trouble == "lost" and kept.exists()):
            raise AnsibleConnectionFailure("Connection timed out")
        first = self._verified() if trouble == "verified" else self._new(trouble)
        engine = pickle.loads(kept.read_bytes()) if kept.exists() else first
        seen = kept.with_suffix(".seen")
        if kept.exists() and (trouble == "late" or (trouble == "brief" and not seen.exists())):
            engine = self._verified()
            seen.touch()
        module = module_in(in_data or b"")
        answer = engine.answer(module, arguments_in(in_data or b""))
        kept.write_bytes(pickle.dumps(self._new("") if trouble == "brief" else engine))
        file = self.get_option("lie")
        lie = json.loads(Path(file).read_text()) if file else {}
        if lie.get("module", module) != module:
            lie = {}
        text = json.dumps(_merged(answer, lie.get("merge", {})))
        text = lie.get("instead", lie.get("before", "") + text + lie.get("after", ""))
        return lie.get("status", 0), text.encode(errors="surrogatepass"), b""

    def _new(self, trouble: str) -> Engine:
        engine = Engine(self.get_option("host"))
        engine.address, engine.seconds = self.get_option("address"), self.get_option("seconds")
        if trouble == "live":
            engine.run_leftover()
        return engine

    def _verified(self) -> Engine:
        engine = self._new("")
        engine.verify(self.get_option("node"))
        return engine

    def put_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def fetch_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self._connected = False


def _merged(values: Any, lie: Any) -> Any:
    if isinstance(values, dict) and isinstance(lie, dict):
        return {**values, **{name: _merged(values.get(name), each) for name, each in lie.items()}}
    return lie
