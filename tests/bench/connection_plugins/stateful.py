"""Well-behaved engine hosts without SSH: each keeps its state in a file, so that a deployment has an end."""

DOCUMENTATION = """
name: stateful
short_description: Answers modules at once, as a host that keeps its state
description: Each host is an engine host that is kept in a file of its own.
author: slb.fleet contributors
options:
  folder:
    description: Where the hosts are kept. By default, in a folder that Ansible deletes after the run.
    default: ''
    vars: [{name: stateful_folder}]
  seconds:
    description: How long a deployment takes.
    type: float
    default: 0
    vars: [{name: stateful_seconds}]
  state:
    description: V(verified) for a host whose engine is healthy, V(pending) for one whose engine runs since an earlier
      request, V(live) for one on which something unknown runs, V(unreachable) for one that does not answer, V(late) for
      one whose engine another run deploys between the first check and the second, V(lost) for one that does not answer
      the second check, V(brief) for one whose engine is seen at the second check only. By default, it has no engine.
    default: ''
    vars: [{name: stateful_state}]
  answers_after:
    description: Number of seconds before each answer. Ansible gives an option C(delay) the value of the task's keyword.
    type: float
    default: 0
    vars: [{name: stateful_answers_after}]
  lie:
    description: A JSON file by which the host's answers to the module in C(module), or to all, are changed. C(merge) is
      merged into them; C(before) and C(after) are printed around them, or C(instead) in their place. With C(lost), the
      connection fails.
    default: ''
    vars: [{name: stateful_lie}]
  ssh_args:
    description: What an adoption sets for its confirmation; without effect here.
    default: ''
    vars: [{name: ansible_ssh_args}]
  host:
    description: The host.
    vars: [{name: inventory_hostname}]
  node:
    description: The management node of the engine that runs at first.
    vars: [{name: slb_base_url}]
  address:
    description: The host's address.
    vars: [{name: slb_manage_ip}]
"""

import json
import pickle
import time
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

from ansible_collections.slb.fleet.tests.hostile.engine_modules import Engine, arguments_in, module_in


class Connection(ConnectionBase):  # type: ignore[misc]
    transport = "ssh"  # which an adoption wants
    has_pipelining = True

    def _connect(self) -> "Connection":
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        state = self.get_option("state")
        module, arguments = module_in(in_data or b""), arguments_in(in_data or b"")
        slowness, limit = self.get_option("answers_after"), arguments.get("time_limit")
        time.sleep(min(slowness, limit or slowness))
        if limit and limit < slowness:
            text = json.dumps({"failed": True, "code": "host_timeout", "msg": "Host too slow.", "fix": "Raise it."})
            return 1, text.encode(), b""
        kept = Path(self.get_option("folder") or constants.DEFAULT_LOCAL_TMP) / f"{self.get_option('host')}.host"
        is_first = not kept.exists()
        if state == "unreachable" or (state == "lost" and not is_first):
            raise AnsibleConnectionFailure("Connection timed out")
        engine = self._engine(state) if is_first else pickle.loads(kept.read_bytes())
        seen = kept.with_suffix(".seen")
        if not is_first and (state == "late" or (state == "brief" and not seen.exists())):
            engine = self._engine("verified")
            seen.touch()
        answer = engine.answer(module, arguments)
        kept.write_bytes(pickle.dumps(self._engine("") if state == "brief" else engine))
        file = self.get_option("lie")
        lie = json.loads(Path(file).read_text()) if file else {}
        if lie.get("module", module) != module:
            lie = {}
        if lie.get("lost"):
            raise AnsibleConnectionFailure("Connection timed out")
        text = json.dumps(_merged(answer, lie.get("merge", {})))
        text = lie.get("instead", lie.get("before", "") + text + lie.get("after", ""))
        return lie.get("status", 0), text.encode(errors="surrogatepass"), b""

    def _engine(self, state: str) -> Engine:
        engine = Engine(self.get_option("host"), self.get_option("address"), self.get_option("seconds"))
        engine.start(state, self.get_option("node"))
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
