#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: _interface_confirm
short_description: "Internal: confirm an adoption of network interfaces"
description:
  - Private. Only the action of M(slb.fleet.interface) uses this module, over a fresh connection.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
attributes:
  diff_mode:
    support: none
options:
  token:
    description: Identifier of the change, as M(slb.fleet.interface) returns it to its action.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Confirm the change
  slb.fleet._interface_confirm:
    token: 9a8c0dd2544a4e2fba30e9d8d5588b5f
"""

RETURN = "# Private: plugin_utils/_facts.py lists the keys."

import re
from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {"token": dict(type="str", required=True, no_log=False)}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Save the change; in check mode there is none. Raises FleetError."""
    if check_mode:
        return Result(False, {"pending": []})
    if not re.match(r"[0-9A-Za-z-]{8,64}$", options["token"]):
        raise FleetError("invalid_option", "Option token invalid.", "Give 8 to 64 letters, digits or dashes.")
    return adoption.confirm(options["token"])


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
