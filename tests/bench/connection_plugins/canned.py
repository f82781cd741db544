"""A connection that answers at once, from a file for each state that a host can be in: what is measured is Ansible."""

from __future__ import annotations

DOCUMENTATION = """
name: canned
short_description: Answers modules at once
description:
  - Each module gets the answer that is kept for the host's state. A host whose record was confirmed is healthy from
    then on, for the rest of the run.
author: slb.fleet contributors
options:
  answers:
    description: A JSON file with the answers by state and module.
    vars: [{name: canned_answers}]
  state:
    description: Which of them this host gives; V(unreachable) gives none.
    vars: [{name: canned_state}]
  seconds:
    description: How long it takes to answer.
    type: float
    default: 0
    vars: [{name: canned_seconds}]
  once:
    description: It answers no sooner than when there is a file of this name.
    type: str
    vars: [{name: canned_once}]
  engine:
    description: What the host's record names.
    vars: [{name: inventory_hostname}]
  node:
    description: The management node in the host's record.
    vars: [{name: slb_base_url}]
  address:
    description: The host's address.
    vars: [{name: slb_manage_ip}]
"""

import functools
import json
import time
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase


@functools.cache
def kept(path: str) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = json.loads(Path(path).read_text(encoding="utf-8"))
    return answers


class Connection(ConnectionBase):  # type: ignore[misc]
    transport = "canned"
    has_pipelining = True

    def _connect(self) -> Connection:
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        state = self.get_option("state")
        time.sleep(self.get_option("seconds"))
        once = self.get_option("once")
        while once and not Path(once).exists():
            time.sleep(0.05)
        if state == "unreachable":
            raise AnsibleConnectionFailure("Connection timed out")
        confirmed = Path(constants.DEFAULT_LOCAL_TMP) / f"confirmed-{self.get_option('engine')}"
        if state == "work" and confirmed.exists():
            state = "healthy"
        answers = kept(self.get_option("answers"))[state]
        module = next(name for name in answers if name.encode() in (in_data or b""))
        if module.endswith("engine_record"):
            confirmed.touch()
        answer = answers[module].replace("ENGINE", self.get_option("engine")).replace("NODE", self.get_option("node"))
        return 0, answer.replace("ADDRESS", self.get_option("address")).encode(), b""

    def put_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def fetch_file(self, in_path: str, out_path: str) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self._connected = False
