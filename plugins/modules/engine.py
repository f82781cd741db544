#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine
short_description: Ask the management node to install a forwarding engine
version_added: 1.0.0
description:
  - Asks for the install of one engine on one host. The install itself then runs on the management node; this task does
    not wait for its end.
  - The interface documents neither the status nor the body of the answer. The module judges by what the answer says and
    returns RV(outcome); where the evidence does not suffice, that is V(unknown).
  - A request that may have been sent is never sent again.
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
    details: Logs in, and does not ask for the install. RV(outcome) is not returned then.
  diff_mode:
    support: none
    details: The management node does not tell what there is.
options:
  name:
    description: The name of the engine.
    type: str
    required: true
  manage_ip:
    description: The IPv4 or IPv6 address of the engine host, as the management node reaches it.
    type: str
    required: true
  user_credential_id:
    description: The number of the credential, stored on the management node, with which it logs in to the host.
    type: int
    default: 1
  is_change_hostname:
    description: Whether the install changes the host's name to O(name).
    type: bool
    default: false
  decided:
    description:
      - The result of M(slb.fleet.engine_plan) that this is done for. Then the request is noted in the record on the host
        right before it is made (as M(slb.fleet.engine_record) does it), and the note is withdrawn where nothing was begun.
        A note that cannot be made fails the task without RV(outcome), and nothing is asked for.
      - If a container was taken out of the way because the console's list does not show its engine, and the answer is that
        the engine exists, then no other is stopped on that list's word in this run.
    type: dict
  exists_patterns:
    description:
      - Regular expressions. An answer in which one is found says that the engine exists already.
      - They are looked for without regard to case, in the answer's messages; an O(name) in which one is found is taken
        out of them before. A list that is given replaces the default one.
    type: list
    elements: str
    default:
      - 'already\s+(been\s+)?(exist|added|installed|registered|deployed)'
      - 'exists\s+already'
      - 'duplicate[ds]?\b'
      - '已经?(存在|被?添加|被?安装|被?部署)'
      - '重复(添加|安装|部署)|(名称|引擎|地址|IP)重复'
  port_in_use_patterns:
    description:
      - The same for answers that say that a port of the host is occupied. They are looked for first.
    type: list
    elements: str
    default:
      - '\bports?\b[^\n;]{0,80}?(?<!not )\b(in\s+use|occupied|taken|busy|being\s+used|already\s+used|unavailable)\b'
      - '\b(in\s+use|occupied|taken)\b[^\n;]{0,20}\bport\b'
      - 'address\s+already\s+in\s+use'
      - '端口[^\n;。]{0,60}?(?<!未)(?<!未被)(?<!没有)(?<!没有被)(占用|被使用|正在使用|冲突)'
      - '(?<!未)(?<!没有)占用[^\n;。]{0,10}端口'
seealso:
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_container
"""

EXAMPLES = r"""
- name: Ask for an engine on each host
  slb.fleet.engine:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    name: "{{ inventory_hostname }}"
    manage_ip: "{{ ansible_host }}"
  register: install

- name: Ask, and decide about occupied ports later
  slb.fleet.engine:
    name: edge-7
    manage_ip: 2001:db8::7
    user_credential_id: 2
    is_change_hostname: true
  register: install
  failed_when: install.failed and install.outcome | default('') != 'port_in_use'

- name: Teach the module the words of another console
  slb.fleet.engine:
    name: edge-8
    manage_ip: 192.0.2.8
    exists_patterns:
      - ya existe
"""

RETURN = r"""
outcome:
  description:
    - V(requested), the management node took the request.
    - V(exists), it says that the engine exists already. The task is ok and unchanged.
    - V(port_in_use), it says that a port is occupied. The task fails.
    - V(unknown), the request may have been carried out or not. The task fails; look at the host before asking again.
    - V(rejected), nothing was begun, because the management node turned the request down for another reason, or because
      the request could not be sent. The task fails.
  returned: always, except in check mode and for options that cannot be used
  type: str
  sample: requested
status_code:
  description: The HTTP status of the answer.
  returned: if there was an answer
  type: int
  sample: 200
answer:
  description: An excerpt of the answer, without secrets.
  returned: if there was an answer
  type: str
  sample: The engine already exists
overtaken:
  description: Whether somebody else deploys on the host since it was decided to do this. Then nothing was asked for.
  returned: with O(decided), where the request cannot be noted because of that
  type: bool
  sample: true
"""

from ansible_collections.slb.fleet.plugins.module_utils._console.engine import ARGUMENTS, engine
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module


def main() -> None:
    run_module(ARGUMENTS, engine)


if __name__ == "__main__":
    main()
