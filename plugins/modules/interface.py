#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: interface
short_description: Adopt network interfaces into NetworkManager
version_added: 1.0.0
description:
  - The web console offers only interfaces that NetworkManager has connected. This module connects Ethernet interfaces
    that have no address, as the vendor's procedure does with C(nmcli device connect).
  - Nothing else is touched. An interface that has an address, a profile or another program of its own is skipped,
    and RV(left_alone) says why and what to do.
  - The change is confirmed over a fresh SSH connection. Without the confirmation, and after a reboot, the host rolls it
    back. Only the connection plugin P(ansible.builtin.ssh#connection) can be used.
  - On a host that has a default route, a lease brings an address and its subnet, but no routes and no name servers.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
options:
  interfaces:
    description:
      - Names, MAC addresses or shell patterns of either. If empty, each physical Ethernet device; required for O(state=absent).
      - An interface that is named without wildcards and cannot be adopted fails the task before anything is changed. If
        it does not come up, all interfaces are rolled back.
      - A pattern that matches no interface fails the task, unless O(allow_unmatched=true). An interface that matches one
        is only listed in RV(left_alone). If it does not come up, it is removed again.
      - Required with O(state=absent), which fails if an interface that was adopted has to stay; others are only listed.
    type: list
    elements: str
    default: []
  allow_unmatched:
    description: Whether a pattern may match no interface, as in a fleet whose hosts differ.
    type: bool
    default: false
  state:
    description:
      - V(present) - adopt the interfaces.
      - V(absent) - delete the profiles that this module made. A profile that was changed since, and an interface to which
        an address was added, are skipped.
    type: str
    choices: [present, absent]
    default: present
  dhcp_timeout:
    description:
      - Number of seconds to wait for DHCP (1 to 3600). If nothing answers, the interface is connected without an address.
    type: int
    default: 15
  confirm_timeout:
    description: Number of seconds to wait for the confirmation (5 to 3600). Then the host rolls the change back.
    type: int
    default: 60
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Adopt each physical interface that the web console does not offer
  slb.fleet.interface:

- name: Adopt two interfaces
  slb.fleet.interface:
    interfaces: [ens9, ens10]
    dhcp_timeout: 30

- name: Release an interface
  slb.fleet.interface:
    interfaces: [ens9]
    state: absent
"""

RETURN = r"""
adopted:
  description: Interfaces that were adopted, or would be in check mode.
  returned: O(state=present)
  type: list
  elements: dict
  contains:
    name:
      description: Name of the interface and of its profile.
      type: str
    mac:
      description: MAC address.
      type: str
    uuid:
      description: UUID of the profile. Not in check mode.
      type: str
    settings:
      description: Settings of the profile, as C(nmcli) names them. Without a lease, C(ipv4.method) is C(disabled).
      type: dict
    addresses:
      description: Addresses with prefix lengths. Not in check mode.
      type: list
      elements: str
  sample:
    - name: ens9
      mac: "52:54:00:12:34:56"
      uuid: 9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f
      settings: {ipv4.dhcp-timeout: "30"}
      addresses: [192.0.2.20/24]
released:
  description: Interfaces whose profile was deleted.
  returned: O(state=absent)
  type: list
  elements: dict
  contains:
    name:
      description: Name of the interface.
      type: str
    uuid:
      description: UUID of the profile.
      type: str
    was_deleted:
      description: Whether a person had deleted the profile before.
      type: bool
  sample: [{name: ens9, uuid: 9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f, was_deleted: false}]
left_alone:
  description: Each other interface, with the reason and what a person can do.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the interface.
      type: str
    reason:
      description: Why it was skipped.
      type: str
    fix:
      description: What a person can do.
      type: str
    never_adopted:
      description: Whether its kind is never adopted, such as C(lo), C(docker0), a bridge or a tunnel.
      type: bool
  sample: [{name: ens10, reason: no carrier, fix: "Connect the cable, then run again.", never_adopted: false}]
rolled_back:
  description: Interfaces of an earlier change that was not confirmed; this run rolled it back.
  returned: success
  type: list
  elements: str
  sample: []
"""

import re
import uuid
from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_MAX_SECONDS = 3600

ARGUMENTS = {
    "interfaces": dict(type="list", elements="str", default=[]),
    "allow_unmatched": dict(type="bool", default=False),
    "state": dict(type="str", choices=["present", "absent"], default="present"),
    "dhcp_timeout": dict(type="int", default=15),
    "confirm_timeout": dict(type="int", default=60),
}


def operation(options: Dict[str, Any], check_mode: bool) -> Result:
    """Adopt or release. Raises FleetError."""
    for option, least in (("dhcp_timeout", 1), ("confirm_timeout", 5)):
        if not least <= options[option] <= _MAX_SECONDS:
            summary = f"Option {option} invalid: {options[option]}."
            raise FleetError("invalid_option", summary, f"Give {least} to {_MAX_SECONDS} seconds.")
    # Ansible splits a text at its commas, keeps the blanks, and does not read "[ens9, ens10]" of -e as a list.
    whole = re.match(r"\s*\[([^\[\]]*)\]\s*$", ",".join(options["interfaces"]))
    names = whole.group(1).split(",") if whole else options["interfaces"]
    interfaces = [name.strip(" '\"") for name in names]
    if not all(interfaces):
        raise FleetError("invalid_option", "Option interfaces invalid: an entry is empty.", "Remove the empty entry.")
    if options["state"] == "absent":
        if not interfaces:
            summary = "Option interfaces missing: state=absent requires it."
            raise FleetError("missing_option", summary, "Name the interfaces (slb_interfaces), or set '*'.")
        return adoption.release(interfaces, check_mode)
    times = options["dhcp_timeout"], options["confirm_timeout"]
    wanted = adoption.Wanted(interfaces, options["allow_unmatched"], *times, uuid.uuid4().hex)
    return adoption.adopt(wanted, check_mode)


def main() -> None:
    run_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
