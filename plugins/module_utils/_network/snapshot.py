# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a few interfaces that an adoption may change, and how it is put back."""

import contextlib
import os
import time
from typing import Any, Dict, List, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    ip_commands,
    kernel,
    kernel_state,
    nmcli,
    profile_files,
    resolver,
)
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, write_atomically

Snapshot = Dict[str, Any]
"""Plain data: ``kernel``, ``uppers``, ``rules``, ``devices``, ``profiles``, ``uuids``, ``files``, ``notes`` and
``resolver``.

``kernel`` has the interfaces themselves and those that are made on top of each, which ``uppers`` names: a VLAN loses
its routes when the link below it goes down. ``rules`` is None where they are none of its business.
"""

_ACTIVATION_SECONDS = 15
_RELEASE_SECONDS = 10
_SETTLE_SECONDS = 30
_STABLE_LOOKS = 4
_LOOK_SECONDS = 0.3
_FILE_MODE = 0o644
_PRIVATE_MODE = 0o600
_OF_NETWORKMANAGER = (["proto", "4"], ["proto", "static"])


def take(names: List[str], uuids: List[str], files: List[str], notes: List[str]) -> Snapshot:
    """``uuids``: profiles that will be changed; ``files``: those that will be written or removed. Raises HostError.

    ``notes``: the files in which it is kept what the interfaces were before their adoption.
    """
    devices = nmcli.devices()
    profiles = nmcli.profiles()
    active = {devices[name].uuid for name in names if name in devices}
    # One that is bound by MAC address names no interface.
    kept = [profile for profile in profiles if profile.interface in names or profile.uuid in active | set(uuids)]
    nics = kernel.nics()
    above = kernel.uppers(names, nics)
    states = kernel_state.read(names + above)
    return {
        "kernel": {name: states[name] for name in names + above if name in states},
        "uppers": {name: kernel.uppers([name], nics) for name in names},
        "rules": kernel.rules(),
        "devices": {name: _device(devices[name]) for name in names if name in devices},
        "profiles": {profile.uuid: {"path": profile.path, "content": _content(profile.path)} for profile in kept},
        "uuids": sorted(profile.uuid for profile in profiles),
        "files": {path: _content(path) for path in files},
        "notes": {path: _content(path) for path in notes},
        "resolver": resolver.read(),
    }


def part(snapshot: Snapshot, name: str, uuids: List[str], files: List[str]) -> Snapshot:
    """What of a snapshot is about the one interface ``name``, without those on top of it."""
    return dict(
        snapshot,
        kernel={key: value for key, value in snapshot["kernel"].items() if key == name},
        uppers={},
        rules=None,
        devices={key: value for key, value in snapshot["devices"].items() if key == name},
        profiles={key: value for key, value in snapshot["profiles"].items() if key in uuids},
        files={key: value for key, value in snapshot["files"].items() if key in files},
        notes={},
    )


def with_uppers(own: Snapshot, present: Snapshot, name: str) -> Snapshot:
    """The same with what the interfaces on top of ``name`` have in another snapshot, so that they lose nothing."""
    above = [upper for upper in present["uppers"].get(name, []) if upper in present["kernel"]]
    kept = dict(own["kernel"], **{upper: present["kernel"][upper] for upper in above})
    return dict(own, kernel=kept, uppers={name: above})


def merged(snapshots: Dict[str, Snapshot], resolver_content: Optional[str]) -> Snapshot:
    """One that is about all these interfaces. What one of them had counts for more than what is on top of another."""
    together: Snapshot = {"uuids": [], "notes": {}, "rules": None, "resolver": resolver_content}
    for key in ("devices", "profiles", "files"):
        together[key] = {name: value for each in snapshots.values() for name, value in each[key].items()}
    together["uppers"] = {
        name: [upper for upper in each["uppers"].get(name, []) if upper not in snapshots]
        for name, each in snapshots.items()
    }
    together["kernel"] = {name: each["kernel"][name] for name, each in snapshots.items()}
    for each in snapshots.values():
        together["kernel"] = {**each["kernel"], **together["kernel"]}
    return together


