"""The engines that the management node knows, in a file: they survive a restart and a kill."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slb_lab.folder import write


@dataclass
class Engine:
    """``status``: deploying, failed or running. ``message``: why it failed. Not ``listed``: the console hides it."""

    name: str
    address: str
    status: str = "deploying"
    message: str = ""
    listed: bool = True


class Store:
    def __init__(self, path: Path) -> None:
        self._path = path
        found = [Engine(**each) for each in json.loads(path.read_bytes())] if path.exists() else []
        self._engines = {engine.name: engine for engine in found}
        for engine in found:
            if engine.status == "deploying":
                self.change(engine.name, status="failed", message="Restarted during the deployment.")

    def engines(self) -> list[Engine]:
        """Return all, also those that are not listed."""
        return [self._engines[name] for name in sorted(self._engines)]

    def is_taken(self, name: str, address: str) -> bool:
        """Return whether an engine of this name or at this address is running or being deployed."""
        return any(
            each.status != "failed" and (each.name == name or each.address == address) for each in self.engines()
        )

    def add(self, engine: Engine) -> None:
        """Add it in place of failed ones of its name or address."""
        self._engines = {each.name: each for each in self.engines() if each.address != engine.address}
        self._engines[engine.name] = engine
        self._write()

    def change(self, name: str, **values: Any) -> None:
        for key, value in values.items():
            setattr(self._engines[name], key, value)
        self._write()

    def forget(self, name: str) -> None:
        self._engines.pop(name, None)
        self._write()

    def _write(self) -> None:
        write(self._path, json.dumps([asdict(each) for each in self.engines()]).encode())
