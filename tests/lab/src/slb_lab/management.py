"""The management node as the lab sees it: a process that it starts and stops, and the controls that it offers."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import requests

from slb_lab.folder import LabError, write
from slb_lab.topology import Topology

_START_SECONDS = 30
_STOP_SECONDS = 10


class ManagementNode:
    """The management node whose state is in a folder. ``certificate``: of its authority."""

    username = "admin"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config_file, self._pid_file, self._log_file = (folder / name for name in ("config.json", "pid", "log"))
        self.certificate = folder / "ca.pem"

    # --- what a client of it needs to know

    @property
    def base_url(self) -> str:
        return str(self._read("ready.json")["base_url"])

    @property
    def tls_fingerprint(self) -> str:
        """SHA-256 of the certificate, in hex."""
        return str(self._read("ready.json")["tls_fingerprint"])

    @property
    def password(self) -> str:
        return str(self._read("config.json")["password"])

    # --- controls that no real management node has

    def state(self) -> dict[str, Any]:
        """Its engines, counters of requests, and faults."""
        return self._control("GET", "state")

    def set_faults(self, faults: dict[str, Any]) -> dict[str, Any]:
        """Switch on exactly these faults; LabError for one that there is not."""
        return self._control("PUT", "faults", faults)

    def reset_counters(self) -> None:
        self._control("POST", "counters/reset")

    def forget(self, engine: str) -> None:
        """Make it forget the engine of that name; the host is not touched."""
        self._control("DELETE", f"engines/{engine}")

    # --- its process

    def configure(self, topology: Topology, private_key: Path) -> None:
        """Write its configuration, the same password as before if there was one."""
        config = {
            "state": str(self._folder),
            "username": self.username,
            "password": self.password if self._config_file.exists() else secrets.token_urlsafe(18),
            "private_key": str(private_key),
            "deploy_seconds": topology.management_node.deploy_seconds,
        }
        content = json.dumps(config).encode()
        if not self._config_file.exists() or self._config_file.read_bytes() != content:
            self.stop()
            write(self._config_file, content)

    def start(self) -> None:
        """Start it unless it runs, and wait until it serves."""
        pid = self._pid() or self._spawn()
        deadline, last = time.monotonic() + _START_SECONDS, ""
        while time.monotonic() < deadline:
            if not Path(f"/proc/{pid}/exe").exists():  # unlike its command line, there from the first moment on
                raise LabError(f"The management node ended as it started: {self._log_file.read_text()[-2000:]}")
            try:
                if self._read("ready.json")["pid"] == pid:
                    self.state()
                    return
            except (OSError, LabError) as error:
                last = str(error)
            time.sleep(0.1)
        raise LabError(f"The management node did not serve within {_START_SECONDS} s; last seen: {last}")

    def _spawn(self) -> int:
        with self._log_file.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "slb_lab.management_node", str(self._config_file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        write(self._pid_file, f"{process.pid}\n".encode())
        return process.pid

    def stop(self) -> None:
        """End it cleanly if it runs, by force if that takes more than 10 s."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, first: signal.Signals) -> None:
        for number in (first, signal.SIGKILL):
            pid = self._pid()
            if pid is None:
                break
            os.kill(pid, number)
            deadline = time.monotonic() + _STOP_SECONDS
            while self._pid() is not None and time.monotonic() < deadline:
                time.sleep(0.05)
        self._pid_file.unlink(missing_ok=True)

    def _pid(self) -> int | None:
        """The process's id, if the process of that id is really ours and alive."""
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")  # of a child that has ended it is empty
        except (OSError, ValueError):
            return None
        return pid if str(self._config_file).encode() in command else None

    def _control(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(self.certificate)
            answer = session.request(method, f"{self.base_url}/_lab/{path}", json=body, timeout=10)
        content: dict[str, Any] = answer.json()
        if not answer.ok:
            raise LabError(f"The management node refused: {content['error']}")
        return content

    def _read(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self._folder / name).read_bytes())
        return content