def made_since(snapshot: Snapshot) -> List[str]:
    """The profiles of these interfaces that were not there when the snapshot was taken. Raises HostError.

    Not those that NetworkManager makes of an interface that it watches, or is to watch again: they alone are bound to
    a MAC address, where there is a device behind it.
    """
    names = _own(snapshot)
    watched = [device.uuid for device in nmcli.devices().values() if device.external]
    return [
        profile.uuid
        for profile in nmcli.profiles()
        if profile.interface in names and profile.uuid not in [*snapshot["uuids"], *watched] and not profile.mac
    ]


def put_lost_back(snapshot: Snapshot) -> None:
    """At once, the addresses and routes that are gone: all that a host needs to be reached. Never raises.

    Nothing is taken away, and NetworkManager is not asked: it may need long, or never answer. What fails here is tried
    again with the rest, and said then.
    """
    with _noted([]):
        states, above = snapshot["kernel"], _above(snapshot)
        ways = {}
        for name in states:
            own = name not in above and (snapshot["devices"].get(name) or {}).get("uuid") is not None
            ways[name] = kernel_state.with_lost_for_good if own else kernel_state.with_lost
        for name, now in kernel_state.read(list(states)).items():
            if ("ipv6", "disable_ipv6", "0") in kernel_state.settings_changes(states[name], now):
                with _noted([]):
                    kernel.set_setting(name, "ipv6", "disable_ipv6", "0")
        ip_commands.run(_rule_commands(snapshot.get("rules")))
        # In this order: a route needs rules by which its gateway is found, a link that is up, and an address.
        for commands_of in (kernel_state.link_commands, kernel_state.route_commands):
            todo = _todo(states, ways, commands_of, kernel_state.read(list(states)))
            ip_commands.run([command for wanted in todo.values() for command in wanted])


def put_back(snapshot: Snapshot, doomed: Optional[List[str]] = None) -> List[str]:
    """Restores what the snapshot holds. Never raises, never stops half-way.

    ``doomed``: profiles to remove; where none are named, those that were made since. Whatever fails, the kernel's
    addresses and routes come last and do not need NetworkManager: where it is away, it gets nothing but its files
    back, and has to be told the rest when it has returned. Returns what could not be put back, in sentences.
    """
    troubles: List[str] = []
    ways: Dict[str, Any] = dict.fromkeys(_above(snapshot), kernel_state.with_lost)
    with _noted(troubles):
        _put_files_back(snapshot["files"])
    with _noted(troubles):
        _put_notes_back(snapshot)
    try:
        nmcli.require_sign_of_life()
        ways.update(_put_networkmanager_back(snapshot, doomed, troubles))
    except nmcli.NoAnswerError as error:
        troubles.append(f"NetworkManager was not told that this change is undone. {error}")
        with _noted(troubles):
            _put_profile_files_back(snapshot, doomed)
    with _noted(troubles):
        troubles += ip_commands.run(_rule_commands(snapshot.get("rules")))
    with _noted(troubles):
        troubles += _put_kernel_back(snapshot["kernel"], ways)
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def _put_networkmanager_back(snapshot: Snapshot, doomed: Optional[List[str]], troubles: List[str]) -> Dict[str, Any]:
    """Raises NoAnswerError as soon as it does not answer. Returns the interfaces that it gives their addresses."""
    with _noted_of_networkmanager(troubles):
        if snapshot["files"]:  # they may have come back while it was away
            nmcli.command(["general", "reload", "conf"])
    with _noted_of_networkmanager(troubles):
        nmcli.delete(made_since(snapshot) if doomed is None else doomed)
    touched = list(snapshot["profiles"])
    with _noted_of_networkmanager(troubles):
        touched = _put_profiles_back(snapshot["profiles"])
    above = _above(snapshot)
    ways = {}
    for name in [name for name in snapshot["kernel"] if name not in above]:
        if _put_device_back(name, snapshot["devices"].get(name), touched, troubles):
            ways[name] = kernel_state.with_lost_for_good
    return ways


def _above(snapshot: Snapshot) -> Set[str]:
    return {upper for uppers in snapshot.get("uppers", {}).values() for upper in uppers}


def _own(snapshot: Snapshot) -> Set[str]:
    return set(snapshot["kernel"]) - _above(snapshot)


