"""``python -m slb_lab.management_node CONFIG.json``: serve until SIGTERM."""

import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path

from aiohttp import web

from slb_lab.folder import write
from slb_lab.management_node import tls
from slb_lab.management_node.installer import Installer
from slb_lab.management_node.node import Node, Settings
from slb_lab.management_node.store import Store


async def _serve(settings: Settings) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    context, fingerprint = tls.server_context(settings.state)
    installer = Installer(Store(settings.state / "engines.json"), settings.private_key, settings.deploy_seconds)
    runner = web.AppRunner(Node(settings, installer).app(), shutdown_timeout=2)
    await runner.setup()
    ready = settings.state / "ready.json"
    # The port of the process before: the address stays the same.
    port = int(json.loads(ready.read_bytes())["base_url"].rpartition(":")[2]) if ready.exists() else 0
    try:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context, backlog=512).start()
        base_url = f"https://127.0.0.1:{runner.addresses[0][1]}"
        content = {"base_url": base_url, "tls_fingerprint": fingerprint, "pid": os.getpid()}
        write(ready, json.dumps(content).encode())
        await ended.wait()
    finally:
        await runner.cleanup()
        await installer.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    asyncio.run(_serve(Settings.load(Path(sys.argv[1]))))
