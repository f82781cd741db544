"""Which interface is the one that was seen before, on a model: the lab's have no permanent address."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import identity
from ansible_collections.slb.fleet.tests.unit.network.shown import nic

BOOT, NEXT = "this boot", "the next boot"
OWN, ANOTHERS = "52:54:00:00:00:01", "52:54:00:00:00:02"


def card(name: str, ifindex: int, mac: str, **more: Any) -> Any:
    return nic(name)._replace(**{"ifindex": ifindex, "permanent_mac": mac, "physical": True, **more})


SEEN = card("ens9", 5, OWN)
VIRTUAL: dict[str, Any] = {"physical": False, "kind": "veth"}
VLAN: dict[str, Any] = {"physical": False, "kind": "vlan"}


@pytest.mark.parametrize(
    ("seen", "boot", "present", "called"),
    [
        (SEEN, BOOT, [SEEN], "ens9"),
        (SEEN, BOOT, [card("ens9", 6, ANOTHERS), card("ens16", 5, OWN)], "ens16"),
        (SEEN, BOOT, [card("ens9", 6, ANOTHERS)], None),
        (SEEN, BOOT, [card("ens9", 6, OWN)], "ens9"),
        (SEEN, BOOT, [], None),
        (SEEN, NEXT, [card("ens9", 3, OWN)], "ens9"),
        (SEEN, NEXT, [card("ens9", 5, ANOTHERS), card("ens16", 3, OWN)], "ens16"),
        (SEEN, NEXT, [card("ens9", 5, ANOTHERS)], None),
        (SEEN, NEXT, [card("ens16", 3, OWN), card("ens17", 4, OWN)], None),
        (SEEN, NEXT, [card("ens9", 3, OWN), card("ens17", 4, OWN)], "ens9"),
        (SEEN, NEXT, [card("ens9.5", 3, OWN, **VLAN)], None),
        (card("v9", 5, OWN, **VIRTUAL), BOOT, [card("v9", 6, ANOTHERS, **VIRTUAL)], None),
        (card("v9", 5, OWN, **VIRTUAL), BOOT, [card("v8", 6, OWN, **VIRTUAL)], None),
        (card("v9", 5, OWN, **VIRTUAL), NEXT, [card("v9", 6, ANOTHERS, **VIRTUAL)], "v9"),
        (card("ens9.5", 5, OWN, **VLAN), BOOT, [card("ens9.5", 6, ANOTHERS, **VLAN)], "ens9.5"),
        (None, BOOT, [card("ens9", 6, ANOTHERS)], "ens9"),
        (None, BOOT, [card("ens16", 5, OWN)], None),
    ],
)
def test_it_is_found_by_what_outlasts_a_change_of_its_name(seen: Any, boot: str, present: Any, called: Any) -> None:
    noted = None if seen is None else identity.of(seen, BOOT)
    name = "ens9" if seen is None else seen.name
    assert identity.name_now(name, noted, present, boot) == called
    (same,) = [identity.is_same(noted, identity.of(each, boot)) for each in present if each.name == name] or [False]
    assert same == (called == name)
