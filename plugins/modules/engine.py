#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine
short_description: Request the installation of a forwarding engine
version_added: 1.0.0
description:
  - Requests the installation of one engine on one host. The management node installs the engine after the answer. The
    task waits for the end of the installation only with O(wait).
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
  wait:
    description:
      - Whether to wait until O(engine_list) shows the engine as running. An entry that does not change after the request
        is not about this installation.
      - The API documents no other way to see the end of an installation, so O(engine_list) is required then.
    type: bool
    default: false
  wait_timeout:
    description: Number of seconds to wait (1 to 86400).
    type: int
    default: 180
  engine_list:
    description: Configuration of the engine list, as for the option O(slb.fleet.engine_info#module:engine_list).
    type: dict
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

- name: Request an installation, and wait until the engine runs
  slb.fleet.engine:
    name: edge-9
    manage_ip: 192.0.2.9
    wait: true
    engine_list: "{{ slb_engine_list }}"

- name: Request an installation, and decide about occupied ports later
  slb.fleet.engine:
    name: edge-7
    manage_ip: 2001:db8::7
    user_credential_id: 2
    is_change_hostname: true
  register: install
  failed_when: install.failed and install.outcome | default('') != 'port_in_use'

- name: Set the patterns of another management node
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
  returned: always, except in check mode and if nothing was sent because of the options or the engine list
  type: str
  sample: requested
state:
  description: State of the engine in O(engine_list), V(running).
  returned: with O(wait)
  type: str
  sample: running
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

import time
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import install
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, run_client_module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import EXISTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    comparable,
    fetch_engines,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine, request_install
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid, read_number

ARGUMENTS = {
    **install.ARGUMENTS,
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 180},
    "engine_list": {"type": "dict"},
}
_POLL_SECONDS = 5


def operation(client: Client, options: Dict[str, Any], check_mode: bool) -> Result:
    """Request the installation; in check mode, log in only."""
    engine = Engine.from_options(options)
    seconds = read_number("wait_timeout", options["wait_timeout"], 1, 86400)
    if options["wait"] and not options["engine_list"]:
        raise invalid("wait", "without engine_list, the end of an installation cannot be seen", "Set engine_list.")
    engine_list = EngineList.from_option(options["engine_list"]) if options["wait"] else None
    if check_mode:
        client.log_in()
        return Result(True, {"msg": "Would request the installation of %s on %s." % (engine.name, engine.manage_ip)})
    before = _read_states(client, engine, engine_list) if engine_list else None
    done = request_install(client, engine, options)
    values: Dict[str, Any] = dict(outcome=done.outcome, status_code=done.status_code, answer=done.answer)
    words = "already installed" if done.outcome == EXISTS else "requested"
    if engine_list:
        try:
            _wait_until_running(client, engine, engine_list, seconds, None if done.outcome == EXISTS else before)
        except FleetError as error:
            error.values.update(outcome=done.outcome, changed=done.outcome != EXISTS)
            raise
        values["state"], words = "running", "finished"
    msg = "Installation of %s on %s %s." % (engine.name, engine.manage_ip, words)
    return Result(done.outcome != EXISTS, dict(values, msg=msg))


def _read_states(client: Client, engine: Engine, engine_list: EngineList) -> List[str]:
    """Return the states that the list shows for the engine now. Raises FleetError."""
    engines, wanted = fetch_engines(client, engine_list).engines, (engine.name, comparable(engine.manage_ip))
    return sorted({each["state"] for each in engines if (each["name"], each["address"]) == wanted})


def _wait_until_running(
    client: Client, engine: Engine, engine_list: EngineList, seconds: float, before: Optional[List[str]]
) -> None:
    """Return when the engine list shows the engine as running. Raises FleetError.

    ``before``: the states before the request. As long as they stay the same, they are not about this installation.
    """
    deadline = time.monotonic() + seconds
    words = "Installation of %s on %s " % (engine.name, engine.manage_ip)
    while True:
        states, failure = None, None
        try:
            states = _read_states(client, engine, engine_list)
        except FleetError as error:
            if error.code != "management_node_unavailable":
                raise
            failure = error  # it may be restarting
        if states is not None and states != before:
            before = None
        if states == ["running"] and before is None:
            return
        if states == ["failed"] and before is None:
            fix = "Look up the deployment in the web console."
            raise FleetError("deployment_failed", words + "failed: engine list shows failed.", fix)
        if time.monotonic() + _POLL_SECONDS > deadline:
            if failure:
                raise failure
            shown = " and ".join(states or ()) or "does not list it"
            shown += ", as before the request" if states and states == before else ""
            fix = "Look up the deployment in the web console, or raise wait_timeout."
            summary = words + "not finished within %g s: engine list: %s." % (seconds, shown)
            raise FleetError("deployment_in_progress", summary, fix)
        time.sleep(_POLL_SECONDS)


def main() -> None:
    run_client_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
