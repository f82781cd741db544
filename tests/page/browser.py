"""Records the requests of a page in headless Chromium, as its export "HAR (sanitized)" has them."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from pathlib import Path
from typing import Any

import aiohttp

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--ignore-certificate-errors"]
OFFLINE = ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"]
HIDDEN = {"cookie", "set-cookie", "authorization"}


def record(chromium: str, profile: Path, url: str) -> dict[str, Any]:
    """Open ``url``, wait until the title of the page is "done", and return the HAR."""
    command = [chromium, *OPTIONS, *OFFLINE, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return asyncio.run(_record(profile / "DevToolsActivePort", url))
    finally:
        browser.terminate()
        browser.wait()


async def _record(port: Path, url: str) -> dict[str, Any]:
    while not (port.exists() and "/devtools/" in port.read_text()):
        await asyncio.sleep(0.1)
    place = f"http://127.0.0.1:{port.read_text().split()[0]}/json/list"
    async with aiohttp.ClientSession() as session:
        targets = []
        while not targets:
            async with session.get(place) as answer:
                targets = [each for each in await answer.json() if each["type"] == "page"]
        async with session.ws_connect(targets[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            return await _Recording(socket).of(url)


class _Recording:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self._requests: dict[str, dict[str, Any]] = {}
        self._finished: list[str] = []

    async def of(self, url: str) -> dict[str, Any]:
        await self._call("Network.enable")
        await self._call("Page.navigate", url=url)
        while await self._title() != "done":
            await asyncio.sleep(0.1)
        entries = [await self._entry(name) for name in list(self._finished)]
        creator = {"name": "WebInspector", "version": "537.36"}
        return {"log": {"version": "1.2", "creator": creator, "pages": [], "entries": entries}}

    async def _title(self) -> str:
        answer = await self._call("Runtime.evaluate", expression="document.title")
        return str(answer["result"].get("value"))

    async def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == number:
                return dict(message.get("result") or {})
            self._note(message.get("method"), message.get("params") or {})

    def _note(self, event: str | None, values: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self._requests[values["requestId"]] = {"request": values["request"], "type": values.get("type", "Other")}
        elif event == "Network.responseReceived":
            self._requests[values["requestId"]]["response"] = values["response"]
        elif event == "Network.loadingFinished":
            self._finished.append(values["requestId"])

    async def _entry(self, name: str) -> dict[str, Any]:
        sent, answer = self._requests[name]["request"], self._requests[name]["response"]
        body = await self._call("Network.getResponseBody", requestId=name)
        content = {"size": len(body.get("body", "")), "mimeType": answer["mimeType"], "text": body.get("body", "")}
        if body.get("base64Encoded"):
            content["encoding"] = "base64"
        common = {"httpVersion": answer.get("protocol", ""), "cookies": []}
        return {
            "_resourceType": self._requests[name]["type"].lower(),
            "request": {
                "method": sent["method"],
                "url": sent["url"],
                "headers": _headers(sent["headers"]),
                **common,
            },
            "response": {
                "status": answer["status"],
                "headers": _headers(answer["headers"]),
                "content": content,
                **common,
            },
        }


def _headers(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items() if name.lower() not in HIDDEN]
