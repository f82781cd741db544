# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``login`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore

ARGUMENTS = CONNECTION_ARGUMENTS


def login(params: dict[str, Any], check_mode: bool, store: SessionStore | None = None) -> Result:
    if params["sessionid"]:
        raise OptionError("sessionid", "(hidden)", "a login makes a session of its own", "Leave it out of this task.")
    session = Console(Connection.from_params(params), store).session()
    return Result(False, {"sessionid": session.sessionid, "tls_fingerprint": session.tls_fingerprint})
