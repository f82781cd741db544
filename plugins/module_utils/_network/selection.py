# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which interfaces are to be adopted, and why the others are not. Pure."""

import fnmatch
from typing import Collection, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._network import kinds
from ansible_collections.slb.fleet.plugins.module_utils._network.interfaces import Interface
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import UNWRITABLE, can_be_written

_NEVER = ("lo", "docker*", "veth*")
_SHOWN = 10


class Selection(NamedTuple):
    """``chosen``: the candidates. ``skipped``: the reason for each other one."""

    chosen: List[Interface]
    skipped: Dict[str, str]


def choose(
    interfaces: List[Interface],
    wanted: List[str],
    lift_unmanaged: bool,
    passing: Collection[str] = (),
    fleeting: Collection[str] = (),
) -> Selection:
    """``wanted``: names, MAC addresses or patterns of them; empty means every physical Ethernet device.

    ``passing``: those that were adopted until the next boot only, which lifting changes.
    ``fleeting``: those that are under control by a profile that lasts no longer than NetworkManager itself.
    """
    chosen, skipped = [], {}
    for interface in interfaces:
        lasting = not (lift_unmanaged and interface.nic.name in passing) and interface.nic.name not in fleeting
        reason = (
            _reason_of_kind(interface)
            or _reason_of_wish(interface, wanted)
            or (_reason_of_control(interface, wanted) if lasting or not interface.offered else None)
            or _reason_of_manager(interface, lift_unmanaged)
        )
        if reason is None:
            chosen.append(interface)
        else:
            skipped[interface.nic.name] = reason
    return Selection(chosen, skipped)


def named(interfaces: List[Interface], wanted: List[str]) -> List[Interface]:
    """Those that an item of ``wanted`` meets."""
    return [interface for interface in interfaces if any(_meets(item, interface) for item in wanted)]


def carried_unnamed(interface: Interface, wanted: List[str]) -> Optional[str]:
    """What hangs on an interface that nobody has named exactly, as the beginning of a reason; None where nothing does.

    A pattern that happens to meet it is no statement about it.
    """
    carried = [
        what
        for what, carries in (
            ("the SSH session", interface.carries_ssh),
            ("the default route", interface.carries_default_route),
        )
        if carries
    ]
    if not carried or any(_is_exactly(item, interface) for item in wanted):
        return None
    return f"it carries {' and '.join(carried)}; name it exactly, by name or MAC address,"


def on_missing(interfaces: List[Interface], wanted: List[str]) -> List[str]:
    """What is asked for and not there: one sentence, however many there are."""
    items = [item for item in wanted if not any(_meets(item, interface) for interface in interfaces)]
    shown = ", ".join(repr(item) for item in items[:_SHOWN])
    more = f" or any of {len(items) - _SHOWN} others" if len(items) > _SHOWN else ""
    return [f"There is no interface that {shown}{more} names."] if items else []


def _reason_of_kind(interface: Interface) -> Optional[str]:
    nic = interface.nic
    settings = kinds.of(nic).settings(nic)
    if isinstance(settings, str):
        return settings
    if any(fnmatch.fnmatchcase(nic.name, pattern) for pattern in _NEVER):
        return "interfaces of this name belong to containers"
    if nic.master is not None:
        return f"it is a port of {nic.master}"
    return None


def _reason_of_wish(interface: Interface, wanted: List[str]) -> Optional[str]:
    nic = interface.nic
    # A pattern for devices, or the MAC address that it shares with the one below it, is no statement about it.
    if kinds.of(nic) is not kinds.ETHERNET and nic.name not in wanted:
        return f"it is a {nic.kind}; name it exactly in O(interfaces) if it is to be adopted"
    if not wanted and not nic.physical:
        return "it is no physical device; name it in O(interfaces) if it is to be adopted"
    if wanted and not any(_meets(item, interface) for item in wanted):
        return "O(interfaces) does not name it"
    return None


def _reason_of_control(interface: Interface, wanted: List[str]) -> Optional[str]:
    if interface.offered:
        connection = interface.device.connection if interface.device else ""
        return f"it is under NetworkManager's control already ({connection})"
    carried = carried_unnamed(interface, wanted)
    return f"{carried} if it is to be adopted" if carried else None


def _reason_of_manager(interface: Interface, lift_unmanaged: bool) -> Optional[str]:
    if interface.networkd:
        return "systemd-networkd configures it"
    if interface.device is None:
        return "NetworkManager does not know it"
    cause = interface.unmanaged
    if cause is None or not cause.strict:
        return None
    if not cause.liftable:
        return f"NetworkManager must leave it alone: {cause.sentence}; change that first"
    if lift_unmanaged and not can_be_written(interface.nic.name):
        return f"NetworkManager must leave it alone: {cause.sentence}; {UNWRITABLE}"
    if not lift_unmanaged:
        return f"NetworkManager must leave it alone: {cause.sentence}; O(lift_unmanaged): true lifts that"
    return None


def _meets(item: str, interface: Interface) -> bool:
    """Names tell capitals from small letters, addresses do not."""
    nic = interface.nic
    return fnmatch.fnmatchcase(nic.name, item) or fnmatch.fnmatchcase(nic.mac.lower(), item.lower())


def _is_exactly(item: str, interface: Interface) -> bool:
    return item == interface.nic.name or item.lower() == interface.nic.mac.lower()
