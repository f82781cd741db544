# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts back what the kernel knew of interfaces: addresses, routes, settings and rules."""

import contextlib
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    ip_commands,
    kernel,
    kernel_again,
    kernel_commands,
    kernel_state,
)

States = Dict[str, kernel_state.State]
Ways = Dict[str, Callable[[kernel_state.State, kernel_state.State], kernel_state.State]]
"""By interface, what makes of its state before and its state now the one that it is to have, where that is not just the
state before: what NetworkManager has under its control may have got more from it; what is on top of another gets only
what it lost with that.
"""
OfProfiles = List[Tuple[str, str]]
"""Family and priority of the rules that profiles of the interfaces ask for."""

_SETTLE_SECONDS = 30
_STABLE_LOOKS = 4
_LOOK_SECONDS = 0.3
_TRIES = 2
# Of the values of addr_gen_mode, and their names.
_NONE_OF_ITS_OWN, _OF_A_SECRET = "1", ("3", "2")
_WAYS = {"0": "eui64", "1": "none"}
# In this order: a route needs a link that is up, and an address; and rules by which its gateway is found.
_COMMANDS = (kernel_commands.link_commands, kernel_commands.route_commands)
_OF_NETWORKMANAGER = (["proto", "4"], ["proto", "static"])


def put_lost_back(states: States, rules: Optional[List[List[str]]], of_profiles: OfProfiles) -> None:
    """Once, what is gone and is needed to reach the host. Nothing is taken away but NetworkManager's new rules."""
    for name, now in kernel_state.read(list(states)).items():
        if ("ipv6", "disable_ipv6", "0") in kernel_state.settings_changes(states[name], now):
            with contextlib.suppress(OSError):
                kernel.set_setting(name, "ipv6", "disable_ipv6", "0")
    put_rules_back(rules, of_profiles)
    lost: Ways = dict.fromkeys(states, kernel_again.with_lost)
    for commands_of in _COMMANDS:
        todo = _todo(states, lost, commands_of, kernel_state.read(list(states)))
        ip_commands.run([command for wanted in todo.values() for command in wanted])


def put_rules_back(before: Optional[List[List[str]]], of_profiles: OfProfiles) -> List[str]:
    """Those that are gone come back. Of those that are new only NetworkManager's go, which a profile may have had.

    ``before`` is None where they are none of its business. Returns what failed.
    """
    if before is None:
        return []
    now = kernel.rules()
    new = [words for words in now if words not in before and _is_networkmanagers(words, of_profiles)]
    commands = [[family, "rule", "add", *words] for family, *words in before if [family, *words] not in now]
    return ip_commands.run(commands + [[family, "rule", "del", *words] for family, *words in new])


def _is_networkmanagers(rule: List[str], of_profiles: OfProfiles) -> bool:
    """1.30 does not say which are its own."""
    family, _priority, priority, *words = rule
    return words[-2:] in _OF_NETWORKMANAGER or ("proto" not in words and (family, priority) in of_profiles)


def put_back(states: States, ways: Ways) -> List[str]:
    """Until it has stayed so for a second: NetworkManager may still be taking addresses away. Returns what could not be
    put back, in sentences.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    stable = 0
    names: List[str] = []
    words: List[str] = []
    changed_itself = [name for name in states if ways.get(name) is not kernel_again.with_lost]
    tries = dict.fromkeys(changed_itself, _TRIES)
    while stable < _STABLE_LOOKS and time.monotonic() < deadline:
        former = (names, words)
        present = kernel_state.read(list(states))
        names, words = _put_settings_back({name: states[name] for name in changed_itself}, present)
        names += [name for name in _have_ipv6_make_its_own(states, present, tries) if name not in names]
        changed = bool(names)
        # Each in a pass of its own: what is refused to one, such as an MTU, must not keep routes from another.
        for commands_of in (*_COMMANDS, kernel_commands.addition_commands):
            present = kernel_state.read(list(states)) if changed else present
            todo = _todo(states, ways, commands_of, present)
            changed = bool(todo)
            names += [name for name in todo if name not in names]
            words += ip_commands.run([command for wanted in todo.values() for command in wanted])
        stable = 0 if names else stable + 1
        if not names or (names, words) == former:
            time.sleep(_LOOK_SECONDS)
    return [f"{', '.join(names)} is not as it was: {'; '.join(words)}"] if names else []


def _put_settings_back(states: States, present: States) -> Tuple[List[str], List[str]]:
    """First of all: on them depends which addresses an interface may have. Which were not right, and what failed."""
    names: List[str] = []
    words: List[str] = []
    for name, now in [(name, now) for name, now in present.items() if name in states]:
        changes = kernel_state.settings_changes(states[name], now)
        names += [name] if changes else []
        for family, setting, value in changes:
            try:
                kernel.set_setting(name, family, setting, value)
            except OSError as error:
                words.append(f"{name}: {family} {setting} {value}: {error.strerror}")
    return names, words


def _have_ipv6_make_its_own(states: States, present: States, tries: Dict[str, int]) -> List[str]:
    """Which it was asked to. It does so when its way to make them changes; where it does not, they are set by hand."""
    names = [name for name in present if tries.get(name) and kernel_state.only_ipv6_makes(states[name], present[name])]
    for name in names:
        tries[name] -= 1
        lost = kernel_state.only_ipv6_makes(states[name], present[name])
        doomed = kernel_state.in_the_way_of(lost, states[name])
        ip_commands.run([["address", "del", each, "dev", name] for each in doomed])
        way = states[name]["ipv6"]["addr_gen_mode"]
        for each in (_NONE_OF_ITS_OWN, way if way in _OF_A_SECRET else _OF_A_SECRET[0]):
            with contextlib.suppress(OSError):
                kernel.set_setting(name, "ipv6", "addr_gen_mode", each)
        if way in _WAYS:
            # Somebody has changed it since. Whoever does so through the file has another address made.
            ip_commands.run([["link", "set", "dev", name, "addrgenmode", _WAYS[way]]])
    return names


def _todo(
    states: States,
    ways: Ways,
    commands_of: Any,
    present: States,
) -> Dict[str, List[List[str]]]:
    todo = {}
    for name in [name for name in states if name in present]:
        former = kernel_state.aged(states[name], present[name])
        wanted = ways[name](former, present[name]) if name in ways else former
        todo[name] = commands_of(name, wanted, present[name])
    return {name: arguments for name, arguments in todo.items() if arguments}
