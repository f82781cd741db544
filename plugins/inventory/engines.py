# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines of the console's list, as hosts of the inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
name: engines
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: The engines that the console lists, as hosts
description:
  - Reads the console's list of engines, by the same description as M(slb.fleet.engine_info), and makes a host of each.
  - A host has the engine's name, and the variables C(slb_engine_name), C(slb_manage_ip), C(ansible_host) and
    C(slb_console_state), which is V(running), V(deploying), V(failed) or V(unknown). The console decides nothing else.
  - The file's name ends in C(slb_engines.yml) or C(slb_engines.yaml).
  - One run logs in once and reads the list once, its pages included. What is not clear is an error, and a list that
    shows no engine at all is one, too. An engine that cannot be a host is named in a warning.
  - Every option of the connection, O(listing), O(group) and O(may_be_empty) may be a template, and so may each value
    in O(listing).
  - There is no host yet whose variables could be looked at, so where an option of the connection falls back to one,
    that is an extra variable (C(-e)) here.
extends_documentation_fragment:
  - slb.fleet.management_node
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
requirements:
  - requests
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [slb.fleet.engines]
  listing:
    description:
      - The description of the list, as O(slb.fleet.engine_info#module:listing) takes it. Needed.
    type: dict
  group:
    description: The group that all hosts are in.
    type: str
    default: engines
  may_be_empty:
    description: A list that shows no engine at all may be right. Without this it is an error.
    type: bool
    default: false
  cache:
    description:
      - Whether the list is kept from one run to the next. What is kept has names, addresses and states, and no
        credentials.
      - What is kept for another O(base_url), O(username) or O(listing) is not used.
seealso:
  - module: slb.fleet.engine_info
"""

EXAMPLES = r"""
# The credentials come from the environment: SLB_USERNAME and SLB_PASSWORD.
plugin: slb.fleet.engines
base_url: https://console.example
tls_fingerprint: "{{ lookup('ansible.builtin.env', 'SLB_TLS_FINGERPRINT') }}"
listing:
  path: /console/engines
  items: data.items
  name: engine_name
  address: ip
  state: status
  running: [running]
  deploying: [deploying]
  failed: [failed]

# Groups by what the console says of the state, by the network and by the name, and a variable of your own.
strict: true
compose:
  slb_user_credential_id: 2 if slb_engine_name is match('lab-') else 1
keyed_groups:
  - prefix: console
    key: slb_console_state
  - prefix: net
    key: slb_manage_ip.rpartition('.')[0]
groups:
  to_look_at: slb_console_state != 'running'
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: /var/lib/slb/inventory
cache_timeout: 60
"""

from ansible_collections.slb.fleet.plugins.plugin_utils._console_inventory import ConsoleInventory


class InventoryModule(ConsoleInventory):
    NAME = "slb.fleet.engines"
