#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_info
short_description: Read the console's list of engines, where it has been described
version_added: 1.0.0
description:
  - The interface of the management node documents no list of engines, but its web console shows one. This module reads
    it by the user's own description, which a browser's developer tools give in two minutes.
  - The list is the only evidence that tells a running leftover from a running engine.
  - A list in pages is read whole, where the description says how a page is chosen. An answer that is not as described,
    or is one page of several, is an error; nothing is taken from a part.
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
        description:
          - The path of the request below O(base_url), with its query.
          - It must give all engines in one answer, unless O(listing.page_parameter) is set.
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
        default: []
      failed:
        description: The console's words for an engine whose deployment failed.
        type: list
        elements: str
        default: []
      page_parameter:
        description:
          - The parameter of the query that chooses the page, such as V(page) or V(offset).
          - With it the pages are read one after another, until the answer says that these are all, or a page is empty.
            What does not fit together, because the list changes meanwhile, is read once more, and then an error.
        type: str
        default: ""
      first_page:
        description: What O(listing.page_parameter) is for the first page. Some consoles count from V(0).
        type: int
        default: 1
      page_step:
        description: >-
          By how much it grows from page to page. For a console that counts engines instead of pages, that is the size
          of a page.
        type: int
        default: 1
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

- name: Read a list in pages, of a console that counts engines from 0, the connection being stated in the inventory
  slb.fleet.engine_info:
    listing:
      path: /console/engines?limit=50
      items: data.items
      name: engine_name
      address: ip
      state: status
      running: running
      deploying: deploying
      failed: failed
      page_parameter: offset
      first_page: 0
      page_step: 50
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
undescribed:
  description: The console's words in the list that O(listing) gives no meaning, sorted.
  returned: success
  type: list
  elements: str
  sample: [upgrading]
"""

from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import ARGUMENTS, engine_info
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module


def main() -> None:
    run_module(ARGUMENTS, engine_info)


if __name__ == "__main__":
    main()
