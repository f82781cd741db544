"""What all handlers of the management node share."""

from collections import Counter
from dataclasses import dataclass, field

from aiohttp import web

from slb_lab.management_node.config import Config
from slb_lab.management_node.faults import Faults
from slb_lab.management_node.installer import Installer
from slb_lab.management_node.messages import Language
from slb_lab.management_node.sessions import Sessions
from slb_lab.management_node.store import Store


@dataclass
class Node:
    """``counters``: requests since the start or the last reset, by route name."""

    config: Config
    store: Store
    installer: Installer
    sessions: Sessions = field(default_factory=Sessions)
    faults: Faults = field(default_factory=Faults)
    counters: Counter[str] = field(default_factory=Counter)

    @property
    def language(self) -> Language:
        return self.faults.language or self.config.language

    def has_session(self, request: web.Request) -> bool:
        return self.sessions.is_alive(request.cookies.get("sessionid", ""))


NODE = web.AppKey("node", Node)
