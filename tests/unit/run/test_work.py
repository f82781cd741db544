"""What is approved is all that is done: whatever changes that makes it another plan."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import OF_A_HOST
from ansible_collections.slb.fleet.plugins.plugin_utils._work import work_of

ENGINE = EngineIdentity("edge-1", "10.0.0.1", "https://console.example")
USUAL = {name: variable.default for name, variable in OF_A_HOST.items()}
OTHERWISE: dict[str, Any] = {
    **{name: not value for name, value in USUAL.items() if isinstance(value, bool)},
    **{"user_credential_id": 2, "motd": "keep", "motd_max_bytes": 7, "motd_after": "restored"},
    **{"interfaces": ["ens9"], "interfaces_state": "absent"},
}
OF_INTERFACES = ("interfaces", "interfaces_state", "lift_unmanaged", "whole_lease")
ELSEWHERE = {
    "engine_name": "of the engine",
    "manage_ip": "of the engine",
    "manage_ip_translated": "of the engine",
    "unverified_engine": "of the decision",
    "engine_list": "of the decision",
    "engine_list_may_be_empty": "of the decision",
    "max_replaced": "of the decision",
    "license_dest": "of the management node",
    "license_host": "of the management node",
    "license_backup": "of the management node",
    "wait_timeout": "how long",
    "settle": "how long",
    "attempts": "how often",
    "stop_timeout": "how long",
    "throttle": "how many at a time",
    "dhcp_timeout": "how long",
    "confirm_timeout": "how long",
    "approved_plan": "what is approved",
}


def wants(action: str = "install", **settings: Any) -> str:
    return work_of(action, ENGINE, {}, {**USUAL, **settings})


@pytest.mark.parametrize("name", sorted(OF_A_HOST.keys() - ELSEWHERE.keys()))
def test_whatever_changes_what_is_done_is_another_plan(name: str) -> None:
    around = {"adopt_interfaces": True} if name in OF_INTERFACES else {}
    assert wants(**around, **{name: OTHERWISE[name]}) != wants(**around)


def test_what_adopts_no_interface_is_the_same_plan_whichever_are_named() -> None:
    assert wants(interfaces=["ens9"]) == wants()


def test_the_order_of_interfaces_makes_no_difference() -> None:
    first, second = (wants(adopt_interfaces=True, interfaces=names) for names in (["a", "b"], ["b", "a"]))
    assert first == second


def test_what_is_too_long_to_be_shown_makes_a_difference_all_the_same() -> None:
    names = [f"interface-{number}" for number in range(200)]
    long, other = (wants(adopt_interfaces=True, interfaces=[*names, last]) for last in ("x1", "x2"))
    assert long != other
    assert len(long) < 1100


@pytest.mark.parametrize("more", [{"adopt_interfaces": True}, {"motd_after": "restored"}])
def test_where_the_engine_runs_what_else_is_asked_for_is_work(more: dict[str, Any]) -> None:
    assert wants("none", **more)
    assert not wants("none")
    assert not wants("fail", **more)
