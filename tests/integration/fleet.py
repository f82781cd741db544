"""Runs the collection against a lab, as a user does: by Ansible's own commands, over SSH."""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from runs import Run, run, wait_until
from slb_lab.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGY = ROOT / "extensions" / "molecule" / "default" / "lab.yml"
RECORD = "/etc/ansible/facts.d/slb_engine.fact"
# The matrix names the folder of another ansible-core.
BIN = Path(os.environ.get("SLB_TEST_BIN", Path(sys.executable).parent))
LISTING = {
    "path": "/console/engines",
    "items": "data.items",
    "name": "engine_name",
    "address": "ip",
    "state": "status",
    "running": ["running"],
    "deploying": ["deploying"],
    "failed": ["failed"],
}


class Fleet:
    """The hosts of one lab, or those named, seen from a controller."""

    def __init__(self, lab: Lab, folder: Path, *hosts: str) -> None:
        self.lab = lab
        self.hosts = {name: host for name, host in lab.hosts.items() if name in hosts or not hosts}
        self.inventory = folder / "inventory.yml"
        inventory = lab.inventory()
        inventory["engines"]["hosts"] = {name: inventory["engines"]["hosts"][name] for name in self.hosts}
        self.inventory.write_text(yaml.safe_dump(inventory))
        self.inventory.chmod(0o600)

    def shell(self, host: str, script: str) -> str:
        """Runs a script as root on a host, past its network, and returns what it prints."""
        return self.hosts[host].exec(["sh", "-c", script]).stdout.strip()

    def containers(self, host: str) -> dict[str, str]:
        """Returns state and restart policy of the containers by their name."""
        runtime = self.hosts[host].spec.runtime
        form = "{{.Name}} {{.State.Status}} {{.HostConfig.RestartPolicy.Name}}"
        listed = f"{runtime} ps --all --quiet | xargs --no-run-if-empty {runtime} inspect --format '{form}'"
        lines = (line.lstrip("/").split() for line in self.shell(host, listed).splitlines())
        return {name: " ".join(rest) for name, *rest in lines}

    def module(self, host: str, module: str, check: bool = False, **options: Any) -> dict[str, Any]:
        """Runs one module of the collection on one host and returns its result."""
        with tempfile.TemporaryDirectory() as tree:
            given = ["-a", json.dumps(options)] if options else []
            arguments = ["-m", f"slb.fleet.{module}", *given, "-t", tree, *(["--check"] if check else [])]
            ended = self._run("ansible", host, *arguments)
            result = Path(tree) / host
            assert result.exists(), ended.output
            return dict(json.loads(result.read_text()), failed=ended.status != 0)

    def play(
        self, playbook: str, *arguments: str, variables: Mapping[str, Any] | None = None, timeout: float = 300
    ) -> Run:
        """Runs a playbook by its path or its name in the collection."""
        extra = ["-e", json.dumps(variables)] if variables else []
        return self._run("ansible-playbook", playbook, *arguments, *extra, timeout=timeout)

    def _run(self, command: str, *arguments: str, timeout: float = 300) -> Run:
        return run([BIN / command, "-i", self.inventory, *arguments], timeout, env=self.environment())

    @staticmethod
    def environment() -> dict[str, str]:
        return dict(
            os.environ,
            ANSIBLE_COLLECTIONS_PATH=os.environ.get("ANSIBLE_COLLECTIONS_PATH", str(ROOT / ".cache" / "dev")),
            ANSIBLE_CALLBACKS_ENABLED="slb.fleet.report",
            SLB_REPORT_EACH_HOST="true",
            ANSIBLE_PIPELINING="1",
            ANSIBLE_NOCOLOR="1",
        )


class OneHost:
    """The modules of the collection on one host of a lab."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.fleet, self.name = fleet, name

    def shell(self, script: str) -> str:
        return self.fleet.shell(self.name, script)

    def facts(self) -> dict[str, Any]:
        found = self.fleet.module(self.name, "host_info")["slb_host"]
        return dict(found)

    def set_aside(self, check: bool = False, **options: Any) -> dict[str, Any]:
        engine = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}
        how = {"state": "set_aside", "stop_timeout": 1, **engine, **options}
        return self.fleet.module(self.name, "engine_container", check, **how)

    def restore(self) -> dict[str, Any]:
        return self.fleet.module(self.name, "engine_container", state="restored")

    def wait_for(self, state: str) -> dict[str, Any]:
        """Wait until the container has this state. Return its facts."""
        seen: dict[str, Any] = {}

        def is_seen() -> bool:
            seen.update(self.facts()["engine_container"])
            return bool(seen["state"] == state)

        wait_until(is_seen, lambda: str(seen), 60)
        return seen
