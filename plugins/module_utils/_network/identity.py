# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which interface is the one that was seen before: names are swapped, changed, and taken over by other cards."""

from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._network import kinds
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes

Identity = Dict[str, Any]
"""Plain data: ``ifindex``, which means one interface within ``boot``; ``mac``, the permanent one; ``kind``.

``is_card``: it is itself, and not made by its name on top of another. ``physical``: a device, whose address lasts.
"""

_INIT = 1


def this_boot() -> str:
    """Of a container, too, which is booted more often than its kernel."""
    return f"{clock.boot_id()} {processes.identity(_INIT)}"


def of(nic: Nic, boot: str) -> Identity:
    return {
        "boot": boot,
        "ifindex": nic.ifindex,
        "kind": nic.kind,
        "is_card": kinds.of(nic) is kinds.ETHERNET,
        "physical": nic.physical,
        "mac": nic.permanent_mac,
    }


def is_same(seen: Optional[Identity], now: Optional[Identity]) -> bool:
    """Of two that have one name. Pure. Of what an earlier version noted, nothing but the name is known."""
    if seen is None or now is None:
        return True
    is_of_this_boot = seen["boot"] == now["boot"]
    if is_of_this_boot and seen["ifindex"] == now["ifindex"]:
        return True
    if not seen["is_card"] or not (is_of_this_boot or seen["physical"]):
        return True  # nothing but the name outlasts that
    return bool(_alike(seen) == _alike(now))


def name_now(name: str, seen: Optional[Identity], nics: List[Nic], boot: str) -> Optional[str]:
    """What the interface is called that was called ``name``; None where it is not there. Pure."""
    there = {nic.name: of(nic, boot) for nic in nics}
    if seen is not None and seen["boot"] == boot:
        for other, now in there.items():
            if now["ifindex"] == seen["ifindex"]:
                return other
    if name in there and is_same(seen, there[name]):
        return name
    others = [other for other, now in there.items() if seen and seen["physical"] and _alike(seen) == _alike(now)]
    return others[0] if len(others) == 1 else None


def _alike(identity: Identity) -> Any:
    return identity["kind"], identity["physical"], identity["mac"]
