"""Decides on install requests, and carries them out: from the login on the host to an engine that answers."""

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from slb_lab.management_node.faults import Faults
from slb_lab.management_node.shell import ConsoleError, Shell, open_shell
from slb_lab.management_node.store import Engine, Store

CONTAINER, IMAGE, PORT = "slb", "slb:1", 8000
ANSWER_SECONDS = 15.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    name: str
    address: str
    change_hostname: bool


class RefusedError(ConsoleError):
    """The engine exists, or its port is in use: said in English and in Chinese."""

    def __init__(self, english: str, chinese: str) -> None:
        super().__init__(english)
        self.languages = {"en": english, "zh": chinese}


class Installer:
    def __init__(self, store: Store, private_key: Path, deploy_seconds: float) -> None:
        self.store = store
        self._private_key, self._deploy_seconds = private_key, deploy_seconds
        self._deployments: dict[str, asyncio.Task[None]] = {}
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def install(self, wanted: Wanted, faults: Faults) -> None:
        """Start the deployment. Raises RefusedError if the engine exists or its port is in use."""
        # One request at a time for a host: of a burst, the first one logs in there, the others find what it started.
        async with self._hosts[wanted.address]:
            self._refuse_if_taken(wanted)
            if faults.errors == "at_once":
                await self._look(wanted)
            self._refuse_if_taken(wanted)
            self.store.add(Engine(wanted.name, wanted.address))
            self._deployments[wanted.name] = asyncio.create_task(self._run(wanted, faults))

    async def forget(self, name: str) -> None:
        """End the engine's deployment, if it runs, and forget the engine."""
        await self._cancel(name)
        self.store.forget(name)

    async def close(self) -> None:
        """End all deployments. The store still has them as deploying: the next start fails them."""
        await self._cancel(*self._deployments)

    async def _cancel(self, *names: str) -> None:
        tasks = [self._deployments.pop(name) for name in names if name in self._deployments]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _refuse_if_taken(self, wanted: Wanted) -> None:
        if self.store.is_taken(wanted.name, wanted.address):
            raise _exists(wanted.name)

    async def _look(self, wanted: Wanted) -> None:
        try:
            async with open_shell(wanted.address, self._private_key) as shell:
                await _refuse_if_occupied(shell, wanted.name)
        except RefusedError:
            raise
        except ConsoleError:
            # The deployment will meet the same, and the console then shows it as failed.
            return

    async def _run(self, wanted: Wanted, faults: Faults) -> None:
        try:
            await self._deploy(wanted, faults)
            if faults.fail_half_way:
                raise ConsoleError("The deployment script ended unexpectedly.")
        except Exception as error:
            log.info("The deployment of %s on %s failed: %r", wanted.name, wanted.address, error)
            is_listed = faults.fail_half_way != "unlisted"
            self.store.change(wanted.name, status="failed", message=repr(error), listed=is_listed)
        else:
            self.store.change(wanted.name, status="running")

    async def _deploy(self, wanted: Wanted, faults: Faults) -> None:
        async with open_shell(wanted.address, self._private_key) as shell:
            await _refuse_if_occupied(shell, wanted.name)
            if wanted.change_hostname:
                await shell.run("hostnamectl", "set-hostname", wanted.name)
            await asyncio.sleep(self._deploy_seconds / 2 + faults.slow_start_seconds)
            # One that crashes serves a folder that is not there.
            serve = ["/bin/httpd", "-f", "-p", str(PORT), *(["-h", "/missing"] if faults.engine_crashes else [])]
            options = ["--detach", "--name", CONTAINER, "--restart", "always", "--network", "host"]
            await shell.run(await _runtime(shell), "run", *options, IMAGE, *serve)
        if not faults.fail_half_way:
            await _wait_for_answer(wanted.address)
            await asyncio.sleep(self._deploy_seconds / 2)


async def _refuse_if_occupied(shell: Shell, name: str) -> None:
    containers = await shell.run(await _runtime(shell), "ps", "--all", "--format", "{{.Names}}")
    if CONTAINER in containers.splitlines():
        raise _exists(name)
    if await shell.run("ss", "-Hltn", f"sport = :{PORT}"):
        place = shell.address
        raise RefusedError(f"The port {PORT} is occupied on {place}.", f"{place} 的端口 {PORT} 已被占用。")


def _exists(name: str) -> RefusedError:
    return RefusedError(f"The engine {name} already exists.", f"引擎 {name} 已存在。")


async def _runtime(shell: Shell) -> str:
    return await shell.run("sh", "-c", "command -v docker || command -v podman")


async def _wait_for_answer(address: str) -> None:
    async with asyncio.timeout(ANSWER_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection(address, PORT)
            except OSError:
                await asyncio.sleep(0.2)
            else:
                writer.close()
                return
