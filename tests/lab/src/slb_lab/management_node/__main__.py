"""``python -m slb_lab.management_node CONFIG.json``: serve until SIGTERM."""

import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path

from aiohttp import web

from slb_lab.errors import LabError
from slb_lab.folder import write
from slb_lab.management_node import config, messages, tls
from slb_lab.management_node.app import make_app
from slb_lab.management_node.config import Config
from slb_lab.management_node.installer import Installer
from slb_lab.management_node.store import open_store


def main() -> int:
    if len(sys.argv) != 2:
        print("Usage: python -m slb_lab.management_node CONFIG.json", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    try:
        asyncio.run(_serve(config.load(Path(sys.argv[1]))))
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


async def _serve(settings: Config) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    context = tls.server_context(settings.state)
    async with open_store(settings.state / "engines.sqlite") as store:
        await store.fail_interrupted(messages.INTERRUPTED.say(settings.language))
        await store.unstick()
        installer = Installer(settings, store)
        runner = web.AppRunner(make_app(settings, store, installer), shutdown_timeout=2)
        await runner.setup()
        port = settings.port or _earlier_port(settings.state)
        try:
            await web.TCPSite(runner, settings.listen, port, ssl_context=context, backlog=512).start()
            _announce(settings, runner.addresses[0][1])
            await ended.wait()
        except OSError as error:
            raise LabError(
                f"Cannot listen on {settings.listen}, port {port}: {error.strerror}. "
                "End what listens there, or remove this management node's state to have another port chosen."
            ) from None
        finally:
            await runner.cleanup()
            await installer.close()


def _ready_file(state: Path) -> Path:
    return state / "ready.json"


def _earlier_port(state: Path) -> int:
    """The port of the process before, so that the address stays the same; 0, any, for the first one."""
    try:
        ready = json.loads(_ready_file(state).read_bytes())
    except FileNotFoundError:
        return 0
    return int(ready["base_url"].rpartition(":")[2])


def _announce(settings: Config, port: int) -> None:
    host = f"[{settings.listen}]" if ":" in settings.listen else settings.listen
    ready = {
        "base_url": f"https://{host}:{port}",
        "tls_fingerprint": tls.fingerprint(settings.state),
        "pid": os.getpid(),
    }
    write(_ready_file(settings.state), json.dumps(ready).encode())


if __name__ == "__main__":
    sys.exit(main())
