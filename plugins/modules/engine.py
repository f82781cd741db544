#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine
short_description: Request the installation of a forwarding engine
version_added: 1.0.0
description:
  - Requests the installation of one engine on one host. The management node installs the engine after the answer; this
    task does not wait for the end of the installation.
  - The API documents neither status codes nor bodies. The module evaluates the answer and returns RV(outcome). If the
    answer does not suffice, RV(outcome) is V(unknown).
  - The request is sent at most once. After the answer 401, or a redirect to the login page, it is sent a second time in
    a new session.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet._attributes
  - slb.fleet._attributes.controller
  - slb.fleet._management_node
requirements:
  - requests
attributes:
  check_mode:
    support: full
    details: Logs in and sends no install request. RV(outcome) is not returned.
  diff_mode:
    support: none
    details: The management node does not report the present state.
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
  exists_patterns:
    description:
      - Regular expressions that identify an "engine already exists" answer. Case is ignored.
      - The messages of the answer are searched, unless a member such as V(code) or V(success) states success. A list
        replaces the default list.
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
      - Regular expressions that identify a "port in use" answer. They are searched first.
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
    - V(requested) - the management node accepted the request.
    - V(exists) - the engine exists already. The task is ok and unchanged.
    - V(port_in_use) - a port is in use. The task fails.
    - V(rejected) - no installation was started, or the request could not be sent. The task fails.
    - V(unknown) - the request may have been accepted. The task fails. Check the host before you repeat the task.
  returned: always, except in check mode and for invalid options
  type: str
  sample: requested
status_code:
  description: The HTTP status of the answer.
  returned: if there was an answer
  type: int
  sample: 200
answer:
  description: The message of the answer, without secrets, at most 300 characters.
  returned: if there was an answer
  type: str
  sample: The engine already exists
code:
  description: The code of the failure, such as V(install_rejected).
  returned: failure
  type: str
  sample: install_rejected
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import (
    Client,
    run_client_module,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import (
    ARGUMENTS,
    EXISTS,
    Engine,
    request_install,
)
from ansible_collections.slb.fleet.plugins.module_utils._result import Result


def operation(client: Client, options: Dict[str, Any], check_mode: bool) -> Result:
    """Request the installation; in check mode, log in only."""
    engine = Engine.from_options(options)
    if check_mode:
        client.log_in()
        return Result(True, {"msg": "Would request the installation of %s on %s." % (engine.name, engine.manage_ip)})
    install = request_install(client, engine, options)
    state = "already installed" if install.outcome == EXISTS else "requested"
    values = dict(outcome=install.outcome, status_code=install.status_code, answer=install.answer)
    msg = "Installation of %s on %s %s." % (engine.name, engine.manage_ip, state)
    return Result(install.outcome != EXISTS, dict(values, msg=msg))


def main() -> None:
    run_client_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
