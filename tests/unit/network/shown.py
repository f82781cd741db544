"""Makes what the host would show."""

from __future__ import annotations

from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._network.interfaces import Interface
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic
from ansible_collections.slb.fleet.plugins.module_utils._network.nmcli import Device, Profile

MAC = "52:54:00:12:34:56"
# What `ip -details -json` says of one: ip link add link ens9 name ens9.5 type vlan id 5
VLAN: dict[str, Any] = {
    "kind": "vlan",
    "physical": False,
    "lower": ["ens9"],
    "details": {"protocol": "802.1Q", "id": 5, "flags": ["REORDER_HDR"]},
}


def nic(name: str = "ens9", **known: Any) -> Nic:
    values: dict[str, Any] = {
        "name": name,
        "ifindex": 2,
        "kind": "ethernet",
        "physical": True,
        "driver": "virtio_net",
        "mac": MAC,
        "permanent_mac": MAC,
        "mtu": 1500,
        "up": True,
        "carrier": True,
        "master": None,
        "lower": [],
        "details": {},
        "addresses": [],
    }
    return Nic(**dict(values, **known))


def interface(name: str = "ens9", state: str | None = "disconnected", **known: Any) -> Interface:
    values: dict[str, Any] = {
        "nic": nic(name, **known.pop("nic", {})),
        "device": None
        if state is None
        else Device(name, state, known.pop("connection", None), known.pop("uuid", None)),
        "networkd": False,
        "unmanaged": None,
        "carries_ssh": False,
        "carries_default_route": False,
    }
    return Interface(**dict(values, **known))


def inet(cidr: str, **known: Any) -> dict[str, Any]:
    local, prefix = cidr.split("/")
    family = "inet6" if ":" in local else "inet"
    return dict({"family": family, "local": local, "prefixlen": int(prefix), "scope": "global"}, **known)


def route(dst: str, gateway: str | None = None, **known: Any) -> dict[str, Any]:
    family = "inet6" if ":" in f"{dst}{gateway}" else "inet"
    made = {"dst": dst, "dev": "ens9", "flags": [], "family": family}
    return dict(made, **({"gateway": gateway} if gateway else {}), **known)


def state(
    addresses: list[dict[str, Any]] | None = None, routes: list[dict[str, Any]] | None = None, **known: Any
) -> Any:
    return dict({"up": True, "mtu": 1500, "mac": MAC, "addresses": addresses or [], "routes": routes or []}, **known)


def profile(uuid: str, interface: str = "ens9", **known: Any) -> Profile:
    values: dict[str, Any] = {
        "uuid": uuid,
        "name": interface,
        "type": "802-3-ethernet",
        "path": f"/etc/NetworkManager/system-connections/{interface}.nmconnection",
        "interface": interface,
        "mac": "",
        "ports_of": "",
        "permissions": "",
        "method": "auto",
        "method6": "auto",
        "own": False,
        "priority": 0,
        "used_at": 0,
        "autoconnect": True,
    }
    return Profile(**dict(values, **known))
