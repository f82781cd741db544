#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: motd
short_description: Move the login banner (MOTD) aside or restore it
version_added: 1.0.0
description:
  - Moves the login banner C(/etc/motd) aside, or restores the banner. A long banner, printed after the SSH login, can break
    a deployment or let the login time out.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
options:
  state:
    description:
      - V(aside) - rename a banner that is not empty to C(/etc/motd.slb-fleet). An earlier backup of that name gets the UTC
        time as a suffix.
      - V(restored) - rename C(/etc/motd.slb-fleet) to C(/etc/motd). If there is a new banner, the task fails.
    type: str
    choices: [aside, restored]
    required: true
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Move the login banner aside
  slb.fleet.motd:
    state: aside

- name: Restore the login banner
  slb.fleet.motd:
    state: restored
"""

RETURN = r"""
moved:
  description: Whether the banner was moved aside, or would be in check mode.
  returned: success
  type: bool
restored:
  description: Whether a backup was restored, or would be in check mode.
  returned: success
  type: bool
backup_file:
  description: The backup that was made or restored; null if there is none.
  returned: success
  type: str
  sample: /etc/motd.slb-fleet
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import motd
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {"state": dict(type="str", choices=["aside", "restored"], required=True)}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Move the banner aside or restore it."""
    move = motd.move_aside if options["state"] == "aside" else motd.restore
    return move(motd.PATH, check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
