"""A real Chromium, without a screen: what a person would see, hear and click of a page."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from runs import wait_until

_DEADLINE = 30.0


class Browser:
    """One tab. ``requests``: the addresses that pages requested. ``dialogs``: windows that they have opened."""

    def __init__(self, socket: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._number, self.requests, self.dialogs = 0, [], []
        self._loop.run_until_complete(self._connect(socket))
        for domain in ("Page", "Runtime", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    async def _connect(self, socket: str) -> None:
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(socket, max_msg_size=0)

    def close(self) -> None:
        self._loop.run_until_complete(self._socket.close())
        self._loop.run_until_complete(self._session.close())
        self._loop.close()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._loop.run_until_complete(asyncio.wait_for(self._send(method, parameters), _DEADLINE))

    async def _send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._hear(message)

    def _hear(self, event: dict[str, Any]) -> None:
        if event["method"] == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif event["method"] == "Page.javascriptDialogOpening":
            self.dialogs.append(event["params"]["message"])

    # --- what a person does

    def open(self, path: Path, *, scripts: bool = True) -> None:
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.send("Page.navigate", url=path.as_uri())
        loaded = "complete" + path.as_uri()
        wait_until(lambda: self.value("document.readyState + location.href") == loaded, "the page is there", _DEADLINE)

    def click(self, role: str, name: str) -> None:
        x, y = self._middle_of(self.node(role, name)["backendDOMNodeId"])
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _middle_of(self, node: int) -> tuple[float, float]:
        self.send("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
        corners = self.send("DOM.getBoxModel", backendNodeId=node)["model"]["content"]
        return sum(corners[0::2]) / 4, sum(corners[1::2]) / 4

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def prefer(self, *, colours: str = "light", medium: str = "screen") -> None:
        features = [{"name": "prefers-color-scheme", "value": colours}]
        self.send("Emulation.setEmulatedMedia", media=medium, features=features)

    # --- what a person sees and hears

    def value(self, expression: str) -> Any:
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    @property
    def text(self) -> str:
        """What is shown, without what is folded away or hidden."""
        return str(self.value("document.body.innerText"))

    def nodes(self, role: str) -> list[dict[str, Any]]:
        tree = self.send("Accessibility.getFullAXTree")["nodes"]
        return [node for node in tree if not node["ignored"] and node["role"]["value"] == role]

    def names(self, role: str) -> list[str]:
        return [node.get("name", {}).get("value", "") for node in self.nodes(role)]

    def node(self, role: str, name: str) -> dict[str, Any]:
        return next(node for node in self.nodes(role) if node.get("name", {}).get("value") == name)

    def paper(self) -> bytes:
        return base64.b64decode(self.send("Page.printToPDF")["data"])


@contextmanager
def chromium(program: str, folder: Path) -> Iterator[Browser]:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    offline = ["--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *options, *offline, "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        browser = Browser(_tab(folder / "DevToolsActivePort"))
        try:
            yield browser
        finally:
            browser.close()
    finally:
        process.terminate()
        process.wait(_DEADLINE)


def _tab(file: Path) -> str:
    wait_until(lambda: file.exists() and file.read_text().strip(), (file.parent / "log").read_text, _DEADLINE)
    port = file.read_text().split()[0]

    pages: list[str] = []

    async def see() -> None:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/json/list") as answer:
            tabs = await answer.json(content_type=None)
            pages.extend(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")

    wait_until(lambda: asyncio.run(see()) or pages, "a tab was opened", _DEADLINE)
    return pages[0]
