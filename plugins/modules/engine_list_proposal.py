#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, in the controller's own process.

DOCUMENTATION = r"""
module: engine_list_proposal
short_description: Propose slb_engine_list from a recording
version_added: 1.0.0
description:
  - Reads a HAR file that a browser saved while the web console showed its page of engines. No request is sent.
  - Finds the JSON answer in which names and addresses of the inventory occur, and proposes C(slb_engine_list) for it.
  - If anything about the proposal is doubtful, RV(candidates) contains the doubts and O(dest) is not written.
  - Shows how the recorded answers of login, license and installation are understood.
  - Headers and cookies of the file are not read. Passwords, sessions and tokens are not returned.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller]
options:
  src:
    description: HAR file, at most 128 MiB and 20,000 requests.
    type: path
    required: true
  dest:
    description:
      - File for the proposal, such as C(group_vars/engines/engine_list.yml). Without it, nothing is written.
      - A file that contains anything but C(slb_engine_list) is not replaced.
    type: path
  base_urls:
    description: Addresses of the management nodes. Other requests of the file are ignored.
    type: list
    elements: str
    required: true
  hosts:
    description: List of name and address of the engine, by host of the inventory.
    type: dict
    required: true
  exists_patterns:
    description: Regular expressions that identify an answer "already exists". Default as in M(slb.fleet.engine).
    type: list
    elements: str
  port_in_use_patterns:
    description: Regular expressions that identify a "port in use" answer. Default as in M(slb.fleet.engine).
    type: list
    elements: str
seealso:
  - module: slb.fleet.engine_info
"""

EXAMPLES = r"""
- name: Propose the engine list
  slb.fleet.engine_list_proposal:
    src: console.har
    base_urls: [https://console.example]
    hosts:
      edge-1: [edge-1, 192.0.2.11]
      edge-2: [edge-2, 192.0.2.12]
  register: proposal
"""

RETURN = r"""
engine_list:
  description: The proposed C(slb_engine_list); empty if no list can be configured.
  returned: success
  type: dict
  sample: {path: /console/engines, items: data.items, name: engine_name, address: ip, state: status, running: [running]}
is_certain:
  description: Whether there is no doubt about RV(engine_list).
  returned: success
  type: bool
  sample: true
candidates:
  description: Lists in which hosts occur, the best first, at most 10.
  returned: success
  type: list
  elements: dict
  contains:
    engine_list:
      description: C(slb_engine_list) for this list.
      type: dict
    method:
      description: HTTP method of its request.
      type: str
    hosts:
      description: Number of hosts that it contains.
      type: int
    entries:
      description: Number of its entries.
      type: int
    doubts:
      description: What to check before it is used.
      type: list
      elements: str
    problem:
      description: Why it cannot be configured; empty if it can.
      type: str
    unmapped:
      description: Words of the state without a known meaning.
      type: list
      elements: str
  sample:
    - engine_list: {path: /console/engines, items: data.items, name: engine_name, address: ip, state: status, running: [running]}
      method: GET
      hosts: 2
      entries: 2
      doubts: []
      problem: ""
      unmapped: []
answers:
  description: How the recorded answers of the documented calls are understood, each kind once.
  returned: success
  type: list
  elements: dict
  contains:
    call:
      description: V(login), V(license) or V(install).
      type: str
    status_code:
      description: HTTP status.
      type: int
    outcome:
      description: The outcome of an installation as in M(slb.fleet.engine), of a login, or V(license), or the problem.
      type: str
    message:
      description: Message of the answer, at most 300 characters.
      type: str
  sample: [{call: install, status_code: 200, outcome: exists, message: Engine already exists}]
dest:
  description: The file that was written; empty if none was.
  returned: success
  type: str
  sample: /srv/fleet/group_vars/engines/engine_list.yml
report:
  description: Lines that the playbook shows.
  returned: success
  type: list
  elements: str
  sample: ["install: exists: HTTP 200 Engine already exists"]
"""
