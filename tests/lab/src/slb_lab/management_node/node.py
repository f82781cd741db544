"""The management node over HTTPS: the documented interface, the engine list of its console, and the lab's controls."""

import hmac
import json
import secrets
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import BaseModel, ConfigDict, Field, IPvAnyAddress, ValidationError

from slb_lab.management_node.faults import Faults
from slb_lab.management_node.installer import Installer, RefusedError, Wanted

LOGIN_PATH = "/account/login/"
LICENSE = b"SLB LICENSE (lab)\nvalid: until the lab is taken down\nengines: unlimited\n"
CREDENTIAL = 1
"""The only stored credential: root, by the lab's key."""


@dataclass(frozen=True)
class Settings:
    """``state``: the folder of everything that outlives the process."""

    state: Path
    username: str
    password: str
    private_key: Path
    deploy_seconds: float

    @classmethod
    def load(cls, path: Path) -> Self:
        values = json.loads(path.read_bytes())
        return cls(**values | {name: Path(values[name]) for name in ("state", "private_key")})


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)


class _Login(_Body):
    username: str
    password: str


class _Install(_Body):
    # An engine's name may become its host's name.
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$")]
    is_change_hostname: bool
    manage_ip: IPvAnyAddress
    user_credential_id: int


class Node:
    """``counters``: requests since the start or the last reset, by name of the route."""

    def __init__(self, settings: Settings, installer: Installer) -> None:
        self._settings, self._installer = settings, installer
        self._sessions: set[str] = set()
        self._faults = Faults()
        self._counters = Counter({"login": 0, "license": 0, "install": 0, "engines": 0})

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._handle])
        app.add_routes(
            [
                web.post(LOGIN_PATH, self._log_in, name="login"),
                web.get("/system/license/apply/", self._license, name="license", allow_head=False),
                web.post("/system/add_slb_engine/", self._install, name="install"),
                web.get("/console/engines", self._engines, name="engines"),
                web.get("/_lab/state", self._state),
                web.put("/_lab/faults", self._set_faults),
                web.post("/_lab/counters/reset", self._reset_counters),
                web.delete("/_lab/engines/{name}", self._forget),
            ]
        )
        return app

    @web.middleware
    async def _handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Count it. All but the login and the lab's controls need a session."""
        name = request.match_info.route.name
        if name:
            self._counters[name] += 1
        if name in ("login", None) or request.cookies.get("sessionid") in self._sessions:
            return await handler(request)
        if name == "engines":
            return _answer(401, "Please log in again.", status=401)
        raise web.HTTPFound(f"{LOGIN_PATH}?next={request.path}")

    # --- the documented interface

    async def _log_in(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            return _answer(400, "The Content-Type must be application/json.", status=400)
        try:
            login = _Login.model_validate_json(await request.read())
        except ValidationError as error:
            return _answer(400, str(error), status=400)
        known = hmac.compare_digest(login.username.encode(), self._settings.username.encode())
        if not (hmac.compare_digest(login.password.encode(), self._settings.password.encode()) and known):
            return _answer(1001, "The username or the password is wrong.", status=401)
        response, session = _answer(0, "Logged in."), secrets.token_hex(16)
        self._sessions.add(session)
        response.set_cookie("sessionid", session, path="/", secure=True, httponly=True, samesite="Lax")
        return response

    async def _license(self, request: web.Request) -> web.Response:
        disposition = {"Content-Disposition": 'attachment; filename="license.lic"'}
        return web.Response(body=LICENSE, content_type="application/octet-stream", headers=disposition)

    async def _install(self, request: web.Request) -> web.Response:
        faults = self._faults
        try:
            body = _Install.model_validate_json(await request.read())
        except ValidationError as error:
            return _answer(400, str(error), status=400)
        if body.user_credential_id != CREDENTIAL:
            return _answer(2001, f"No stored credential has the id {body.user_credential_id}.", status=400)
        response = _answer(0, f"The installation of the engine {body.name} has started.")
        try:
            await self._installer.install(Wanted(body.name, str(body.manage_ip), body.is_change_hostname), faults)
        except RefusedError as error:
            # As consoles of this kind do: the transport went well, the error is inside.
            response = _answer(2002, error.languages[faults.language])
        if faults.install_answer_lost and request.transport:
            request.transport.abort()
        return response

    # --- the console

    async def _engines(self, request: web.Request) -> web.Response:
        is_stuck = self._faults.stuck_front_end
        items = [
            {
                "engine_name": engine.name,
                "ip": engine.address,
                "status": "deploying" if is_stuck and engine.status == "running" else engine.status,
                "message": engine.message,
            }
            for engine in self._installer.store.engines()
            if engine.listed
        ]
        return _answer(0, "", data={"items": items, "total": len(items)})

    # --- the lab's controls

    async def _state(self, request: web.Request) -> web.Response:
        engines = [asdict(engine) for engine in self._installer.store.engines()]
        return web.json_response({"engines": engines, "counters": self._counters, "faults": asdict(self._faults)})

    async def _set_faults(self, request: web.Request) -> web.Response:
        try:
            self._faults = Faults(**await request.json())
        except TypeError as error:
            return web.json_response({"error": str(error)}, status=400)
        return web.json_response(asdict(self._faults))

    async def _reset_counters(self, request: web.Request) -> web.Response:
        self._counters = Counter(dict.fromkeys(self._counters, 0))
        return web.json_response({})

    async def _forget(self, request: web.Request) -> web.Response:
        await self._installer.forget(request.match_info["name"])
        return web.json_response({})


def _answer(code: int, message: str, status: int = 200, **more: Any) -> web.Response:
    return web.json_response({"code": code, "msg": message, **more}, status=status)
