#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: host_info
short_description: Observe an engine host in one round trip
version_added: 1.0.0
description:
  - Looks at everything that decides what is to be done on an engine host, and changes nothing.
  - What cannot be found out is said to be C(unknown), with the reason; it is never taken for absent.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.engine_host
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: Nothing is ever changed.
options:
  subset:
    description:
      - What to look at. Looking at less costs less.
      - V(engine_container) gives RV(slb_host.set_aside), too.
    type: list
    elements: str
    choices: [engine_container, record, ports, motd, interfaces]
    default: [engine_container, record, ports, motd, interfaces]
seealso:
  - module: slb.fleet.engine_container
  - module: slb.fleet.engine_record
  - module: slb.fleet.motd
"""

EXAMPLES = r"""
- name: Observe the engine host
  slb.fleet.host_info:
  register: look

- name: Show the state of the engine's container
  ansible.builtin.debug:
    msg: "The container slb is {{ look.slb_host.engine_container.state }}"

- name: Look only at what decides about the engine
  slb.fleet.host_info:
    subset: [engine_container, record]
"""

RETURN = r"""
slb_host:
  description: What was seen. Times are seconds since the epoch by the host's own clock.
  returned: success
  type: dict
  contains:
    observed_at:
      description: When the host was looked at.
      type: float
    root:
      description: Whether it was looked at as root. Without root, some things cannot be seen.
      type: bool
    engine_container:
      description: The container C(slb), of Docker or Podman.
      type: dict
      contains:
        state:
          description: One of V(absent), V(created), V(running), V(restarting), V(paused), V(exited), V(unknown).
          type: str
        name:
          description: The container's name, C(slb).
          type: str
        id:
          description: The container's identifier.
          type: str
        runtime:
          description: V(docker) or V(podman); null where neither is installed.
          type: str
        image:
          description: The image that the container was made from.
          type: str
        started_at:
          description: When it was last started; null if never.
          type: float
        uptime:
          description: For how many seconds it has been running; null where it is not running.
          type: float
        exit_code:
          description: The exit status of its last run.
          type: int
        restart_policy:
          description: What the runtime does when it ends.
          type: str
        restart_count:
          description: How often the runtime restarted it.
          type: int
        auto_remove:
          description: Whether it deletes itself when it stops (C(--rm)).
          type: bool
        systemd_unit:
          description: The systemd unit that makes it, as that of a Quadlet, and makes it anew when it is gone; null without one.
          type: str
        after_request:
          description:
            - Whether it was started after the request that the record is about; null where there is no record or it was never
              started.
            - Measured by the host's uptime; by its clock only where the host was booted in between, or where the container's
              process cannot be seen. One that was taken out of the way and put back is older than any request.
          type: bool
        established:
          description:
            - How many connections are established to ports that it serves.
            - Null where they cannot be seen, as without root; that is not the same as none.
          type: int
        why:
          description: Why the state is unknown. It begins with C(permission denied) where root would see it.
          type: str
    record:
      description: What the collection itself noted on this host, see M(slb.fleet.engine_record).
      type: dict
      contains:
        state:
          description: One of V(none), V(requested), V(verified), V(invalid).
          type: str
        why:
          description: Why it is V(invalid).
          type: str
        unwritable:
          description: Why the record could not be written, as a part of a sentence, told without writing; null where it could.
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
        age:
          description: Seconds since the request that the record is about.
          type: float
        attempt:
          description: Which attempt of its run the request was.
          type: int
        requested_at:
          description: When the request was noted.
          type: float
        boot_id:
          description: The boot of the host in which it was noted.
          type: str
        uptime:
          description: The host's uptime in seconds when it was noted.
          type: float
        container_id:
          description: The container in which the engine was verified to run.
          type: str
        container_name:
          description: The name of that container, where it is not C(slb) any more and nobody took it out of the way.
          type: str
        verified_by:
          description: V(host) or V(engine_list).
          type: str
        verified_at:
          description: When it was verified to run.
          type: float
        verified_before:
          description: Of a V(requested) record, whether the engine had been verified to run before the request.
          type: bool
    addresses:
      description:
        - The host's own IP addresses, but those of its loopback and link-local ones; null where they cannot be seen.
        - Given with V(engine_container).
      type: list
      elements: str
    running_leftovers:
      description:
        - The names of containers that were taken out of the way and run again, as where Podman before 5.1 starts them at boot.
        - Not looked for where the container C(slb) runs and was never restarted, or its state is unknown.
        - Given with V(engine_container).
      type: list
      elements: str
    set_aside_unwritable:
      description: Why what is taken out of the way could not be noted, told without writing; null where it could.
      type: str
    set_aside:
      description:
        - The container that the collection last took out of the way on this host, see M(slb.fleet.engine_container).
        - Null where there is none, or what was noted of it cannot be used.
      type: dict
      contains:
        id:
          description: The container's identifier.
          type: str
        name:
          description: Its name now; where it is gone, the last that is known.
          type: str
        runtime:
          description: V(docker) or V(podman).
          type: str
        state:
          description: What it was before, one of V(running), V(paused), V(restarting), V(exited), V(created).
          type: str
        restart_policy:
          description: Its restart policy before; V(on-failure) with its limit, such as V(on-failure:3).
          type: str
        because:
          description: Why it was taken away, one of V(list), V(operator), V(record), V(ended).
          type: str
        at:
          description: When that was noted.
          type: float
        age:
          description: Seconds since then, within one boot by the host's uptime.
          type: float
        exists:
          description: Whether a container with that identifier is still there; null where the runtime does not answer.
          type: bool
        mistaken:
          description: Whether what took it out of the way was wrong.
          type: bool
        going_back:
          description: Whether a run has begun to put it back, and was ended.
          type: bool
    ports:
      description: The TCP ports that are listened on, at most 500; those of the engine come before others.
      type: list
      elements: dict
      contains:
        port:
          description: The port's number.
          type: int
        addresses:
          description: The addresses on which it is listened on.
          type: list
          elements: str
        process:
          description: The name of the process that holds it.
          type: str
        pid:
          description: The process's number.
          type: int
        engine:
          description: Whether the engine's container holds it.
          type: bool
    motd:
      description: What an interactive login of the connecting user prints before the first command.
      type: dict
      contains:
        path:
          description: The file of the message of the day.
          type: str
        bytes:
          description: How much is printed, in all.
          type: int
        sources:
          description: The files, scripts and settings that print it, each with its C(source) and C(bytes).
          type: list
          elements: dict
        target:
          description: Where C(path) leads to, if it is a symbolic link.
          type: str
        backups:
          description: The backups that lie beside it, oldest first.
          type: list
          elements: str
    interfaces:
      description: The kernel's network interfaces and what manages them.
      type: list
      elements: dict
      contains:
        name:
          description: The interface. Null where the interfaces cannot be listed; C(why) says why.
          type: str
        kind:
          description: What the kernel says it is, such as V(ethernet), V(loopback), V(bridge), V(veth).
          type: str
        physical:
          description: Whether there is hardware behind it.
          type: bool
        driver:
          description: The kernel driver.
          type: str
        mac:
          description: Its MAC address.
          type: str
        mtu:
          description: Its MTU in bytes.
          type: int
        up:
          description: Whether it is switched on.
          type: bool
        carrier:
          description: Whether there is a link.
          type: bool
        port_of:
          description: The bridge, bond or other device that it is a port of.
          type: str
        addresses:
          description: Its addresses, with their prefix lengths.
          type: list
          elements: str
        managed_by:
          description: What has it under control.
          type: str
        state:
          description: Its state, as NetworkManager names it.
          type: str
        connection:
          description: The active connection of NetworkManager.
          type: str
        uuid:
          description: That connection's UUID.
          type: str
        carries_ssh:
          description: Whether this SSH session runs over it.
          type: bool
        carries_default_route:
          description: Whether a default route leads over it.
          type: bool
        offered:
          description: Whether the web console would offer it.
          type: bool
        why:
          description: Why it is not offered.
          type: str
  sample:
    observed_at: 1795000000.5
    root: true
    engine_container: {state: absent, runtime: docker, auto_remove: false, after_request: null, established: 0}
    record: {state: none, unwritable: null}
    set_aside: null
    ports: [{port: 22, addresses: ["0.0.0.0", "::"], process: sshd, pid: 101, engine: false}]
    motd: {path: /etc/motd, target: null, bytes: 286, sources: [{source: /etc/motd, bytes: 286}], backups: []}
    interfaces: []
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._observation import SUBSETS, observe
from ansible_collections.slb.fleet.plugins.module_utils._result import Result


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    return Result(False, {"slb_host": observe(params["subset"])})


def main() -> None:
    subsets = list(SUBSETS)
    run_module({"subset": dict(type="list", elements="str", choices=subsets, default=subsets)}, operation)


if __name__ == "__main__":
    main()
