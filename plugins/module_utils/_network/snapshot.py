# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a few interfaces that an adoption may change, and how it is put back."""

import contextlib
import os
import time
from typing import Any, Dict, List, Optional, Set

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._network import kernel, kernel_state, nmcli, resolver
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, write_atomically

Snapshot = Dict[str, Any]
"""Plain data: ``kernel``, ``uppers``, ``devices``, ``profiles``, ``uuids``, ``files`` and ``resolver``.

``kernel`` has the interfaces themselves and those that are made on top of each, which ``uppers`` names: a VLAN loses
its routes when the link below it goes down.
"""

_ANSWER_SECONDS = 10
_ACTIVATION_SECONDS = 15
_SETTLE_SECONDS = 30
_STABLE_LOOKS = 4
_LOOK_SECONDS = 0.3
_FILE_MODE = 0o644
_PROFILE_MODE = 0o600


def take(names: List[str], uuids: List[str], files: List[str]) -> Snapshot:
    """``uuids``: profiles that will be changed; ``files``: those that will be written or removed. Raises HostError."""
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
        "devices": {name: _device(devices[name]) for name in names if name in devices},
        "profiles": {profile.uuid: {"path": profile.path, "content": _content(profile.path)} for profile in kept},
        "uuids": sorted(profile.uuid for profile in profiles),
        "files": {path: _content(path) for path in files},
        "resolver": resolver.read(),
    }


def part(snapshot: Snapshot, name: str, uuids: List[str], files: List[str]) -> Snapshot:
    """What of a snapshot is about the one interface ``name``, without those on top of it."""
    return dict(
        snapshot,
        kernel={name: snapshot["kernel"][name]},
        uppers={},
        devices={key: value for key, value in snapshot["devices"].items() if key == name},
        profiles={key: value for key, value in snapshot["profiles"].items() if key in uuids},
        files={key: value for key, value in snapshot["files"].items() if key in files},
    )


def with_uppers(own: Snapshot, present: Snapshot, name: str) -> Snapshot:
    """The same with what the interfaces on top of ``name`` have in another snapshot, so that they lose nothing."""
    above = [upper for upper in present["uppers"].get(name, []) if upper in present["kernel"]]
    kept = dict(own["kernel"], **{upper: present["kernel"][upper] for upper in above})
    return dict(own, kernel=kept, uppers={name: above})


def made_since(snapshot: Snapshot) -> List[str]:
    """The profiles of these interfaces that were not there when the snapshot was taken. Raises HostError."""
    names = set(snapshot["kernel"]) - _above(snapshot)
    return [
        profile.uuid
        for profile in nmcli.profiles()
        if profile.interface in names and profile.uuid not in snapshot["uuids"]
    ]


def put_back(snapshot: Snapshot, doomed: List[str]) -> List[str]:
    """Restores what the snapshot holds and removes the profiles ``doomed``. Never raises, never stops half-way.

    Whatever fails, the kernel's addresses and routes come last and do not need NetworkManager.
    Returns what could not be put back, in sentences.
    """
    troubles: List[str] = []
    with _noted(troubles):
        _put_files_back(snapshot["files"])
    for uuid in doomed:
        with _noted(troubles):
            if uuid in nmcli.profile_paths():
                nmcli.command(["--wait", "10", "connection", "delete", "uuid", uuid], _ANSWER_SECONDS)
    touched = list(snapshot["profiles"])
    with _noted(troubles):
        touched = _put_profiles_back(snapshot["profiles"])
    above = _above(snapshot)
    ways = dict.fromkeys(above, kernel_state.with_lost)
    for name in [name for name in snapshot["kernel"] if name not in above]:
        if _put_device_back(name, snapshot["devices"].get(name), touched, troubles):
            ways[name] = kernel_state.with_lost_for_good
    with _noted(troubles):
        troubles += _put_kernel_back(snapshot["kernel"], ways)
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def _above(snapshot: Snapshot) -> Set[str]:
    return {upper for uppers in snapshot.get("uppers", {}).values() for upper in uppers}


