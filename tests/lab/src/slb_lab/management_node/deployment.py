"""One deployment, from the login on the host to an engine that answers."""

import asyncio
import logging
import time
from dataclasses import dataclass

from slb_lab.management_node import host, messages
from slb_lab.management_node.config import Config, Credential
from slb_lab.management_node.errors import ConsoleError, HalfWayError
from slb_lab.management_node.faults import Faults
from slb_lab.management_node.messages import Language, Message
from slb_lab.management_node.shell import open_shell
from slb_lab.management_node.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """An install request that can be carried out."""

    name: str
    address: str
    change_hostname: bool
    credential: Credential


class Deployment:
    """Writes its progress and its end to the store."""

    def __init__(self, wanted: Wanted, config: Config, faults: Faults, language: Language, store: Store) -> None:
        self._wanted = wanted
        self._config = config
        self._faults = faults
        self._language = language
        self._store = store
        self._started = time.monotonic()

    async def run(self) -> None:
        try:
            await self._deploy()
        except HalfWayError as error:
            await self._fail(error, listed=self._faults.fail_half_way == "listed")
        except ConsoleError as error:
            await self._fail(error, listed=True)
        except Exception:
            log.exception("The deployment of %s on %s broke", self._wanted.name, self._wanted.address)
            await self._fail(ConsoleError(messages.INTERNAL), listed=True)
        else:
            await self._store.finished(self._wanted.name, self._faults.stuck_front_end)
            log.info("The engine %s runs on %s", self._wanted.name, self._wanted.address)

    async def _deploy(self) -> None:
        wanted, engine = self._wanted, self._config.engine
        await self._reach(0, messages.CONNECTING)
        async with open_shell(wanted.address, wanted.credential) as shell:
            await self._reach(15, messages.CHECKING)
            await host.refuse_if_occupied(shell, wanted.name, engine)
            await self._reach(35, messages.PREPARING)
            if wanted.change_hostname:
                await shell.run("hostnamectl", "set-hostname", wanted.name)
            await self._reach(50, messages.STARTING)
            await asyncio.sleep(self._faults.slow_start_seconds)
            await host.start_engine(shell, engine, crashing=self._faults.engine_crashes)
            if self._faults.fail_half_way:
                raise HalfWayError(messages.HALF_WAY)
        await self._reach(75, messages.WAITING)
        await host.wait_for_answer(wanted.address, engine.port)
        await self._keep_pace(100)

    async def _reach(self, progress: int, doing: Message) -> None:
        """Show what comes next, at the time when a deployment of the configured length would come to it."""
        await self._keep_pace(progress)
        await self._store.progressed(self._wanted.name, progress, doing.say(self._language))

    async def _keep_pace(self, progress: int) -> None:
        due = self._started + self._config.deploy_seconds * progress / 100
        await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _fail(self, error: ConsoleError, *, listed: bool) -> None:
        log.info("The deployment of %s on %s failed: %s", self._wanted.name, self._wanted.address, error)
        await self._store.failed(self._wanted.name, error.say(self._language), listed=listed)
