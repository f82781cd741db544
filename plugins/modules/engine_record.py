#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_record
short_description: Note on the engine host what was asked for and what was verified
version_added: 1.0.0
description:
  - Keeps the collection's own record of an engine as an Ansible local fact, C(/etc/ansible/facts.d/slb_engine.fact).
  - It is written before an install is asked for (V(requested)) and after the engine was verified to run (V(verified)),
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
      - V(requested) notes that an install is about to be asked for.
      - V(verified) notes that the engine was verified to run in the container O(container_id). What was taken out of the
        way before is not put back any more then.
      - V(absent) takes the record away, where a request is known to have been refused.
    type: str
    choices: [requested, verified, absent]
    required: true
  name:
    description: The name of the engine. Required unless O(state=absent).
    type: str
  manage_ip:
    description: The address of the engine host as given to the management node. Required unless O(state=absent).
    type: str
  base_url:
    description:
      - The address of the management node that is asked for the install, as the tasks that talk to it are given it, without a
        final slash.
      - Required unless O(state=absent).
    type: str
  attempt:
    description: Which attempt of this run the request is.
    type: int
    default: 1
  decided_about:
    description:
      - C(requested_at) of the record that was seen when it was decided to do this; 0 where there was none.
      - If it is another by now, V(requested) fails, and V(absent) leaves it alone.
    type: float
  container_absent:
    description:
      - With O(state=requested), fail if there is a container C(slb) on the host by now, or that cannot be found out.
    type: bool
    default: false
  container_id:
    description: The container in which the engine runs. Required with O(state=verified).
    type: str
  verified_by:
    description: What proved that it runs.
    type: str
    choices: [host, engine_list]
    default: host
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Note the request before it is made
  slb.fleet.engine_record:
    state: requested
    name: edge-1
    manage_ip: 192.0.2.11
    base_url: https://node.example.com

- name: Observe the engine host
  slb.fleet.host_info:
  register: look

- name: Note that the engine runs
  slb.fleet.engine_record:
    state: verified
    name: edge-1
    manage_ip: 192.0.2.11
    base_url: https://node.example.com
    container_id: "{{ look.slb_host.engine_container.id | default('f00d', true) }}"
"""

RETURN = r"""
record:
  description: The record as it is now, or would be in check mode.
  returned: success
  type: dict
  contains:
    state:
      description: One of V(none), V(requested), V(verified), V(invalid).
      type: str
    why:
      description: Why it is V(invalid).
      type: str
    name:
      description: The name of the engine.
      type: str
    manage_ip:
      description: The address of the engine host as given to the management node.
      type: str
    base_url:
      description: The address of the management node.
      type: str
    attempt:
      description: Which attempt of its run the request was.
      type: int
    requested_at:
      description: When the request was noted, in seconds since the epoch by the host's clock.
      type: float
    boot_id:
      description: The boot of the host in which it was noted.
      type: str
    uptime:
      description: The host's uptime in seconds when it was noted.
      type: float
    container_id:
      description: The container in which the engine was verified to run; null in a V(requested) record.
      type: str
    verified_by:
      description: V(host) or V(engine_list); null in a V(requested) record.
      type: str
    verified_at:
      description: When it was verified to run, in seconds since the epoch by the host's clock.
      type: float
    verified_before:
      description: Of a V(requested) record, whether the engine had been verified to run before the request.
      type: bool
    age:
      description: Seconds since the request, where the record was left as it was.
      type: float
  sample:
    state: requested
    name: edge-1
    manage_ip: 192.0.2.11
    base_url: https://node.example.com
    attempt: 1
    requested_at: 1795000000.5
    boot_id: 0d4b9a55-1c1e-4c0b-9a53-6f3c1f4c8a11
    uptime: 86400.25
    container_id: null
    verified_by: null
overtaken:
  description: Whether somebody else deploys on this host since it was decided to do this.
  returned: where V(requested) fails because of O(decided_about) or O(container_absent)
  type: bool
  sample: true
container:
  description: The container that is there by now, as in RV(slb.fleet.host_info#module:slb_host.engine_container).
  returned: where the task refuses because of O(container_absent)
  type: dict
  sample: {state: running, name: slb}
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._host import record, set_aside
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.files import locked

ARGUMENTS = {
    "state": dict(type="str", choices=["requested", "verified", "absent"], required=True),
    "name": dict(type="str"),
    "manage_ip": dict(type="str"),
    "base_url": dict(type="str"),
    "attempt": dict(type="int", default=1),
    "decided_about": dict(type="float"),
    "container_absent": dict(type="bool", default=False),
    "container_id": dict(type="str"),
    "verified_by": dict(type="str", choices=["host", "engine_list"], default="host"),
}


_LOCK_SECONDS = 20


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    if check_mode:
        return _note(params, check_mode)
    # Two controllers at once must not both find that nothing is noted.
    with locked(record.PATH, _LOCK_SECONDS):
        return _note(params, check_mode)


def _note(params: Dict[str, Any], check_mode: bool) -> Result:
    engine = (params["name"], params["manage_ip"], params["base_url"])
    if params["state"] == "requested":
        return record.pending(
            *engine, params["attempt"], check_mode, params["decided_about"], params["container_absent"]
        )
    if params["state"] == "verified":
        result = record.confirmed(*engine, params["container_id"], params["verified_by"], check_mode)
        if not check_mode:
            # What was taken out of the way for this engine stays there.
            set_aside.forget()
        return result
    return record.absent(check_mode, params["decided_about"])


def main() -> None:
    run_module(
        ARGUMENTS,
        operation,
        required_if=[
            ("state", "requested", ("name", "manage_ip", "base_url")),
            ("state", "verified", ("name", "manage_ip", "base_url", "container_id")),
        ],
    )


if __name__ == "__main__":
    main()