def put_files_back(snapshot: Snapshot) -> List[str]:
    """What a shutdown does not undo by itself, as it does addresses and what is in memory. Never raises."""
    troubles: List[str] = []
    for path, content in snapshot["files"].items():
        with _noted(troubles):
            _write_or_remove(path, content, _FILE_MODE)
    for profile in snapshot["profiles"].values():
        with _noted(troubles):
            # Giving an interface back removes or rewrites its profile on disk.
            if _is_on_disk(profile) and _content(profile["path"]) != profile["content"]:
                _write_or_remove(profile["path"], profile["content"], _PROFILE_MODE)
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def _is_on_disk(profile: Dict[str, Any]) -> bool:
    return profile["content"] is not None and not profile["path"].startswith("/run/")


@contextlib.contextmanager
def _noted(troubles: List[str]) -> Any:
    try:
        yield
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
    changed = False
    for path, content in files.items():
        if _content(path) == content:
            continue
        changed = True
        _write_or_remove(path, content, _FILE_MODE)
    if changed:
        nmcli.command(["general", "reload", "conf"])


def _put_profiles_back(profiles: Dict[str, Dict[str, Any]]) -> List[str]:
    """The UUIDs of those that were not as they had been."""
    paths = nmcli.profile_paths()
    touched: List[str] = []
    changed: List[str] = []
    for uuid, former in profiles.items():
        present = paths.get(uuid)
        if present and present != former["path"]:
            _write_or_remove(present, None, _PROFILE_MODE)
            changed.append(uuid)
            touched.append(present)
        if former["content"] is not None and (present is None or _content(former["path"]) != former["content"]):
            _write_or_remove(former["path"], former["content"], _PROFILE_MODE)
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
        present = nmcli.devices()[name]
        if former["uuid"] is not None:
            unchanged = (present.uuid, present.state) == (former["uuid"], former["state"])
            if unchanged and former["uuid"] not in touched:
                return True  # activating it again would take away what others have added, such as a virtual address
            wait = _ACTIVATION_SECONDS if former["state"] == "connected" else 0
            nmcli.up(former["uuid"], name, wait)
            return True
        if former["state"] == "unmanaged" and not present.unmanaged:
            nmcli.command(["device", "set", name, "managed", "no"])
        elif former["state"] in ("disconnected", "unavailable") and present.active:
            # Otherwise NetworkManager would give it its addresses again when the lease is renewed.
            nmcli.command(["--wait", "10", "device", "disconnect", name], _ANSWER_SECONDS)
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
    pending: Dict[str, List[str]] = {}
    while stable < _STABLE_LOOKS and time.monotonic() < deadline:
        former, pending = pending, _put_ipv6_back(states, ways)
        # Each in a pass of its own: what is refused to one, such as an MTU, must not keep routes from another.
        for commands_of in (kernel_state.link_commands, kernel_state.route_commands):
            for name, todo in _todo(states, ways, commands_of).items():
                pending.setdefault(name, []).extend(_ip(command) for command in todo)
        stable = 0 if pending else stable + 1
        if not pending or pending == former:
            time.sleep(_LOOK_SECONDS)
    words = [word for said in pending.values() for word in said if word]
    return [f"{', '.join(pending)} is not as it was: {'; '.join(words)}"] if pending else []


def _put_ipv6_back(states: Dict[str, kernel_state.State], ways: Dict[str, Any]) -> Dict[str, List[str]]:
    """First of all: on it depends which addresses an interface may have. What failed, by interface."""
    present = kernel_state.read([name for name in states if name not in ways])
    pending: Dict[str, List[str]] = {}
    for name, now in present.items():
        for setting, value in kernel_state.ipv6_changes(states[name], now):
            said = pending.setdefault(name, [])
            try:
                kernel.set_ipv6(name, setting, value)
            except OSError as error:
                said.append(f"{setting} {value}: {error.strerror}")
    return pending


def _todo(states: Dict[str, kernel_state.State], ways: Dict[str, Any], commands_of: Any) -> Dict[str, List[List[str]]]:
    todo = {}
    present = kernel_state.read(list(states))
    for name in [name for name in states if name in present]:
        wanted = ways[name](states[name], present[name]) if name in ways else states[name]
        todo[name] = commands_of(name, wanted, present[name])
    return {name: arguments for name, arguments in todo.items() if arguments}


def _ip(arguments: List[str]) -> str:
    """What ip has to say if it fails."""
    try:
        completed = commands.run([commands.find("ip") or "ip", *arguments], _ANSWER_SECONDS)
    except FleetError as error:
        return str(error)
    return "" if completed.rc == 0 else f"{' '.join(arguments)}: {completed.words}"
