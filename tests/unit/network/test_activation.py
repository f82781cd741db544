"""Interfaces come up side by side, those on top of others after these; each that does not is put back by itself."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    activation,
    kernel,
    kernel_state,
    nmcli,
    snapshot,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.nmcli import Device
from ansible_collections.slb.fleet.plugins.module_utils._network.plan import Plan
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, state

REMEDY = "Look at `journalctl -u NetworkManager` on the engine host. It was put back."
HAD = state([inet("10.9.0.2/24")])


def plan(name: str, **known: Any) -> Plan:
    values = {
        **{"mac": "", "kind": "ethernet", "offered": False, "dhcp": False, "settings": {"ipv4.method": "manual"}},
        **{"unanswered": {}, "profile": None, "lift": None, "at_boot": {}, "returns_at_boot": True},
        **{"notes": []},
    }
    return Plan(name=name, **{**values, **known})


class Host:
    """``looks``: what NetworkManager says of each device, look by look; the last goes on."""

    def __init__(self, looks: dict[str, list[Device]]) -> None:
        self.looks = looks
        self.asked: list[str] = []

    def devices(self) -> dict[str, Device]:
        self.asked.append("devices")
        return {name: left.pop(0) if len(left) > 1 else left[0] for name, left in self.looks.items()}

    def up(self, uuid: str, name: str, wait: int) -> None:
        self.asked.append(f"up {name} {wait}")
        if name == "refused":
            raise HostError("It is refused.", "See there.")


def played(monkeypatch: pytest.MonkeyPatch, host: Host, *plans: Plan, seconds: float = 60) -> dict[str, str]:
    """``seconds``: for which it is waited at most; few only where what is waited for does not come."""
    names = [entry.name for entry in plans]
    monkeypatch.setattr(nmcli, "devices", host.devices)
    monkeypatch.setattr(nmcli, "up", host.up)
    monkeypatch.setattr(kernel, "is_there", lambda name: True)
    monkeypatch.setattr(kernel_state, "read", lambda names: dict.fromkeys(names, HAD))
    monkeypatch.setattr(snapshot, "put_back", lambda *given: host.asked.append(f"back {given[1][0]}") or [])
    monkeypatch.setattr(activation, "SECONDS", seconds)
    monkeypatch.setattr(activation, "_MORE_SECONDS_EACH", 0)
    monkeypatch.setattr(activation, "_POLL_SECONDS", 0.01)
    before = {"kernel": dict.fromkeys(names, HAD), "uppers": {name: [] for name in names}}
    before.update({"devices": {}, "profiles": {}, "files": {}})
    return activation.activate(list(plans), {name: f"of-{name}" for name in names}, before, 0)


def seen(name: str, *states: str, uuid: str | None = None) -> list[Device]:
    return [Device(name, word, name, uuid or f"of-{name}") for word in states]


def test_all_are_begun_before_any_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    coming = ("connecting (getting IP configuration)", "connected")
    host = Host({"ens9": seen("ens9", *coming), "ens10": seen("ens10", *coming)})
    assert played(monkeypatch, host, plan("ens9"), plan("ens10")) == {}
    assert host.asked == ["up ens9 0", "up ens10 0", "devices", "devices"]


def test_what_may_be_on_top_of_another_is_begun_when_that_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host({"ens9": seen("ens9", "connected"), "ens9.5": seen("ens9.5", "connected")})
    assert played(monkeypatch, host, plan("ens9.5", kind="vlan"), plan("ens9")) == {}
    assert host.asked == ["up ens9 0", "devices", "up ens9.5 0", "devices"]


def test_one_that_fails_is_not_waited_for_and_put_back_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host({"ens9": seen("ens9", "connected"), "ens10": seen("ens10", "connecting (prepare)", "disconnected")})
    failed = played(monkeypatch, host, plan("ens9"), plan("ens10"))
    assert failed == {"ens10": "It did not come up; NetworkManager says: disconnected. " + REMEDY}
    assert host.asked == ["up ens9 0", "up ens10 0", "devices", "devices", "back of-ens10"]


def test_one_that_first_has_to_let_go_of_another_profile_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host({"ens9": seen("ens9", "deactivating", "disconnected", "connecting (prepare)", "connected")})
    assert played(monkeypatch, host, plan("ens9")) == {}


def test_one_that_is_merely_watched_has_not_come_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before NetworkManager begins, and where it does not: it is called connected all the same."""
    host = Host({"ens9": seen("ens9", "connected", uuid="another"), "refused": seen("refused", "unmanaged")})
    failed = played(monkeypatch, host, plan("ens9"), plan("refused"), seconds=0.3)
    assert sorted(failed) == ["ens9", "refused"]
    assert failed["refused"] == "It is refused. See there. It was put back."
    assert [line for line in host.asked if "back" in line] == ["back of-refused", "back of-ens9"]
