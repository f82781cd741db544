# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``license`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console import answers, calls
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Kind
from ansible_collections.slb.fleet.plugins.module_utils._console.license_file import LicenseFile
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Request
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError, OptionError

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.reply import Reply
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore
    from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    **CONNECTION_ARGUMENTS,
    "dest": {"type": "path", "required": True},
    "owner": {"type": "str"},
    "group": {"type": "str"},
    "mode": {"type": "raw", "default": "0600"},
    "backup": {"type": "bool", "default": False},
    "max_size": {"type": "int", "default": 10485760},
}


def license(params: dict[str, Any], check_mode: bool, store: SessionStore | None = None) -> Result:
    """Downloads the license; writes it unless it is there already, or this is check mode."""
    file = LicenseFile.from_params(params)
    return file.update(download(params, store), check_mode)


def download(params: dict[str, Any], store: SessionStore | None = None) -> bytes:
    """The license. Raises FleetError for what is none."""
    if params["max_size"] < 1:
        raise OptionError("max_size", params["max_size"], "it is not a positive number of bytes", "Raise it.")
    console = Console(Connection.from_params(params), store)
    reply = console.call(Request(*calls.LICENSE, limit=params["max_size"]), answers.gives_no_data)
    _check(reply, f"{console.base_url}{calls.LICENSE.path}", params["dest"])
    return reply.answer.body


def _check(reply: Reply, place: str, dest: str) -> None:
    answer, content = reply.answer, reply.content
    if (
        answer.status == 200
        and not answer.defect
        and content.kind is not Kind.EMPTY
        and not answers.says_error(content)
    ):
        return
    # A body that is no page and no message may be a part of the license: nothing of it is shown.
    is_message = not answers.is_success(answer) or content.kind is Kind.HTML or answers.says_error(content)
    described = reply.described() if is_message else reply.outline()
    raise ConsoleError(
        f"{place} gave no license: it answered {described}. What was at {dest} is unchanged.",
        "Look at the management node.",
        status_code=answer.status,
        answer=reply.excerpt if is_message else "",
    )
