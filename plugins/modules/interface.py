#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: interface
short_description: Bring network interfaces under NetworkManager's control without cutting the host off
version_added: 1.0.0
description:
  - The web console offers only interfaces that NetworkManager on the host has under its control. This module brings them there.
  - An interface that has addresses keeps them, with its routes, gateway, metrics, MTU and name servers.
  - One without addresses asks DHCP for O(dhcp_timeout) seconds. Where nothing answers, it is under control without an address.
  - The change is commit-confirmed. Before the first change a timer is armed on the host that puts everything back.
    The task then comes in over a fresh SSH connection and disarms it. If it cannot within O(confirm_timeout) seconds,
    the host restores itself and the task fails. A reboot before that undoes the change, too.
  - Profiles are made explicitly, named after the interface and addressed by UUID. An existing profile of the interface is used.
  - An existing profile with settings of its own is never rewritten to go without an address. Where it does not come up,
    or its cable is out, the interface is left alone with the reason.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.engine_host
attributes:
  check_mode:
    support: full
    details: The plan for each interface is made and returned.
  diff_mode:
    support: full
options:
  interfaces:
    description:
      - The interfaces, by name, MAC address or shell pattern of either.
      - If empty, every physical Ethernet device that is not in an active connection of NetworkManager.
      - Loopback, container interfaces, bridges, bonds, their ports and tunnels are never taken.
      - A VLAN or a macvlan is taken only if it is named exactly, by its name.
      - The interface that carries the SSH session or the default route is taken, or given back, only if it is named exactly.
      - Required with O(state=absent).
    type: list
    elements: str
    default: []
  state:
    description:
      - V(present) adopts the interfaces.
      - V(absent) gives interfaces that this module adopted back to what they were before.
      - V(confirmed) confirms the change O(token). Both others do this by themselves; it is there for whoever runs
        the module without its action plugin.
    type: str
    choices: [present, absent, confirmed]
    default: present
  dhcp_timeout:
    description: For how many seconds interfaces without an address wait for DHCP, all of them side by side.
    type: float
    default: 15
  confirm_timeout:
    description: After how many seconds without a confirmation the host puts everything back.
    type: float
    default: 60
  lift_unmanaged:
    description:
      - Where NetworkManager's configuration or ifupdown keeps it away from an interface, write a file to
        C(/etc/NetworkManager/conf.d) that lifts this for that interface alone. O(state=absent) takes it away again.
      - Without this, such an interface is skipped, or is adopted only until the next boot, and the result says so.
    type: bool
    default: false
  whole_lease:
    description:
      - Take all that DHCP and routers offer a new interface, a default route, other routes and name servers, also where
        the host has its way out or name servers already.
      - Without this, such a host gets an address and its subnet, nothing else. A profile that is there decides by itself.
    type: bool
    default: false
  token:
    description: The name of the change. The task makes one up; it is required only with O(state=confirmed).
    type: str
seealso:
  - module: slb.fleet.host_info
"""

EXAMPLES = r"""
- name: Bring every physical interface that the console does not offer under control
  slb.fleet.interface:

- name: Adopt two interfaces, one of them whatever its name is
  slb.fleet.interface:
    interfaces: [ens9, "52:54:00:12:34:56"]
    dhcp_timeout: 30

- name: Adopt the interface that carries the SSH session, which has to be named
  slb.fleet.interface:
    interfaces: [ens3]
    confirm_timeout: 120

- name: Give an interface back to what it was
  slb.fleet.interface:
    interfaces: [ens9]
    state: absent
