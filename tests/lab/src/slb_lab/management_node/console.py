"""What the web console's pages ask for: the engine list, and the interfaces of a host."""

from ipaddress import ip_address
from typing import Any

from aiohttp import web

from slb_lab.management_node import interfaces, messages
from slb_lab.management_node.answers import failure, success
from slb_lab.management_node.errors import ConsoleError
from slb_lab.management_node.interface import LOGIN_PATH
from slb_lab.management_node.node import NODE, Node

DEFAULT_CREDENTIAL = 1


def add_routes(app: web.Application) -> None:
    app.router.add_get(LOGIN_PATH, _login_page, name="login_page")
    app.router.add_get("/console/engines", _engines, name="engines")
    app.router.add_get("/console/hosts/{address}/interfaces", _interfaces, name="interfaces")


async def _login_page(request: web.Request) -> web.Response:
    return web.Response(text="<html><title>Log in</title></html>", content_type="text/html")


async def _engines(request: web.Request) -> web.Response:
    node = request.app[NODE]
    if not node.has_session(request):
        return _session_gone(node)
    try:
        size, page = (int(request.query.get(name, default)) for name, default in (("page_size", 0), ("page", 1)))
    except ValueError as error:
        return failure(400, messages.BAD_REQUEST.say(node.language, detail=error), status=400)
    items = await _items(node)
    # As a console that counts its pages from 1.
    shown = items[max(0, page - 1) * size : max(0, page) * size] if size > 0 else items
    return success("", {"items": shown, "total": len(items)})


async def _interfaces(request: web.Request) -> web.Response:
    """Asked of the host at this moment, with the credential that its engine was installed with."""
    node = request.app[NODE]
    if not node.has_session(request):
        return _session_gone(node)
    try:
        address = str(ip_address(request.match_info["address"]))
    except ValueError as error:
        return failure(400, messages.BAD_REQUEST.say(node.language, detail=error), status=400)
    used = [engine.credential for engine in await node.store.engines() if engine.address == address]
    credential = node.config.credential(used[0] if used else DEFAULT_CREDENTIAL)
    if credential is None:
        sentence = messages.UNKNOWN_CREDENTIAL.say(node.language, credential=DEFAULT_CREDENTIAL)
        return failure(400, sentence, status=400)
    try:
        items = await interfaces.selectable(address, credential)
    except ConsoleError as error:
        return failure(502, error.say(node.language), status=502)
    return web.json_response({"items": items})


async def _items(node: Node) -> list[dict[str, Any]]:
    return [
        {
            "engine_name": engine.name,
            "ip": engine.address,
            "status": engine.shown_status,
            "progress": engine.progress,
            "message": engine.message,
        }
        for engine in await node.store.engines()
        if engine.listed
    ]


def _session_gone(node: Node) -> web.Response:
    return failure(401, messages.SESSION_GONE.say(node.language), status=401)
