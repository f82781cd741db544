"""The lab's own controls, below /_lab/: for requests from this machine, without a session."""

from dataclasses import asdict
from ipaddress import ip_address

from aiohttp import web
from aiohttp.typedefs import Handler

from slb_lab.errors import LabError
from slb_lab.management_node import faults
from slb_lab.management_node.node import NODE

PREFIX = "/_lab/"


def add_routes(app: web.Application) -> None:
    app.router.add_get(f"{PREFIX}state", _state)
    app.router.add_get(f"{PREFIX}faults", _faults)
    app.router.add_put(f"{PREFIX}faults", _set_faults)
    app.router.add_post(f"{PREFIX}counters/reset", _reset_counters)
    app.router.add_delete(f"{PREFIX}engines/{{name}}", _forget_engine)


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    if request.path.startswith(PREFIX) and not _is_loopback(request.remote):
        return _error(403, f"{PREFIX} answers requests from this machine alone.")
    return await handler(request)


async def _state(request: web.Request) -> web.Response:
    node = request.app[NODE]
    return web.json_response(
        {
            "engines": [asdict(engine) for engine in await node.store.engines()],
            "counters": dict(node.counters),
            "sessions": node.sessions.count(),
        }
    )


async def _faults(request: web.Request) -> web.Response:
    return web.json_response(request.app[NODE].faults.model_dump())


async def _set_faults(request: web.Request) -> web.Response:
    node = request.app[NODE]
    try:
        node.faults = faults.parse(await request.text())
    except LabError as error:
        return _error(400, str(error))
    if not node.faults.stuck_front_end:
        await node.store.unstick()
    return await _faults(request)


async def _reset_counters(request: web.Request) -> web.Response:
    node = request.app[NODE]
    for name in node.counters:
        node.counters[name] = 0
    return web.json_response({"counters": dict(node.counters)})


async def _forget_engine(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if not await request.app[NODE].installer.forget(name):
        return _error(404, f"There is no engine {name!r}.")
    return web.json_response({"forgotten": name})


def _is_loopback(remote: str | None) -> bool:
    return remote is not None and ip_address(remote.partition("%")[0]).is_loopback


def _error(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
