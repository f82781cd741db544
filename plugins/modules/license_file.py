#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: license_file
short_description: Keep the license of the management node on a host
version_added: 1.0.0
description:
  - Downloads the license on the controller, and writes it to O(dest) on the host of the task, whole or not at all, with
    the care of M(slb.fleet.license). The file is changed only if the license is another, or its attributes are.
  - The credentials of the management node stay on the controller. What is sent to the host is the license.
  - It is for runs whose own files are gone with them, such as a job of AWX, which has a container of its own.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.management_node
  - slb.fleet.license_file
requirements:
  - requests, on the controller
options:
  content:
    description: Not to be set. What the controller sends to the host.
    type: str
  look:
    description:
      - For the playbook C(slb.fleet.download_license). Only notes for the run which file O(dest) is, on the
        host or on the controller, so that no two management nodes replace each other's license. Nothing is downloaded.
    type: str
    choices: [host, controller]
seealso:
  - module: slb.fleet.license
"""

EXAMPLES = r"""
- name: Keep the license where it outlives the job
  slb.fleet.license_file:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    dest: /etc/slb/license
    backup: true
  delegate_to: backup.example
  run_once: true
"""

RETURN = r"""
place:
  description: What tells the file from any other, whatever leads to it.
  returned: with O(look)
  type: str
  sample: 0d4b9a55-1c1e-4c0b-9a53-6f3c1f4c8a11:2049:131074:license
dest:
  description: The path of the file.
  returned: success
  type: str
  sample: /etc/slb/license
checksum:
  description: The SHA-256 checksum of the license.
  returned: success
  type: str
  sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
size:
  description: The size of the license in bytes.
  returned: success
  type: int
  sample: 2048
backup_file:
  description: The copy of the file that was replaced.
  returned: changed, with O(backup)
  type: str
  sample: /etc/slb/license.1234.2026-01-31@12:00:00~
"""

import base64
from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._console.license_file import LicenseFile
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.clock import boot_id

# For what knows modules by their arguments: of these, nothing is ever sent to a host.
_OF_THE_CONTROLLER = {
    "base_url": dict(type="str"),
    "username": dict(type="str"),
    "password": dict(type="str", no_log=True),
    "sessionid": dict(type="str", no_log=True),
    "validate_certs": dict(type="bool", default=True),
    "ca_path": dict(type="path"),
    "tls_fingerprint": dict(type="str"),
    "timeout": dict(type="int", default=30),
    "retries": dict(type="int", default=3),
}
ARGUMENTS = {
    **_OF_THE_CONTROLLER,
    "dest": dict(type="path", required=True),
    "owner": dict(type="str"),
    "group": dict(type="str"),
    "mode": dict(type="raw", default="0600"),
    "backup": dict(type="bool", default=False),
    "max_size": dict(type="int", default=10485760),
    "content": dict(type="str", no_log=True),
    "look": dict(type="str", choices=["host", "controller"]),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    file = LicenseFile.from_params(params)
    if params["look"]:
        # All containers of one kernel have its id, and its numbers of file systems.
        return Result(False, {"place": f"{boot_id()}:{file.place()}"})
    return file.update(base64.b64decode(params["content"] or ""), check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
