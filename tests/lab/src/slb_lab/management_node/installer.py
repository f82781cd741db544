"""Decides on install requests and keeps the deployments that they start."""

import asyncio
from weakref import WeakValueDictionary

from slb_lab.management_node import host, messages
from slb_lab.management_node.config import Config
from slb_lab.management_node.deployment import Deployment, Wanted
from slb_lab.management_node.errors import ConsoleError, RefusedError
from slb_lab.management_node.faults import Faults
from slb_lab.management_node.messages import Language
from slb_lab.management_node.shell import open_shell
from slb_lab.management_node.store import Store


class Installer:
    def __init__(self, config: Config, store: Store) -> None:
        self._config = config
        self._store = store
        self._deployments: dict[str, asyncio.Task[None]] = {}
        self._hosts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def install(self, wanted: Wanted, faults: Faults, language: Language) -> None:
        """Start the deployment; raises RefusedError where the engine exists or its port is occupied.

        With the fault ``errors: later``, what is on the host is left for the deployment to find.
        """
        # One request at a time for a host: of a burst, the first one logs in there, the others find what it started.
        async with self._hosts.setdefault(wanted.address, asyncio.Lock()):
            if await self._store.is_taken(wanted.name, wanted.address):
                raise RefusedError(messages.ENGINE_EXISTS, name=wanted.name)
            if faults.errors == "at_once":
                await self._look(wanted)
            if not await self._store.claim(wanted.name, wanted.address, wanted.credential.id):
                raise RefusedError(messages.ENGINE_EXISTS, name=wanted.name)
            deployment = Deployment(wanted, self._config, faults, language, self._store)
            self._deployments[wanted.name] = asyncio.create_task(deployment.run(), name=f"deploy {wanted.name}")

    async def forget(self, name: str) -> bool:
        """End the engine's deployment, if it runs, and drop what is known of it; whether there was any."""
        await self._cancel([name])
        return await self._store.forget(name)

    async def close(self) -> None:
        """End all deployments. The store still has them as deploying: the next start finds and fails them."""
        await self._cancel(list(self._deployments))

    async def _look(self, wanted: Wanted) -> None:
        try:
            async with open_shell(wanted.address, wanted.credential) as shell:
                await host.refuse_if_occupied(shell, wanted.name, self._config.engine)
        except RefusedError:
            raise
        except ConsoleError:
            # The deployment will meet the same, and the console then shows it as failed.
            return

    async def _cancel(self, names: list[str]) -> None:
        tasks = [self._deployments.pop(name) for name in names if name in self._deployments]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
