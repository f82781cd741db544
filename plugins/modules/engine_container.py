#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_container
short_description: Take a leftover engine out of the way, put it back, or wait for an engine to come up
version_added: 1.0.0
description:
  - Acts on the container V(slb) of an engine host, through the command line of Docker or Podman.
  - With O(state=set_aside), a leftover of an earlier deployment goes out of the way. Its restart policy is switched off,
    it is stopped, then renamed to C(slb-leftover-<UTC time>).
  - Before it is touched, what it was is noted in C(/var/lib/slb-fleet/set-aside.json), and it is tried whether the record
    (see M(slb.fleet.engine_record)) can be written. A full or read-only disk thus stops nothing.
  - With O(state=restored), the container that was taken out of the way last is put back as it was. It gets its name and its
    restart policy again, and is started if it was running.
  - Both may be killed at any moment and be run again.
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
      - V(set_aside) takes the container out of the way. No container is a good state, too.
      - V(restored) puts back what V(set_aside) took out of the way last. If nothing was, that is a good state, too. The task
        fails if that container is gone, or if another one has the name C(slb) by now.
      - V(running) waits for it.
    type: str
    choices: [set_aside, restored, running]
    required: true
  container_id:
    description:
      - With O(state=set_aside), the identifier of the container that was decided about.
      - If the container V(slb) is another one by now, nothing is stopped and the task fails.
    type: str
  container_state:
    description:
      - With O(state=set_aside), the state of the container when it was decided about.
      - If it had ended, or was never started, and runs by now, nothing is stopped and the task fails.
    type: str
    choices: [absent, created, running, restarting, paused, exited]
  decided:
    description:
      - The result of M(slb.fleet.engine_plan) that this is done for.
      - With O(state=set_aside), where that rests on the console's list alone, the list is read again unless it was within the
        last 10 seconds. If it says something else by now, nothing is stopped, and RV(overtaken) says why.
    type: dict
  because:
    description:
      - With O(state=set_aside), why it was decided to stop the container. It is noted, and nothing else follows from it here.
      - V(list), the console's list does not show the engine. V(operator), the operator said so. V(record), the record of
        the collection's own request said so. V(ended), the container had ended.
    type: str
    choices: [list, operator, record, ended]
    default: operator
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
  mistaken:
    description:
      - With O(state=restored), note that what took the container out of the way was wrong, so that a run does not stop it
        again on the list's word.
    type: bool
    default: false
  decided_about:
    description:
      - C(requested_at) of the record that was seen when it was decided to put the container back; 0 where there was none.
        If it is another by now, O(state=restored) changes nothing and fails.
    type: float
  remove:
    description:
      - With O(state=set_aside), delete the container instead of renaming it. It cannot be put back then.
      - A container that deletes itself when it stops (C(--rm)), and runs, is stopped only with this.
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
  after_request:
    description:
      - With O(state=running), only a container counts that was started after the request that the record on the host is about.
      - It is measured on the host, within one boot by its uptime, so that a clock that is set meanwhile changes nothing.
      - The task fails at once if there is no record that can be read.
    type: bool
    default: false
notes:
  - A container that a systemd unit of Podman makes, as that of a Quadlet, is not stopped; the unit would make it anew.
  - Podman before 5.1 cannot change the restart policy of a container. Where its unit C(podman-restart.service) is enabled,
    the next boot starts a leftover whose policy is V(always), of which the task warns; O(remove) avoids that.
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Take the leftover of a failed deployment out of the way
  slb.fleet.engine_container:
    state: set_aside

- name: Put back what was taken out of the way, because its reason proved wrong
  slb.fleet.engine_container:
    state: restored

- name: Wait up to 3 minutes until the engine runs and stays up
  slb.fleet.engine_container:
    state: running
    timeout: 180
    settle: 10
"""

RETURN = r"""
before:
  description: The container before the task, as in RV(slb.fleet.host_info#module:slb_host.engine_container).
  returned: success, where the wait ended without an engine, and where the task failed half-way
  type: dict
  sample: {state: running, restart_policy: always, image: "slb:1"}
after:
  description: The container after the task.
  returned: success, where the wait ended without an engine, and where the task failed half-way
  type: dict
  sample: {state: absent}
set_aside_as:
  description: The new name of the container that was taken out of the way; null if there was none, or it was removed.
  returned: O(state=set_aside)
  type: str
  sample: slb-leftover-20261120T131400Z
starts_at_boot:
  description:
    - That the container under its new name still has the restart policy V(always), since its Podman cannot change it. The unit
      C(podman-restart.service) starts it at the next boot where it is enabled, as Debian 12 has it.
  returned: O(state=set_aside)
  type: bool
  sample: false
restored:
  description: Whether a container was put back. False where nothing was out of the way, or all of it was back already.
  returned: O(state=restored)
  type: bool
  sample: true
leftovers:
  description:
    - The containers that have the name of one that was taken out of the way. None of them is put back by itself; to do it
      by hand, C(docker rename NAME slb), C(docker update --restart=always slb), C(docker start slb), or
      the same with C(podman).
  returned: with O(state=restored), where it is not noted which container that would be
  type: list
  elements: str
  sample: [slb-leftover-20261120T131400Z]
overtaken:
  description: What has become of the host since, so that what was decided no longer holds and nothing was done.
  returned: where nothing was stopped for that reason, or put back
  type: str
  sample: the console's list says running by now, and said not_listed.
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
auto_remove:
  description: That the container would delete itself when it stops.
  returned: where the task refuses for that reason
  type: bool
  sample: true
systemd_unit:
  description: The systemd unit that makes the container, and would make it anew.
  returned: where the task refuses for that reason
  type: str
  sample: slb.service
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.module_utils._host import engine_container
from ansible_collections.slb.fleet.plugins.module_utils._host.set_aside import REASONS
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.files import locked

_LOCK = "/run/slb-fleet"  # its folder is there on every host, and whoever may do anything to containers may read it
_LOCK_SECONDS = 60

ARGUMENTS = {
    "state": dict(type="str", choices=["set_aside", "restored", "running"], required=True),
    "container_id": dict(type="str"),
    "container_state": dict(type="str", choices=["absent", "created", "running", "restarting", "paused", "exited"]),
    "decided": dict(type="dict"),
    "because": dict(type="str", choices=list(REASONS), default="operator"),
    "allow_established": dict(type="bool", default=False),
    "stop_timeout": dict(type="int", default=10),
    "mistaken": dict(type="bool", default=False),
    "decided_about": dict(type="float"),
    "remove": dict(type="bool", default=False),
    "timeout": dict(type="float", default=180),
    "settle": dict(type="float", default=5),
    "after_request": dict(type="bool", default=False),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    for option in ("stop_timeout", "timeout", "settle"):
        if params[option] < 0:
            raise OptionError(option, params[option], "it is negative", "Give a number of seconds, 0 or more.")
    if params["state"] == "running" or check_mode:
        return _operation(params, check_mode)
    # Of two runs at once the second would undo what the first has half done.
    with locked(_LOCK, params["stop_timeout"] + _LOCK_SECONDS, "the containers of this host"):
        return _operation(params, check_mode)


def _operation(params: Dict[str, Any], check_mode: bool) -> Result:
    if params["state"] == "set_aside":
        return engine_container.stopped(
            params["container_id"],
            params["container_state"],
            params["allow_established"],
            params["stop_timeout"],
            params["remove"],
            params["because"],
            check_mode,
        )
    if params["state"] == "restored":
        return engine_container.restored(params["mistaken"], check_mode, params["decided_about"])
    return engine_container.running(params["timeout"], params["settle"], params["after_request"], check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
