#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_container
short_description: Take a leftover engine out of the way, or wait for an engine to come up
version_added: 0.1.0
description:
  - Acts on the container V(slb) of an engine host, through the command line of Docker or Podman.
  - With O(state=stopped), a leftover of an earlier deployment goes out of the way. Its restart policy is switched off,
    it is stopped, then renamed to C(slb-leftover-<UTC time>). It can be brought back with C(docker rename) and C(docker start).
  - With O(state=running), it waits on the host, in one call, until the engine runs and stays up.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.engine_host
attributes:
  check_mode:
    support: full
    details: With O(state=running), check mode looks once and does not wait.
  diff_mode:
    support: full
options:
  state:
    description:
      - V(stopped) takes the container out of the way. No container is a good state, too.
      - V(running) waits for it.
    type: str
    choices: [stopped, running]
    required: true
  container_id:
    description:
      - With O(state=stopped), the identifier of the container that was decided about.
      - If the container V(slb) is another one by now, nothing is stopped and the task fails.
    type: str
  container_state:
    description:
      - With O(state=stopped), the state of the container when it was decided about.
      - If it had ended, or was never started, and runs by now, nothing is stopped and the task fails.
    type: str
    choices: [absent, created, running, restarting, paused, exited]
  allow_established:
    description:
      - Stop the container even though it carries established connections, or they cannot be seen, as without root.
      - An engine with connections may be live; say this for one host at a time.
    type: bool
    default: false
  stop_timeout:
    description: How many seconds the container is given to end by itself before it is killed.
    type: int
    default: 10
  remove:
    description: Delete the container instead of renaming it. It cannot be brought back then.
    type: bool
    default: false
  timeout:
    description:
      - With O(state=running), how many seconds to wait.
      - The default is the upper end of the 2 to 3 minutes of the rules for stuck deployments.
    type: float
    default: 180
  settle:
    description: With O(state=running), for how many seconds the container must have run without a restart.
    type: float
    default: 5
  started_after:
    description:
      - With O(state=running), only a container that was started after this time counts.
      - In seconds since the epoch by the host's clock, as in RV(slb.fleet.host_info#module:slb_host.record).
    type: float
notes:
  - Podman before 5.1 cannot change the restart policy of a container. Where its unit C(podman-restart.service) is enabled,
    the next boot starts a leftover whose policy is V(always); O(remove) avoids that.
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Take the leftover of a failed deployment out of the way
  slb.fleet.engine_container:
    state: stopped

- name: Wait up to 3 minutes until the engine runs and stays up
  slb.fleet.engine_container:
    state: running
    timeout: 180
    settle: 10
"""

RETURN = r"""
before:
  description: The container before the task, as in RV(slb.fleet.host_info#module:slb_host.engine_container).
  returned: success, and where the wait ended without an engine
  type: dict
  sample: {state: running, restart_policy: always, image: "slb:1"}
after:
  description: The container after the task.
  returned: success, and where the wait ended without an engine
  type: dict
  sample: {state: absent}
quarantined_as:
  description: The new name of the container that was taken out of the way; null if there was none, or it was removed.
  returned: O(state=stopped)
  type: str
  sample: slb-leftover-20261120T131400Z
waited:
  description: How many seconds were waited.
  returned: O(state=running)
  type: float
  sample: 6.5
established:
  description: How many established connections the container carries; null where they cannot be seen.
  returned: where the task refuses for that reason
  type: int
  sample: 3
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host import engine_container
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

ARGUMENTS = {
    "state": dict(type="str", choices=["stopped", "running"], required=True),
    "container_id": dict(type="str"),
    "container_state": dict(type="str", choices=["absent", "created", "running", "restarting", "paused", "exited"]),
    "allow_established": dict(type="bool", default=False),
    "stop_timeout": dict(type="int", default=10),
    "remove": dict(type="bool", default=False),
    "timeout": dict(type="float", default=180),
    "settle": dict(type="float", default=5),
    "started_after": dict(type="float"),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    for option in ("stop_timeout", "timeout", "settle"):
        if params[option] < 0:
            raise OptionError(option, params[option], "it is negative", "Give a number of seconds, 0 or more.")
    if params["state"] == "stopped":
        return engine_container.stopped(
            params["container_id"],
            params["container_state"],
            params["allow_established"],
            params["stop_timeout"],
            params["remove"],
            check_mode,
        )
    return engine_container.running(params["timeout"], params["settle"], params["started_after"], check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
