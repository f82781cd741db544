# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of the management node's JSON answers."""

from typing import Any

from aiohttp import web


def success(message: str, data: object = None) -> web.Response:
    return web.json_response(_body(0, message, data))


def failure(code: int, message: str, *, status: int) -> web.Response:
    return web.json_response(_body(code, message, None), status=status)


def _body(code: int, message: str, data: object) -> dict[str, Any]:
    return {"code": code, "msg": message} | ({} if data is None else {"data": data})
