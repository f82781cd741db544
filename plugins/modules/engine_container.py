#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_container
short_description: Set an engine container aside, restore or start it
version_added: 1.0.0
description:
  - Sets the container C(slb) of an engine host aside, or restores the container that was set aside last.
  - A container is set aside in 3 steps. Its restart policy is switched off, then it is stopped, then it is renamed to
    C(slb-leftover-<UTC time>).
  - The deployment record keeps name, state and restart policy before the first step. An interrupted task is finished if the
    task runs again.
  - Only Docker and root's Podman of this machine are used. C(DOCKER_HOST), C(CONTAINER_HOST) and contexts are ignored.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host, slb.fleet._attributes.container]
options:
  state:
    description:
      - V(set_aside) - set the container C(slb) aside. No engine is installed. If there is no container, nothing is changed.
      - V(restored) - restore the container that the record names as set aside, and the record from before. If the record
        names none, nothing is changed. If another container has the name C(slb), the task fails with the code C(name_taken).
        A request whose deployment may be in progress stays in the record, so that no run sends another one meanwhile.
      - V(started) - start the container C(slb) if the deployment record verifies it by its identifier. A container that runs
        is not changed. If it cannot be started, or ends within 2 seconds, the task fails with the code
        C(container_not_started).
    type: str
    choices: [set_aside, restored, started]
    required: true
  container_id:
    description: Identifier of the container to set aside or start. If the container C(slb) has another one, the task fails.
    type: str
notes:
  - A container that systemd, compose, swarm or Kubernetes would start again is not stopped.
  - Podman before 3.0 cannot rename containers. Podman before 5.1 cannot change a restart policy; C(podman-restart.service)
    must be disabled then.
seealso:
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_record
"""

EXAMPLES = r"""
- name: Set the leftover of a failed deployment aside
  slb.fleet.engine_container:
    state: set_aside

- name: Start the verified engine after a power failure
  slb.fleet.engine_container:
    state: started

- name: Restore the container that was set aside
  slb.fleet.engine_container:
    state: restored
"""

RETURN = r"""
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
  description: New name of the container; null if there was no container, or if it was deleted.
  returned: O(state=set_aside)
  type: str
  sample: slb-leftover-20261120T131400Z
restored:
  description: Whether a container was restored.
  returned: O(state=restored), or if the task failed after a change
  type: bool
started:
  description: Whether the container was started.
  returned: O(state=started)
  type: bool
record:
  description: The deployment record after the task, with the keys of RV(slb.fleet.host_info#module:slb_host.record).
  returned: success
  type: dict
  sample: {state: verified, name: edge-1, manage_ip: 192.0.2.11, base_url: "https://console.example", age: 12.5}
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import steps
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    **steps.ARGUMENTS,
    "state": dict(type="str", choices=["set_aside", "restored", "started"], required=True),
    "container_id": dict(type="str"),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Set the container aside, restore or start it."""
    if options["state"] == "set_aside":
        expected = {"container_id": options["container_id"]} if options["container_id"] else {}
        return steps.set_aside(dict(options, expected=expected, request_id=None), check_mode)
    if options["state"] == "started":
        return steps.start(options, check_mode)
    return steps.restore_set_aside(options["lock_timeout"], check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
