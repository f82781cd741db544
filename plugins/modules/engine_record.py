#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_record
short_description: Note on the engine host what was asked for and what was proven
version_added: 0.1.0
description:
  - Keeps the collection's own record of an engine as an Ansible local fact, C(/etc/ansible/facts.d/slb_engine.fact).
  - It is written before an install is asked for (V(pending)) and after the engine was proven to run (V(confirmed)),
    so that a run that is killed at any moment converges when it is run again.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.engine_host
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
options:
  state:
    description:
      - V(pending) notes that an install is about to be asked for.
      - V(confirmed) notes that the engine was proven to run in the container O(container_id).
      - V(absent) takes the record away, where a request is known to have been refused.
    type: str
    choices: [pending, confirmed, absent]
    required: true
  name:
    description: The name of the engine. Required unless O(state=absent).
    type: str
  manage_ip:
    description: The address of the engine host as given to the management node. Required unless O(state=absent).
    type: str
  attempt:
    description: Which attempt of this run the request is.
    type: int
    default: 1
  decided_about:
    description:
      - C(requested_at) of the record that was seen when it was decided to do this; 0 where there was none.
      - If it is another by now, V(pending) fails, and V(absent) leaves it alone.
    type: float
  container_id:
    description: The container in which the engine runs. Required with O(state=confirmed).
    type: str
  verified_by:
    description: What proved that it runs.
    type: str
    choices: [host, console]
    default: host
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Note the request before it is made
  slb.fleet.engine_record:
    state: pending
    name: edge-1
    manage_ip: 192.0.2.11

- name: Observe the engine host
  slb.fleet.host_info:
  register: look

- name: Note that the engine runs
  slb.fleet.engine_record:
    state: confirmed
    name: edge-1
    manage_ip: 192.0.2.11
    container_id: "{{ look.slb_host.engine_container.id | default('f00d', true) }}"
"""

RETURN = r"""
record:
  description: The record as it is now, or would be in check mode.
  returned: success
  type: dict
  sample: {state: pending, name: edge-1, manage_ip: 192.0.2.11, attempt: 1, requested_at: 1795000000.5}
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._host import record
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    "state": dict(type="str", choices=["pending", "confirmed", "absent"], required=True),
    "name": dict(type="str"),
    "manage_ip": dict(type="str"),
    "attempt": dict(type="int", default=1),
    "decided_about": dict(type="float"),
    "container_id": dict(type="str"),
    "verified_by": dict(type="str", choices=["host", "console"], default="host"),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    if params["state"] == "pending":
        return record.pending(
            params["name"], params["manage_ip"], params["attempt"], check_mode, params["decided_about"]
        )
    if params["state"] == "confirmed":
        return record.confirmed(
            params["name"], params["manage_ip"], params["container_id"], params["verified_by"], check_mode
        )
    return record.absent(check_mode, params["decided_about"])


def main() -> None:
    run_module(
        ARGUMENTS,
        operation,
        required_if=[
            ("state", "pending", ("name", "manage_ip")),
            ("state", "confirmed", ("name", "manage_ip", "container_id")),
        ],
    )


if __name__ == "__main__":
    main()
