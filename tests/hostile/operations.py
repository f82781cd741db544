"""Runs an operation as a task would, without Ansible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console import engine, license, login
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

if TYPE_CHECKING:
    from hostile_server import HostileServer

PASSWORD = 'pa"ss<w>örd &1'
OPERATIONS = {
    "login": (login.login, login.ARGUMENTS),
    "license": (license.license, license.ARGUMENTS),
    "engine": (engine.engine, engine.ARGUMENTS),
}
REQUIRED = {"login": {}, "license": {}, "engine": {"name": "edge-1", "manage_ip": "192.0.2.1"}}


def run(
    name: str, server: HostileServer, /, check_mode: bool = False, store: Any = None, **params: Any
) -> dict[str, Any]:
    """The task's result, as a module or an action would give it."""
    operation, arguments = OPERATIONS[name]
    given = {option: rules.get("default") for option, rules in arguments.items()}
    given.update(base_url=server.base_url, username="admin", password=PASSWORD, timeout=2, retries=1)
    given["tls_fingerprint"] = server.certificate.fingerprint
    given.update(REQUIRED[name], **params)
    try:
        return operation(given, check_mode, store).as_task_result(True)
    except FleetError as error:
        return {**error.as_result(), "failed": True}
