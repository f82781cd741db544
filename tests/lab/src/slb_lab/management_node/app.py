"""The management node as an aiohttp application."""

from aiohttp import web
from aiohttp.typedefs import Handler

from slb_lab.management_node import console, control, interface
from slb_lab.management_node.config import Config
from slb_lab.management_node.installer import Installer
from slb_lab.management_node.node import NODE, Node
from slb_lab.management_node.store import Store


def make_app(config: Config, store: Store, installer: Installer) -> web.Application:
    app = web.Application(middlewares=[control.loopback_only, _count])
    app[NODE] = Node(config, store, installer)
    interface.add_routes(app)
    console.add_routes(app)
    control.add_routes(app)
    app[NODE].counters.update(dict.fromkeys(app.router.named_resources(), 0))
    return app


@web.middleware
async def _count(request: web.Request, handler: Handler) -> web.StreamResponse:
    name = request.match_info.route.name
    if name:
        request.app[NODE].counters[name] += 1
    return await handler(request)
