"""Runs the collection against a lab, as a user does: by Ansible's own commands, over SSH."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from slb_lab.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Run:
    """A playbook run that has ended: what it printed, and what the recap counts for each host."""

    status: int
    output: str

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        lines = re.findall(r"^(\S+)\s+: (ok=.*)$", self.output, re.MULTILINE)
        return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}

    @property
    def report(self) -> dict[str, str]:
        """The line of each host in the report that the collection's callback prints."""
        lines = self.output.partition("EACH HOST")[2].splitlines()[1:]
        return dict(line.split(maxsplit=1) for line in lines if line.strip())

    def of(self, counter: str) -> dict[str, int]:
        return {host: counts[counter] for host, counts in self.recap.items()}

    @property
    def words(self) -> str:
        """The output with its line breaks and indentation folded."""
        return " ".join(self.output.split())


class Fleet:
    """The hosts of one lab, seen from a controller."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab = lab
        self.inventory = folder / "inventory.yml"
        self.inventory.write_text(yaml.safe_dump(lab.inventory()))
        self.inventory.chmod(0o600)

    def module(self, host: str, module: str, check: bool = False, **options: Any) -> dict[str, Any]:
        """Runs one module of the collection on one host and returns its result."""
        with tempfile.TemporaryDirectory() as tree:
            arguments = [
                "-m",
                f"slb.fleet.{module}",
                "-a",
                json.dumps(options),
                "-t",
                tree,
                *(["--check"] if check else []),
            ]
            completed = self._run("ansible", host, *arguments)
            result = Path(tree) / host
            assert result.exists(), completed.stdout
            return dict(json.loads(result.read_text()), failed=completed.returncode != 0)

    def play(
        self, playbook: str, *arguments: str, variables: Mapping[str, Any] | None = None, timeout: float = 300
    ) -> Run:
        """Runs a playbook by its path or its name in the collection."""
        extra = ["-e", json.dumps(variables)] if variables else []
        completed = self._run("ansible-playbook", playbook, *arguments, *extra, timeout=timeout)
        return Run(completed.returncode, completed.stdout)

    def _run(self, command: str, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / command, "-i", self.inventory, *arguments],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )

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
