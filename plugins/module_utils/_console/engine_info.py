# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``engine_info`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
from ansible_collections.slb.fleet.plugins.module_utils._console.description import LISTING_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.pages import read_engines
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore

ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "listing": {"type": "dict", "required": True, "options": LISTING_OPTIONS},
}

_CALLS = 5  # in whose time a list in pages has to be read


def engine_info(params: dict[str, Any], check_mode: bool, store: SessionStore | None = None) -> Result:
    listing = Listing.from_params(params["listing"])
    connection = Connection.from_params(params)
    console = Console(connection, store)
    engines = read_engines(listing, console.get_json, Deadline(_CALLS * connection.total_timeout))
    undescribed = sorted({engine["console_state"] for engine in engines if engine["state"] == "unknown"})
    return Result(False, {"engines": engines, "undescribed": undescribed})
