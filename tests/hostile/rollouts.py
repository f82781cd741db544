"""Rollouts over fleets of any size without SSH: hosts that remember, a management node that counts, and the report."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_node import INSTALL, PASSWORD, FakeNode, answer, for_session
from runs import Run

from playbooks import Controller, of

PLUGINS = Path(__file__).resolve().parents[1] / "bench" / "connection_plugins"


@dataclass(frozen=True)
class Rollout:
    run: Run
    document: dict[str, Any]

    @property
    def counts(self) -> Counter[str]:
        return Counter(host["status"] for host in self.document["hosts"])

    def status(self, host: str) -> str:
        return next(str(entry["status"]) for entry in self.document["hosts"] if entry["name"] == host)


def inventory(
    server: FakeNode, folder: Path, hosts: int, states: dict[str, str] | None = None, **variables: Any
) -> dict[str, Any]:
    """``states``: as the connection plugin ``stateful`` knows them, of hosts that have an engine or a trouble."""
    folder.mkdir(exist_ok=True)
    own = {
        f"edge-{number}": {
            "slb_manage_ip": f"10.9.{number // 250}.{number % 250 + 1}",
            "stateful_state": (states or {}).get(f"edge-{number}", ""),
        }
        for number in range(1, hosts + 1)
    }
    common = {
        "ansible_connection": "stateful",
        "ansible_python_interpreter": "/usr/bin/python3",
        "stateful_folder": str(folder),
        **of(server, PASSWORD),
        "slb_settle": 0,
        **variables,
    }
    return {"engines": {"hosts": own, "vars": common}}


def rejecting(*hosts: str) -> dict[str, list[Any]]:
    """Return the route of a management node that rejects these hosts."""

    def behave(exchange: Any) -> None:
        is_rejected = json.loads(exchange.request.body)["name"] in hosts
        answer(200, '{"success":false,"msg":"no room"}' if is_rejected else '{"code":0,"msg":"started"}')(exchange)

    return {INSTALL: [for_session(behave)]}


def installed(server: FakeNode) -> set[str]:
    return {json.loads(request.body)["name"] for request in server.to(INSTALL)}


def environment(reports: Path) -> dict[str, str]:
    return {
        "ANSIBLE_CONNECTION_PLUGINS": str(PLUGINS),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
        "SLB_REPORT_DIR": str(reports),
        "ANSIBLE_FORKS": "10",
    }


def rollout(
    controller: Controller, hosts: dict[str, Any], *options: str, playbook: str = "rollout", **more: str
) -> Rollout:
    reports = controller.folder / "reports"
    plays = [{"ansible.builtin.import_playbook": f"slb.fleet.{playbook}"}]
    run = controller.run(plays, hosts, *options, **{**environment(reports), **more})
    return Rollout(run, json.loads((reports / "report.json").read_text()))
