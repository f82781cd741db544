# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings interfaces under NetworkManager's control, guarded by the rollback timer."""

import contextlib
import time
from typing import Any, Dict, List, NamedTuple, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    change,
    differences,
    history,
    interfaces,
    ip_commands,
    kernel,
    kernel_state,
    nmcli,
    plan,
    resolver,
    selection,
    snapshot,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.plan import Plan
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.files import write_atomically
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

_ACTIVATION_SECONDS = 20
_RELEASE_SECONDS = 5
_ARRIVAL_SECONDS = 5
_POLL_SECONDS = 0.25
_SHOWN = 10
# What it decides by a profile's method: who listens to routers, and makes addresses of what they say.
_NETWORKMANAGERS = ("disable_ipv6", "addr_gen_mode", "use_tempaddr", "accept_ra", "hop_limit")
_GONE = "It has vanished meanwhile."


class Wish(NamedTuple):
    """What was asked for; times in seconds."""

    interfaces: List[str]
    dhcp_timeout: float
    confirm_timeout: float
    lift_unmanaged: bool
    whole_lease: bool
    token: str


def present(wish: Wish, check_mode: bool) -> Result:
    """Adopts what is to be adopted; the result says what waits for its confirmation."""
    version = nmcli.require()
    seen = interfaces.look()
    if seen.trouble is not None:
        raise seen.trouble
    fleeting = _fleeting(seen.interfaces)
    chosen = selection.choose(seen.interfaces, wish.interfaces, wish.lift_unmanaged, history.passing(), fleeting)
    plans, skipped = _plans(wish, seen, chosen, version)
    diff = {
        "before": {entry.name: _sight(seen, entry.name) for entry in plans},
        "after": {entry.name: entry.summary(wish.dhcp_timeout) for entry in plans},
    }
    remarks = _on_missing(chosen.missing)
    if not plans:
        return Result(False, change.values([], skipped, [], remarks))
    if check_mode:
        return Result(True, change.values([_adopted(entry) for entry in plans], skipped, [], remarks), diff)
    names = [entry.name for entry in plans]
    bound = wish.dhcp_timeout + _ACTIVATION_SECONDS * (len(names) + 1)
    used = [entry.profile.uuid for entry in plans if entry.profile is not None]
    files = [entry.lift[0] for entry in plans if entry.lift]
    with change.guarded(wish.token, names, used, files, bound) as before:
        uuids = _make_profiles(plans)
        _lift(plans)
        failed = _activate(plans, uuids, before, wish.dhcp_timeout)
        for name, reason in failed.items():
            remarks.append(f"{name}: {reason}")
            skipped.append({"name": name, "reason": reason})
        done = [entry for entry in plans if entry.name not in failed]
        adopted = _outcomes(done, uuids, before)
        remarks += resolver.differences(before["resolver"], resolver.read()) + _rules(before["rules"])
        values = change.values(adopted, skipped, [entry.name for entry in done], remarks)
        steps = [
            {
                "name": entry.name,
                "uuid": uuids[entry.name],
                "made": entry.profile is None,
                "files": [entry.lift[0]] if entry.lift else [],
                "returns_at_boot": entry.returns_at_boot,
            }
            for entry in done
        ]
        if done:
            change.applied(wish.token, Result(True, values, diff), steps, wish.confirm_timeout)
        else:
            change.nothing_done(wish.token, Result(False, values, diff))
    return Result(bool(done), values, diff)


def _fleeting(seen: List[interfaces.Interface]) -> List[str]:
    """Such as those of a change that nobody undid. Most hosts have none in memory, which is seen at a glance."""
    offered = {each.device.uuid: each.nic.name for each in seen if each.offered and each.device is not None}
    paths = nmcli.profile_paths() if offered else {}
    if not any(path.startswith("/run/") for uuid, path in paths.items() if uuid in offered):
        return []
    return [offered[profile.uuid] for profile in nmcli.profiles() if profile.uuid in offered and profile.fleeting]


