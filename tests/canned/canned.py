"""Real runs of the playbooks, over hosts whose answers are kept: in seconds, and without a lab."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.slb.fleet.tests.bench.scale import fleet
from ansible_collections.slb.fleet.tests.tools.runs import run

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "tests" / "bench"

STATES = {"healthy": "verified", "work": "pending", "breaks": "pending", "fails": "live", "unreachable": "unreachable"}
_BREAKS = {"module": "engine_record", "merge": {"failed": True, "msg": "no space left"}}


def _as(state: str, folder: Path) -> dict[str, Any]:
    kind, _after, seconds = state.partition(" after ")
    variables = {"stateful_state": STATES[kind], "stateful_answers_after": float(seconds or 0)}
    if kind == "breaks":
        variables["stateful_lie"] = str(folder / "breaks.json")
    return variables


class Canned:
    """A fleet in ``folder``. ``states``: that of each host in ``STATES``, where ``breaks`` needs work that fails; and
    after how many seconds it answers: healthy after 3.
    """

    def __init__(self, folder: Path, **states: str) -> None:
        self.folder, self.reports = folder, folder / "reports"
        (folder / "breaks.json").write_text(json.dumps(_BREAKS))
        inventory = fleet(len(states), troubled=False)
        hosts = inventory["engines"]["hosts"]
        some = zip(states.items(), list(hosts.values()), strict=True)
        inventory["engines"]["hosts"] = {
            name.replace("_", "-"): {**host, **_as(state, folder)} for (name, state), host in some
        }
        self.inventory = folder / "inventory.yml"
        self.inventory.write_text(yaml.safe_dump(inventory))

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev"),
            "ANSIBLE_CONNECTION_PLUGINS": str(BENCH / "connection_plugins"),
            "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
            "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_FORCE_COLOR": "0",
            "SLB_REPORT_DIR": str(self.reports),
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "inventory.yml", *arguments]

    def run(self, *arguments: str, command: list[str] | str | None = None, **more: Any) -> tuple[int, str]:
        """Its status and output. ``command``: one that a run has printed, for a shell, in place of arguments."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**self.environment(), "PATH": path, **more}
        ended = run(
            command or self.command(*arguments),
            300,
            shell=isinstance(command, str),
            cwd=self.folder,
            env={name: value for name, value in environment.items() if value},
        )
        return ended.status, ended.output

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads((self.reports / "report.json").read_text()))

    @property
    def hosts(self) -> Mapping[str, dict[str, Any]]:
        return {host["name"]: host for host in self.document["hosts"]}

    @property
    def statuses(self) -> dict[str, str]:
        return {name: host["status"] for name, host in self.hosts.items()}
