#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, in the controller's own process.

DOCUMENTATION = r"""
module: license
short_description: Download the license
version_added: 1.0.0
description:
  - Downloads the license from the management node and writes it to O(dest).
  - The download runs in the controller's process, as the user of the command, and so does the writing of a file there.
    On the host that C(delegate_to) names, M(ansible.builtin.copy) writes the file. That host gets no credentials.
  - An empty or incomplete answer, a web page, a message, or an answer larger than O(max_size) is an error. The present
    file is unchanged.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller, slb.fleet._management_node]
attributes:
  check_mode:
    details: Downloads and compares the license, and writes no file.
  diff_mode:
    support: none
    details: The license is not shown.
options:
  dest:
    description:
      - Path of the file. Its folder must exist.
      - On the controller, a relative path is relative to the folder of the command. On another host, use an absolute path.
    type: path
    required: true
  owner:
    description: Name of the user that owns the file.
    type: str
  group:
    description: Name of the group that owns the file.
    type: str
  mode:
    description: Permissions of the file, such as V('0640').
    type: raw
    default: '0600'
  backup:
    description: Whether to keep a copy of the file that is replaced.
    type: bool
    default: true
  max_size:
    description: Maximum size of the license in bytes.
    type: int
    default: 10485760
seealso:
  - module: slb.fleet.login
  - module: ansible.builtin.copy
"""

EXAMPLES = r"""
- name: Download the license to the controller
  slb.fleet.license:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    dest: /var/lib/slb/license
  run_once: true

- name: Download the license to a host of the inventory
  slb.fleet.license:
    dest: /var/lib/slb/license
    owner: slb
  delegate_to: license-server
  run_once: true
"""

RETURN = r"""
dest:
  description: Path of the file.
  returned: success
  type: str
  sample: /var/lib/slb/license
checksum:
  description: SHA-256 checksum of the license.
  returned: success
  type: str
  sample: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
size:
  description: Size of the license in bytes.
  returned: success
  type: int
  sample: 2048
backup_file:
  description: Path of the copy of the file that was replaced.
  returned: changed, with O(backup)
  type: str
  sample: /var/lib/slb/license.1234.2026-01-31@12:00:00~
"""