def _on_missing(items: List[str]) -> List[str]:
    """One sentence, however many there are."""
    shown = ", ".join(repr(item) for item in items[:_SHOWN])
    more = f" or any of {len(items) - _SHOWN} others" if len(items) > _SHOWN else ""
    return [f"There is no interface that {shown}{more} names."] if items else []


def _plans(
    wish: Wish, seen: interfaces.Look, chosen: selection.Selection, version: List[int]
) -> Tuple[List[Plan], List[Dict[str, str]]]:
    states = kernel_state.read([interface.nic.name for interface in chosen.chosen])
    profiles = nmcli.profiles() if chosen.chosen else []
    nics = [interface.nic for interface in seen.interfaces]
    host = plan.Host(version, seen.routes, profiles, resolver.parse(resolver.read()), resolver.has_servers(), nics)
    plans: List[Plan] = []
    skipped = [{"name": name, "reason": reason} for name, reason in chosen.skipped.items()]
    policy = plan.Policy(wish.dhcp_timeout, wish.lift_unmanaged, wish.whole_lease)
    for interface in chosen.chosen:
        name = interface.nic.name
        made = plan.make(interface, states[name], host, policy) if name in states else _GONE
        if isinstance(made, Plan):
            plans.append(made)
        else:
            skipped.append({"name": name, "reason": made})
    return plans, skipped


def _make_profiles(plans: List[Plan]) -> Dict[str, str]:
    """The UUID of each interface's profile. In memory only: a reboot forgets what was not confirmed."""
    uuids = {}
    for entry in plans:
        if entry.profile is None:
            uuids[entry.name] = nmcli.add(entry.name, entry.kind, entry.settings)
        else:
            uuids[entry.name] = entry.profile.uuid
            if entry.settings:
                nmcli.modify(entry.profile.uuid, entry.settings, temporary=True)
    return uuids


def _lift(plans: List[Plan]) -> None:
    lifts = [entry.lift for entry in plans if entry.lift is not None]
    for path, content in lifts:
        write_atomically(path, content, 0o644)
    if lifts:
        nmcli.command(["general", "reload", "conf"])


def _activate(
    plans: List[Plan], uuids: Dict[str, str], before: snapshot.Snapshot, dhcp_timeout: float
) -> Dict[str, str]:
    """Why an interface could not be adopted, by name; that one is as it was again."""
    failed: Dict[str, str] = {}
    unplugged: List[Plan] = []
    for entry in plans:
        if entry.offered:
            continue
        try:
            _bring_up(entry, uuids[entry.name])
        except HostError as error:
            if entry.dhcp and entry.profile is None:
                unplugged.append(entry)  # without a carrier nobody can be asked
            else:
                failed[entry.name] = _undo(entry, uuids[entry.name], before, error)
    waiting = [entry for entry in plans if entry.dhcp and entry not in unplugged]
    settled = []
    for entry in unplugged + _without_lease(waiting, dhcp_timeout):
        try:
            _settle_without_address(entry, uuids[entry.name], dhcp_timeout)
            settled.append(entry.name)
        except HostError as error:
            failed[entry.name] = _undo(entry, uuids[entry.name], before, error)
    troubles = _not_connected(settled)
    troubles.update(_not_kept([entry for entry in plans if entry.name not in {*failed, *troubles}], before))
    for entry in plans:
        if entry.name in troubles:
            failed[entry.name] = _undo(entry, uuids[entry.name], before, troubles[entry.name])
    return failed


def _bring_up(entry: Plan, uuid: str) -> None:
    """Right after a lift the device may still be unmanaged for a moment."""
    deadline = time.monotonic() + (_RELEASE_SECONDS if entry.lift else 0)
    while True:
        try:
            nmcli.up(uuid, entry.name, 0 if entry.dhcp else _ACTIVATION_SECONDS)
            return
        except HostError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS / 5)


