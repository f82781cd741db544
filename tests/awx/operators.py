"""Runs the playbooks as an operator does, against an AWX double, with the modules of awx.awx."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from awx_double import Awx, Served
from runs import Run, run

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".cache" / "awx"
REPOSITORY = "https://git.example/slb.git"
PLAYBOOKS = [
    f"{name}.yml" for name in ("diagnose", "audit", "rollout", "remediate", "adopt_interfaces", "download_license")
]
NEEDED = {
    "slb_awx_image": "registry.example/slb-fleet:1",
    "slb_awx_project_url": REPOSITORY,
    "slb_awx_base_url": "https://console.example",
    "slb_awx_username": "admin",
    "slb_awx_password": "a secret of the console",
}


def empty_awx() -> Awx:
    """That reaches the repository of the project."""
    awx = Awx()
    awx.repositories[REPOSITORY] = PLAYBOOKS
    return awx


@dataclass(frozen=True)
class Operator:
    """``python``: of the ansible-core that the playbooks are run with."""

    awx: Awx
    served: Served
    folder: Path
    python: str = os.environ.get("SLB_AWX_TEST_PYTHON", sys.executable)

    def run(self, playbook: str, variables: dict[str, Any], *options: str, **environment: str) -> Run:
        given = self.folder / "variables.json"
        given.write_text(json.dumps(variables))
        program = "from ansible.cli.playbook import main; main()"
        return run(
            [
                self.python,
                "-c",
                program,
                "-i",
                "localhost,",
                playbook if "/" in playbook else f"slb.fleet.{playbook}",
                "-e",
                f"@{given}",
                *options,
            ],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_PIPELINING": "1",
                "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.cache' / 'dev'}:{MODULES}",
                **self.served.environment(),
                **environment,
            },
        )

    def set_up(self, *options: str, **variables: Any) -> Run:
        return self.run(
            "awx_setup", {**NEEDED, **{f"slb_awx_{name}": value for name, value in variables.items()}}, *options
        )
