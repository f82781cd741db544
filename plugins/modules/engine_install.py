#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_install
short_description: Install an engine, and set its leftover aside
version_added: 1.0.0
description:
  - Carries out one plan of M(slb.fleet.engine_plan) on one engine host.
  - Checks that the plan still holds, sets the container C(slb) aside if the plan says so, records the request on the host, and
    requests the installation. If the request is not sent, or the management node rejects it, the container is restored.
  - Does not wait for the end of the installation.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet._attributes
  - slb.fleet._attributes.engine_host
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
options:
  plan:
    description:
      - Result of M(slb.fleet.engine_plan) for this host, in the same run.
      - All other options are internal. The action plugin sets them from the plan and the variables of the host.
    type: dict
  name:
    description: Name of the engine.
    type: str
  manage_ip:
    description: IPv4 or IPv6 address of the engine host, as the management node reaches it.
    type: str
  base_url:
    description: Address of the management node.
    type: str
  action:
    description:
      - Action of the plan.
      - V(install) - request the installation. The host must not have a container C(slb).
      - V(replace) - set the container C(slb) aside, then request the installation.
    type: str
    choices: [install, replace]
  expected:
    description: State of the host when the plan was made. If the host has changed, the task fails with the code C(state_changed).
    type: dict
    suboptions:
      container_id:
        description: Identifier of the container C(slb); unset if there was none.
        type: str
      container_state:
        description: State of the container C(slb).
        type: str
        choices: [absent, created, running, restarting, paused, exited]
        required: true
      record_state:
        description: State of the deployment record.
        type: str
        choices: [none, preparing, prepared, requested, restoring, verified, invalid]
        required: true
      record_request_id:
        description: Identifier of the request in the deployment record; unset if there was none.
        type: str
  allow_established:
    description:
      - Whether to stop a container that has connections, or whose connections cannot be seen.
      - Such an engine may serve traffic. Use this option for one host at a time.
    type: bool
    default: false
  remove_leftovers:
    description: Whether a container that deletes itself when it stops (C(--rm)) may be lost.
    type: bool
    default: false
  stop_timeout:
    description: Number of seconds (1 or more) for the container to stop, before the runtime kills its processes.
    type: int
    default: 10
  lock_timeout:
    description: Number of seconds to wait for another run on the same host.
    type: int
    default: 10
  step:
    description:
      - Internal. Part of the task that runs on the engine host.
      - V(prepare) - check, set the container aside and record that.
      - V(mark) - record that the request O(request_id) is about to be sent.
    type: str
    choices: [prepare, mark]
    default: prepare
  wait_timeout:
    description: Number of seconds in which no other run may request an installation, for the record.
    type: float
  time_limit:
    description:
      - Number of seconds for the part of the task that runs on the engine host.
      - If the time is over, the host is restored. Unset for no limit.
    type: float
  request_id:
    description: Internal. Identifier of the request. A second execution with the same identifier finishes the first.
    type: str
seealso:
  - module: slb.fleet.engine_plan
  - module: slb.fleet.engine_container
"""

EXAMPLES = r"""
- name: Plan the engine
  slb.fleet.engine_plan:
  register: planned

- name: Carry out the plan
  slb.fleet.engine_install:
    plan: "{{ planned }}"
  when: planned.plan.action in ['install', 'replace']
"""

RETURN = r"""
outcome:
  description:
    - V(requested) - the management node has accepted the request.
    - V(unknown) - the request was sent, and its outcome is unknown. It may have been accepted.
    - V(exists), V(port_in_use), V(rejected) - the task fails, and the host is unchanged or restored.
  returned: always, except in check mode and if no request was sent
  type: str
  sample: requested
requests:
  description: Number of install requests that this run has sent for the host.
  returned: success
  type: int
  sample: 1
request_id:
  description: Identifier of the request in the deployment record.
  returned: success
  type: str
before:
  description: The container C(slb) before the task, with the keys of RV(slb.fleet.host_info#module:slb_host.engine_container).
  returned: success
  type: dict
  sample: {state: exited, name: slb, runtime: docker}
after:
  description: The container C(slb) after the task.
  returned: success
  type: dict
  sample: {state: absent, name: slb, runtime: docker}
set_aside_as:
  description: New name of the container that was set aside; null if there was none.
  returned: O(step=prepare)
  type: str
  sample: slb-leftover-20261120T131400Z
code:
  description: Code of the failure, such as V(state_changed).
  returned: failure
  type: str
  sample: state_changed
restored:
  description: Whether a container was restored.
  returned: if the task failed after a change
  type: bool
  sample: true
record:
  description: The deployment record after the task, with the keys of RV(slb.fleet.host_info#module:slb_host.record).
  returned: success
  type: dict
  sample: {state: verified, name: edge-1, manage_ip: 192.0.2.11, base_url: "https://console.example", age: 12.5}
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import record
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    "plan": dict(type="dict"),
    "name": dict(type="str"),
    "manage_ip": dict(type="str"),
    "base_url": dict(type="str"),
    "action": dict(type="str", choices=["install", "replace"]),
    "expected": dict(
        type="dict",
        options={
            "container_id": dict(type="str"),
            "container_state": dict(
                type="str", choices=["absent", "created", "running", "restarting", "paused", "exited"], required=True
            ),
            "record_state": dict(
                type="str",
                choices=["none", "preparing", "prepared", "requested", "restoring", "verified", "invalid"],
                required=True,
            ),
            "record_request_id": dict(type="str"),
        },
    ),
    "allow_established": dict(type="bool", default=False),
    "remove_leftovers": dict(type="bool", default=False),
    "stop_timeout": dict(type="int", default=10),
    "lock_timeout": dict(type="int", default=10),
    "step": dict(type="str", choices=["prepare", "mark"], default="prepare"),
    "time_limit": dict(type="float"),
    "wait_timeout": dict(type="float"),
    "request_id": dict(type="str"),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Do the part of the task that belongs to the engine host."""
    if options["step"] == "prepare":
        return record.prepare(options, check_mode)
    return record.mark(options)


def main() -> None:
    prepare = ("name", "manage_ip", "base_url", "action", "expected", "request_id")
    run_module(ARGUMENTS, operation, required_if=[("step", "prepare", prepare), ("step", "mark", ["request_id"])])


if __name__ == "__main__":
    main()