def _without_lease(waiting: List[Plan], dhcp_timeout: float) -> List[Plan]:
    """Waits for all of them side by side; returns those that got no address in time."""
    deadline = time.monotonic() + dhcp_timeout
    while waiting:
        devices = nmcli.devices()
        states = {entry.name: devices.get(entry.name) or nmcli.gone(entry.name) for entry in waiting}
        given_up = [entry for entry in waiting if not states[entry.name].state.startswith("connect")]
        waiting = [entry for entry in waiting if not states[entry.name].connected]
        if time.monotonic() >= deadline or len(given_up) == len(waiting):
            break
        time.sleep(_POLL_SECONDS)
    return waiting


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
        nmcli.up(uuid, name, _ACTIVATION_SECONDS)  # it has dropped out meanwhile; there is nothing to reapply to


def _not_connected(names: List[str]) -> Dict[str, HostError]:
    """Those that have no address, and are not under control in time even so; all of them side by side."""
    states: Dict[str, str] = {}

    def all_connected() -> bool:
        devices = nmcli.devices() if names else {}
        found = {name: devices.get(name) or nmcli.gone(name) for name in names}
        states.clear()
        states.update({name: device.state for name, device in found.items() if not device.connected})
        return not states

    wait_for(all_connected, _ACTIVATION_SECONDS)
    return {
        name: HostError(
            f"It did not come up even without an address; NetworkManager says: {state}.",
            "Look at `journalctl -u NetworkManager` on the engine host.",
        )
        for name, state in states.items()
    }


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
            lost = [word for name in there for word in kernel_state.missing(states[name], present[name])]
            if entry.name not in present:
                troubles[entry.name] = HostError(_GONE, "")
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
    return f"{error} It was put back." if kernel.is_there(entry.name) else f"{_GONE} Its profile was put back."


def _adopted(entry: Plan) -> Dict[str, Any]:
    return {
        "name": entry.name,
        "mac": entry.mac,
        "profile": entry.profile.name if entry.profile else entry.name,
        "profile_is_new": entry.profile is None,
        "returns_at_boot": entry.returns_at_boot,
        "notes": entry.notes,
    }


def _outcomes(done: List[Plan], uuids: Dict[str, str], before: snapshot.Snapshot) -> List[Dict[str, Any]]:
    """What NetworkManager has changed beside, and need not have, is set again; what is not as it was is said."""
    names = [entry.name for entry in done]
    had = {name: before["kernel"][name] for name in names if name in before["kernel"]}
    _set_again(had)
    present = kernel_state.read(names)
    return [
        dict(
            _adopted(entry),
            uuid=uuids[entry.name],
            addresses=_cidrs(present.get(entry.name, {}).get("addresses", [])),
            not_kept=differences.between(had[entry.name], present[entry.name])
            if entry.name in had and entry.name in present
            else [],
        )
        for entry in done
    ]


def _rules(before: List[List[str]]) -> List[str]:
    """A profile that was there may have some of its own."""
    now = kernel.rules()
    gone = [f"the rule {' '.join(words)} is gone" for words in before if words not in now]
    return gone + [f"the rule {' '.join(words)} is new" for words in now if words not in before]


def _set_again(had: Dict[str, kernel_state.State]) -> None:
    """What is refused shows as not kept."""
    present = kernel_state.read(list(had))
    for name, now in present.items():
        for family, setting, value in kernel_state.settings_changes(had[name], now):
            if setting not in _NETWORKMANAGERS:
                with contextlib.suppress(OSError):
                    kernel.set_setting(name, family, setting, value)
    ip_commands.run(
        [words for name, now in present.items() for words in kernel_state.addition_commands(name, had[name], now)]
    )


def _cidrs(addresses: List[Dict[str, Any]]) -> List[str]:
    return ["{local}/{prefixlen}".format(**address) for address in addresses]


def _sight(seen: interfaces.Look, name: str) -> Dict[str, Any]:
    (found,) = [interface for interface in seen.interfaces if interface.nic.name == name]
    return {
        "state": found.device.state if found.device else None,
        "managed_by": found.managed_by,
        "why": found.unmanaged.sentence if found.unmanaged else None,
        "addresses": _cidrs(found.nic.addresses),
    }
