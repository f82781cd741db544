#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: _engine_step
short_description: "Internal: do one step of an installation"
description:
  - Private. Only the actions and roles of this collection use this module, and it may change in each release.
  - Use M(slb.fleet.engine_install) or M(slb.fleet.engine_container).
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host, slb.fleet._attributes.container]
options:
  step:
    description:
      - V(prepare) - check that the plan still holds, set the container aside if it is to be replaced, and record that.
      - V(mark) - record that the request is about to be sent.
      - V(set_aside) - set the container aside without an installation.
      - V(restore) - restore what the request changed.
      - V(confirm) - save an adoption of interfaces, over a fresh connection.
    type: str
    choices: [prepare, mark, set_aside, restore, confirm]
    required: true
  request_id:
    description: Identifier of the request. A second execution of a step with the same identifier finishes the first.
    type: str
    required: true
  own:
    description: Whether the request is of this run. It is restored at once, unless it may have been accepted.
    type: bool
    default: false
  action:
    description: Action of the plan.
    type: str
    choices: [install, replace]
  expected:
    description: Container and record when the plan was made. If the host has changed, the step fails with the code C(state_changed).
    type: dict
    default: {}
  wait_timeout:
    description: Number of seconds in which no other run may request an installation.
    type: float
  open_age:
    description: Minimum age in seconds of the record of an interrupted step that is restored. Unset for never.
    type: float
  requested_age:
    description: Minimum age in seconds of the record of a request that is restored. Unset for never.
    type: float
"""

EXAMPLES = r"""
- name: Restore what a request has changed
  slb.fleet._engine_step:
    step: restore
    request_id: "{{ slb_plan.request_id }}"
    own: true
"""

RETURN = "# Private: plugin_utils/_facts.py lists the keys."

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, steps
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    **steps.ARGUMENTS,
    "step": dict(type="str", choices=["prepare", "mark", "set_aside", "restore", "confirm"], required=True),
    "request_id": dict(type="str", required=True),
    "own": dict(type="bool", default=False),
    "action": dict(type="str", choices=["install", "replace"]),
    "expected": dict(type="dict", default={}),
    "wait_timeout": dict(type="float"),
    "open_age": dict(type="float"),
    "requested_age": dict(type="float"),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Do one step."""
    step = options["step"]
    if step == "prepare":
        return steps.prepare(options, check_mode)
    if step == "confirm":
        return adoption.confirm(options["request_id"], check_mode)
    if step == "mark":
        return steps.mark(options)
    if step == "set_aside":
        return steps.set_aside(options, check_mode)
    return steps.restore(options, check_mode)


def main() -> None:
    prepare = ("name", "manage_ip", "base_url", "action", "expected")
    run_module(ARGUMENTS, operation, required_if=[("step", "prepare", prepare)])


if __name__ == "__main__":
    main()
