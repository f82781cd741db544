# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``engine_info`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.listing import LISTING_OPTIONS, Listing
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore

ARGUMENTS = {**CONNECTION_ARGUMENTS, "listing": {"type": "dict", "required": True, "options": LISTING_OPTIONS}}


def engine_info(params: dict[str, Any], check_mode: bool, store: SessionStore | None = None) -> Result:
    listing = Listing.from_params(params["listing"])
    console = Console(Connection.from_params(params), store)
    return Result(False, {"engines": listing.read(console.get_json(listing.path))})