def put_files_back(snapshot: Snapshot) -> List[str]:
    """What a shutdown does not undo by itself, as it does addresses and what is in memory. Never raises."""
    troubles: List[str] = []
    for path, content in snapshot["files"].items():
        with _noted(troubles):
            _write_or_remove(path, content, _FILE_MODE)
    with _noted(troubles):
        _put_notes_back(snapshot)
    for path in _files_made_since(snapshot):
        with _noted(troubles):
            _write_or_remove(path, None, _PRIVATE_MODE)
    for profile in snapshot["profiles"].values():
        with _noted(troubles):
            # Giving an interface back removes or rewrites its profile on disk.
            if _is_on_disk(profile) and _content(profile["path"]) != profile["content"]:
                _write_or_remove(profile["path"], profile["content"], _PRIVATE_MODE)
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def _files_made_since(snapshot: Snapshot) -> List[str]:
    """As ``made_since``, where NetworkManager cannot be asked: the files."""
    return [
        profile.path
        for profile in profile_files.present()
        if profile.interface in _own(snapshot)
        and profile.uuid not in snapshot["uuids"]
        and not (profile.mac or profile.watching)
    ]


def _is_on_disk(profile: Dict[str, Any]) -> bool:
    return profile["content"] is not None and not profile["path"].startswith("/run/")


@contextlib.contextmanager
def _noted(troubles: List[str]) -> Any:
    try:
        yield
    except Exception as error:
        troubles.append(_words(error))


@contextlib.contextmanager
def _noted_of_networkmanager(troubles: List[str]) -> Any:
    """The same, but where it is away, whatever else would be asked of it is not waited for."""
    try:
        yield
    except nmcli.NoAnswerError:
        raise
    except Exception as error:
        troubles.append(_words(error))


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, FleetError) else repr(error)


def _device(device: nmcli.Device) -> Dict[str, Any]:
    active = device.uuid if not device.external and device.state != "disconnected" else None
    return {"state": device.state, "uuid": active}


