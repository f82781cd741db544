"""The folder in which a lab keeps what it must remember: one for each lab, readable by its owner alone."""

import os
import shutil
from pathlib import Path

import asyncssh


class LabError(Exception):
    """What happened and what to do next, in one or two sentences."""


class Folder:
    """Names what lies where in the folder of a lab."""

    def __init__(self, name: str) -> None:
        home = os.environ.get("SLB_LAB_HOME") or Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state", "slb-lab")
        self.path = Path(home).expanduser().absolute() / name
        self.topology = self.path / "topology.yml"
        self.made_from = self.path / "made-from"
        self.private_key = self.path / "id_ed25519"
        self.known_hosts = self.path / "known_hosts"
        self.management_node = self.path / "management_node"

    def make(self) -> str:
        """Create the folder and the lab's key unless they are there. Return the public key."""
        self.management_node.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.private_key.exists():
            write(self.private_key, asyncssh.generate_private_key("ssh-ed25519").export_private_key())
        return asyncssh.read_private_key(str(self.private_key)).export_public_key().decode()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, readable by its owner alone."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    new.replace(path)
