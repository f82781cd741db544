# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's network interfaces, what manages each, and what depends on it. Changes nothing."""

import contextlib
from typing import Any, Dict, List, NamedTuple, Optional, Set

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import kernel, nmcli, ssh_connection
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic
from ansible_collections.slb.fleet.plugins.module_utils._network.nmcli import Device
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import Cause, Causes

_NETWORKD = "/run/systemd/netif/links/{}"


class Interface(NamedTuple):
    """An interface with all that is known of it. ``device`` is NetworkManager's; None where it is not there.

    ``networkd``: systemd-networkd configures it. ``unmanaged``: why NetworkManager leaves it alone.
    """

    nic: Nic
    device: Optional[Device]
    networkd: bool
    unmanaged: Optional[Cause]
    carries_ssh: bool
    carries_default_route: bool

    @property
    def offered(self) -> bool:
        """Whether the web console offers it: one that NetworkManager merely watches is not."""
        return self.device is not None and self.device.state == "connected"

    @property
    def managed_by(self) -> str:
        """NetworkManager, systemd-networkd, ifupdown, or none that is known."""
        if self.networkd:
            return "systemd-networkd"
        if self.device is not None and not self.device.unmanaged and not self.device.external:
            return "NetworkManager"
        if self.unmanaged is not None and self.unmanaged.name == "ifupdown":
            return "ifupdown"
        return "none"


class Look(NamedTuple):
    """One look at all interfaces. ``trouble``: why NetworkManager could not be asked; then nothing is offered."""

    interfaces: List[Interface]
    routes: List[Dict[str, Any]]
    trouble: Optional[HostError]


def look() -> Look:
    """Raises HostError where the kernel itself cannot be asked."""
    nics = kernel.nics()
    routes = kernel.routes()
    trouble: Optional[HostError] = None
    devices: Dict[str, Device] = {}
    try:
        devices = nmcli.devices()
    except HostError as error:
        trouble = error
    causes = Causes() if any(device.unmanaged for device in devices.values()) else None
    ssh = _with_lower(_carrying_ssh(nics), nics)
    default = _with_lower(_carrying_default_route(routes), nics)
    return Look([_interface(nic, devices.get(nic.name), causes, ssh, default) for nic in nics], routes, trouble)


def observe() -> List[Dict[str, Any]]:
    """What ``host_info`` shows of each interface. Never raises: what cannot be known is null, with the reason."""
    try:
        seen = look()
    except HostError as error:
        return [{"name": None, "why": str(error)}]
    return [_shown(interface, seen.trouble) for interface in seen.interfaces]


def _shown(interface: Interface, trouble: Optional[HostError]) -> Dict[str, Any]:
    nic, device = interface.nic, interface.device
    return {
        "name": nic.name,
        "kind": nic.kind,
        "physical": nic.physical,
        "driver": nic.driver,
        "mac": nic.mac,
        "mtu": nic.mtu,
        "up": nic.up,
        "carrier": nic.carrier,
        "port_of": nic.master,
        "addresses": [kernel.cidr(address) for address in nic.addresses],
        "managed_by": interface.managed_by,
        "state": device.state if device is not None else None,
        "connection": device.connection if device is not None else None,
        "uuid": device.uuid if device is not None else None,
        "carries_ssh": interface.carries_ssh,
        "carries_default_route": interface.carries_default_route,
        "offered": interface.offered,
        "why": None if interface.offered else _why_not_offered(interface, trouble),
    }


def _why_not_offered(interface: Interface, trouble: Optional[HostError]) -> str:
    if trouble is not None:
        return trouble.what
    if interface.device is None:
        return "NetworkManager does not know it"
    if interface.unmanaged is not None:
        return f"NetworkManager leaves it alone: {interface.unmanaged.sentence}"
    if interface.device.external:
        return "NetworkManager only watches it: something else has configured it"
    return f"it has no connection that is up; NetworkManager calls its state {interface.device.state}"


def _interface(
    nic: Nic, device: Optional[Device], causes: Optional[Causes], ssh: Set[str], default: Set[str]
) -> Interface:
    return Interface(
        nic=nic,
        device=device,
        networkd=_configured_by_networkd(nic),
        unmanaged=causes.of(nic) if causes is not None and device is not None and device.unmanaged else None,
        carries_ssh=nic.name in ssh,
        carries_default_route=nic.name in default,
    )


def _configured_by_networkd(nic: Nic) -> bool:
    try:
        with open(_NETWORKD.format(nic.ifindex)) as stream:
            text = stream.read()
    except OSError:
        return False
    return "ADMIN_STATE=configured" in text or "ADMIN_STATE=configuring" in text


def _carrying_ssh(nics: List[Nic]) -> Set[str]:
    """The interface that has the SSH connection's address, and the one that leads back to the client."""
    connection = ssh_connection.current()
    if connection is None:
        return set()
    found = {nic.name for nic in nics if any(address["local"] == connection.server for address in nic.addresses)}
    with contextlib.suppress(HostError):  # where no route leads back, the address alone has to do
        found.update(route["dev"] for route in kernel.ip_json("route", "get", connection.client) if "dev" in route)
    return found


def _carrying_default_route(routes: List[Dict[str, Any]]) -> Set[str]:
    found: Set[str] = set()
    for route in routes:
        if route.get("dst") == "default" and "type" not in route:
            found.update(hop["dev"] for hop in [route, *route.get("nexthops", [])] if "dev" in hop)
    return found


def _with_lower(names: Set[str], nics: List[Nic]) -> Set[str]:
    """With the interfaces that these are made on top of: what cuts those off, cuts these off."""
    by_name = {nic.name: nic for nic in nics}
    found: Set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += by_name[name].lower if name in by_name else []
    return found
