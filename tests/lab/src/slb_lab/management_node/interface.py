"""The documented interface: log in, download the license, install an engine."""

import hmac
from typing import Annotated

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, IPvAnyAddress, ValidationError

from slb_lab.management_node import messages
from slb_lab.management_node.answers import failure, success
from slb_lab.management_node.config import sentences
from slb_lab.management_node.deployment import Wanted
from slb_lab.management_node.errors import RefusedError
from slb_lab.management_node.faults import Faults
from slb_lab.management_node.node import NODE, Node

LOGIN_PATH = "/account/login/"

BAD_REQUEST = 400
WRONG_CREDENTIALS = 1001
UNKNOWN_CREDENTIAL = 2001
REFUSED = 2002


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


def add_routes(app: web.Application) -> None:
    app.router.add_post(LOGIN_PATH, _login, name="login")
    app.router.add_get("/system/license/apply/", _license, name="license", allow_head=False)
    app.router.add_post("/system/add_slb_engine/", _install, name="install")


async def _login(request: web.Request) -> web.Response:
    node = request.app[NODE]
    if request.content_type != "application/json":
        return _bad_request(node, "the Content-Type must be application/json")
    try:
        login = _Login.model_validate_json(await request.read())
    except ValidationError as error:
        return _bad_request(node, sentences(error).rstrip("."))
    known = hmac.compare_digest(login.username.encode(), node.config.username.encode())
    if not (hmac.compare_digest(login.password.encode(), node.config.password.encode()) and known):
        return failure(WRONG_CREDENTIALS, messages.WRONG_CREDENTIALS.say(node.language), status=401)
    response = success(messages.LOGGED_IN.say(node.language))
    identifier = node.sessions.begin()
    response.set_cookie("sessionid", identifier, path="/", secure=True, httponly=True, samesite="Lax")
    return response


async def _license(request: web.Request) -> web.Response:
    node = request.app[NODE]
    if not node.has_session(request):
        raise _log_in_first(request)
    return web.Response(
        body=node.config.license.encode(),
        content_type="application/octet-stream",
        headers={"Content-Disposition": 'attachment; filename="license.lic"'},
    )


async def _install(request: web.Request) -> web.Response:
    node = request.app[NODE]
    if not node.has_session(request):
        raise _log_in_first(request)
    try:
        body = _Install.model_validate_json(await request.read())
    except ValidationError as error:
        return _bad_request(node, sentences(error).rstrip("."))
    faults = node.faults
    response = await _answer_install(node, body, faults)
    if faults.install_answer_lost and request.transport:
        request.transport.abort()
    return response


async def _answer_install(node: Node, body: _Install, faults: Faults) -> web.Response:
    credential = node.config.credential(body.user_credential_id)
    if credential is None:
        sentence = messages.UNKNOWN_CREDENTIAL.say(node.language, credential=body.user_credential_id)
        return failure(UNKNOWN_CREDENTIAL, sentence, status=400)
    wanted = Wanted(body.name, str(body.manage_ip), body.is_change_hostname, credential)
    try:
        await node.installer.install(wanted, faults, node.language)
    except RefusedError as error:
        # As consoles of this kind do: the transport went well, the error is inside.
        return failure(REFUSED, error.say(node.language), status=200)
    return success(messages.STARTED.say(node.language, name=body.name))


def _log_in_first(request: web.Request) -> web.HTTPFound:
    return web.HTTPFound(f"{LOGIN_PATH}?next={request.path}")


def _bad_request(node: Node, detail: str) -> web.Response:
    return failure(BAD_REQUEST, messages.BAD_REQUEST.say(node.language, detail=detail), status=400)
