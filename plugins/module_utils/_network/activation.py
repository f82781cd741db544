# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interfaces come up with their profiles side by side, and each that does not is as it was again."""

from typing import Dict, Iterator, List, Set

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    kernel,
    kernel_again,
    kernel_state,
    kinds,
    nmcli,
    snapshot,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.plan import Plan
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

SECONDS = 20
GONE = "It has vanished meanwhile."
_MORE_SECONDS_EACH = 1
_RELEASE_SECONDS = 5
_ARRIVAL_SECONDS = 5
_POLL_SECONDS = 0.25


def activate(
    plans: List[Plan], uuids: Dict[str, str], before: snapshot.Snapshot, dhcp_timeout: float
) -> Dict[str, str]:
    """Why an interface could not be adopted, by name; that one is as it was again."""
    failed: Dict[str, str] = {}
    unplugged: List[Plan] = []
    for together in _in_turn([entry for entry in plans if not entry.offered]):
        for entry in together:
            try:
                _bring_up(entry, uuids[entry.name])
            except HostError as error:
                if entry.dhcp and entry.profile is None:
                    unplugged.append(entry)  # without a carrier nobody can be asked
                else:
                    failed[entry.name] = _undo(entry, uuids[entry.name], before, error)
        coming = [entry for entry in together if not entry.dhcp and entry.name not in failed]
        failed.update(_undo_all(coming, uuids, before, _not_up(coming, uuids)))
    waiting = [entry for entry in plans if entry.dhcp and entry.name not in failed and entry not in unplugged]
    settled = []
    for entry in unplugged + _without_lease(waiting, dhcp_timeout):
        try:
            _settle_without_address(entry, uuids[entry.name], dhcp_timeout)
            settled.append(entry)
        except HostError as error:
            failed[entry.name] = _undo(entry, uuids[entry.name], before, error)
    troubles = _not_up(settled, uuids, " even without an address")
    troubles.update(_not_kept([entry for entry in plans if entry.name not in {*failed, *troubles}], before))
    failed.update(_undo_all(plans, uuids, before, troubles))
    return failed


def _in_turn(plans: List[Plan]) -> Iterator[List[Plan]]:
    """Those that may be made on top of others come after these, one by one."""
    yield [entry for entry in plans if entry.kind == kinds.ETHERNET.word]
    for entry in plans:
        if entry.kind != kinds.ETHERNET.word:
            yield [entry]


def _undo_all(
    plans: List[Plan], uuids: Dict[str, str], before: snapshot.Snapshot, troubles: Dict[str, HostError]
) -> Dict[str, str]:
    return {
        entry.name: _undo(entry, uuids[entry.name], before, troubles[entry.name])
        for entry in plans
        if entry.name in troubles
    }


def _bring_up(entry: Plan, uuid: str) -> None:
    """Only starts it. Right after a lift the device may still be unmanaged for a moment."""
    refusals: List[HostError] = []

    def begun() -> bool:
        try:
            nmcli.up(uuid, entry.name, 0)
        except HostError as error:
            refusals.append(error)
            return False
        return True

    if not wait_for(begun, _RELEASE_SECONDS if entry.lift else 0, _POLL_SECONDS / 5):
        raise refusals[-1]


def _without_lease(waiting: List[Plan], dhcp_timeout: float) -> List[Plan]:
    """Waits for all of them side by side; returns those that got no address in time."""
    without = list(waiting)

    def decided() -> bool:
        devices = nmcli.devices() if without else {}
        states = {entry.name: devices.get(entry.name) or nmcli.gone(entry.name) for entry in without}
        without[:] = [entry for entry in without if not states[entry.name].connected]
        return not any(states[entry.name].state.startswith("connect") for entry in without)

    wait_for(decided, dhcp_timeout, _POLL_SECONDS)
    return without


def _settle_without_address(entry: Plan, uuid: str, dhcp_timeout: float) -> None:
    name = entry.name
    if not entry.unanswered:
        raise HostError(
            f"No DHCP server answered within {dhcp_timeout:g} seconds, and its profile has settings of its own, which"
            " stay.",
            "Give it a DHCP server, or a profile that needs none.",
        )
    nmcli.modify(uuid, entry.unanswered, temporary=True)
    try:
        nmcli.command(["device", "reapply", name])
    except HostError:
        nmcli.up(uuid, name, SECONDS)  # it has dropped out meanwhile; there is nothing to reapply to


def _not_up(plans: List[Plan], uuids: Dict[str, str], how: str = "") -> Dict[str, HostError]:
    """Those that are not under control in time, all of them side by side. ``how``: they were to come up."""
    states: Dict[str, str] = {}
    begun: Set[str] = set()

    def decided() -> bool:
        devices = nmcli.devices() if plans else {}
        states.clear()
        for name in [entry.name for entry in plans]:
            device = devices.get(name) or nmcli.gone(name)
            if device.uuid == uuids[name] and device.state.startswith("connect"):
                begun.add(name)
            if device.uuid != uuids[name] or device.state != "connected":
                states[name] = device.state
        return all(_has_ended(state, name in begun) for name, state in states.items())

    wait_for(decided, SECONDS + _MORE_SECONDS_EACH * len(plans), _POLL_SECONDS)
    return {
        name: HostError(
            f"It did not come up{how}; NetworkManager says: {state}.",
            "Look at `journalctl -u NetworkManager` on the engine host.",
        )
        for name, state in states.items()
    }


def _has_ended(state: str, begun: bool) -> bool:
    """Whether a device that is not up will not come up either."""
    return state == "gone" or (begun and not state.startswith("connect"))


def _not_kept(plans: List[Plan], before: snapshot.Snapshot) -> Dict[str, HostError]:
    """What interfaces had, and those on top of them, they must have; IPv6 may take a moment to arrive."""
    had = {entry.name: _to_be_kept(entry, before) for entry in plans}
    troubles: Dict[str, HostError] = {}

    def kept() -> bool:
        present = kernel_state.read([name for name, states in had.items() for name in [name, *states]])
        troubles.clear()
        for entry in plans:
            states = had[entry.name]
            there = [name for name in states if name in present]  # one on top of it may go by itself
            lost = [word for name in there for word in kernel_again.missing(states[name], present[name])]
            if entry.name not in present:
                troubles[entry.name] = HostError(GONE, "")
            elif lost:
                troubles[entry.name] = HostError(
                    f"NetworkManager did not keep what it had: {', '.join(lost)}.",
                    "Look at `journalctl -u NetworkManager` on the engine host.",
                )
        return not troubles

    wait_for(kept, _ARRIVAL_SECONDS)
    return troubles


def _to_be_kept(entry: Plan, before: snapshot.Snapshot) -> Dict[str, kernel_state.State]:
    names = [entry.name, *before["uppers"][entry.name]]
    states = {name: kernel_state.substance(before["kernel"][name]) for name in names if name in before["kernel"]}
    if entry.keeps and entry.name in before["kernel"]:
        states[entry.name] = before["kernel"][entry.name]
    return states


def _undo(entry: Plan, uuid: str, before: snapshot.Snapshot, error: HostError) -> str:
    """Puts back this one interface; where that fails, everything has to be."""
    files = [entry.lift[0]] if entry.lift else []
    own = snapshot.with_uppers(snapshot.part(before, entry.name, [uuid], files), before, entry.name)
    troubles = snapshot.put_back(own, [uuid] if entry.profile is None else [])
    if troubles:
        raise FleetError(str(error), f"It could not be put back by itself: {'; '.join(troubles)}")
    return f"{error} It was put back." if kernel.is_there(entry.name) else f"{GONE} Its profile was put back."
