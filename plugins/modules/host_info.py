#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: host_info
short_description: Gather facts about an engine host
version_added: 1.0.0
description:
  - Gathers all facts on which the plan of an engine host depends, in one round trip. Nothing is changed.
  - A fact that cannot be determined is V(unknown) or null, never V(absent).
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
attributes:
  diff_mode:
    support: none
    details: The module changes nothing.
options:
  ignored_starters:
    description:
      - Files on the host, by their full paths, that mention a start of the container C(slb) and are known to be harmless.
    type: list
    elements: path
    default: []
  time_limit:
    description: Maximum duration in seconds. By default, none.
    type: float
seealso:
  - module: slb.fleet.engine_container
  - module: slb.fleet.engine_record
  - module: slb.fleet.motd
"""

EXAMPLES = r"""
- name: Gather facts about the engine host
  slb.fleet.host_info:
  register: host

- name: Show the state of the container slb
  ansible.builtin.debug:
    msg: "The container slb is {{ host.slb_host.engine_container.state }}"
"""

RETURN = r"""
slb_host:
  description: Facts about the host.
  returned: success
  type: dict
  contains:
    root:
      description: Whether the user is root. Other users cannot see all facts.
      type: bool
    machine:
      description: Machine id and boot id of the host.
      type: str
    addresses:
      description: IP addresses of the host, without loopback and link-local addresses; null if they cannot be seen.
      type: list
      elements: str
    engine_container:
      description: The container C(slb) of Docker or root's Podman.
      type: dict
      contains:
        state:
          description: V(absent), V(created), V(running), V(restarting), V(paused), V(exited) or V(unknown).
          type: str
        name:
          description: Name of the container, C(slb).
          type: str
        id:
          description: Identifier of the container.
          type: str
        runtime:
          description: V(docker) or V(podman); null if neither command was found.
          type: str
        image:
          description: Image of the container.
          type: str
        uptime:
          description: Number of seconds since the start of the main process; null if the container does not run.
          type: float
        exit_code:
          description: Exit code of the last run.
          type: int
        restart_policy:
          description: Restart policy, such as V(always) or V(on-failure:3).
          type: str
        restart_count:
          description: Number of restarts by the runtime.
          type: int
        auto_remove:
          description: Whether the container deletes itself when it stops (C(--rm)).
          type: bool
        manager:
          description:
            - What starts the container again, such as C(systemd unit x.service) or C(compose project y); null if nothing was found.
            - If the container is the verified one and runs, only its labels are read.
          type: str
        manager_fix:
          description: What keeps the manager from starting the container again.
          type: str
        connections:
          description: Number of inbound TCP connections; null if they cannot be seen.
          type: int
        peers:
          description: Remote ends of at most 5 inbound connections.
          type: list
          elements: str
        outbound:
          description: Number of outbound TCP connections.
          type: int
        why:
          description: Reason for V(unknown). It starts with C(permission denied) if root is required.
          type: str
        fix:
          description: What to do about V(unknown).
          type: str
        health:
          description:
            - Result of the container's health check, V(starting), V(healthy) or V(unhealthy); null without one.
            - V(silent) if the check should have reported and did not.
          type: str
        health_output:
          description: Last line that the health check printed when it decided.
          type: str
        is_dead:
          description: Whether its removal failed, so that it cannot be started; its state is then V(exited).
          type: bool
        start_obstacle:
          description: Why the stopped container would not start; null if no reason is known.
          type: str
        restore_obstacle:
          description: Why the running container could not be started again after a stop; null if no reason is known.
          type: str
    record:
      description: The deployment record that the collection keeps on the host.
      type: dict
      contains:
        state:
          description: V(none), V(preparing), V(prepared), V(requested), V(restoring), V(verified) or V(invalid).
          type: str
        why:
          description: Reason for V(invalid).
          type: str
        unwritable:
          description: Reason why the record cannot be written; null if no reason is known. Nothing is written to find out.
          type: str
        request_id:
          description: Identifier of the install request.
          type: str
        name:
          description: Name of the engine.
          type: str
        manage_ip:
          description: Address of the engine host, as the management node reaches it.
          type: str
        base_url:
          description: Address of the management node.
          type: str
        age:
          description: Number of seconds since the request. After a reboot, the uptime of the host.
          type: float
        wait_timeout:
          description: Number of seconds for which the run that sent the request waits.
          type: float
        sent:
          description: Whether this request, or the one of the record before, may have been sent.
          type: bool
        replaced_gone:
          description: Whether the verified container replaced one that was gone.
          type: bool
        containers_before:
          description: Identifiers of all containers on the host before the request.
          type: list
          elements: str
        last_verified:
          description: Identifier of the container in which the engine was last verified.
          type: str
        verified_by:
          description: V(host) or V(engine_list).
          type: str
        set_aside:
          description: The container that was set aside; null if there is none.
          type: dict
          contains:
            id:
              description: Identifier of the container.
              type: str
            name:
              description: Name of the container now; if the container is gone, its last known name.
              type: str
            runtime:
              description: V(docker) or V(podman).
              type: str
            restart_policy:
              description: Restart policy before, such as V(on-failure:3).
              type: str
            state:
              description: State before.
              type: str
            stop_timeout:
              description: Number of seconds that the container had to stop.
              type: float
            purpose:
              description: V(replace) or V(remediate).
              type: str
            exists:
              description: Whether the container exists; null if this is unknown, or was not checked because the engine is healthy.
              type: bool
        earlier:
          description: The container that was set aside before RV(slb_host.record.set_aside), with the same keys.
          type: dict
        verified_name:
          description: >-
            Name of the container RV(slb_host.record.last_verified); null if it is gone or if this is the present container C(slb).
          type: str
    running_leftovers:
      description:
        - Names of set-aside containers that run. If the container C(slb) runs and was never restarted, only that of the record.
      type: list
      elements: str
    stopped_leftovers:
      description: Names of set-aside containers that do not run. Not checked in the same case.
      type: list
      elements: str
    ports:
      description: TCP ports in state LISTEN, at most 500. Ports of the engine have priority.
      type: list
      elements: dict
      contains:
        port:
          description: Number of the port.
          type: int
        process:
          description: Name of the process; null without root.
          type: str
        pid:
          description: Number of the process; null without root.
          type: int
        container:
          description: Id of the container that the process runs in, twelve characters; null outside of one.
          type: str
        engine:
          description: Whether the port is one of the container C(slb), or one that the container needs to start.
          type: bool
    motd:
      description: The login banner, by the sizes of its files. No command is run.
      type: dict
      contains:
        path:
          description: Path of the login banner.
          type: str
        target:
          description: Target of the login banner, if the banner is a symbolic link.
          type: str
        bytes:
          description: Sum of their sizes in bytes.
          type: int
        sources:
          description: C(/run/motd.dynamic) and the login banner, if not empty, each with C(source) and C(bytes).
          type: list
          elements: dict
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host.gather import gather_facts
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import within

ARGUMENTS = {
    "ignored_starters": dict(type="list", elements="path", default=[]),
    "time_limit": dict(type="float"),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Gather the facts."""
    facts = within(options["time_limit"] or None, lambda: gather_facts(options["ignored_starters"]))
    return Result(False, {"slb_host": facts})


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
