"""The management node as the lab sees it: a process that it starts and stops, and the controls that it offers."""

import json
import os
import secrets
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from slb_lab.errors import LabError
from slb_lab.folder import write
from slb_lab.topology import Topology

_START_SECONDS = 30
_STOP_SECONDS = 10


class ManagementNode:
    """The management node whose state is in FOLDER."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config_file = folder / "config.json"
        self._ready_file = folder / "ready.json"
        self._log_file = folder / "log"
        self._pid_file = folder / "pid"

    # --- what a client of it needs to know

    @property
    def base_url(self) -> str:
        return str(self._ready()["base_url"])

    @property
    def tls_fingerprint(self) -> str:
        """SHA-256 of the certificate, in hex."""
        return str(self._ready()["tls_fingerprint"])

    @property
    def certificate(self) -> Path:
        """The self-signed certificate, which is its own authority."""
        return self._folder / "tls.crt"

    @property
    def username(self) -> str:
        return str(self._config()["username"])

    @property
    def password(self) -> str:
        return str(self._config()["password"])

    # --- controls that no real management node has

    def state(self) -> dict[str, Any]:
        """Its engines, counters of requests and sessions."""
        return self._control("GET", "state")

    def faults(self) -> dict[str, Any]:
        return self._control("GET", "faults")

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
            "listen": "127.0.0.1",
            "username": "admin",
            "password": self.password if self._config_file.exists() else secrets.token_urlsafe(18),
            "credentials": [
                {"id": 1, "username": "root", "private_key": str(private_key)},
                {"id": 2, "username": "root", "password": "not the password"},
            ],
            **topology.management_node.model_dump(),
        }
        content = json.dumps(config, indent=2).encode()
        if not self._config_file.exists() or self._config_file.read_bytes() != content:
            self.stop()
            write(self._config_file, content)

    def running(self) -> bool:
        return self._pid() is not None

    def start(self) -> None:
        """Start it unless it runs, and wait until it serves."""
        pid = self._pid()
        if pid is None:
            pid = self._spawn()
        deadline = time.monotonic() + _START_SECONDS
        last = ""
        while time.monotonic() < deadline:
            if not Path(f"/proc/{pid}/exe").exists():  # unlike its command line, there from the first moment on
                raise LabError(f"The management node ended as it started: {self._log_tail()}")
            try:
                if self._ready()["pid"] == pid:
                    self.state()
                    return
            except LabError as error:
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
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                return None
        except (OSError, ValueError) as error:
            if not isinstance(error, ChildProcessError):
                return None
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return None
        return pid if str(self._config_file).encode() in command else None

    def _control(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.base_url}/_lab/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        trusted = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(self.certificate)))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trusted)
        try:
            with opener.open(request, timeout=10) as answer:
                content: dict[str, Any] = json.loads(answer.read() or b"{}")
                return content
        except urllib.error.HTTPError as error:
            raise LabError(f"The management node refused ({error.code}): {_reason(error.read())}") from None
        except (OSError, ValueError) as error:
            raise LabError(
                f"The management node at {self.base_url} does not answer ({error}). Start it with 'slb-lab up'."
            ) from None

    def _config(self) -> dict[str, Any]:
        return _read(self._config_file)

    def _ready(self) -> dict[str, Any]:
        return _read(self._ready_file)

    def _log_tail(self) -> str:
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        return " / ".join(lines[-3:]) or "it printed nothing"


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return answer.decode(errors="replace").strip()


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise LabError(f"The management node has not started yet ({path} is missing). Run 'slb-lab up'.") from None
    return content
