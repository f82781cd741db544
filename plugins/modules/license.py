#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: license
short_description: Download the license from the management node
version_added: 1.0.0
description:
  - Downloads the license and writes it to O(dest), whole or not at all.
  - What is empty, cut off, an HTML page, an error message or larger than O(max_size) is refused, and the file that
    was there stays as it was. So it does when the disk is full, or when the run is killed at any moment.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.controller
  - slb.fleet.management_node
  - slb.fleet.license_file
requirements:
  - requests
seealso:
  - module: slb.fleet.login
  - module: ansible.builtin.copy
"""

EXAMPLES = r"""
- name: Keep the license up to date on the controller
  slb.fleet.license:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    dest: /var/lib/slb/license
    backup: true
  run_once: true
"""

RETURN = r"""
dest:
  description: The path of the file.
  returned: success
  type: str
  sample: /var/lib/slb/license
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
  sample: /var/lib/slb/license.1234.2026-01-31@12:00:00~
status_code:
  description: The HTTP status of an answer that is no license.
  returned: failure, if there was an answer
  type: int
  sample: 200
answer:
  description: An excerpt of that answer, without secrets.
  returned: failure, if there was an answer
  type: str
  sample: Please log in
"""

from ansible_collections.slb.fleet.plugins.module_utils._console.license import ARGUMENTS, license
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module


def main() -> None:
    run_module(ARGUMENTS, license)


if __name__ == "__main__":
    main()
