"""What a deployment asks of a host and does there, over its shell."""

import asyncio

from slb_lab.management_node import messages
from slb_lab.management_node.config import EngineImage
from slb_lab.management_node.errors import ConsoleError, RefusedError
from slb_lab.management_node.shell import Shell

CONTAINER = "slb"
ANSWER_SECONDS = 15.0


async def refuse_if_occupied(shell: Shell, name: str, engine: EngineImage) -> None:
    """Raise RefusedError where an earlier container, or something else on the engine's port, is in the way."""
    containers = await shell.run(await _runtime(shell), "ps", "--all", "--format", "{{.Names}}")
    if CONTAINER in containers.splitlines():
        raise RefusedError(messages.ENGINE_EXISTS, name=name)
    if await shell.run("ss", "-Hltn", f"sport = :{engine.port}"):
        raise RefusedError(messages.PORT_OCCUPIED, port=engine.port, address=shell.address)


async def start_engine(shell: Shell, engine: EngineImage, *, crashing: bool) -> None:
    """Start the container; a crashing one serves a folder that is not there."""
    serve = ["/bin/httpd", "-f", "-p", str(engine.port)] + (["-h", "/missing"] if crashing else [])
    run = ["run", "--detach", "--name", CONTAINER, "--restart", "always", "--network", "host"]
    await shell.run(await _runtime(shell), *run, engine.image, *serve)


async def _runtime(shell: Shell) -> str:
    """The container runtime's command on the host."""
    return await shell.run("sh", "-c", "command -v docker || command -v podman")


async def wait_for_answer(address: str, port: int) -> None:
    """Until the engine accepts connections; raises ConsoleError after ANSWER_SECONDS."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            while not await _accepts(address, port):
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise ConsoleError(messages.NO_ANSWER, port=port, address=address) from None


async def _accepts(address: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(address, port)
    except OSError:
        return False
    writer.close()
    return True
