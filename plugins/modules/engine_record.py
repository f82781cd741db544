#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_record
short_description: Record a verified engine or remove the record
version_added: 1.0.0
description:
  - Writes the deployment record of an engine host, the local fact C(/etc/ansible/facts.d/slb_engine.fact).
  - M(slb.fleet.engine_install) records a request before the request is sent. This module records that the engine was verified.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
options:
  state:
    description:
      - V(verified) - record that the engine runs in the container O(container_id). The task fails with the code
        C(state_changed) if the container C(slb) is another one.
      - V(absent) - remove the record. Containers are not touched.
    type: str
    choices: [verified, absent]
    required: true
  name:
    description: Name of the engine. Required with O(state=verified).
    type: str
  manage_ip:
    description: Address of the engine host, as the management node reaches it. Required with O(state=verified).
    type: str
  base_url:
    description: Address of the management node. Required with O(state=verified).
    type: str
  container_id:
    description: Identifier of the container in which the engine runs. Required with O(state=verified).
    type: str
  verified_by:
    description:
      - Source of the verification.
      - V(host) - the container runs on the host.
      - V(engine_list) - the engine list reports the engine as running.
    type: str
    choices: [host, engine_list]
    default: host
  remove_leftovers:
    description:
      - Whether to delete the container that the record names as set aside, after the record is written. B(Warning:) deleted
        containers cannot be restored.
      - A leftover that runs, or that has another name than C(slb-leftover-...), is kept.
    type: bool
    default: false
seealso:
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_container
"""

EXAMPLES = r"""
- name: Gather facts about the engine host
  slb.fleet.host_info:
  register: host

- name: Record the running engine as verified
  slb.fleet.engine_record:
    state: verified
    name: edge-1
    manage_ip: 192.0.2.11
    base_url: https://console.example
    container_id: "{{ host.slb_host.engine_container.id }}"

- name: Remove the record
  slb.fleet.engine_record:
    state: absent
"""

RETURN = r"""
record:
  description: The deployment record after the task, with the keys of RV(slb.fleet.host_info#module:slb_host.record).
  returned: success
  type: dict
  sample: {state: verified, name: edge-1, manage_ip: 192.0.2.11, base_url: "https://console.example", age: 12.5}
has_deleted:
  description: Whether the container that was set aside was deleted.
  returned: O(state=verified)
  type: bool
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import steps
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    "state": dict(type="str", choices=["verified", "absent"], required=True),
    "name": dict(type="str"),
    "manage_ip": dict(type="str"),
    "base_url": dict(type="str"),
    "container_id": dict(type="str"),
    "verified_by": dict(type="str", choices=["host", "engine_list"], default="host"),
    "remove_leftovers": dict(type="bool", default=False),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Write or remove the record."""
    return steps.verify(options, check_mode) if options["state"] == "verified" else steps.remove(check_mode)


def main() -> None:
    required = ("name", "manage_ip", "base_url", "container_id")
    run_module(ARGUMENTS, operation, required_if=[("state", "verified", required)])


if __name__ == "__main__":
    main()
