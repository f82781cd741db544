"""The folder in which a lab keeps what it must remember: one for each lab, readable by its owner alone."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from slb_lab.errors import LabError

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,22}[a-z0-9])?")


def default_home() -> Path:
    """Where the folders of the user's labs are."""
    chosen = os.environ.get("SLB_LAB_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser().absolute() / "slb-lab"


@dataclass(frozen=True)
class Folder:
    """Names what lies where in the folder of the lab NAME below HOME."""

    name: str
    home: Path = field(default_factory=default_home)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise LabError(
                f"The lab's name {self.name!r} cannot be used. "
                "Use up to 24 small letters, digits and hyphens, such as demo-2."
            )

    @property
    def path(self) -> Path:
        return self.home / self.name

    @property
    def topology(self) -> Path:
        return self.path / "topology.yml"

    @property
    def private_key(self) -> Path:
        return self.path / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        return self.path / "known_hosts"

    @property
    def management_node(self) -> Path:
        return self.path / "management_node"

    def _make(self) -> None:
        """Create the folder and the lab's key unless they are there."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.management_node.mkdir(mode=0o700, exist_ok=True)
        if not self.private_key.exists():
            key = asyncssh.generate_private_key("ssh-ed25519", comment=f"slb-lab {self.name}")
            write(self.private_key.with_suffix(".pub"), key.export_public_key())
            write(self.private_key, key.export_private_key())

    def public_key(self) -> str:
        return self.private_key.with_suffix(".pub").read_text(encoding="utf-8")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder unless it is there, and keep other commands from the lab meanwhile; they wait."""
        while True:
            self._make()
            descriptor = os.open(self.path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is(descriptor):
                    yield
                    return
            finally:
                os.close(descriptor)

    def _is(self, descriptor: int) -> bool:
        """Whether the opened folder is still the lab's: who had the lock may have removed it."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    def remove(self) -> None:
        """Remove the folder, and the folder of all labs if it was the last."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.home.is_dir() and not any(self.home.iterdir()):
            self.home.rmdir()


def existing() -> list[Folder]:
    """The folders of all labs of the user."""
    home = default_home()
    found = sorted(home.iterdir()) if home.is_dir() else []
    return [Folder(path.name, home) for path in found if path.is_dir() and _NAME.fullmatch(path.name)]


def write(path: Path, content: bytes) -> None:
    """Write PATH atomically, readable by its owner alone."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    new.replace(path)
