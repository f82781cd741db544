# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name.

DOCUMENTATION = r"""
module: _engine_list_report
short_description: "Internal: propose or show the engine list"
description:
  - "Internal: only the playbook C(slb.fleet.show_engine_list) uses this module, and it may change in each release."
  - Takes the connection options of M(slb.fleet.engine_info), too.
extends_documentation_fragment: [slb.fleet._attributes]
attributes:
  diff_mode:
    support: none
    details: The module changes nothing.
options:
  path:
    description: Path and query of the request that returns the engines.
    type: str
    required: true
  hosts:
    description: Name and address of the engine, by host of the inventory.
    type: dict
    required: true
  listed:
    description: Result of M(slb.fleet.engine_info). If that task was skipped, the configuration is proposed.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Propose the engine list
  slb.fleet._engine_list_report:
    path: /console/engines
    hosts:
      edge-1: [edge-1, 192.0.2.11]
    listed: {skipped: true}
"""

RETURN = "# Internal: report."
