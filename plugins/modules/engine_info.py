#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_info
short_description: Read the console's list of engines, where it has been described
version_added: 0.1.0
description:
  - The interface of the management node documents no list of engines, but its web console shows one. This module reads
    it by the user's own description, which a browser's developer tools give in two minutes.
  - The list is the only evidence that tells a running leftover from a running engine.
  - An answer that is not as described, or is one page of several, is an error; nothing is taken from a part.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.controller
  - slb.fleet.management_node
requirements:
  - requests
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: Nothing is ever changed.
options:
  listing:
    description: The description of the list. Keys that lie deeper are joined by dots.
    type: dict
    required: true
    suboptions:
      path:
        description: The path of the request below O(base_url), with its query; it must give all engines in one page.
        type: str
        required: true
      items:
        description: Where in the JSON answer the list is. Leave it out where the answer itself is the list.
        type: str
        default: ""
      name:
        description: The field of an item that holds the engine's name.
        type: str
        required: true
      address:
        description: The field of an item that holds the address of the engine host.
        type: str
        required: true
      state:
        description: The field of an item that holds the engine's state.
        type: str
        required: true
      running:
        description: The console's words, or numbers, for a running engine.
        type: list
        elements: str
        required: true
      deploying:
        description: The console's words for an engine that is being deployed.
        type: list
        elements: str
        required: true
      failed:
        description: The console's words for an engine whose deployment failed.
        type: list
        elements: str
        required: true
seealso:
  - module: slb.fleet.engine
"""

EXAMPLES = r"""
- name: Read the console's list of engines
  slb.fleet.engine_info:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    listing:
      path: /console/engines
      items: data.items
      name: engine_name
      address: ip
      state: status
      running: [running]
      deploying: [deploying]
      failed: [failed]
  register: console
"""

RETURN = r"""
engines:
  description: The engines that the console lists.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The engine's name.
      type: str
    address:
      description: The address of its host.
      type: str
    state:
      description: V(running), V(deploying), V(failed), or V(unknown) for a word that is not described.
      type: str
    console_state:
      description: The console's own word.
      type: str
  sample:
    - {name: edge-1, address: 192.0.2.11, state: running, console_state: running}
"""

from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import ARGUMENTS, engine_info
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module


def main() -> None:
    run_module(ARGUMENTS, engine_info)


if __name__ == "__main__":
    main()
