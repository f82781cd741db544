"""Runs against three hosts of the lab, whose engine list is described, and their reports."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet import BIN, LISTING, RECORD, Fleet
from runs import Run, output_of, run, started, wait_until
from slb_lab.lab import Lab
from slb_lab.management_node.sessions import MARK

COMMON = {
    "slb_engine_list": LISTING,
    "slb_engine_list_may_be_empty": True,
    "slb_max_replaced": "100%",
    "slb_settle": 2,
    "slb_stop_timeout": 1,
    **{"slb_timeout": 10, "slb_retries": 0, "slb_wait_timeout": 70},
}
CLEAN = f"docker ps -aq | xargs -r docker rm --force; rm -rf {RECORD} /var/lib/slb-fleet"


class Reported:
    """The lab, runs against it, and the reports of the last run. ``folder``: where they are."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder, self._kept = lab, folder / "reports", folder
        self.fleet = Fleet(lab, folder, "bullseye", "bookworm", "trixie")
        self.names = list(self.fleet.hosts)

    # --- state, seen from outside

    def containers(self, host: str) -> dict[str, str]:
        return {name: state.split()[0] for name, state in self.fleet.containers(host).items()}

    @property
    def console(self) -> dict[str, str]:
        return {engine["name"]: engine["status"] for engine in self.lab.management_node.state()["engines"]}

    def runs(self, host: str) -> bool:
        """On the host and by the console."""
        return self.containers(host).get("slb") == "running" and self.console.get(host) == "running"

    # --- what happens to it

    def clean(self, *hosts: str) -> None:
        for host in hosts or self.names:
            self.fleet.shell(host, CLEAN)
            if host in self.console:
                self.lab.management_node.forget(host)

    # --- runs

    def environment(self) -> dict[str, str]:
        return {**self.fleet.environment(), "SLB_REPORT_DIR": str(self.folder)}

    def command(self, playbook: str, *arguments: str, **variables: Any) -> list[str]:
        extra = ["-e", json.dumps({**COMMON, **variables})]
        return [str(BIN / "ansible-playbook"), "-i", str(self.fleet.inventory), playbook, *arguments, *extra]

    def play(self, playbook: str, *arguments: str, env: Mapping[str, str] | None = None, **variables: Any) -> Run:
        ended = run(self.command(playbook, *arguments, **variables), env={**self.environment(), **(env or {})})
        self.see_that_no_secret_is_told(ended.output)
        return ended

    @contextmanager
    def started(self, playbook: str, **variables: Any) -> Iterator[subprocess.Popen[bytes]]:
        shutil.rmtree(self.folder, ignore_errors=True)
        with started(self.command(playbook, **variables), self._kept, env=self.environment()) as process:
            yield process

    def output_of(self, process: subprocess.Popen[bytes]) -> str:
        return output_of(self._kept, process)

    def has_asked_for(self, host: str) -> bool:
        return "install_requested" in [change["code"] for change in self.host(host)["changes"]]

    def wait_for_a_request(self, host: str) -> None:
        wait_until(lambda: self.has_asked_for(host), f"a request for {host} in the document", 60)

    def see_that_no_secret_is_told(self, output: str) -> None:
        files = {path.name: path.read_text() for path in self.folder.iterdir() if path.is_file()}
        told = [name for name, text in {**files, "output": output}.items()
                for secret in (self.lab.management_node.password, MARK) if secret in text]  # fmt: skip
        assert told == []

    # --- what the reports say

    @property
    def document(self) -> dict[str, Any]:
        path = self.folder / "report.json"
        return json.loads(path.read_text()) if path.exists() else {"hosts": []}

    def host(self, name: str) -> dict[str, Any]:
        return next((each for each in self.document["hosts"] if each["name"] == name), {"changes": []})

    @property
    def statuses(self) -> dict[str, str]:
        return {each["name"]: each["status"] for each in self.document["hosts"]}

    @property
    def retry(self) -> list[str]:
        return (self.folder / "retry").read_text().split()
