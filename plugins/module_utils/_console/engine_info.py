# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``engine_info`` does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console import answers
from ansible_collections.slb.fleet.plugins.module_utils._console.authentication import may_serve_later, not_served
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Kind
from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
from ansible_collections.slb.fleet.plugins.module_utils._console.description import LISTING_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.pages import read_engines
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Request
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore

ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "listing": {"type": "dict", "required": True, "options": LISTING_OPTIONS},
}

LIST_LIMIT = 16 * 1024 * 1024
"""Bytes of one answer: 10,000 engines, of which a console may say more than a kilobyte each."""

_CALLS = 5  # in whose time a list in pages has to be read


def engine_info(params: dict[str, Any], check_mode: bool, store: SessionStore | None = None) -> Result:
    listing = Listing.from_params(params["listing"])
    connection = Connection.from_params(params)
    console = Console(connection, store)
    engines = read_engines(listing, partial(answer_at, console), Deadline(_CALLS * connection.total_timeout))
    undescribed = sorted({engine["console_state"] for engine in engines if engine["state"] == "unknown"})
    return Result(False, {"engines": engines, "undescribed": undescribed})


def answer_at(console: Console, path: str) -> Any:
    """The parsed JSON of the list, or of one page of it. Raises ConsoleError when something else comes."""
    reply = console.call(Request("GET", path, limit=LIST_LIMIT), answers.gives_no_data)
    answer, content, place = reply.answer, reply.content, f"{console.base_url}{path}"
    if answers.is_success(answer) and (answer.is_too_large or content.is_too_much):
        raise ConsoleError(
            f"{place} gave more in one answer than is read: {LIST_LIMIT // 1024**2} MiB, and a million values.",
            "Have the console give fewer engines at a time, in the query of O(listing.path), and name the parameter of "
            "the query that chooses the page in O(listing.page_parameter).",
            status_code=answer.status,
        )
    if may_serve_later(answer) or (answers.is_success(answer) and answer.is_cut):
        raise not_served(place, "the list", reply)
    is_json = answers.is_success(answer) and content.kind is Kind.JSON and not answer.defect
    if not is_json or answers.says_error(content):
        raise ConsoleError(
            f"{place} gave no {'data' if is_json else 'JSON'}: it answered {reply.described()}.",
            "Look at what the web console shows, or try again later." if is_json else "Check O(listing.path).",
            status_code=answer.status,
            answer=reply.excerpt,
        )
    return content.value
