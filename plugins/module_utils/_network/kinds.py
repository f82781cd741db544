# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of interfaces: what the kernel and NetworkManager call each, and what makes it what it is. Pure."""

from typing import Callable, Dict, NamedTuple, Tuple, Union

from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic

Settings = Dict[str, str]
"""nmcli's properties by name; an empty value sets a property back to its default."""

WIRED = "802-3-ethernet"
"""NetworkManager's section of MTU and MAC addresses. Profiles of each of these kinds may have it: whatever reads or
makes a profile uses this one for all of them.
"""

_VLAN_FLAGS = {"REORDER_HDR": 1, "GVRP": 2, "LOOSE_BINDING": 4, "MVRP": 8}
_MACVLAN_MODES = {"vepa": 1, "bridge": 2, "private": 3, "passthru": 4}


def _nothing(nic: Nic) -> Settings:
    return {}


def _vlan(nic: Nic) -> Union[Settings, str]:
    data = nic.details
    unknown = set(data.get("flags", [])) - set(_VLAN_FLAGS)
    if data.get("protocol") != "802.1Q" or unknown or len(nic.lower) != 1:
        return "it is a VLAN of a sort that cannot be put into a profile"
    settings = {
        "vlan.parent": nic.lower[0],
        "vlan.id": str(data["id"]),
        "vlan.flags": str(sum(_VLAN_FLAGS[flag] for flag in data.get("flags", []))),
    }
    for direction in ("ingress", "egress"):
        listed = [f"{each['from']}:{each['to']}" for each in data.get(f"{direction}_qos", [])]
        settings[f"vlan.{direction}-priority-map"] = ",".join(listed)
    return settings


def _macvlan(nic: Nic) -> Union[Settings, str]:
    mode = _MACVLAN_MODES.get(nic.details.get("mode", ""))
    if mode is None or nic.details.get("flags") or len(nic.lower) != 1:
        return "it is a macvlan of a sort that cannot be put into a profile"
    return {"macvlan.parent": nic.lower[0], "macvlan.mode": str(mode)}


def _other(nic: Nic) -> str:
    return f"it is no Ethernet device but of the kind {nic.kind}"


def _bond(nic: Nic) -> str:
    return "it is a bond, which would lose its ports to NetworkManager; make profiles of it and its ports by hand"


class Kind(NamedTuple):
    """``kernel``: the kernel's words for it. ``profile``: the type of its profiles; ``word``: the shorter one for it.

    ``settings``: what a new profile says of it beside MTU and addresses, or why there can be none. It gives a profile
    only to a kind of which NetworkManager keeps MTU, MAC address and cloned MAC address in ``WIRED``, and whose MAC
    addresses have six octets. InfiniBand is none: it has a section of its own, without a cloned address. A profile
    with ``WIRED`` in it would be refused, and only on the host: tests/integration/interfaces/test_other_kinds.py has
    each NetworkManager of the lab take one.
    """

    kernel: Tuple[str, ...]
    profile: str
    word: str
    settings: Callable[[Nic], Union[Settings, str]]


ETHERNET = Kind(("ethernet", "veth"), WIRED, "ethernet", _nothing)
KINDS = (
    ETHERNET,
    Kind(("vlan",), "vlan", "vlan", _vlan),
    Kind(("macvlan",), "macvlan", "macvlan", _macvlan),
    Kind(("bond",), "bond", "bond", _bond),
)
_OTHER = Kind((), "generic", "generic", _other)
TYPES = frozenset(name for kind in KINDS for name in (kind.profile, kind.word))
"""What profiles of these call their type: NetworkManager itself, and files."""


def of(nic: Nic) -> Kind:
    return next((kind for kind in KINDS if nic.kind in kind.kernel), _OTHER)