def _content(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except OSError:
        return None


def _put_resolver_back(content: Optional[str]) -> None:
    with file_errors(resolver.PATH):
        if content is not None and resolver.read() != content:
            resolver.write(content)


def _put_files_back(files: Dict[str, Optional[str]]) -> None:
    for path, content in files.items():
        if _content(path) != content:
            _write_or_remove(path, content, _FILE_MODE)


def _put_notes_back(snapshot: Snapshot) -> None:
    for path, content in snapshot.get("notes", {}).items():
        if _content(path) != content:
            _write_or_remove(path, content, _PRIVATE_MODE)


def _put_profile_files_back(snapshot: Snapshot, doomed: Optional[List[str]]) -> None:
    """What it finds when it returns: nothing of an undone change may come alive again."""
    there = profile_files.present()
    gone = _files_made_since(snapshot) if doomed is None else [each.path for each in there if each.uuid in doomed]
    former = {uuid: profile for uuid, profile in snapshot["profiles"].items() if profile["content"] is not None}
    gone += [each.path for each in there if each.uuid in former and each.path != former[each.uuid]["path"]]
    for path in gone:
        _write_or_remove(path, None, _PRIVATE_MODE)
    for profile in former.values():
        if _content(profile["path"]) != profile["content"]:
            _write_or_remove(profile["path"], profile["content"], _PRIVATE_MODE)


def _put_profiles_back(profiles: Dict[str, Dict[str, Any]]) -> List[str]:
    """The UUIDs of those that were not as they had been."""
    paths = nmcli.profile_paths()
    touched: List[str] = []
    changed: List[str] = []
    for uuid, former in profiles.items():
        present = paths.get(uuid)
        if present and present != former["path"]:
            _write_or_remove(present, None, _PRIVATE_MODE)
            changed.append(uuid)
            touched.append(present)
        if former["content"] is not None and (present is None or _content(former["path"]) != former["content"]):
            _write_or_remove(former["path"], former["content"], _PRIVATE_MODE)
            changed.append(uuid)
            touched.append(former["path"])
    if touched:
        # Not "reload": NetworkManager 1.30 then takes over the interfaces that it merely watched.
        nmcli.command(["connection", "load", *touched])
    return changed


def _write_or_remove(path: str, content: Optional[str], mode: int) -> None:
    if content is not None:
        write_atomically(path, content, mode)
        return
    with file_errors(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _put_device_back(name: str, former: Optional[Dict[str, Any]], touched: List[str], troubles: List[str]) -> bool:
    """Whether NetworkManager has it under control again and so gives it its addresses."""
    if former is None:
        return False
    try:
        present = nmcli.devices().get(name)
        if present is None:
            return False  # it has vanished, and nothing of it is left to be put back
        if former["uuid"] is not None:
            unchanged = (present.uuid, present.state) == (former["uuid"], former["state"])
            if unchanged and former["uuid"] not in touched:
                return True  # activating it again would take away what others have added, such as a virtual address
            wait = _ACTIVATION_SECONDS if former["state"] == "connected" else 0
            nmcli.up(former["uuid"], name, wait)
            return True
        if former["state"] == "unmanaged" and not present.unmanaged:
            nmcli.command(["device", "set", name, "managed", "no"])
        elif former["state"] in ("disconnected", "unavailable", "connected (externally)") and present.active:
            # Otherwise NetworkManager would give it its addresses again when the lease is renewed. What it then finds
            # on it makes it watch it again.
            nmcli.command(["--wait", str(_RELEASE_SECONDS), "device", "disconnect", name], _RELEASE_SECONDS)
    except nmcli.NoAnswerError:
        raise
    except Exception as error:
        troubles.append(f"NetworkManager does not take {name} back: {_words(error)}")
    return False


def _put_kernel_back(states: Dict[str, kernel_state.State], ways: Dict[str, Any]) -> List[str]:
    """Until it has stayed so for a second: NetworkManager may still be taking addresses away.

    ``ways``: by interface, what makes of its state before and its state now the one that it is to have, where that is
    not just the state before: what NetworkManager has under its control gets from it what its profile says, and here
    only what others had added; what is on top of another gets only what it lost with that.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    stable = 0
    names: List[str] = []
    words: List[str] = []
    while stable < _STABLE_LOOKS and time.monotonic() < deadline:
        former = (names, words)
        present = kernel_state.read(list(states))
        names, words = _put_settings_back(states, ways, present)
        changed = bool(names)
        # Each in a pass of its own: what is refused to one, such as an MTU, must not keep routes from another.
        for commands_of in (kernel_state.link_commands, kernel_state.route_commands, kernel_state.addition_commands):
            present = kernel_state.read(list(states)) if changed else present
            todo = _todo(states, ways, commands_of, present)
            changed = bool(todo)
            names += [name for name in todo if name not in names]
            words += ip_commands.run([command for wanted in todo.values() for command in wanted])
        stable = 0 if names else stable + 1
        if not names or (names, words) == former:
            time.sleep(_LOOK_SECONDS)
    return [f"{', '.join(names)} is not as it was: {'; '.join(words)}"] if names else []


def _put_settings_back(
    states: Dict[str, kernel_state.State], ways: Dict[str, Any], present: Dict[str, kernel_state.State]
) -> Tuple[List[str], List[str]]:
    """First of all: on them depends which addresses an interface may have. Which were not right, and what failed."""
    names: List[str] = []
    words: List[str] = []
    for name, now in [(name, now) for name, now in present.items() if name not in ways]:
        changes = kernel_state.settings_changes(states[name], now)
        names += [name] if changes else []
        for family, setting, value in changes:
            try:
                kernel.set_setting(name, family, setting, value)
            except OSError as error:
                words.append(f"{name}: {family} {setting} {value}: {error.strerror}")
    return names, words


def _rule_commands(before: Optional[List[List[str]]]) -> List[List[str]]:
    """Those that are gone come back. Of those that are new only NetworkManager's go, which a profile may have had."""
    if before is None:
        return []
    now = kernel.rules()
    new = [words for words in now if words not in before and words[-2:] in _OF_NETWORKMANAGER]
    return [[family, "rule", "add", *words] for family, *words in before if [family, *words] not in now] + [
        [family, "rule", "del", *words] for family, *words in new
    ]


def _todo(
    states: Dict[str, kernel_state.State],
    ways: Dict[str, Any],
    commands_of: Any,
    present: Dict[str, kernel_state.State],
) -> Dict[str, List[List[str]]]:
    todo = {}
    for name in [name for name in states if name in present]:
        former = kernel_state.aged(states[name], present[name])
        wanted = ways[name](former, present[name]) if name in ways else former
        todo[name] = commands_of(name, wanted, present[name])
    return {name: arguments for name, arguments in todo.items() if arguments}
