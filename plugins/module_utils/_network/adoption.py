# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings interfaces under NetworkManager's control, guarded by the rollback timer."""

import contextlib
from typing import Any, Dict, List, NamedTuple, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    activation,
    change,
    differences,
    history,
    interfaces,
    ip_commands,
    kernel,
    kernel_commands,
    kernel_state,
    nmcli,
    plan,
    resolver,
    selection,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.plan import Plan
from ansible_collections.slb.fleet.plugins.module_utils._network.snapshot import Snapshot
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import Causes
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.files import write_atomically

# What it decides by a profile's method: who listens to routers, and takes from them what they say.
_NETWORKMANAGERS = (
    *("disable_ipv6", "addr_gen_mode", "use_tempaddr", "accept_ra", "hop_limit"),
    *("neigh base_reachable_time", "neigh base_reachable_time_ms", "neigh retrans_time", "neigh retrans_time_ms"),
)


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
    if not check_mode:
        change.finish_abandoned()
    since = change.earlier()
    seen = interfaces.look()
    if seen.trouble is not None:
        raise seen.trouble
    fleeting = _fleeting(seen.interfaces)
    chosen = selection.choose(seen.interfaces, wish.interfaces, wish.lift_unmanaged, history.passing(), fleeting)
    plans, skipped = _plans(wish, seen, chosen, version, fleeting)
    diff = {
        "before": {entry.name: _sight(seen, entry.name) for entry in plans},
        "after": {entry.name: entry.summary(wish.dhcp_timeout) for entry in plans},
    }
    remarks = selection.on_missing(seen.interfaces, wish.interfaces)
    if not plans:
        return Result(False, change.values([], skipped, [], remarks))
    if check_mode:
        return Result(True, change.values([_adopted(entry) for entry in plans], skipped, [], remarks), diff)
    names = [entry.name for entry in plans]
    bound = wish.dhcp_timeout + activation.SECONDS * (len(names) + 1)
    used = [entry.profile.uuid for entry in plans if entry.profile is not None]
    files = [entry.lift[0] for entry in plans if entry.lift]
    with change.guarded(wish.token, names, used, files, bound, since) as before:
        uuids = _make_profiles(plans)
        _lift(plans)
        failed = activation.activate(plans, uuids, before, wish.dhcp_timeout)
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
                "at_boot": entry.at_boot,
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


def _plans(
    wish: Wish, seen: interfaces.Look, chosen: selection.Selection, version: List[int], fleeting: List[str]
) -> Tuple[List[Plan], List[Dict[str, str]]]:
    states = kernel_state.read([interface.nic.name for interface in chosen.chosen])
    profiles = nmcli.profiles() if chosen.chosen else []
    nics = [interface.nic for interface in seen.interfaces]
    causes = Causes() if fleeting else None
    overruled = {nic.name: causes.of(nic) for nic in nics if nic.name in fleeting} if causes else {}
    host = plan.Host(
        version, seen.routes, profiles, resolver.parse(resolver.read()), resolver.has_servers(), nics, overruled
    )
    plans: List[Plan] = []
    skipped = [{"name": name, "reason": reason} for name, reason in chosen.skipped.items()]
    policy = plan.Policy(wish.dhcp_timeout, wish.lift_unmanaged, wish.whole_lease)
    for interface in chosen.chosen:
        name = interface.nic.name
        made = plan.make(interface, states[name], host, policy) if name in states else activation.GONE
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


def _adopted(entry: Plan) -> Dict[str, Any]:
    return {
        "name": entry.name,
        "mac": entry.mac,
        "profile": entry.profile.name if entry.profile else entry.name,
        "profile_is_new": entry.profile is None,
        "returns_at_boot": entry.returns_at_boot,
        "notes": entry.notes,
    }


def _outcomes(done: List[Plan], uuids: Dict[str, str], before: Snapshot) -> List[Dict[str, Any]]:
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
            if family == "ipv4" or setting not in _NETWORKMANAGERS:
                with contextlib.suppress(OSError):
                    kernel.set_setting(name, family, setting, value)
    ip_commands.run(
        [words for name, now in present.items() for words in kernel_commands.addition_commands(name, had[name], now)]
    )


def _cidrs(addresses: List[Dict[str, Any]]) -> List[str]:
    return [kernel.cidr(address) for address in addresses]


def _sight(seen: interfaces.Look, name: str) -> Dict[str, Any]:
    (found,) = [interface for interface in seen.interfaces if interface.nic.name == name]
    return {
        "state": found.device.state if found.device else None,
        "managed_by": found.managed_by,
        "why": found.unmanaged.sentence if found.unmanaged else None,
        "addresses": _cidrs(found.nic.addresses),
    }
