"""Real runs of ansible-playbook against fake management nodes. Everything that a run leaves behind is in one folder."""

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs import Run, run

COLLECTIONS = Path(__file__).resolve().parents[2] / ".cache" / "dev"
# Ansible packs a module once per run. All runs share the packed modules, which is a fifth of what they cost.
PACKED_MODULES = tempfile.TemporaryDirectory(prefix="slb-packed-")
_PROGRAM = f"""
import os
from ansible import constants
os.symlink({PACKED_MODULES.name!r}, os.path.join(constants.DEFAULT_LOCAL_TMP, "ansiballz_cache"))
from ansible.cli.playbook import main
main()
"""


@dataclass(frozen=True)
class Controller:
    """``folder`` is home, temporary folder and working folder of the runs."""

    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        home = str(self.folder)
        return {
            **kept,
            "LC_ALL": "C.UTF-8",
            "HOME": home,
            "TMPDIR": home,
            "ANSIBLE_LOCAL_TEMP": f"{home}/local-tmp",
            "ANSIBLE_REMOTE_TEMP": f"{home}/remote-tmp",
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_NOCOLOR": "1",
            **more,
        }

    def command(self, plays: list[dict[str, Any]], inventory: dict[str, Any], *options: str) -> list[str]:
        playbook, hosts = self.folder / "playbook.json", self.folder / "hosts.json"
        playbook.write_text(json.dumps(plays))
        hosts.write_text(json.dumps(inventory))
        return [sys.executable, "-c", _PROGRAM, "-i", str(hosts), str(playbook), *options]

    def run(self, plays: list[dict[str, Any]], inventory: dict[str, Any], *options: str, **environment: str) -> Run:
        command = self.command(plays, inventory, *options)
        return run(command, env=self.environment(**environment), cwd=self.folder)


def play(*tasks: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"hosts": "all", "gather_facts": False, "tasks": list(tasks), **keywords}


def engine_task(**keywords: Any) -> dict[str, Any]:
    return {"slb.fleet.engine": {"name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}, **keywords}


def fleet(count: int, **variables: Any) -> dict[str, Any]:
    """Return an inventory of unreachable hosts: each connection to one of them fails."""
    hosts = {f"edge-{number}": {} for number in range(1, count + 1)}
    unreachable = {"ansible_connection": "ssh", "ansible_host": "192.0.2.1", "ansible_ssh_timeout": 1}
    return {"all": {"hosts": hosts, "vars": {**unreachable, **variables}}}


def of(server: Any, password: str, **more: Any) -> dict[str, Any]:
    """Return the variables of hosts of one server."""
    return {
        "slb_base_url": server.base_url,
        "slb_username": "admin",
        "slb_password": password,
        "slb_tls_fingerprint": server.certificate.fingerprint,
        **more,
    }
