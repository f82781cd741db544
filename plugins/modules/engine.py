#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine
short_description: Request the installation of a forwarding engine
version_added: 1.0.0
description:
  - Requests the installation of one engine on one host. The management node installs the engine after the answer.
  - The API documents neither status codes nor bodies. The module evaluates the answer and returns RV(outcome). If the
    answer does not suffice, RV(outcome) is V(unknown).
  - The request is sent again, once at most, only after an answer that shows that it was not accepted. Such answers are
    401, a redirect to the login, and a refused CSRF token that has changed.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller, slb.fleet._management_node]
attributes:
  check_mode:
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
      - They are searched in the messages of an answer that does not state success, without the values of the request.
      - A list replaces the default, the message of the vendor's manual in English and Chinese.
    type: list
    elements: str
  port_in_use_patterns:
    description: Regular expressions that identify a "port in use" answer, as O(exists_patterns). They are searched first.
    type: list
    elements: str
  in_progress_patterns:
    description:
      - Regular expressions that identify an answer after which a deployment may be in progress. RV(outcome) is
        V(unknown) then.
      - They are searched before O(exists_patterns) and O(port_in_use_patterns).
    type: list
    elements: str
  success_codes:
    description:
      - Numbers in the members C(code), C(errno) or C(ret) of an answer that state success, such as V(1) or V(20000).
      - V(0) and V(200) to V(299) always do.
    type: list
    elements: int
seealso:
  - module: slb.fleet.engine_info
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_container
"""

EXAMPLES = r"""
- name: Request the installation of an engine on each host
  slb.fleet.engine:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    name: "{{ inventory_hostname }}"
    manage_ip: "{{ ansible_host }}"
  register: install

- name: Wait until the engine runs
  slb.fleet.engine_info:
    engine_list: "{{ slb_engine_list }}"
  register: listed
  until: listed.engines | selectattr('name', 'eq', inventory_hostname) | map(attribute='state') | list == ['running']
  retries: 36
  delay: 5
  when: not ansible_check_mode

- name: Request an installation, and decide about occupied ports later
  slb.fleet.engine:
    name: edge-7
    manage_ip: 2001:db8::7
    user_credential_id: 2
    is_change_hostname: true
  register: install
  failed_when: install.failed and install.outcome | default('') != 'port_in_use'
"""

RETURN = r"""
outcome:
  description:
    - V(requested) - the management node accepted the request.
    - V(exists) - the engine exists already. The task is ok and unchanged.
    - V(port_in_use) - a port is in use. The task fails.
    - V(rejected) - no installation was started, or the request could not be sent. The task fails.
    - V(unknown) - the request may have been accepted. The task fails. Check the host before you repeat the task.
  returned: always, except in check mode and if nothing was sent because of the options or the engine list
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
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, run_client_module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import EXISTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import (
    ARGUMENTS,
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
    done = request_install(client, engine, options)
    words = "already installed" if done.outcome == EXISTS else "requested"
    msg = "Installation of %s on %s %s." % (engine.name, engine.manage_ip, words)
    values = dict(outcome=done.outcome, status_code=done.status_code, answer=done.answer, msg=msg)
    return Result(done.outcome != EXISTS, values)


def main() -> None:
    run_client_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
