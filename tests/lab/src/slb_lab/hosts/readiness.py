"""Waiting until an engine host can be used."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from slb_lab.errors import LabError

# While the image is loaded, Podman 4.3 may lose it to a second command.
_LOOK = """
state=$(systemctl is-system-running)
echo "$state"
if [ "$state" = starting ]; then echo; else {runtime} image inspect --format found {image} 2>&1 | tail -n 1; fi
systemctl list-jobs --no-legend --full | awk '$4 == "running" {{ printf "%s ", $2 }}'
"""
_PAUSE = 0.3


@dataclass(frozen=True)
class Target:
    """A host and how to get in. ``image``: what its container runtime must have."""

    name: str
    address: str
    key: Path
    known_hosts: Path
    runtime: str
    image: str


async def wait(target: Target, note: Callable[[str], None], require_running: Callable[[], None], timeout: float) -> str:
    """Wait until the host lets root in by key, has booted, and its container runtime has the image.

    ``note`` gets each new state; ``require_running`` raises if waiting has become vain; ``timeout``:
    seconds. Gives systemd's state (running, degraded). Raises LabError with what was last seen on time-out.
    """
    last = "nothing yet"
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            async with _connection(target) as connection:
                while time.monotonic() < deadline:
                    ready, seen = await _look(connection, target)
                    if ready:
                        return seen
                    if seen != last:
                        note(seen)
                    last = seen
                    await asyncio.sleep(_PAUSE)
        except (OSError, asyncssh.Error, TimeoutError) as error:
            last = f"no SSH: {error or type(error).__name__}"
            await asyncio.to_thread(require_running)
            await asyncio.sleep(_PAUSE)
    raise LabError(f"{target.name} ({target.address}) was not ready within {timeout:g} s; last seen: {last}.")


def _connection(target: Target) -> AbstractAsyncContextManager[asyncssh.SSHClientConnection]:
    return asyncssh.connect(
        target.address,
        username="root",
        client_keys=[str(target.key)],
        known_hosts=str(target.known_hosts),
        config=None,
        agent_path=None,
        connect_timeout=3,
        login_timeout=10,
    )


async def _look(connection: asyncssh.SSHClientConnection, target: Target) -> tuple[bool, str]:
    """Whether the host is ready, and its state in words."""
    looked = await connection.run(_LOOK.format(runtime=target.runtime, image=target.image), timeout=20)
    state, found, jobs = [*str(looked.stdout).splitlines(), "", "", ""][:3]
    if state == "starting":
        return False, f"booting ({jobs.strip() or state})"
    if state in ("running", "degraded") and found == "found":
        return True, state
    return False, f"systemd: {state}, engine's image: {found}"
