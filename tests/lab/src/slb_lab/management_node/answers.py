"""The shape of the management node's JSON answers."""

from typing import Any

from aiohttp import web


def success(message: str, data: object = None) -> web.Response:
    return web.json_response(_body(0, message, data))


def failure(code: int, message: str, *, status: int) -> web.Response:
    return web.json_response(_body(code, message, None), status=status)


def _body(code: int, message: str, data: object) -> dict[str, Any]:
    return {"code": code, "msg": message} | ({} if data is None else {"data": data})