"""

RETURN = r"""
adopted:
  description: The interfaces that were adopted, or would be in check mode.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The interface.
      type: str
    mac:
      description: Its MAC address.
      type: str
    profile:
      description: The name of its profile.
      type: str
    profile_is_new:
      description: Whether the profile was made. If not, there was a suitable one.
      type: bool
    uuid:
      description: The UUID of its profile. Not in check mode.
      type: str
    addresses:
      description: The addresses that it has now. Not in check mode.
      type: list
      elements: str
    returns_at_boot:
      description: Whether NetworkManager will take it again after a reboot. If not, the notes say why.
      type: bool
    not_kept:
      description:
        - What of the interface is not as it was, such as a setting of the kernel that NetworkManager has to have otherwise.
        - When the interface is put or given back, it is as it was. Not in check mode.
      type: list
      elements: str
    notes:
      description: What an operator should know of it.
      type: list
      elements: str
  sample:
    - name: ens9
      mac: "52:54:00:12:34:56"
      profile: ens9
      profile_is_new: true
      uuid: 9a8c0dd2-544a-4e2f-ba30-e9d8d5588b5f
      addresses: [192.0.2.20/24]
      not_kept: ["ipv6 accept_ra is 0 (was 1)"]
      returns_at_boot: true
      notes: []
given_back:
  description:
    - The interfaces that were given back, each as it was before its adoption. C(not_kept) is what has been changed since
      then, which goes.
  returned: O(state=absent)
  type: list
  elements: dict
  sample: [{name: ens9, state: unmanaged, addresses: [192.0.2.20/24], not_kept: []}]
left_alone:
  description: Every other interface, each with the reason.
  returned: success
  type: list
  elements: dict
  sample: [{name: lo, reason: it is no Ethernet device but of the kind loopback}]
remarks:
  description: What to look at, also shown as warnings. Interfaces that are not there, or that could not be adopted.
  returned: if there is any
  type: list
  elements: str
  sample: ["There is no interface that 'ens77' names."]
state:
  description: How far the change has come, such as V(armed), V(applied), V(restoring), V(restored).
  returned: where O(state=confirmed) fails
  type: str
  sample: restoring
pending:
  description: The interfaces whose change waits for its confirmation; none after the task has ended well.
  returned: success
  type: list
  elements: str
  sample: []
"""

import re
import uuid
from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError
from ansible_collections.slb.fleet.plugins.module_utils._module import run_module
from ansible_collections.slb.fleet.plugins.module_utils._network import adoption, confirmation, giving_back
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_A_DAY = 86400

ARGUMENTS = {
    "interfaces": dict(type="list", elements="str", default=[]),
    "state": dict(type="str", choices=["present", "absent", "confirmed"], default="present"),
    "dhcp_timeout": dict(type="float", default=15),
    "confirm_timeout": dict(type="float", default=60),
    "lift_unmanaged": dict(type="bool", default=False),
    "whole_lease": dict(type="bool", default=False),
    "token": dict(type="str", no_log=False),
}


def operation(params: Dict[str, Any], check_mode: bool) -> Result:
    if params["token"] is not None and not re.match(r"[0-9A-Za-z-]{8,64}$", params["token"]):
        raise OptionError("token", params["token"], "it is no token", "Give 8 to 64 letters, digits or dashes.")
    if params["state"] == "confirmed":
        return confirmation.confirm(params["token"])
    for option, least in (("dhcp_timeout", 0), ("confirm_timeout", 5)):
        if not least <= params[option] <= _A_DAY:  # what is no number is neither less nor more
            remedy = f"Give {least} seconds or more, at most {_A_DAY}."
            raise OptionError(option, params[option], "it is no time that anybody would wait", remedy)
    if params["state"] == "absent" and not params["interfaces"]:
        raise OptionError(
            "interfaces", [], "nothing is given back that is not named", "Name the interfaces to give back."
        )
    wish = adoption.Wish(
        params["interfaces"],
        params["dhcp_timeout"],
        params["confirm_timeout"],
        params["lift_unmanaged"],
        params["whole_lease"],
        params["token"] or uuid.uuid4().hex,
    )
    if params["state"] == "absent":
        return giving_back.absent(wish, check_mode)
    return adoption.present(wish, check_mode)


def main() -> None:
    run_module(
        ARGUMENTS,
        operation,
        required_if=[("state", "confirmed", ("token",))],
    )


if __name__ == "__main__":
    main()
