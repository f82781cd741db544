#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: motd
short_description: Move the message of the day aside, or bring it back
version_added: 1.0.0
description:
  - A long message of the day, printed after the SSH login, can break a deployment's script or time out its login.
  - With O(state=aside), the message is renamed to C(/etc/motd.bak), or, where that name is taken,
    to C(/etc/motd.bak.<UTC time>). No backup is ever overwritten. What was moved is noted in C(/etc/.motd.slb_fleet).
  - With O(state=restored), the file that was moved last is moved back, and no other, however it is named.
    If there is none, nothing is to be done.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.engine_host
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
options:
  state:
    description:
      - V(aside) moves a message that is not empty out of the way.
      - V(restored) moves it back. A message that was written meanwhile is not overwritten; then the task fails.
    type: str
    choices: [aside, restored]
    required: true
  path:
    description: The file that holds the message. The note of what was moved lies beside it.
    type: path
    default: /etc/motd
  backup_file:
    description:
      - With O(state=restored), the backup to move back, whoever made it, instead of the one that O(state=aside) made.
    type: path
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Move the message of the day aside
  slb.fleet.motd:
    state: aside

- name: Bring it back
  slb.fleet.motd:
    state: restored
"""

RETURN = r"""
moved:
  description: Whether a file was moved, or would be in check mode.
  returned: success
  type: bool
  sample: true
backup_file:
  description: The backup that was made, or that was moved back.
  returned: success
  type: str
  sample: /etc/motd.bak
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._host import motd
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    "state": dict(type="str", choices=["aside", "restored"], required=True),
    "path": dict(type="path", default=motd.PATH),
    "backup_file": dict(type="path"),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    if params["state"] == "aside":
        return motd.aside(params["path"], check_mode)
    return motd.restored(params["path"], params["backup_file"], check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
